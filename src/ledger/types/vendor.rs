//! The vendor word: the name of the maker in headers, MIME types, hash domains, and framework
//! names.
//!
//! The word belongs to a chain and is fixed at genesis (docs/use/interface.md#vendor-word).

use ledger_crypto::Seed;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr, sync::Arc};

/// The vendor word of a chain, with the hash prefixes that it determines. Cheap to clone.
#[derive(Clone)]
pub struct Vendor(Arc<VendorParts>);

/// The forms of a vendor word, and the hash prefixes that contain it.
struct VendorParts {
    upper: String,
    lower: String,
    camel: String,
    seeds: Seeds,
}

/// The precomputed hash prefixes of all hashed types of a chain.
#[derive(Debug, Clone)]
pub struct Seeds {
    /// Prefix of signing messages with one signer.
    pub raw_transaction: Seed,
    /// Prefix of signing messages with several signers or a fee payer.
    pub raw_transaction_with_data: Seed,
    /// Prefix of transactions.
    pub transaction: Seed,
    /// Prefix of leaves of the transaction accumulator.
    pub transaction_info: Seed,
    /// Prefix of inner nodes of the transaction accumulator.
    pub transaction_accumulator: Seed,
    /// Prefix of the events of a transaction, for event root hashes.
    pub contract_events: Seed,
    /// Prefix of write sets, for state change hashes.
    pub write_set: Seed,
    /// Prefix of state keys.
    pub state_key: Seed,
    /// Prefix of block headers, for block hashes.
    pub block: Seed,
    /// Prefix of validators' votes.
    pub vote: Seed,
    /// Prefix of validators' proposals.
    pub proposal: Seed,
    /// Prefix of the public keys of all validators, for the genesis block.
    pub validators: Seed,
}

/// The error of parsing a word that headers, MIME types, or module names cannot contain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the vendor word is 1 to 16 letters A-Z, got {0:?}")]
pub struct VendorError(String);

impl Vendor {
    /// Default vendor word.
    pub const DEFAULT: &'static str = "NODE";
    /// Maximum length in letters. The word becomes part of header and module names.
    pub const LENGTH_MAX: usize = 16;

    /// Returns the word in uppercase, such as `APTOS` in `X-APTOS-...` and hash domains.
    pub fn upper(&self) -> &str {
        &self.0.upper
    }

    /// Returns the word in lowercase, such as `aptos` in `0x1::aptos_account` and MIME types.
    pub fn lower(&self) -> &str {
        &self.0.lower
    }

    /// Returns the word with an uppercase initial, such as `Aptos` in `AptosCoin`.
    pub fn camel(&self) -> &str {
        &self.0.camel
    }

    /// Returns the symbol of the chain's coin: the word in uppercase, or `APT` for `APTOS`, because
    /// wallets know this coin as APT.
    pub fn coin_symbol(&self) -> &str {
        match self.upper() {
            "APTOS" => "APT",
            word => word,
        }
    }

    /// Returns the hash prefixes of the chain.
    pub fn seeds(&self) -> &Seeds {
        &self.0.seeds
    }
}

impl FromStr for Vendor {
    type Err = VendorError;

    /// Parses a word, ignoring case.
    ///
    /// # Errors
    ///
    /// Returns [`VendorError`] if `text` is not 1 to 16 letters A-Z.
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
            contract_events: seed("ContractEvents"),
            write_set: seed("WriteSet"),
            state_key: seed("StateKey"),
            block: seed("Block"),
            vote: seed("Vote"),
            proposal: seed("Proposal"),
            validators: seed("Validators"),
        };
        Ok(Self(Arc::new(VendorParts {
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
    fn derives_upper_lower_and_camel_case() {
        let vendor: Vendor = "aptOS".parse().unwrap();
        assert_eq!(
            (vendor.upper(), vendor.lower(), vendor.camel()),
            ("APTOS", "aptos", "Aptos")
        );
    }

    #[test]
    fn names_the_coin_as_wallets_know_it() {
        for (word, symbol) in [("APTOS", "APT"), ("NODE", "NODE")] {
            let vendor: Vendor = word.parse().unwrap();
            assert_eq!(vendor.coin_symbol(), symbol);
        }
    }

    #[test]
    fn rejects_words_that_names_cannot_contain() {
        for text in ["", "A_B", "A1", "ÄB", "ABCDEFGHIJKLMNOPQ"] {
            assert!(text.parse::<Vendor>().is_err(), "{text}");
        }
    }
}
