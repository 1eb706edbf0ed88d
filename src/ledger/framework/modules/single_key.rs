//! `0x1::single_key`: public keys that name their own kind.

use ledger_types::transaction::AnyPublicKey;
use ledger_vm::{Context, ModuleDeclaration, VmError, abort_codes};

abort_codes! {
    const ERRORS;
    pub E_INVALID_PUBLIC_KEY_TYPE = InvalidArgument 1
        "the key must be an ed25519, secp256k1 or secp256r1 key with its kind before it";
    pub E_INVALID_SINGLE_KEY_EXTRA_BYTES = InvalidArgument 2 "bytes follow the key";
}

/// The bytes of a secp256k1 or secp256r1 key: a point without compression.
const UNCOMPRESSED_POINT_BYTES: usize = 65;

/// Checks that `bytes` are a key in its BCS form.
///
/// # Errors
/// `E_INVALID_PUBLIC_KEY_TYPE` also where the key itself is malformed, `E_INVALID_SINGLE_KEY_EXTRA_BYTES`.
pub(super) fn check(context: &Context<'_>, bytes: &[u8]) -> Result<(), VmError> {
    match bcs::from_bytes::<AnyPublicKey>(bytes) {
        Ok(key) => check_size(context, &key),
        Err(bcs::Error::RemainingInput) => {
            context.abort("single_key", &E_INVALID_SINGLE_KEY_EXTRA_BYTES)
        }
        Err(_) => context.abort("single_key", &E_INVALID_PUBLIC_KEY_TYPE),
    }
}

/// Checks that a key is of a kind that can sign here, and the size of one whose BCS form leaves it open.
///
/// # Errors
/// `E_INVALID_PUBLIC_KEY_TYPE`.
pub(super) fn check_size(context: &Context<'_>, key: &AnyPublicKey) -> Result<(), VmError> {
    match key {
        AnyPublicKey::Secp256k1Ecdsa(point) | AnyPublicKey::Secp256r1Ecdsa(point)
            if point.len() != UNCOMPRESSED_POINT_BYTES =>
        {
            context.abort("single_key", &E_INVALID_PUBLIC_KEY_TYPE)
        }
        // An account with such a key could never sign again.
        key if key.unsupported().is_some() => {
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
