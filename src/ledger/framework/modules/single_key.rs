//! `0x1::single_key`: public keys with a tag for their kind.

use ledger_types::transaction::AnyPublicKey;
use ledger_vm::{Context, ModuleDeclaration, VmError, abort_codes};

abort_codes! {
    const ERRORS;
    pub E_INVALID_PUBLIC_KEY_TYPE = InvalidArgument 1
        "the key must be an ed25519, secp256k1 or secp256r1 key with its kind before it";
    pub E_INVALID_SINGLE_KEY_EXTRA_BYTES = InvalidArgument 2 "bytes follow the key";
}

/// Length of a secp256k1 or secp256r1 key in bytes: an uncompressed point.
const UNCOMPRESSED_POINT_BYTES: usize = 65;

/// Checks that `bytes` are the BCS form of one public key.
///
/// # Errors
///
/// Aborts with `E_INVALID_PUBLIC_KEY_TYPE` if the kind is unknown or unsupported or the key is
/// malformed, and with `E_INVALID_SINGLE_KEY_EXTRA_BYTES` if bytes follow the key.
pub(super) fn check(context: &Context<'_>, bytes: &[u8]) -> Result<(), VmError> {
    match bcs::from_bytes::<AnyPublicKey>(bytes) {
        Ok(key) => check_size(context, &key),
        Err(bcs::Error::RemainingInput) => {
            context.abort("single_key", &E_INVALID_SINGLE_KEY_EXTRA_BYTES)
        }
        Err(_) => context.abort("single_key", &E_INVALID_PUBLIC_KEY_TYPE),
    }
}

/// Checks that a key is of a kind that can sign on this ledger and has the length of its kind.
///
/// The BCS form fixes the length of an ed25519 key, but not of a secp256k1 or secp256r1 key.
///
/// # Errors
///
/// Aborts with `E_INVALID_PUBLIC_KEY_TYPE` if the kind cannot sign or the length is wrong.
pub(super) fn check_size(context: &Context<'_>, key: &AnyPublicKey) -> Result<(), VmError> {
    match key {
        AnyPublicKey::Secp256k1Ecdsa(point) | AnyPublicKey::Secp256r1Ecdsa(point)
            if point.len() != UNCOMPRESSED_POINT_BYTES =>
        {
            context.abort("single_key", &E_INVALID_PUBLIC_KEY_TYPE)
        }
        // An account with such a key could never sign again.
        key if key.unsupported_kind().is_some() => {
            context.abort("single_key", &E_INVALID_PUBLIC_KEY_TYPE)
        }
        _ => Ok(()),
    }
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "single_key",
        structs: vec![],
        functions: vec![],
        errors: ERRORS,
    }
}
