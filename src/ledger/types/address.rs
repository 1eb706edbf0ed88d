//! Account addresses: 32 bytes, printed in hexadecimal (docs/reference/rest-contract.md#s2-1).

use ledger_crypto::{Ed25519PublicKey, HexText, array_32, hex_text};
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    hash::{Hash, Hasher},
    str::FromStr,
};

/// A 32-byte account address.
///
/// `Display` omits leading zeros (`0x1`), as the API does in JSON. [`AccountAddress::to_long_hex`]
/// returns all 64 digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct AccountAddress(#[serde(with = "ledger_crypto::array_32")] [u8; 32]);

/// The error of parsing a text that is not an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The text has no digit after the optional prefix.
    #[error("an address needs at least one hex digit")]
    Empty,
    /// The text has more than 64 digits. The value is their number.
    #[error("an address has at most 64 hex digits, got {0}")]
    TooLong(usize),
    /// A character is not a hexadecimal digit.
    #[error("an address holds hex digits only")]
    NotHex,
}

impl AccountAddress {
    /// Length of an address in bytes.
    pub const LENGTH: usize = 32;
    /// The address `0x0`.
    pub const ZERO: Self = Self([0; 32]);
    /// The address `0x1`, which publishes the framework.
    pub const ONE: Self = Self::from_low_u64(1);
    /// The address `0xa`, which holds the metadata of the chain's coin as a fungible asset.
    pub const NATIVE_ASSET: Self = Self::from_low_u64(0xa);

    /// Creates an address from its bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the address of an account that is created from `key`.
    pub fn from_public_key(key: &Ed25519PublicKey) -> Self {
        Self(*key.authentication_key().as_bytes())
    }

    /// Creates the address with `value` in its last eight bytes, big-endian, after 24 zero bytes.
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

    /// Returns whether the address belongs to the framework. A reserved address cannot become an
    /// account.
    pub fn is_reserved(&self) -> bool {
        const RESERVED: [AccountAddress; 4] = [
            AccountAddress::ZERO,
            AccountAddress::ONE,
            AccountAddress::from_low_u64(3),
            AccountAddress::NATIVE_ASSET,
        ];
        RESERVED.contains(self)
    }

    /// Returns the bytes of the address.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the text that `Display` prints: `0x` and lowercase digits without leading zeros.
    pub fn text(&self) -> HexText {
        HexText::without_leading_zeros(&self.0)
    }

    /// Returns `0x` and all 64 lowercase digits.
    pub fn to_long_hex(&self) -> String {
        hex_text(&self.0)
    }
}

impl Hash for AccountAddress {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        array_32::hash(&self.0, hasher);
    }
}

impl From<[u8; 32]> for AccountAddress {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl FromStr for AccountAddress {
    type Err = AddressError;

    /// Parses an address of 1 to 64 digits, with or without `0x`
    /// (docs/reference/rest-contract.md#s2-1).
    ///
    /// # Errors
    ///
    /// * [`AddressError::Empty`] if `text` has no digit after the optional prefix.
    /// * [`AddressError::TooLong`] if it has more than 64 bytes after the prefix.
    /// * [`AddressError::NotHex`] if a character is not a hexadecimal digit.
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
    fn parses_any_length_with_or_without_prefix() {
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
    fn rejects_texts_that_are_not_addresses() {
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
        fn parses_the_printed_text(bytes: [u8; 32]) {
            let address = AccountAddress::new(bytes);
            prop_assert_eq!(address.to_string().parse(), Ok(address));
            prop_assert_eq!(address.to_long_hex().parse(), Ok(address));
        }
    }
}
