//! `0x1::multi_ed25519`: the sizes of keys and signatures that are arguments.
//!
//! Signature verification ([`ledger_crypto::multi_ed25519`]) checks all other properties.

use ledger_crypto::multi_ed25519::{BITMAP_BYTES, KEYS_MAX};
use ledger_vm::{Context, ModuleDeclaration, VmError, abort_codes};

abort_codes! {
    const ERRORS;
    pub E_WRONG_PUBKEY_SIZE = InvalidArgument 1
        "a multi-ed25519 public key is at most 32 keys of 32 bytes and a threshold byte";
    pub E_WRONG_SIGNATURE_SIZE = InvalidArgument 2
        "a multi-ed25519 signature is signatures of 64 bytes and a bitmap of 4";
}

/// Checks the size of a public key.
///
/// # Errors
///
/// Aborts with `E_WRONG_PUBKEY_SIZE` if `bytes` is not a sequence of at most [`KEYS_MAX`] keys of
/// 32 bytes, followed by the threshold byte.
pub(super) fn check_public_key_size(context: &Context<'_>, bytes: &[u8]) -> Result<(), VmError> {
    if bytes.len() % 32 == 1 && bytes.len() / 32 <= KEYS_MAX {
        Ok(())
    } else {
        context.abort("multi_ed25519", &E_WRONG_PUBKEY_SIZE)
    }
}

/// Checks the size of a signature.
///
/// # Errors
///
/// Aborts with `E_WRONG_SIGNATURE_SIZE` if `bytes` is not a sequence of signatures of 64 bytes,
/// followed by a bitmap of [`BITMAP_BYTES`].
pub(super) fn check_signature_size(context: &Context<'_>, bytes: &[u8]) -> Result<(), VmError> {
    if bytes.len() % 64 == BITMAP_BYTES {
        Ok(())
    } else {
        context.abort("multi_ed25519", &E_WRONG_SIGNATURE_SIZE)
    }
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "multi_ed25519",
        structs: vec![],
        functions: vec![],
        errors: ERRORS,
    }
}
