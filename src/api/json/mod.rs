//! The JSON shapes of the interface (sections 2.2 to 2.7; rest-behaviour section 4), as typed
//! views that borrow what they show.
//!
//! Decided in design section 8: an optional field without a value is left out; `type` stands where
//! it falls, as the order of members has no meaning.

mod block;
mod by_name;
mod call;
mod changes;
mod events;
mod hex_form;
mod payload;
mod request;
mod signature;
mod submission;
mod summary;
mod text_schema;
mod transaction;
mod weight;

pub(crate) use block::BlockJson;
pub(crate) use call::CallRequest;
pub(crate) use changes::{ModuleJson, ResourceJson};
pub(crate) use events::{EventHandleJson, VersionedEventJson};
pub(crate) use hex_form::HexBytes;
pub(crate) use request::PendingJson;
use request::RequestJson;
pub use request::submission_json;
pub use submission::submission_from_json;
pub(crate) use submission::{SubmitRequest, TransactionRequest};
pub(crate) use summary::SummaryJson;
pub(crate) use transaction::{CommittedJson, TransactionJson};
pub(crate) use weight::{MEMORY_BYTES_MAX, memory_bytes};

use ledger::{Chain, TypeTag};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::Value;
use std::{fmt::Display, str::FromStr};

/// A value that JSON carries as the text it prints as: numbers of 64 bits and more, addresses,
/// hashes, types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Text<T>(pub T);

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(D::Error::custom)
    }
}

/// Bytes as `0x` and two digits each.
pub(crate) fn hex_text(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

/// The JSON form of a BCS value, or its bytes in hex where the framework does not know the type:
/// one value that cannot be shown must not hide the transaction around it.
pub(crate) fn value_or_hex(chain: &Chain, tag: &TypeTag, bytes: &[u8]) -> Value {
    match chain.framework().value_to_json(tag, bytes) {
        Ok(value) => value,
        Err(cause) => {
            tracing::debug!(%cause, r#type = %tag, "showing a value as hex");
            Value::String(hex_text(bytes))
        }
    }
}

#[cfg(test)]
mod tests;
