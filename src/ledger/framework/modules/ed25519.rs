//! `0x1::ed25519`: keys and signatures that come as arguments, and the form in which a struct is signed.

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

/// What is signed of a struct: its type's name before its fields, so that a signature over one type
/// says nothing of another.
#[derive(Serialize)]
struct SignedMessage<'a, T> {
    type_info: TypeInfo,
    inner: &'a T,
}

/// The bytes that are signed for `message`, whose type has no type arguments.
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

/// The public key that an argument is.
///
/// # Errors
/// `E_WRONG_PUBKEY_SIZE`.
pub(super) fn public_key(context: &Context<'_>, bytes: &[u8]) -> Result<Ed25519PublicKey, VmError> {
    match bytes.try_into() {
        Ok(bytes) => Ok(Ed25519PublicKey(bytes)),
        Err(_) => context.abort("ed25519", &E_WRONG_PUBKEY_SIZE),
    }
}

/// The signature that an argument is.
///
/// # Errors
/// `E_WRONG_SIGNATURE_SIZE`.
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
