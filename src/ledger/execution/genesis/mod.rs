//! Genesis: the chain that genesis data describes, and its block 0.

mod development;

pub use development::{
    DEVELOPMENT_ACCOUNT_COUNT, DEVELOPMENT_BALANCE, DevelopmentAccount, FAUCET_BALANCE,
    development_accounts, development_genesis, development_genesis_with, numbered_accounts,
};

use crate::finalize::{ExecutedOutput, Output, finalize};
use bytes::Bytes;
use ledger_crypto::HashValue;
use ledger_framework::modules::{
    account::{self, Account},
    block::{BlockResource, EPOCH_INTERVAL_STREAM, NEW_BLOCK_STREAM, NewBlockEvent},
    chain_id, chain_status, code,
    coin::{self, CoinInfo},
    features,
    fungible_asset::FungibleStore,
    gas_schedule,
    object::Object,
    optional_aggregator::OptionalAggregator,
    primary_fungible_store, reconfiguration, stake, timestamp,
    vendor_coin::DECIMALS,
};
use ledger_framework::{FRAMEWORK_VERSION, new_chain};
use ledger_types::{
    AccountAddress, Accumulator, BlockHeader, ChainTip, ExecutedBlock, ExecutionStatus, Genesis,
    GenesisAccount, GenesisError, LedgerRoot, RecentRoots, StateKey, Transaction,
    accumulator::root_of, transaction::GenesisPayload,
};
use ledger_vm::{BlockState, Chain, Context, Environment, EventHandle, VmError};

/// Builds the chain that `genesis` describes.
///
/// # Errors
///
/// Returns the first of [`Genesis::errors`].
pub fn build_chain(genesis: &Genesis) -> Result<Chain, GenesisError> {
    if let Some(error) = genesis.errors(FRAMEWORK_VERSION).into_iter().next() {
        return Err(error);
    }
    let chain = new_chain(
        genesis.chain_id,
        genesis.vendor.clone(),
        genesis.parameters.clone(),
    );
    if genesis.validators.is_empty() {
        return Ok(chain);
    }
    let genesis_hash = execute_genesis(genesis, &chain).tip.block_hash;
    Ok(chain.with_validators(genesis.validator_set(), genesis_hash))
}

/// Executes the genesis transaction and returns block 0, at version 0 and time 0.
///
/// `chain` must be the result of [`build_chain`] for `genesis`.
pub fn execute_genesis(genesis: &Genesis, chain: &Chain) -> ExecutedBlock {
    let empty = |_: &StateKey| Ok(None);
    let state = BlockState::new(&empty);
    let mut context = Context::unmetered(chain, &state, Environment::NONE);
    write_state(genesis, chain, &mut context).expect("genesis reads an empty state without limits");
    let (writes, events) = context.finish();
    let payload = GenesisPayload::Direct {
        writes: writes.clone(),
        events: events.clone(),
    };
    let transaction = Transaction::Genesis(payload);
    let hash = transaction.hash(chain.vendor());
    let seeds = chain.vendor().seeds();
    // A leaf of their own, so that a client with the header can check the validators alone.
    let keys = Some(&genesis.validators).filter(|keys| !keys.is_empty());
    let validators_hash = keys.map(|keys| seeds.validators.hash_bcs(keys));
    let payload = [hash].into_iter().chain(validators_hash);
    let payload_root = root_of(payload, &seeds.transaction_accumulator);
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
    let root = LedgerRoot {
        version: 0,
        accumulator_root: transactions[0].accumulator_root,
    };
    // Genesis is executed before it has a header, so its header names its own result.
    let header = BlockHeader {
        parent_hash: HashValue::ZERO,
        height: 0,
        epoch: 0,
        round: 0,
        proposer: AccountAddress::ZERO,
        timestamp_usecs: 0,
        payload_root,
        executed: root,
    };
    let tip = ChainTip {
        height: 0,
        block_hash: header.hash(chain.vendor()),
        version: 0,
        // Genesis ends epoch 0 (docs/reference/framework.md#f6).
        epoch: 1,
        timestamp_usecs: 0,
        accumulator,
        roots: RecentRoots::of_genesis(root),
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

/// Writes the initial state of `chain`.
fn write_state(genesis: &Genesis, chain: &Chain, context: &mut Context<'_>) -> Result<(), VmError> {
    let framework = AccountAddress::ONE;
    let native = std::slice::from_ref(context.native_coin());
    let supply: u128 = genesis
        .accounts
        .iter()
        .map(|account| u128::from(account.balance))
        .sum();
    let info = CoinInfo {
        name: format!("{} Coin", chain.vendor().camel()),
        symbol: chain.vendor().coin_symbol().to_owned(),
        decimals: DECIMALS,
        supply: Some(OptionalAggregator::unlimited(0)),
    };
    context.write_resource(framework, native, &info)?;
    coin::write_genesis(context, &info, supply)?;
    for account in &genesis.accounts {
        write_account(context, account)?;
    }
    account::write_genesis(context)?;
    chain_id::write_genesis(context)?;
    timestamp::write_genesis(context)?;
    gas_schedule::write_genesis(context)?;
    features::write(context)?;
    code::write_genesis(context)?;
    stake::write_genesis(context, genesis.validator_set().as_slice())?;
    let mut account = Account::implicit(framework);
    // Streams 0 to 2 of 0x1 belong to its account and to the reconfiguration, streams 3 and 4 to
    // blocks.
    account.guid_creation_num = EPOCH_INTERVAL_STREAM + 1;
    context.write_resource(framework, &[], &account)?;
    reconfiguration::write_genesis(context)?;
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

/// Writes an account and its balance of the chain's coin.
fn write_account(context: &mut Context<'_>, account: &GenesisAccount) -> Result<(), VmError> {
    let mut resource = Account::implicit(account.address);
    if let Some(key) = account.authentication_key {
        resource.authentication_key = key.as_bytes().to_vec();
    }
    context.write_resource(account.address, &[], &resource)?;
    let asset = AccountAddress::NATIVE_ASSET;
    let address = primary_fungible_store::ensure_store(context, account.address, asset)?;
    let store = FungibleStore {
        metadata: Object::at(asset),
        balance: account.balance,
        frozen: false,
    };
    context.write_resource(address, &[], &store)
}

/// Nominal length of an epoch, in microseconds: two hours, as on the main network of the reference
/// node.
const EPOCH_INTERVAL_USECS: u64 = 7_200_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_crypto::{Ed25519PrivateKey, Ed25519PublicKey};
    use ledger_types::{Parameters, ValidatorSet, Vendor};
    use std::collections::BTreeSet;

    fn development() -> Genesis {
        development_genesis(4, Vendor::default(), Parameters::default())
    }

    #[test]
    fn executes_genesis_deterministically() {
        let genesis = development();
        let block = |genesis: &Genesis| execute_genesis(genesis, &build_chain(genesis).unwrap());
        assert_eq!(block(&genesis), block(&genesis.clone()));
        let mut other = development();
        other.accounts[0].balance -= 1;
        assert_ne!(block(&genesis).tip.block_hash, block(&other).tip.block_hash);
    }

    fn validator(seed: u8) -> Ed25519PublicKey {
        Ed25519PrivateKey::from_seed(&[seed; 32]).public_key()
    }

    #[test]
    fn genesis_block_depends_on_the_validators_and_their_order() {
        let hash = |seeds: &[u8]| {
            let mut genesis = development();
            genesis.validators = seeds.iter().copied().map(validator).collect();
            let chain = build_chain(&genesis).unwrap();
            let hash = execute_genesis(&genesis, &chain).tip.block_hash;
            let expected = (!seeds.is_empty()).then_some(hash);
            assert_eq!(chain.genesis_hash(), expected);
            assert_eq!(chain.validators(), &genesis.validator_set());
            hash
        };
        let sets: [&[u8]; 4] = [&[], &[1, 2, 3, 4], &[2, 1, 3, 4], &[1, 2, 3]];
        let hashes: BTreeSet<_> = sets.into_iter().map(hash).collect();
        assert_eq!(hashes.len(), sets.len());
    }

    #[test]
    fn lists_validators_in_hexadecimal_and_omits_an_empty_list() {
        let mut genesis = development();
        let json = |genesis: &Genesis| serde_json::to_value(genesis).unwrap();
        assert_eq!(json(&genesis).get("validators"), None);
        genesis.validators = vec![validator(1), validator(2)];
        let text = hex::encode(validator(1).0);
        assert_eq!(json(&genesis)["validators"][0], format!("0x{text}"));
        let decode = serde_json::from_value::<Genesis>;
        assert_eq!(decode(json(&genesis)).unwrap(), genesis);
        let mut other = json(&genesis);
        other["validators"][0] = text.into();
        assert_eq!(decode(other.clone()).unwrap(), genesis);
        for bad in ["", "0x12", "zz"] {
            other["validators"][1] = bad.into();
            let error = decode(other.clone()).unwrap_err().to_string();
            assert!(error.contains("the key"), "{error}");
        }
    }

    #[test]
    fn rejects_invalid_validators() {
        let error = |validators| {
            let mut genesis = development();
            genesis.validators = validators;
            build_chain(&genesis).unwrap_err().to_string()
        };
        let text = hex::encode(validator(1).0);
        let twice = error(vec![validator(1), validator(2), validator(1)]);
        assert!(
            twice.contains(&format!("0x{text} is listed twice")),
            "{twice}"
        );
        let invalid = error(vec![validator(1), Ed25519PublicKey([0xff; 32])]);
        assert!(invalid.contains("not a canonical point"), "{invalid}");
        let count = ValidatorSet::LENGTH_MAX as u8 + 1;
        let many = error((0..count).map(validator).collect());
        assert!(many.contains("101 validators, at most 100"), "{many}");
    }

    /// Ledgers of earlier versions name fewer parameters in their genesis.
    #[test]
    fn decodes_absent_parameters_as_defaults() {
        let mut older = serde_json::to_value(development()).unwrap();
        let parameters = older["parameters"].as_object_mut().unwrap();
        for name in [
            "block_gas_max",
            "block_output_bytes_max",
            "block_transactions_max",
            "block_bytes_max",
            "root_delay_blocks",
            "coin_event_handles",
            "transfers_to_framework",
        ] {
            parameters.remove(name).expect("the parameter is present");
        }
        assert_eq!(
            serde_json::from_value::<Genesis>(older).unwrap(),
            development()
        );
    }

    #[test]
    fn rejects_contradictory_genesis_data() {
        let rejection = |change: fn(&mut Genesis)| {
            let mut genesis = development();
            change(&mut genesis);
            build_chain(&genesis).unwrap_err()
        };
        let mut many = development();
        many.chain_id = 0;
        many.parameters.block_gas_max = 0;
        many.accounts[1].address = AccountAddress::ONE;
        assert_eq!(many.errors(FRAMEWORK_VERSION).len(), 3);
        assert!(matches!(
            rejection(|g| g.development = false),
            GenesisError::FaucetKey(_)
        ));
        assert!(matches!(
            rejection(|g| g.faucet_private_key = Some("12".into())),
            GenesisError::FaucetKey(_)
        ));
        assert!(matches!(
            rejection(|g| g.parameters.gas_unit_price_min = u64::MAX),
            GenesisError::Parameter { .. }
        ));
        assert!(matches!(
            rejection(|g| g.chain_id = 0),
            GenesisError::ChainId
        ));
        assert!(matches!(
            rejection(|g| g.parameters.max_gas_amount = 0),
            GenesisError::Parameter { .. }
        ));
        assert!(matches!(
            rejection(|g| g.parameters.transaction_bytes_max = 0),
            GenesisError::Parameter { .. }
        ));
        assert!(matches!(
            rejection(|g| g.parameters.block_gas_max = 0),
            GenesisError::Parameter { .. }
        ));
        assert!(matches!(
            rejection(|g| g.parameters.block_output_bytes_max = 0),
            GenesisError::Parameter { .. }
        ));
        for error in [
            rejection(|g| g.parameters.block_transactions_max = 0),
            rejection(|g| g.parameters.block_bytes_max = 0),
            rejection(|g| g.parameters.block_bytes_max = Parameters::BLOCK_BYTES_MAX + 1),
        ] {
            assert!(matches!(error, GenesisError::Parameter { .. }), "{error}");
        }
        for delay_blocks in [0, 1, 65] {
            let mut genesis = development();
            genesis.parameters.root_delay_blocks = delay_blocks;
            let error = build_chain(&genesis).unwrap_err();
            assert!(error.to_string().contains("2 to 64"), "{error}");
        }
        assert!(matches!(
            rejection(|g| g.parameters.framework_upgrades[0].version = u64::MAX),
            GenesisError::Upgrades(_)
        ));
        assert!(matches!(
            rejection(|g| g.accounts[1].address = g.accounts[0].address),
            GenesisError::RepeatedAccount { index: 1, .. }
        ));
        assert!(matches!(
            rejection(|g| g.accounts[1].address = AccountAddress::ONE),
            GenesisError::ReservedAccount { index: 1, .. }
        ));
    }
}
