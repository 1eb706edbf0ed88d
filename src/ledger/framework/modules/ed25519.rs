//! `0x1::ed25519`: public keys and signatures as arguments, and the signed form of a struct.

use super::type_info::TypeInfo;
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature};
use ledger_vm::{
    Context, ModuleDeclaration, ModuleRegistry, MoveStruct, MoveType, StructDeclaration,
    TypeSignature, VmError, abort_codes,
};
use serde::Serialize;

abort_codes! {
    const ERRORS;
    pub E_WRONG_PUBKEY_SIZE = InvalidArgument 1 "an ed25519 public key has 32 bytes";
    pub E_WRONG_SIGNATURE_SIZE = InvalidArgument 2 "an ed25519 signature has 64 bytes";
}

/// The signed form of a struct.
///
/// The name of the type precedes the fields, so that a signature for one type is invalid for
/// another.
#[derive(Serialize)]
struct SignedMessage<'a, T> {
    type_info: TypeInfo,
    inner: &'a T,
}

/// Returns the bytes to sign for `message`, whose type must have no type arguments.
pub(crate) fn signed_bytes<T: MoveStruct>(registry: &ModuleRegistry, message: &T) -> Vec<u8> {
    let tag = registry.tag_of::<T>(&[]);
    let signed = SignedMessage {
        type_info: TypeInfo {
            account_address: tag.address,
            module_name: tag.module.as_str().as_bytes().to_vec(),
            struct_name: tag.name.as_str().as_bytes().to_vec(),
        },
        inner: message,
    };
    bcs::to_bytes(&signed).expect("declared types have a BCS form")
}

/// Converts an argument to a public key.
///
/// # Errors
///
/// Aborts with `E_WRONG_PUBKEY_SIZE` if `bytes` does not have 32 bytes.
pub(super) fn public_key(context: &Context<'_>, bytes: &[u8]) -> Result<Ed25519PublicKey, VmError> {
    match bytes.try_into() {
        Ok(bytes) => Ok(Ed25519PublicKey(bytes)),
        Err(_) => context.abort("ed25519", &E_WRONG_PUBKEY_SIZE),
    }
}

/// Converts an argument to a signature.
///
/// # Errors
///
/// Aborts with `E_WRONG_SIGNATURE_SIZE` if `bytes` does not have 64 bytes.
pub(super) fn signature(context: &Context<'_>, bytes: &[u8]) -> Result<Ed25519Signature, VmError> {
    match bytes.try_into() {
        Ok(bytes) => Ok(Ed25519Signature(bytes)),
        Err(_) => context.abort("ed25519", &E_WRONG_SIGNATURE_SIZE),
    }
}

pub(super) fn module() -> ModuleDeclaration {
    let signed_message = StructDeclaration::new(
        "SignedMessage",
        &["drop"],
        vec![
            ("type_info", TypeInfo::signature()),
            ("inner", TypeSignature::Parameter(0)),
        ],
    )
    .with_type_parameters(&[&[]]);
    ModuleDeclaration {
        name: "ed25519",
        structs: vec![signed_message],
        functions: vec![],
        errors: ERRORS,
    }
}
