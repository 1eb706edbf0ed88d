//! Bytes as hexadecimal JSON strings: read with or without `0x`, written with it.

use bytes::Bytes;
use ledger_crypto::hex_text;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::str::FromStr;

/// Bytes of any length, in JSON a hexadecimal string.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct HexBytes(pub Bytes);

/// Exactly `N` bytes, in JSON a hexadecimal string. Deserialization rejects any other length.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct HexArray<const N: usize>(pub [u8; N]);

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

impl<const N: usize> Serialize for HexArray<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex_text(&self.0))
    }
}

impl<'de, const N: usize> Deserialize<'de> for HexArray<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = digits(&text);
        if digits.len() != 2 * N {
            return Err(D::Error::custom(format_args!(
                "expected {} hex digits, got {}",
                2 * N,
                digits.len()
            )));
        }
        let mut bytes = [0; N];
        hex::decode_to_slice(digits, &mut bytes).map_err(D::Error::custom)?;
        Ok(Self(bytes))
    }
}
