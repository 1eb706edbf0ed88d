//! Genesis: the state that a chain starts with, from a file or as a development chain.

use crate::{AccountAddress, Chain, ExecutedBlock, HashValue, Parameters, Vendor, crypto::Ed25519PrivateKey};
use serde::{Deserialize, Serialize};

/// Everything that decides a chain's first state; the form of the genesis file (TOML).
///
/// Two nodes with the same genesis have the same genesis block hash.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
    #[serde(default, skip_serializing_if = "Option::is_none", with = "optional_text")]
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
}

/// A funded account of a development chain; its key is known to everyone.
#[derive(Clone, Debug)]
pub struct DevelopmentAccount {
    /// Its address.
    pub address: AccountAddress,
    /// Its private key.
    pub private_key: Ed25519PrivateKey,
}

impl Genesis {
    /// How many funded accounts a development chain starts with.
    pub const DEVELOPMENT_ACCOUNTS: u8 = 5;

    /// A development chain: a faucet and a few funded accounts, all with known keys.
    pub fn development(chain_id: u8, vendor: Vendor, parameters: Parameters) -> Self {
        let _ = (chain_id, vendor, parameters);
        todo!()
    }

    /// The funded accounts of a development chain; they are the same on every one.
    pub fn development_accounts() -> Vec<DevelopmentAccount> {
        todo!()
    }

    /// The faucet's private key, on a development chain that has one.
    pub fn faucet_key(&self) -> Option<Ed25519PrivateKey> {
        todo!()
    }

    /// Checks the genesis and gives the chain that it starts.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn chain(&self) -> Result<Chain, GenesisError> {
        todo!()
    }

    /// Block 0 of `chain`, which [`Genesis::chain`] gave: one transaction, version 0, time 0.
    pub fn block(&self, chain: &Chain) -> ExecutedBlock {
        let _ = chain;
        todo!()
    }
}

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
}

mod optional_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::{fmt::Display, str::FromStr};

    pub fn serialize<T: Display, S: Serializer>(value: &Option<T>, s: S) -> Result<S::Ok, S::Error> {
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
