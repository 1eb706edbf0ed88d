//! Genesis: the state that a chain starts with, from a file or as a development chain.

mod development;
mod text;

pub use development::DevelopmentAccount;

use crate::{
    AccountAddress, Accumulator, BlockHeader, Chain, ChainTip, ExecutedBlock, ExecutionStatus,
    HashValue, Parameters, StateKey, Transaction, UpgradeError, Vendor,
    accumulator::root_of,
    execute::{BlockState, Context, Environment, ExecutedOutput, Output, VmError, finalize},
    framework::modules::{
        account::{self, Account},
        block::{BlockResource, EPOCH_INTERVAL_STREAM, NEW_BLOCK_STREAM, NewBlockEvent},
        chain_id, chain_status,
        coin::{self, Coin, CoinInfo, CoinStore},
        event::EventHandle,
        gas_schedule,
        optional_aggregator::OptionalAggregator,
        timestamp,
        vendor_coin::DECIMALS,
    },
    transaction::GenesisPayload,
};
use bytes::Bytes;
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
    /// Checks the genesis and gives the chain that it starts.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn chain(&self) -> Result<Chain, GenesisError> {
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
        self.parameters.check_upgrades()?;
        let mut addresses = BTreeSet::new();
        let refused = |account: &&GenesisAccount| {
            account.address.is_reserved() || !addresses.insert(account.address)
        };
        if let Some(account) = self.accounts.iter().find(refused) {
            return Err(GenesisError::Account(account.address));
        }
        Ok(Chain::new(
            self.chain_id,
            self.vendor.clone(),
            self.parameters.clone(),
        ))
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

    /// Block 0 of `chain`, which [`Genesis::chain`] gave: one transaction, version 0, time 0.
    ///
    /// # Panics
    /// Never: a checked genesis has a state.
    pub fn block(&self, chain: &Chain) -> ExecutedBlock {
        let empty = |_: &StateKey| Ok(None);
        let state = BlockState::new(&empty);
        let environment = Environment {
            height: 0,
            timestamp_usecs: 0,
            transaction_hash: HashValue::ZERO,
        };
        let mut context = Context::unmetered(chain, &state, environment);
        self.write_state(chain, &mut context)
            .expect("genesis reads an empty state without limits");
        let (writes, events) = context.finish();
        let payload = GenesisPayload::Direct {
            writes: writes.clone(),
            events: events.clone(),
        };
        let transaction = Transaction::Genesis(payload);
        let hash = transaction.hash(chain.vendor());
        let seeds = chain.vendor().seeds();
        let header = BlockHeader {
            parent_hash: HashValue::ZERO,
            height: 0,
            epoch: 0,
            round: 0,
            proposer: AccountAddress::ZERO,
            timestamp_usecs: 0,
            payload_root: root_of([hash], &seeds.transaction_accumulator),
        };
        let mut accumulator = Accumulator::default();
        let output = Output {
            gas_used: 0,
            status: ExecutionStatus::Success,
            events,
            writes,
        };
        let outputs = vec![ExecutedOutput {
            transaction,
            hash,
            output,
        }];
        let transactions = finalize(chain, &mut accumulator, outputs);
        let tip = ChainTip {
            height: 0,
            block_hash: header.hash(chain.vendor()),
            version: 0,
            // Genesis ends epoch 0 (docs/reference/framework.md#f6).
            epoch: 1,
            timestamp_usecs: 0,
            accumulator,
        };
        ExecutedBlock {
            header,
            first_version: 0,
            transactions,
            discarded: Vec::new(),
            certificate: Bytes::new(),
            tip,
        }
    }

    fn write_state(&self, chain: &Chain, context: &mut Context<'_>) -> Result<(), VmError> {
        let framework = AccountAddress::ONE;
        let native = std::slice::from_ref(context.native_coin());
        for account in &self.accounts {
            let mut resource = Account::implicit(account.address);
            if let Some(key) = account.authentication_key {
                resource.authentication_key = key.as_bytes().to_vec();
            }
            let store = CoinStore {
                coin: Coin {
                    value: account.balance,
                },
                frozen: false,
                deposit_events: resource.new_event_handle(account.address)?,
                withdraw_events: resource.new_event_handle(account.address)?,
            };
            context.write_resource(account.address, &[], &resource)?;
            context.write_resource(account.address, native, &store)?;
        }
        let supply: u128 = self
            .accounts
            .iter()
            .map(|account| u128::from(account.balance))
            .sum();
        let info = CoinInfo {
            name: format!("{} Coin", chain.vendor().camel()),
            symbol: chain.vendor().upper().to_owned(),
            decimals: DECIMALS,
            supply: Some(OptionalAggregator::unlimited(supply)),
        };
        context.write_resource(framework, native, &info)?;
        coin::write_genesis(context, &info)?;
        account::write_genesis(context)?;
        chain_id::write_genesis(context)?;
        timestamp::write_genesis(context)?;
        gas_schedule::write_genesis(context)?;
        let mut account = Account::implicit(framework);
        // Streams 0 to 2 of 0x1 are its account's and the reconfiguration's; blocks have 3 and 4.
        account.guid_creation_num = EPOCH_INTERVAL_STREAM + 1;
        context.write_resource(framework, &[], &account)?;
        let mut block = BlockResource {
            height: 0,
            epoch_interval: EPOCH_INTERVAL_USECS,
            new_block_events: EventHandle::new(framework, NEW_BLOCK_STREAM),
            update_epoch_interval_events: EventHandle::new(framework, EPOCH_INTERVAL_STREAM),
        };
        context.emit_to(&mut block.new_block_events, &NewBlockEvent::genesis())?;
        context.write_resource(framework, &[], &block)?;
        chain_status::write_genesis(context)
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

/// The nominal length of an epoch, as the reference's main network has it: two hours.
const EPOCH_INTERVAL_USECS: u64 = 7_200_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn development() -> Genesis {
        Genesis::development(4, Vendor::default(), Parameters::default())
    }

    #[test]
    fn the_same_genesis_has_the_same_block() {
        let genesis = development();
        let block = |genesis: &Genesis| genesis.block(&genesis.chain().unwrap());
        assert_eq!(block(&genesis), block(&genesis.clone()));
        let mut other = development();
        other.accounts[0].balance -= 1;
        assert_ne!(block(&genesis).tip.block_hash, block(&other).tip.block_hash);
    }

    /// A ledger that an earlier version started names fewer parameters.
    #[test]
    fn parameters_that_are_not_named_have_their_defaults() {
        let mut older = serde_json::to_value(development()).unwrap();
        let parameters = older["parameters"].as_object_mut().unwrap();
        for name in ["block_gas_max", "block_output_bytes_max"] {
            parameters.remove(name).expect("it is named");
        }
        assert_eq!(
            serde_json::from_value::<Genesis>(older).unwrap(),
            development()
        );
    }

    #[test]
    fn contradictions_are_refused() {
        let refused = |change: fn(&mut Genesis)| {
            let mut genesis = development();
            change(&mut genesis);
            genesis.chain().unwrap_err()
        };
        assert!(matches!(
            refused(|g| g.development = false),
            GenesisError::FaucetKey(_)
        ));
        assert!(matches!(
            refused(|g| g.faucet_private_key = Some("12".into())),
            GenesisError::FaucetKey(_)
        ));
        assert!(matches!(
            refused(|g| g.parameters.gas_unit_price_min = u64::MAX),
            GenesisError::Parameters(_)
        ));
        assert!(matches!(
            refused(|g| g.chain_id = 0),
            GenesisError::Parameters(_)
        ));
        assert!(matches!(
            refused(|g| g.parameters.max_gas_amount = 0),
            GenesisError::Parameters(_)
        ));
        assert!(matches!(
            refused(|g| g.parameters.transaction_bytes_max = 0),
            GenesisError::Parameters(_)
        ));
        assert!(matches!(
            refused(|g| g.parameters.block_gas_max = 0),
            GenesisError::Parameters(_)
        ));
        assert!(matches!(
            refused(|g| g.parameters.block_output_bytes_max = 0),
            GenesisError::Parameters(_)
        ));
        assert!(matches!(
            refused(|g| g.parameters.framework_upgrades[0].version = u64::MAX),
            GenesisError::Upgrades(_)
        ));
        assert!(matches!(
            refused(|g| g.accounts[1].address = g.accounts[0].address),
            GenesisError::Account(_)
        ));
        assert!(matches!(
            refused(|g| g.accounts[1].address = AccountAddress::ONE),
            GenesisError::Account(_)
        ));
    }
}
