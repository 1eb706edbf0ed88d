//! JSON form of a BCS value of any type.

use bytes::Bytes;
use ledger_crypto::hex_text;
use ledger_types::TypeTag;
use ledger_vm::{Chain, JsonView, SchemaError};
use serde::{Serialize, Serializer};
use std::fmt::Display;

/// The JSON form of a BCS value, or its bytes in hexadecimal.
///
/// The hexadecimal form is for types that the framework does not declare and for bytes that do not
/// fit their type. The transaction around such a value remains readable.
pub(crate) enum ValueJson<'a> {
    View(JsonView<'a>),
    Hex(Bytes),
}

impl<'a> ValueJson<'a> {
    /// Creates the view of a value of type `tag`, which is `ValueJson::Hex` if `bytes` are not such
    /// a value.
    pub fn new(chain: &'a Chain, tag: &TypeTag, bytes: Bytes) -> Self {
        Self::view_or_hex(chain.registry().json_view(tag, bytes.clone()), tag, bytes)
    }

    /// Creates the view from a conversion of `bytes`, or the hexadecimal form if it failed.
    pub fn view_or_hex(
        view: Result<JsonView<'a>, SchemaError>,
        tag: impl Display,
        bytes: Bytes,
    ) -> Self {
        match view {
            Ok(view) => Self::View(view),
            Err(cause) => {
                tracing::debug!(%cause, r#type = %tag, "rendering a value as hex");
                Self::Hex(bytes)
            }
        }
    }
}

impl Serialize for ValueJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::View(view) => view.serialize(serializer),
            Self::Hex(bytes) => serializer.serialize_str(&hex_text(bytes)),
        }
    }
}
