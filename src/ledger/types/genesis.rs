//! Genesis data: the parameters and accounts that a chain starts with.

use crate::{AccountAddress, Parameters, UpgradeError, ValidatorSet, Vendor};
use ledger_crypto::{Ed25519PrivateKey, Ed25519PublicKey, HashValue, hex_text};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use std::{collections::BTreeSet, fmt};

/// All data that determines the first state of a chain, and the schema of the genesis file (TOML).
///
/// Two nodes with the same genesis have the same genesis block hash.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Genesis {
    /// Chain id, from 1 to 255.
    #[serde(deserialize_with = "chain_id")]
    pub chain_id: u8,
    /// Vendor word.
    #[serde(default)]
    pub vendor: Vendor,
    /// Whether the chain is for development only. Its private keys are known, and a faucet may
    /// run.
    #[serde(default)]
    pub development: bool,
    /// Seed of the faucet's private key in hexadecimal, allowed only on a development chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faucet_private_key: Option<String>,
    /// Public keys of the validators in hexadecimal, in the order of their turns. Empty on a chain
    /// of one node.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "text::keys")]
    pub validators: Vec<Ed25519PublicKey>,
    /// Limits, prices and switches.
    #[serde(default)]
    pub parameters: Parameters,
    /// Accounts and their initial balances.
    #[serde(default)]
    pub accounts: Vec<GenesisAccount>,
}

/// An account that exists from genesis.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenesisAccount {
    /// Address, in hexadecimal.
    #[serde(with = "text")]
    pub address: AccountAddress,
    /// Initial balance in the coin's smallest unit.
    pub balance: u64,
    /// Authentication key. If absent, it is the address, so the key with this hash can sign.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "text::optional"
    )]
    pub authentication_key: Option<HashValue>,
}

/// The reason that a genesis cannot start a chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenesisError {
    /// An account's address is reserved for the framework.
    #[error("the address {address} is reserved for the framework; choose another one")]
    ReservedAccount {
        /// The address.
        address: AccountAddress,
        /// Position among the accounts.
        index: usize,
    },
    /// An account is listed twice.
    #[error("the account {address} is listed before; list it once, with its whole balance")]
    RepeatedAccount {
        /// The address.
        address: AccountAddress,
        /// Position of the second entry among the accounts.
        index: usize,
    },
    /// The faucet key is not a 32-byte seed, or the chain is not for development.
    #[error("{0}")]
    FaucetKey(&'static str),
    /// The chain id is zero.
    #[error("chain_id = 0: it is {CHAIN_ID_RANGE}")]
    ChainId,
    /// A parameter contradicts another one, or is not within its limits.
    #[error("{name} {problem}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// The problem, and the values that are allowed.
        problem: &'static str,
    },
    /// There are too many validators, or a key is listed twice or invalid.
    #[error("{0}")]
    Validators(String),
    /// The list of framework upgrades is invalid.
    #[error(transparent)]
    Upgrades(#[from] UpgradeError),
}

/// The position of an error in a genesis file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GenesisPlace {
    /// A key of the file.
    Key(&'static str),
    /// A key of `[parameters]`.
    Parameter(&'static str),
    /// The entry of `[[accounts]]` with this position.
    Account(usize),
}

impl GenesisError {
    /// Returns the position of the error in a genesis file.
    pub fn place(&self) -> GenesisPlace {
        match self {
            Self::ReservedAccount { index, .. } | Self::RepeatedAccount { index, .. } => {
                GenesisPlace::Account(*index)
            }
            Self::FaucetKey(_) => GenesisPlace::Key("faucet_private_key"),
            Self::ChainId => GenesisPlace::Key("chain_id"),
            Self::Parameter { name, .. } => GenesisPlace::Parameter(name),
            Self::Validators(_) => GenesisPlace::Key("validators"),
            Self::Upgrades(_) => GenesisPlace::Parameter("framework_upgrades"),
        }
    }
}

impl fmt::Debug for Genesis {
    /// Formats the genesis without the faucet's key, so that logs cannot contain it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Genesis")
            .field("chain_id", &self.chain_id)
            .field("vendor", &self.vendor)
            .field("development", &self.development)
            .field("parameters", &self.parameters)
            .field("accounts", &self.accounts)
            .field("validators", &self.validators)
            .finish_non_exhaustive()
    }
}

impl Genesis {
    /// Returns the reasons for which a program cannot start a chain from this genesis.
    ///
    /// `newest_version` is the newest framework version of the program.
    pub fn errors(&self, newest_version: u64) -> Vec<GenesisError> {
        let mut errors = Vec::new();
        if self.faucet_private_key.is_some() && !self.development {
            errors.push(GenesisError::FaucetKey(
                "a faucet key is only for development chains: remove faucet_private_key, or set \
                 development = true",
            ));
        } else if self.faucet_private_key.is_some() && self.faucet_key().is_none() {
            errors.push(GenesisError::FaucetKey(
                "the faucet key is not 64 hex digits",
            ));
        }
        if self.chain_id == 0 {
            errors.push(GenesisError::ChainId);
        }
        errors.extend(self.parameter_errors());
        errors.extend(
            self.parameters
                .check_upgrades(newest_version)
                .err()
                .map(GenesisError::from),
        );
        let mut addresses = BTreeSet::new();
        for (index, &GenesisAccount { address, .. }) in self.accounts.iter().enumerate() {
            if address.is_reserved() {
                errors.push(GenesisError::ReservedAccount { address, index });
            } else if !addresses.insert(address) {
                errors.push(GenesisError::RepeatedAccount { address, index });
            }
        }
        errors.extend(self.check_validators().err().map(GenesisError::Validators));
        errors
    }

    /// Returns the sum of all balances, in the coin's smallest unit.
    pub fn supply(&self) -> u128 {
        let balances = self.accounts.iter().map(|account| account.balance);
        balances.map(u128::from).sum()
    }

    /// Checks the keys of the validators.
    ///
    /// # Errors
    ///
    /// Returns a message that names the number of validators, or the first invalid key.
    fn check_validators(&self) -> Result<(), String> {
        let (count, count_max) = (self.validators.len(), ValidatorSet::LENGTH_MAX);
        if count > count_max {
            return Err(format!("there are {count} validators, at most {count_max}"));
        }
        let mut keys = BTreeSet::new();
        for key in &self.validators {
            let text = hex_text(&key.0);
            if let Err(error) = key.check() {
                return Err(format!("validator {text}: {error}"));
            }
            if !keys.insert(key) {
                return Err(format!("validator {text} is listed twice"));
            }
        }
        Ok(())
    }

    /// Returns the validators.
    pub fn validator_set(&self) -> ValidatorSet {
        ValidatorSet::new(self.validators.iter().cloned())
    }

    /// Returns the errors of the parameters other than upgrades.
    fn parameter_errors(&self) -> impl Iterator<Item = GenesisError> + use<> {
        let parameters = &self.parameters;
        let root_delays = Parameters::ROOT_DELAY_BLOCKS_MIN..=Parameters::ROOT_DELAY_BLOCKS_MAX;
        let checks = [
            (
                "gas_unit_price_min",
                parameters.gas_unit_price_min <= parameters.gas_unit_price_max,
                "is above gas_unit_price_max",
            ),
            (
                "max_gas_amount",
                parameters.max_gas_amount >= MAX_GAS_AMOUNT_MIN,
                "is too low for any transfer: it must be 1000 or more",
            ),
            (
                "transaction_bytes_max",
                parameters.transaction_bytes_max >= TRANSACTION_BYTES_MIN,
                "is too low for any transfer: it must be 512 or more",
            ),
            (
                "block_gas_max",
                parameters.block_gas_max >= BLOCK_GAS_MIN,
                "is too low: it must be 1000 or more",
            ),
            (
                "block_output_bytes_max",
                parameters.block_output_bytes_max >= BLOCK_OUTPUT_BYTES_MIN,
                "is too low: it must be 16384 or more",
            ),
            (
                "block_transactions_max",
                parameters.block_transactions_max >= 1,
                "must be 1 or more",
            ),
            (
                "block_bytes_max",
                (1..=Parameters::BLOCK_BYTES_MAX).contains(&parameters.block_bytes_max),
                "must be 1 to 67108864",
            ),
            (
                "root_delay_blocks",
                root_delays.contains(&parameters.root_delay_blocks),
                "must be 2 to 64",
            ),
        ];
        let failed = checks.into_iter().filter(|(_, is_met, _)| !is_met);
        failed.map(|(name, _, problem)| GenesisError::Parameter { name, problem })
    }

    /// Returns the private key of the faucet.
    ///
    /// Returns `None` if the chain is not for development, or has no valid faucet key.
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

/// Minimum of [`Parameters::max_gas_amount`]. With less, not even a transfer between accounts could
/// pay for its gas.
const MAX_GAS_AMOUNT_MIN: u64 = 1_000;
/// Minimum of [`Parameters::transaction_bytes_max`]. With less, not even a signed transfer would
/// fit.
const TRANSACTION_BYTES_MIN: u64 = 512;
/// Minimum of [`Parameters::block_gas_max`]. A block with less would hold barely a dozen transfers.
const BLOCK_GAS_MIN: u64 = 1_000;
/// Minimum of [`Parameters::block_output_bytes_max`]. A block with less would hold barely a dozen
/// transfers.
const BLOCK_OUTPUT_BYTES_MIN: u64 = 16 * 1024;

/// Allowed chain ids, in words.
const CHAIN_ID_RANGE: &str = "an integer from 1 to 255, as one byte of each transaction holds it";

/// Reads the chain id, whose own error would name neither the key nor the range.
fn chain_id<'de, D: Deserializer<'de>>(d: D) -> Result<u8, D::Error> {
    let number = i64::deserialize(d)?;
    number
        .try_into()
        .map_err(|_| D::Error::custom(format!("chain_id = {number}: it is {CHAIN_ID_RANGE}")))
}

/// Serialization of values as the text that `Display` prints.
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

    /// Serialization of public keys as a list of hexadecimal texts.
    pub mod keys {
        use ledger_crypto::{Ed25519PublicKey, hex_text};
        use serde::{Deserialize, Deserializer, Serializer, de::Error};

        pub fn serialize<S: Serializer>(
            keys: &[Ed25519PublicKey],
            s: S,
        ) -> Result<S::Ok, S::Error> {
            s.collect_seq(keys.iter().map(|key| hex_text(&key.0)))
        }

        pub fn deserialize<'de, D>(d: D) -> Result<Vec<Ed25519PublicKey>, D::Error>
        where
            D: Deserializer<'de>,
        {
            let key = |text: String| {
                let mut bytes = [0; 32];
                hex::decode_to_slice(text.strip_prefix("0x").unwrap_or(&text), &mut bytes)
                    .map_err(|error| D::Error::custom(format!("the key {text:?}: {error}")))?;
                Ok(Ed25519PublicKey(bytes))
            };
            Vec::<String>::deserialize(d)?
                .into_iter()
                .map(key)
                .collect()
        }
    }

    /// The same serialization for optional values.
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
