//! SHA3-256 hashes, and the domain prefix of each hashed type.
//!
//! The hash of a value of type `T` is `SHA3-256(seed(T) || bytes)` with
//! `seed(T) = SHA3-256("{VENDOR}::T")`. The prefix separates types: values of two types never have
//! the same hash.

use crate::{array_32, hex_text::HexText};
use serde::{Deserialize, Serialize};
use sha3::{Digest, Sha3_256};
use std::{
    fmt,
    hash::{Hash, Hasher},
    str::FromStr,
};

/// A SHA3-256 hash.
///
/// `Display` and `Debug` print `0x` and 64 lowercase digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct HashValue(#[serde(with = "crate::array_32")] [u8; 32]);

/// The error of parsing a text other than 64 hexadecimal digits with an optional `0x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a hash has exactly 64 hex digits")]
pub struct HashError;

impl HashValue {
    /// Length of a hash in bytes.
    pub const LENGTH: usize = 32;
    /// The hash with all bits zero: the parent hash of the genesis block.
    pub const ZERO: Self = Self([0; 32]);

    /// Creates a hash from its bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes of the hash.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the text of the hash, as `Display` prints it.
    pub fn text(&self) -> HexText {
        HexText::new(&self.0)
    }

    /// Returns SHA3-256 of the concatenated `parts`, without a domain prefix.
    pub fn sha3_of(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha3_256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }
}

impl Hash for HashValue {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        array_32::hash(&self.0, hasher);
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

/// The 32-byte domain prefix of one hashed type on one chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seed(HashValue);

impl Seed {
    /// Creates the seed of the type `type_name` on a chain with the uppercase vendor word `vendor`.
    pub fn new(vendor: &str, type_name: &str) -> Self {
        Self(HashValue::sha3_of(&[
            vendor.as_bytes(),
            b"::",
            type_name.as_bytes(),
        ]))
    }

    /// Returns the 32 bytes of the prefix. A signing message starts with them.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// Returns the hash of the concatenated `parts` under this prefix.
    pub fn hash(&self, parts: &[&[u8]]) -> HashValue {
        let mut hasher = Sha3_256::new();
        hasher.update(self.as_bytes());
        for part in parts {
            hasher.update(part);
        }
        HashValue(hasher.finalize().into())
    }

    /// Returns the hash of the BCS bytes of `value` under this prefix.
    ///
    /// # Panics
    ///
    /// Panics if `value` has no BCS form. All hashed types of the ledger have one.
    pub fn hash_bcs<T: Serialize>(&self, value: &T) -> HashValue {
        self.hash(&[&bcs::to_bytes(value).expect("types of this crate have a BCS form")])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derives_the_known_seed_of_raw_transactions() {
        let raw = Seed::new("APTOS", "RawTransaction");
        assert_eq!(
            hex::encode(raw.as_bytes()),
            "b5e97db07fa0bd0e5598aa3643a9bc6f6693bddc1a9fec9e674a461eaa00b193"
        );
    }

    #[test]
    fn parses_only_texts_with_all_digits() {
        let hash = HashValue::sha3_of(&[b"a"]);
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert_eq!(hash.to_string()[2..].parse(), Ok(hash));
        assert_eq!("0x12".parse::<HashValue>(), Err(HashError));
        assert_eq!("zz".repeat(32).parse::<HashValue>(), Err(HashError));
    }
}
