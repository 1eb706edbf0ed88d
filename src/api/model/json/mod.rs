//! JSON forms of the interface's values, as typed views that borrow their content
//! (docs/reference/rest-contract.md#s2-2, docs/reference/reference-node.md#r18).
//!
//! An optional member without a value is left out, and `type` may stand anywhere in an object
//! (docs/interface.md#rule-2).

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
mod type_name;
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
use type_name::TypeName;
pub(crate) use weight::{MEMORY_BYTES_MAX, memory_bytes};

use bytes::Bytes;
use ledger_crypto::{HashValue, hex_text};
use ledger_types::{AccountAddress, ModuleId, TypeTag};
use ledger_vm::{Chain, JsonView, SchemaError};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{fmt::Display, str::FromStr};

/// A value with a string as its JSON form: an integer of 64 bits or more, an address, a hash, or a
/// type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct JsonString<T>(pub T);

/// Conversion of a value to its JSON string.
///
/// Responses contain many numbers, addresses, and hashes, so their implementations bypass the
/// formatting of the standard library.
pub(crate) trait Printed {
    /// Serializes the value as a string.
    fn print<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
}

impl Printed for u64 {
    fn print<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(itoa::Buffer::new().format(*self))
    }
}

impl Printed for AccountAddress {
    fn print<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text().as_str())
    }
}

impl Printed for HashValue {
    fn print<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text().as_str())
    }
}

impl Printed for ModuleId {
    fn print<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Printed for TypeTag {
    fn print<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<T: Printed> Printed for &T {
    fn print<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).print(serializer)
    }
}

impl<T: Printed> Serialize for JsonString<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.print(serializer)
    }
}

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for JsonString<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(D::Error::custom)
    }
}

/// The JSON form of a BCS value, or its bytes in hexadecimal.
///
/// The hexadecimal form is for types that the framework does not declare and for bytes that do not
/// fit their type. The transaction around such a value remains readable.
pub(crate) enum ValueJson<'a> {
    Shown(JsonView<'a>),
    Hex(Bytes),
}

impl<'a> ValueJson<'a> {
    /// Creates the view of a value of type `tag`, which is `ValueJson::Hex` if `bytes` are not such
    /// a value.
    pub fn new(chain: &'a Chain, tag: &TypeTag, bytes: Bytes) -> Self {
        Self::shown_or_hex(chain.registry().json_view(tag, bytes.clone()), tag, bytes)
    }

    fn shown_or_hex(
        shown: Result<JsonView<'a>, SchemaError>,
        tag: impl Display,
        bytes: Bytes,
    ) -> Self {
        match shown {
            Ok(shown) => Self::Shown(shown),
            Err(cause) => {
                tracing::debug!(%cause, r#type = %tag, "showing a value as hex");
                Self::Hex(bytes)
            }
        }
    }
}

impl Serialize for ValueJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Shown(shown) => shown.serialize(serializer),
            Self::Hex(bytes) => serializer.serialize_str(&hex_text(bytes)),
        }
    }
}

#[cfg(test)]
mod tests;
