//! Declarations of modules: structs, functions, and abort codes, as data made from Rust types.

mod abort_codes;
mod functions;
mod structs;
mod type_signature;

pub use abort_codes::{Category, ErrorConstant};
pub(crate) use functions::FunctionKind;
pub use functions::{Function, Inputs, Signer, Values};
pub use structs::{
    Constraints, ModuleDeclaration, MoveStruct, MoveType, StructDeclaration, decode_resource,
};
pub use type_signature::{TypeSignature, with_vendor};
