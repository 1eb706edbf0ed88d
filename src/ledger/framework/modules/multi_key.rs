//! `0x1::multi_key`: sets of public keys of any kind, with the number of signatures required.

use super::single_key;
use ledger_types::transaction::MultiKey;
use ledger_vm::{Context, ModuleDeclaration, VmError, abort_codes};

abort_codes! {
    const ERRORS;
    pub E_INVALID_MULTI_KEY_NO_KEYS = InvalidArgument 1 "a set of keys needs a key";
    pub E_INVALID_MULTI_KEY_TOO_MANY_KEYS = InvalidArgument 2 "a set has at most 32 keys";
    pub E_INVALID_MULTI_KEY_SIGNATURES_REQUIRED = InvalidArgument 3
        "the signatures required must be between 1 and the number of keys";
    pub E_INVALID_MULTI_KEY_EXTRA_BYTES = InvalidArgument 4 "bytes follow the set of keys";
}

/// Maximum number of keys in a set.
const KEYS_MAX: usize = 32;

/// Checks that `bytes` are the BCS form of a set of keys.
///
/// # Errors
///
/// Aborts with one of these codes:
///
/// * `E_INVALID_PUBLIC_KEY_TYPE` of `single_key` if `bytes` are not a set of keys, or if a key
///   cannot sign on this ledger or has a wrong length.
/// * `E_INVALID_MULTI_KEY_EXTRA_BYTES` if bytes follow the set.
/// * `E_INVALID_MULTI_KEY_NO_KEYS` if the set is empty.
/// * `E_INVALID_MULTI_KEY_TOO_MANY_KEYS` if the set has more than [`KEYS_MAX`] keys.
/// * `E_INVALID_MULTI_KEY_SIGNATURES_REQUIRED` if the number of signatures required is 0 or exceeds
///   the number of keys.
pub(super) fn check(context: &Context<'_>, bytes: &[u8]) -> Result<(), VmError> {
    let set: MultiKey = match bcs::from_bytes(bytes) {
        Ok(set) => set,
        Err(bcs::Error::RemainingInput) => {
            return context.abort("multi_key", &E_INVALID_MULTI_KEY_EXTRA_BYTES);
        }
        Err(_) => return context.abort("single_key", &single_key::E_INVALID_PUBLIC_KEY_TYPE),
    };
    let required = usize::from(set.signatures_required);
    if set.public_keys.is_empty() {
        return context.abort("multi_key", &E_INVALID_MULTI_KEY_NO_KEYS);
    }
    if set.public_keys.len() > KEYS_MAX {
        return context.abort("multi_key", &E_INVALID_MULTI_KEY_TOO_MANY_KEYS);
    }
    if required == 0 || required > set.public_keys.len() {
        return context.abort("multi_key", &E_INVALID_MULTI_KEY_SIGNATURES_REQUIRED);
    }
    set.public_keys
        .iter()
        .try_for_each(|key| single_key::check_size(context, key))
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "multi_key",
        structs: vec![],
        functions: vec![],
        errors: ERRORS,
    }
}
