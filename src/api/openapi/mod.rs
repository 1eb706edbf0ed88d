//! The OpenAPI 3.1 document of the interface, made from the rows of the route table.
//!
//! | to find | look in |
//! |---|---|
//! | what is said of one route | `../routes/operations/`, one function per route |
//! | of what such a description consists | `operation.rs`, `parameter.rs` |
//! | refusals that many routes share | `errors.rs` |
//! | how descriptions become a document | `document.rs` |
//! | how types of Rust become schemas | `schemas.rs` |
//!
//! A description is data, so that it can be held to what the node does: builds with debug assertions refuse
//! to answer with what the operation of the route does not declare (`router.rs`), and to read a parameter
//! that it does not declare (`context/request.rs`).

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
