//! Type tags: the names of types in transactions, paths and state keys (`tag`), and their text form
//! (`parse`).

mod parse;
mod tag;

pub use parse::TypeParseError;
pub use tag::{
    FunctionId, FunctionIdError, Identifier, IdentifierError, ModuleId, StructTag, TYPE_DEPTH_MAX,
    TypeTag,
};
