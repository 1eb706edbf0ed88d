//! The OpenAPI 3.1 document of the interface, made from the routes of the table.
//!
//! | to find | look in |
//! |---|---|
//! | the parts of an operation | `operation.rs`, `parameter.rs` |
//! | errors that several operations share | `errors.rs` |
//! | operations as a document | `document.rs` |
//! | Rust types as schemas | `schemas.rs` |
//!
//! The operation of a route is declared beside its handler in `routes/`. It is data that tests
//! compare with responses. The route table rejects a handler that reads other parameters or another
//! body than its operation declares (`context/extract/`). A build with debug assertions panics on a
//! response that the operation does not declare.

mod declared;
mod document;
pub(crate) mod errors;
pub(crate) mod operation;
pub(crate) mod parameter;
mod rendered;
pub(crate) mod schemas;
mod status;

pub use declared::DeclaredResponse;
pub(crate) use declared::declared_responses;
pub(crate) use document::{DocumentedRoute, document};
pub(crate) use operation::Operation;
pub(crate) use parameter::ParameterLocation;
pub(crate) use rendered::RenderedDocument;
pub(crate) use status::StatusCode;

#[cfg(test)]
mod tests;
