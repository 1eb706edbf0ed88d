//! Genesis data: the parameters and accounts that a chain starts with.

use crate::{AccountAddress, Parameters, UpgradeError, Vendor};
use ledger_crypto::{Ed25519PrivateKey, HashValue};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt};

/// Everything that decides a chain's first state; the form of the genesis file (TOML).
///
/// Two nodes with the same genesis have the same genesis block hash.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Genesis {
    /// The chain id.
    pub chain_id: u8,
    /// The vendor word.
    #[serde(default)]
    pub vendor: Vendor,
    /// Whether this chain is for development only: its keys are known, and a faucet may run.
    #[serde(default)]
    pub development: bool,
    /// The seed of the faucet's private key, in hex; only on a development chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faucet_private_key: Option<String>,
    /// Bounds and prices.
    #[serde(default)]
    pub parameters: Parameters,
    /// Who holds what at the start.
    #[serde(default)]
    pub accounts: Vec<GenesisAccount>,
}

/// An account of genesis.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenesisAccount {
    /// Its address, in hex.
    #[serde(with = "text")]
    pub address: AccountAddress,
    /// What it holds, in the coin's smallest unit.
    pub balance: u64,
    /// Which key may sign for it; absent: the key whose hash is the address.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "text::optional"
    )]
    pub authentication_key: Option<HashValue>,
}

/// A genesis that cannot start a chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenesisError {
    /// An address stands twice among the accounts, or is reserved for the framework.
    #[error("genesis: account {0} is listed twice or reserved")]
    Account(AccountAddress),
    /// The faucet key is no 32-byte seed, or is given on a chain that is not for development.
    #[error("genesis: {0}")]
    FaucetKey(&'static str),
    /// The parameters contradict each other.
    #[error("genesis: {0}")]
    Parameters(&'static str),
    /// The framework cannot be switched on as the parameters say.
    #[error("genesis: {0}")]
    Upgrades(#[from] UpgradeError),
}

impl fmt::Debug for Genesis {
    /// Without the faucet's key, so that no log can hold it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Genesis")
            .field("chain_id", &self.chain_id)
            .field("vendor", &self.vendor)
            .field("development", &self.development)
            .field("parameters", &self.parameters)
            .field("accounts", &self.accounts)
            .finish_non_exhaustive()
    }
}

impl Genesis {
    /// Checks that the genesis can start a chain in a program whose newest version of the framework is
    /// `newest_version`.
    ///
    /// # Errors
    /// The variant of the first contradiction.
    pub fn check(&self, newest_version: u64) -> Result<(), GenesisError> {
        if self.faucet_private_key.is_some() && !self.development {
            return Err(GenesisError::FaucetKey(
                "a faucet key is only for development chains",
            ));
        }
        if self.faucet_private_key.is_some() && self.faucet_key().is_none() {
            return Err(GenesisError::FaucetKey(
                "the faucet key is not 64 hex digits",
            ));
        }
        self.check_parameters().map_err(GenesisError::Parameters)?;
        self.parameters.check_upgrades(newest_version)?;
        let mut addresses = BTreeSet::new();
        let refused = |account: &&GenesisAccount| {
            account.address.is_reserved() || !addresses.insert(account.address)
        };
        if let Some(account) = self.accounts.iter().find(refused) {
            return Err(GenesisError::Account(account.address));
        }
        Ok(())
    }

    fn check_parameters(&self) -> Result<(), &'static str> {
        let parameters = &self.parameters;
        if self.chain_id == 0 {
            Err("chain_id is 1 to 255")
        } else if parameters.gas_unit_price_min > parameters.gas_unit_price_max {
            Err("gas_unit_price_min is above gas_unit_price_max")
        } else if parameters.max_gas_amount < MAX_GAS_AMOUNT_MIN {
            Err("max_gas_amount is too low for any transfer: it must be 1000 or more")
        } else if parameters.transaction_bytes_max < TRANSACTION_BYTES_MIN {
            Err("transaction_bytes_max is too low for any transfer: it must be 512 or more")
        } else if parameters.block_gas_max < BLOCK_GAS_MIN {
            Err("block_gas_max is too low: it must be 1000 or more")
        } else if parameters.block_output_bytes_max < BLOCK_OUTPUT_BYTES_MIN {
            Err("block_output_bytes_max is too low: it must be 16384 or more")
        } else {
            Ok(())
        }
    }

    /// The faucet's private key, on a development chain that has one.
    pub fn faucet_key(&self) -> Option<Ed25519PrivateKey> {
        if !self.development {
            return None;
        }
        let digits = self.faucet_private_key.as_deref()?;
        let mut seed = [0; 32];
        hex::decode_to_slice(digits.strip_prefix("0x").unwrap_or(digits), &mut seed).ok()?;
        Some(Ed25519PrivateKey::from_seed(&seed))
    }
}

/// With less than this allowed, not even a transfer between accounts could be paid for.
const MAX_GAS_AMOUNT_MIN: u64 = 1_000;
/// With less than this allowed, not even a signed transfer would fit.
const TRANSACTION_BYTES_MIN: u64 = 512;
/// With less, a block would hold hardly more than a dozen transfers.
const BLOCK_GAS_MIN: u64 = 1_000;
/// With less, a block would hold hardly more than a dozen transfers.
const BLOCK_OUTPUT_BYTES_MIN: u64 = 16 * 1024;

/// Values that the genesis file holds as text, in the form in which they print.
mod text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::{fmt::Display, str::FromStr};

    pub fn serialize<T: Display, S: Serializer>(value: &T, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(value)
    }

    pub fn deserialize<'de, T, D>(d: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        String::deserialize(d)?.parse().map_err(D::Error::custom)
    }

    /// The same where the value may be absent.
    pub mod optional {
        use serde::{Deserialize, Deserializer, Serializer, de::Error};
        use std::{fmt::Display, str::FromStr};

        pub fn serialize<T: Display, S: Serializer>(
            value: &Option<T>,
            s: S,
        ) -> Result<S::Ok, S::Error> {
            match value {
                Some(value) => s.collect_str(value),
                None => s.serialize_none(),
            }
        }

        pub fn deserialize<'de, T, D>(d: D) -> Result<Option<T>, D::Error>
        where
            T: FromStr<Err: Display>,
            D: Deserializer<'de>,
        {
            let text = Option::<String>::deserialize(d)?;
            text.map(|text| text.parse().map_err(D::Error::custom))
                .transpose()
        }
    }
}
