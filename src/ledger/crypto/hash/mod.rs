//! SHA3-256 values and the domain prefix that every hashed type carries.
//!
//! A hash of a value of type `T` is `SHA3-256(seed(T) || bytes)` with
//! `seed(T) = SHA3-256("{VENDOR}::T")`, so that values of two types never share a hash.

mod batch;
mod permutation;

pub use batch::HashBatch;

use crate::hex_text::HexText;
use serde::{Deserialize, Serialize};
use sha3::{Digest, Sha3_256};
use std::{fmt, str::FromStr};

/// A SHA3-256 hash; prints as `0x` and 64 lower-case digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct HashValue(#[serde(with = "crate::array_32")] [u8; 32]);

/// Text that is not a hash: hashes have exactly 64 hex digits, with or without `0x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a hash has exactly 64 hex digits")]
pub struct HashError;

impl HashValue {
    /// The length of a hash in bytes.
    pub const LENGTH: usize = 32;
    /// All zero: the parent of the genesis block.
    pub const ZERO: Self = Self([0; 32]);

    /// The hash whose bytes are given.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// As it prints.
    pub fn text(&self) -> HexText {
        HexText::new(&self.0)
    }

    /// SHA3-256 of the parts, one after the other, without any prefix.
    pub fn sha3_of(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha3_256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }
}

impl FromStr for HashValue {
    type Err = HashError;

    fn from_str(text: &str) -> Result<Self, HashError> {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let mut bytes = [0u8; 32];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_| HashError)?;
        Ok(Self(bytes))
    }
}

impl fmt::Display for HashValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().as_str())
    }
}

impl fmt::Debug for HashValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The domain prefix of one hashed type on one chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seed(HashValue);

impl Seed {
    /// The seed of the type `type_name` on a chain whose upper-case vendor word is `vendor`.
    pub fn new(vendor: &str, type_name: &str) -> Self {
        Self(HashValue::sha3_of(&[
            vendor.as_bytes(),
            b"::",
            type_name.as_bytes(),
        ]))
    }

    /// The 32 bytes of the prefix; a signing message starts with them.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// The hash of `parts`, one after the other, under this prefix.
    pub fn hash(&self, parts: &[&[u8]]) -> HashValue {
        let mut hasher = Sha3_256::new();
        hasher.update(self.as_bytes());
        for part in parts {
            hasher.update(part);
        }
        HashValue(hasher.finalize().into())
    }

    /// The hash of the BCS bytes of `value` under this prefix.
    ///
    /// # Panics
    /// When `value` cannot be written as BCS, which no type of this crate does.
    pub fn hash_bcs<T: Serialize>(&self, value: &T) -> HashValue {
        self.hash(&[&bcs::to_bytes(value).expect("types of this crate have a BCS form")])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_seeds() {
        let raw = Seed::new("APTOS", "RawTransaction");
        assert_eq!(
            hex::encode(raw.as_bytes()),
            "b5e97db07fa0bd0e5598aa3643a9bc6f6693bddc1a9fec9e674a461eaa00b193"
        );
    }

    #[test]
    fn text_needs_all_digits() {
        let hash = HashValue::sha3_of(&[b"a"]);
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert_eq!(hash.to_string()[2..].parse(), Ok(hash));
        assert_eq!("0x12".parse::<HashValue>(), Err(HashError));
        assert_eq!("zz".repeat(32).parse::<HashValue>(), Err(HashError));
    }
}
