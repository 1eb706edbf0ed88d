//! The vendor word: the maker's name that the interface carries in headers, MIME types, hash
//! domains and framework names. It is a value of a chain, fixed at genesis
//! (docs/interface.md#rule-23).

use ledger_crypto::Seed;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr, sync::Arc};

/// The vendor word of a chain with the hash prefixes that follow from it. Cheap to clone.
#[derive(Clone)]
pub struct Vendor(Arc<Parts>);

struct Parts {
    upper: String,
    lower: String,
    camel: String,
    seeds: Seeds,
}

/// The hash prefix of every hashed type of a chain, computed once.
#[derive(Debug, Clone)]
pub struct Seeds {
    /// Signing messages of one signer.
    pub raw_transaction: Seed,
    /// Signing messages of several signers or with a fee payer.
    pub raw_transaction_with_data: Seed,
    /// Transaction hashes.
    pub transaction: Seed,
    /// Leaves of the transaction accumulator.
    pub transaction_info: Seed,
    /// Inner nodes of the transaction accumulator.
    pub transaction_accumulator: Seed,
    /// Leaves of a transaction's event tree.
    pub contract_event: Seed,
    /// Inner nodes of a transaction's event tree.
    pub event_accumulator: Seed,
    /// State change hashes.
    pub write_set: Seed,
    /// Keys of the state.
    pub state_key: Seed,
    /// Block hashes.
    pub block: Seed,
}

/// A word that cannot stand in headers, MIME types and module names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the vendor word is 1 to 16 letters A-Z, got {0:?}")]
pub struct VendorError(String);

impl Vendor {
    /// The word used where none is configured.
    pub const DEFAULT: &'static str = "NODE";
    /// The longest word; it stands in header and module names.
    pub const LENGTH_MAX: usize = 16;

    /// `APTOS` in `X-APTOS-...` and hash domains.
    pub fn upper(&self) -> &str {
        &self.0.upper
    }

    /// `aptos` in `0x1::aptos_account` and MIME types.
    pub fn lower(&self) -> &str {
        &self.0.lower
    }

    /// `Aptos` in `AptosCoin`.
    pub fn camel(&self) -> &str {
        &self.0.camel
    }

    /// The hash prefixes of the chain.
    pub fn seeds(&self) -> &Seeds {
        &self.0.seeds
    }
}

impl FromStr for Vendor {
    type Err = VendorError;

    /// Reads the word in any case.
    fn from_str(text: &str) -> Result<Self, VendorError> {
        let letters_only = text.bytes().all(|b| b.is_ascii_alphabetic());
        if text.is_empty() || text.len() > Self::LENGTH_MAX || !letters_only {
            return Err(VendorError(text.chars().take(40).collect()));
        }
        let upper = text.to_ascii_uppercase();
        let lower = text.to_ascii_lowercase();
        let camel = format!("{}{}", &upper[..1], &lower[1..]);
        let seed = |name| Seed::new(&upper, name);
        let seeds = Seeds {
            raw_transaction: seed("RawTransaction"),
            raw_transaction_with_data: seed("RawTransactionWithData"),
            transaction: seed("Transaction"),
            transaction_info: seed("TransactionInfo"),
            transaction_accumulator: seed("TransactionAccumulator"),
            contract_event: seed("ContractEvent"),
            event_accumulator: seed("EventAccumulator"),
            write_set: seed("WriteSet"),
            state_key: seed("StateKey"),
            block: seed("Block"),
        };
        Ok(Self(Arc::new(Parts {
            upper,
            lower,
            camel,
            seeds,
        })))
    }
}

impl Default for Vendor {
    fn default() -> Self {
        Self::DEFAULT.parse().expect("the default word is valid")
    }
}

impl PartialEq for Vendor {
    fn eq(&self, other: &Self) -> bool {
        self.upper() == other.upper()
    }
}

impl Eq for Vendor {}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.upper())
    }
}

impl fmt::Debug for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.upper())
    }
}

impl Serialize for Vendor {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.upper())
    }
}

impl<'de> Deserialize<'de> for Vendor {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let vendor: Vendor = "aptOS".parse().unwrap();
        assert_eq!(
            (vendor.upper(), vendor.lower(), vendor.camel()),
            ("APTOS", "aptos", "Aptos")
        );
    }

    #[test]
    fn refuses_what_cannot_stand_in_a_name() {
        for text in ["", "A_B", "A1", "ÄB", "ABCDEFGHIJKLMNOPQ"] {
            assert!(text.parse::<Vendor>().is_err(), "{text}");
        }
    }
}
