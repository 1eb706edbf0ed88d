//! The OpenAPI 3.1 document of the interface, made from the rows of the route table.
//!
//! | to find | look in |
//! |---|---|
//! | what is said of one route | `../routes/`, beside its handler |
//! | of what such a description consists | `operation.rs`, `parameter.rs` |
//! | refusals that many routes share | `errors.rs` |
//! | how descriptions become a document | `document.rs` |
//! | how types of Rust become schemas | `schemas.rs` |
//!
//! A description is data, so that it can be compared with what the node does. The route table
//! rejects a handler that reads other parameters or another body than its operation declares
//! (`context/extract/`). Builds with debug assertions reject a response that the operation of the
//! route does not declare (`router.rs`).

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
