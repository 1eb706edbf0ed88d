//! Values with a string as their JSON form (docs/reference/rest-contract.md#s2-1).

use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, ModuleId, TypeTag};
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
pub(crate) trait SerializeText {
    /// Serializes the value as a string.
    fn serialize_text<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
}

impl SerializeText for u64 {
    fn serialize_text<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(itoa::Buffer::new().format(*self))
    }
}

impl SerializeText for u128 {
    fn serialize_text<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(itoa::Buffer::new().format(*self))
    }
}

impl SerializeText for AccountAddress {
    fn serialize_text<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text().as_str())
    }
}

impl SerializeText for HashValue {
    fn serialize_text<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text().as_str())
    }
}

impl SerializeText for ModuleId {
    fn serialize_text<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl SerializeText for TypeTag {
    fn serialize_text<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<T: SerializeText> SerializeText for &T {
    fn serialize_text<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize_text(serializer)
    }
}

impl<T: SerializeText> Serialize for JsonString<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize_text(serializer)
    }
}

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for JsonString<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(D::Error::custom)
    }
}
