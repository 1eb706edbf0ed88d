//! JSON forms of the interface's values, as typed views that borrow their content
//! (docs/reference/rest-contract.md#s2-2, docs/reference/reference-node.md#r18).
//!
//! An optional member without a value is omitted, and `type` may be at any position in an object
//! (docs/use/interface.md#absent-members).

mod block;
mod call;
mod certificate;
mod changes;
mod events;
mod function;
mod hex_form;
mod json_string;
mod parse;
mod parse_memory;
mod payload;
mod request;
mod signature;
mod strict;
mod submission;
mod summary;
mod tagged;
mod text_schema;
mod transaction;
mod type_first;
mod type_name;
mod value;

pub(crate) use block::BlockJson;
pub(crate) use call::CallRequest;
pub(crate) use certificate::BlockCertificateJson;
pub(crate) use changes::{ModuleJson, ResourceJson};
pub(crate) use events::{EventHandleJson, VersionedEventJson};
pub(crate) use hex_form::HexBytes;
pub(crate) use json_string::JsonString;
pub use parse::parse_body;
pub(crate) use parse::parse_json;
pub(crate) use request::PendingJson;
use request::RequestJson;
pub use request::submission_json;
pub use submission::submission_from_json;
pub(crate) use submission::{EncodeRequest, SubmitRequest};
pub(crate) use summary::SummaryJson;
pub(crate) use transaction::{CommittedJson, TransactionJson};
use type_name::TypeName;
pub(crate) use value::ValueJson;

#[cfg(test)]
mod tests;
