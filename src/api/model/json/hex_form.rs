//! Bytes as hexadecimal JSON strings: read with or without `0x`, written with it.

use bytes::Bytes;
use ledger_crypto::hex_text;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::str::FromStr;

/// Bytes of any length, in JSON a hexadecimal string.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct HexBytes(pub Bytes);

/// Bytes whose declared number is `N`, in JSON a hexadecimal string.
///
/// Deserialization accepts any number. [`Self::array`] checks it, because the reference node reports
/// another number as invalid input and not as malformed JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct HexArray<const N: usize>(HexBytes);

impl<const N: usize> HexArray<N> {
    pub fn new(bytes: [u8; N]) -> Self {
        Self(HexBytes(Bytes::copy_from_slice(&bytes)))
    }

    /// Returns the bytes, or their number as an error if it is not `N`.
    pub fn array(&self) -> Result<[u8; N], usize> {
        let Self(HexBytes(bytes)) = self;
        bytes[..].try_into().map_err(|_| bytes.len())
    }
}

/// Returns the text without its prefix `0x`, if it has one.
fn digits(text: &str) -> &str {
    text.strip_prefix("0x").unwrap_or(text)
}

impl Serialize for HexBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex_text(&self.0))
    }
}

impl FromStr for HexBytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = hex::decode(digits(text)).map_err(|cause| cause.to_string())?;
        Ok(Self(bytes.into()))
    }
}

impl<'de> Deserialize<'de> for HexBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}
