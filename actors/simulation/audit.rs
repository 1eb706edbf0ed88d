//! Checks of a disk after a restart, and re-execution of the whole chain.

use super::{
    fixture::{Fixture, WALLETS, wallets},
    model::{Block, Model},
    oracle::Oracle,
    properties,
    reads::{LISTED_MAX, stream_events},
};
use bytes::Bytes;
use ledger_execution::{AccountSnapshot, execute_block, genesis::FAUCET_BALANCE, view};
use ledger_store::{Snapshot, StoreError, StoreReader};
use ledger_types::{
    ChainTip, CheckedTransaction, ExecutedBlock, LedgerInfo, OrderedBlock, StateError, StateKey,
    StateView,
};
use ledger_vm::Chain;
use std::sync::Arc;

/// Checks all durable content before the node runs.
///
/// Blocks that were visible must be unchanged. Durable blocks that were not visible are added to
/// the model. Every index must find its rows.
pub(super) fn audit(oracle: &Oracle, reader: &StoreReader) {
    let verdict = match reader.snapshot() {
        Ok(snapshot) => {
            let verdict = check_blocks(oracle, &snapshot);
            oracle.report(properties::COMMITTED_IS_PERMANENT, verdict);
            let verdict = check_rows(oracle, &snapshot).map_err(|error| error.to_string());
            verdict.and_then(|difference| difference.map_or(Ok(()), Err))
        }
        Err(error) => Err(error.to_string()),
    };
    oracle.report(properties::INDEX, verdict);
}

/// Checks that the blocks of the model are on the disk and unchanged, and adds newer ones to the
/// model.
///
/// # Errors
///
/// Returns a missing or different block, or an oldest version that decreased.
fn check_blocks(oracle: &Oracle, snapshot: &Snapshot) -> Result<(), String> {
    let info = snapshot.ledger_info();
    let known_height = oracle.model().height();
    if info.block_height < known_height {
        return Err(format!(
            "height {known_height} was visible, the disk has height {}",
            info.block_height
        ));
    }
    let floor = oracle.model().floor;
    if info.oldest_version < floor.oldest_version {
        return Err(format!(
            "oldest version {} after {}",
            info.oldest_version, floor.oldest_version
        ));
    }
    for height in info.oldest_block_height.max(1)..=info.block_height {
        let block = stored_block(snapshot, height).map_err(|error| error.to_string())?;
        if height > known_height {
            oracle.count("durable blocks that were not visible");
            oracle.add_block(block);
        } else if !has_equal_content(&oracle.model().blocks[height as usize - 1], &block) {
            return Err(format!("block {height} has changed"));
        }
    }
    Ok(())
}

/// Returns whether two blocks have equal content.
pub(super) fn has_equal_content(one: &Block, other: &Block) -> bool {
    one.header == other.header
        && one.transactions == other.transactions
        && one.discarded == other.discarded
        && one.first_version == other.first_version
}

/// Reads the block at `height`.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`] if a part is missing, or the error of the store if a read
/// fails.
pub(super) fn stored_block(snapshot: &Snapshot, height: u64) -> Result<Block, StoreError> {
    let missing = || StoreError::Inconsistent(format!("a part of block {height} is missing"));
    let info = snapshot.block(height)?.ok_or_else(missing)?;
    let mut transactions = Vec::new();
    for version in info.first_version..=info.last_version {
        let stored = snapshot.transaction(version)?.ok_or_else(missing)?;
        transactions.push(stored.decode()?);
    }
    Ok(Block {
        header: info.header,
        first_version: info.first_version,
        transactions,
        discarded: info.discarded,
    })
}

/// Checks that the indexes by hash, account and stream find exactly the versions of the window,
/// that the newest state is the model's, and that the supply of the chain's coin is the sum of its
/// stores.
///
/// Returns the first difference, if there is one.
///
/// # Errors
///
/// Returns the error of the store if a read fails.
fn check_rows(oracle: &Oracle, snapshot: &Snapshot) -> Result<Option<String>, StoreError> {
    let model = oracle.model();
    let LedgerInfo {
        version: newest,
        oldest_version: oldest,
        ..
    } = *snapshot.ledger_info();
    for version in oldest..=newest {
        let hash = &model.versions[version as usize].hash;
        let actual = snapshot.version_by_hash(hash)?;
        if actual != Some(version) {
            return Ok(Some(format!(
                "{hash} of version {version} is at {actual:?}"
            )));
        }
    }
    // The faucet is no wallet, so its store has what genesis gave it.
    let mut coins_in_stores = u128::from(FAUCET_BALANCE);
    for wallet in 0..WALLETS {
        let address = &wallets()[wallet].address;
        let listed = snapshot.account_transactions(address, Some(0), LISTED_MAX)?;
        let expected_versions = model.sequenced_versions(wallet, oldest, newest);
        if listed != expected_versions {
            return Ok(Some(format!(
                "{address} has {expected_versions:?}, listed are {listed:?}"
            )));
        }
        let actual = stream_events(snapshot, wallet)?;
        let expected = model.stream_events(wallet, oldest, newest);
        if actual != expected {
            return Ok(Some(format!(
                "the streams of {address} have {expected:?}, listed are {actual:?}"
            )));
        }
        if !actual.is_empty() {
            oracle.count("event streams with events");
        }
        let account_snapshot = snapshot.read_state(newest, |state| {
            AccountSnapshot::read(&oracle.fixture.chain, state, address)
        })?;
        let account = &model.accounts[wallet];
        if (account_snapshot.balance, account_snapshot.sequence_number)
            != (account.balance, account.sequence_number)
        {
            return Ok(Some(format!(
                "{address} is {account_snapshot:?} instead of {account:?}"
            )));
        }
        coins_in_stores += u128::from(account_snapshot.balance);
    }
    let supply =
        snapshot.read_state(newest, |state| native_supply(&oracle.fixture.chain, state))?;
    Ok((supply != coins_in_stores)
        .then(|| format!("the supply is {supply}, and the stores have {coins_in_stores}")))
}

/// Returns the supply of the chain's coin, in its smallest unit.
///
/// # Errors
///
/// Returns [`StateError`] if the state cannot be read.
fn native_supply(chain: &Chain, state: &dyn StateView) -> Result<u128, StateError> {
    let registry = chain.registry();
    let coin = registry.native_coin().to_string();
    let function = "0x1::coin::supply".parse();
    let function = function.expect("the full name of a function");
    let call = registry.view_from_json(&function, &[coin], &[]);
    let call = call.expect("the framework has the function");
    let error = |error: &dyn ToString| StateError(error.to_string());
    let output = view(chain, state, &call, None).map_err(|failure| error(&failure))?;
    let supply: Option<u128> =
        bcs::from_bytes(&output.values[0].1).map_err(|failure| error(&failure))?;
    Ok(supply.unwrap_or_default())
}

/// Executes the whole chain again and compares the blocks.
///
/// # Errors
///
/// Returns the first block with another result.
pub(super) fn replay(fixture: &Fixture, model: &Model) -> Result<(), String> {
    let mut state = fixture.state.clone();
    let mut tip = fixture.tip.clone();
    for block in &model.blocks {
        let ordered = reconstruct_ordered(fixture, model, block)?;
        let re_executed = re_execute(fixture, &tip, &state, ordered)?;
        if !has_equal_content(block, &Block::from(&re_executed)) {
            return Err(format!("block {} has another result", block.header.height));
        }
        for (key, op) in re_executed
            .transactions
            .iter()
            .flat_map(|executed| executed.writes.iter())
        {
            match op.value() {
                Some(value) => state.insert(key.clone(), value.clone()),
                None => state.remove(key),
            };
        }
        tip = re_executed.tip;
    }
    Ok(())
}

/// Executes a block on `state`.
fn re_execute(
    fixture: &Fixture,
    tip: &ChainTip,
    state: &imbl::HashMap<StateKey, Bytes>,
    block: OrderedBlock,
) -> Result<ExecutedBlock, String> {
    /// A state in memory.
    struct Memory<'a>(&'a imbl::HashMap<StateKey, Bytes>);
    impl StateView for Memory<'_> {
        fn get(&self, key: &StateKey) -> Result<Option<Bytes>, StateError> {
            Ok(self.0.get(key).cloned())
        }
    }
    execute_block(&fixture.chain, tip, &Memory(state), block).map_err(|error| error.to_string())
}

/// Returns a block as it was ordered, with its discarded transactions at their positions.
///
/// # Errors
///
/// Returns a discarded transaction that no client sent.
fn reconstruct_ordered(
    fixture: &Fixture,
    model: &Model,
    block: &Block,
) -> Result<OrderedBlock, String> {
    let vendor = fixture.chain.vendor();
    let executed = block
        .transactions
        .iter()
        .filter_map(|executed| executed.transaction.as_user());
    let mut transactions: Vec<_> = executed
        .map(|user| Arc::new(CheckedTransaction::new_unchecked(user.clone(), vendor)))
        .collect();
    for discarded in &block.discarded {
        let sent = model.sent.get(&discarded.hash);
        let sent =
            sent.ok_or_else(|| format!("{} was discarded and never sent", discarded.hash))?;
        let position = (discarded.position as usize).min(transactions.len());
        transactions.insert(position, Arc::clone(&sent.transaction));
    }
    let header = &block.header;
    Ok(OrderedBlock {
        height: header.height,
        epoch: header.epoch,
        round: header.round,
        proposer: header.proposer,
        timestamp_usecs: header.timestamp_usecs,
        executed: Some(header.executed),
        transactions,
        // Its content has no effect. With one, the block stores its discarded transactions.
        certificate: match fixture.chain.validators().is_empty() {
            true => Bytes::new(),
            false => Bytes::from_static(b"certificate"),
        },
    })
}
