//! Account addresses: 32 bytes, printed in hexadecimal (docs/reference/rest-contract.md#s2-1).

use ledger_crypto::{Ed25519PublicKey, HexText, hex_text};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A 32-byte account address.
///
/// `Display` strips leading zeros (`0x1`), as the interface does in JSON; [`AccountAddress::to_long_hex`]
/// gives all 64 digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct AccountAddress(#[serde(with = "ledger_crypto::array_32")] [u8; 32]);

/// Text that is not an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// No digit after the optional prefix.
    #[error("an address needs at least one hex digit")]
    Empty,
    /// More than 64 digits.
    #[error("an address has at most 64 hex digits, got {0}")]
    TooLong(usize),
    /// A character that is no hex digit.
    #[error("an address holds hex digits only")]
    NotHex,
}

impl AccountAddress {
    /// The length of an address in bytes.
    pub const LENGTH: usize = 32;
    /// `0x0`.
    pub const ZERO: Self = Self([0; 32]);
    /// `0x1`, where the framework lives.
    pub const ONE: Self = Self::from_low_u64(1);
    /// `0xa`, the metadata address of the chain's own coin as a fungible asset.
    pub const NATIVE_ASSET: Self = Self::from_low_u64(0xa);

    /// The address whose bytes are given.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the address of an account that is created from `key`.
    pub fn from_public_key(key: &Ed25519PublicKey) -> Self {
        Self(*key.authentication_key().as_bytes())
    }

    /// The address whose last eight bytes are `value` in big endian; the rest is zero.
    pub const fn from_low_u64(value: u64) -> Self {
        let low = value.to_be_bytes();
        let mut bytes = [0u8; 32];
        let mut i = 0;
        while i < 8 {
            bytes[24 + i] = low[i];
            i += 1;
        }
        Self(bytes)
    }

    /// Whether the address belongs to the framework, so that no account can be made there.
    pub fn is_reserved(&self) -> bool {
        const RESERVED: [AccountAddress; 4] = [
            AccountAddress::ZERO,
            AccountAddress::ONE,
            AccountAddress::from_low_u64(3),
            AccountAddress::NATIVE_ASSET,
        ];
        RESERVED.contains(self)
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// As it prints: `0x` and its lower-case digits without leading zeros.
    pub fn text(&self) -> HexText {
        HexText::short(&self.0)
    }

    /// `0x` and all 64 lower-case digits.
    pub fn to_long_hex(&self) -> String {
        hex_text(&self.0)
    }
}

impl From<[u8; 32]> for AccountAddress {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl FromStr for AccountAddress {
    type Err = AddressError;

    /// Parses an address of 1 to 64 digits, with or without `0x` (docs/reference/rest-contract.md#s2-1).
    fn from_str(text: &str) -> Result<Self, AddressError> {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        if digits.is_empty() {
            return Err(AddressError::Empty);
        }
        if digits.len() > 64 {
            return Err(AddressError::TooLong(digits.len()));
        }
        let mut padded = [b'0'; 64];
        padded[64 - digits.len()..].copy_from_slice(digits.as_bytes());
        let mut bytes = [0u8; 32];
        hex::decode_to_slice(padded, &mut bytes).map_err(|_| AddressError::NotHex)?;
        Ok(Self(bytes))
    }
}

impl fmt::Display for AccountAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().as_str())
    }
}

impl fmt::Debug for AccountAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prefix_and_length_are_free() {
        let one = AccountAddress::ONE;
        for text in [
            "0x1",
            "1",
            "01",
            "0x0001",
            &one.to_long_hex(),
            &one.to_long_hex()[2..],
        ] {
            assert_eq!(text.parse::<AccountAddress>(), Ok(one), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_address() {
        assert_eq!("".parse::<AccountAddress>(), Err(AddressError::Empty));
        assert_eq!("0x".parse::<AccountAddress>(), Err(AddressError::Empty));
        assert_eq!("0xg".parse::<AccountAddress>(), Err(AddressError::NotHex));
        assert_eq!("é".parse::<AccountAddress>(), Err(AddressError::NotHex));
        assert_eq!(
            "0".repeat(65).parse::<AccountAddress>(),
            Err(AddressError::TooLong(65))
        );
    }

    proptest! {
        #[test]
        fn text_round_trip(bytes: [u8; 32]) {
            let address = AccountAddress::new(bytes);
            prop_assert_eq!(address.to_string().parse(), Ok(address));
            prop_assert_eq!(address.to_long_hex().parse(), Ok(address));
        }
    }
}
