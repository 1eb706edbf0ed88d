//! Conservation of the coin under thousands of random transfers and escrows, some of them invalid.
//!
//! They neither create nor destroy coins, sequence numbers increase by one, and a replay of the
//! chain has the same hashes.

// The tests print their seed, so that a failing run can be repeated.
#![allow(clippy::print_stdout)]

use crate::programs::census::Census;
use fastrand::Rng;
use ledger_execution::{development_accounts, execute_block, genesis::DEVELOPMENT_BALANCE};
use ledger_test_support::{MemoryChain, START_SECS, test_genesis};
use ledger_types::{
    AccountAddress, CheckedTransaction, EntryFunction, ExecutedBlock, ExecutedTransaction,
    Parameters, StateKey, Transaction, WriteOp,
};
use std::collections::{BTreeSet, HashMap};

/// Asserts that the recorded supplies of the chain's coin are the sums of its stores and of its
/// escrows, and returns the supply.
fn assert_supplies(chain: &MemoryChain) -> u128 {
    let census = Census::of(chain);
    let native = chain.chain.registry().native_coin();
    assert_eq!(
        census.asset_supplies[&AccountAddress::NATIVE_ASSET],
        census.assets[&AccountAddress::NATIVE_ASSET],
        "supply of the asset (left) and the sum of its stores (right)"
    );
    assert_eq!(
        census.coin_supplies[native],
        census.coins.get(native).copied().unwrap_or_default(),
        "supply of the coin (left) and the coins in escrows (right)"
    );
    census.native_supply(chain)
}

/// Returns the fee of a transaction minus its storage refund, in the coin's smallest unit.
fn net_fee(chain: &MemoryChain, executed: &ExecutedTransaction) -> i128 {
    let user = executed.transaction.as_user().unwrap();
    let statement = executed.events.last().unwrap();
    let registry = chain.chain.registry();
    let statement = registry
        .value_to_json(statement.type_tag(), statement.data())
        .unwrap();
    let refund: i128 = statement["storage_fee_refund_octas"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    i128::from(executed.info.v0().gas_used) * i128::from(user.raw.gas_unit_price) - refund
}

/// Returns a call that opens, releases, or cancels an escrow of the chain's coin.
///
/// Few escrows have low numbers, so that calls are likely to hit an open one.
fn random_escrow_call(chain: &MemoryChain, random: &mut Rng, amount: u64) -> EntryFunction {
    let accounts = development_accounts();
    let other = accounts[random.usize(..accounts.len())].address;
    let number = random.u64(..3);
    let (function, arguments) = match random.u8(..5) {
        0 => ("0x1::escrow::cancel", vec![bcs::to_bytes(&number)]),
        1 | 2 => (
            "0x1::escrow::release",
            vec![bcs::to_bytes(&other), bcs::to_bytes(&number)],
        ),
        _ => {
            let deadline_secs = chain.next_secs() + random.u64(..20);
            (
                "0x1::escrow::open",
                vec![
                    bcs::to_bytes(&other),
                    bcs::to_bytes(&amount),
                    bcs::to_bytes(&deadline_secs),
                ],
            )
        }
    };
    let arguments = arguments.into_iter().map(Result::unwrap).collect();
    let native = chain.chain.registry().native_coin().to_string();
    chain.call(function, &[&native], arguments)
}

fn random_transaction(
    chain: &MemoryChain,
    random: &mut Rng,
    next: &mut HashMap<usize, u64>,
    with_invalid: bool,
) -> CheckedTransaction {
    let accounts = development_accounts();
    let from = random.usize(..accounts.len());
    let to = match random.u8(..4) {
        0 => AccountAddress::from_low_u64(0x1000 + random.u64(..50)),
        _ => accounts[random.usize(..accounts.len())].address,
    };
    let amount = match random.u8(..20) {
        0 => u64::MAX,
        1 => 0,
        _ => random.u64(..DEVELOPMENT_BALANCE / 50),
    };
    let call = if random.u8(..4) == 0 {
        random_escrow_call(chain, random, amount)
    } else {
        chain.transfer(to, amount)
    };
    let mut raw = chain.raw(&accounts[from].private_key, call);
    let number = next.entry(from).or_insert(raw.sequence_number);
    raw.sequence_number = *number;
    *number += 1;
    match random.u8(..25) {
        0..=3 if !with_invalid => {}
        0 => raw.chain_id = 77,
        1 => raw.max_gas_amount = random.u64(40..80),
        2 => raw.expiration_timestamp_secs = START_SECS,
        3 => raw.sequence_number = raw.sequence_number.saturating_sub(random.u64(1..=2)),
        4 => raw.gas_unit_price = random.u64(1..=100),
        _ => {}
    }
    chain.sign(&accounts[from].private_key, raw)
}

fn assert_numbers_rise_by_one(blocks: &[ExecutedBlock]) {
    let mut next: HashMap<AccountAddress, u64> = HashMap::new();
    for user in blocks
        .iter()
        .flat_map(|b| &b.transactions)
        .filter_map(|t| t.transaction.as_user())
    {
        let expected = next.entry(user.raw.sender).or_default();
        assert_eq!(
            user.raw.sequence_number, *expected,
            "sequence number of {}",
            user.raw.sender
        );
        *expected += 1;
    }
}

/// Executes the user transactions of the stored blocks from genesis, and checks that blocks and
/// state are equal to the original.
fn assert_replay_is_equal(original: &MemoryChain) {
    let mut replay = new_chain(original.chain.parameters().coin_event_handles);
    for block in &original.blocks[1..] {
        let users = block
            .transactions
            .iter()
            .filter_map(|t| match &t.transaction {
                Transaction::User(signed) => Some(
                    CheckedTransaction::check(
                        (**signed).clone(),
                        original.chain.vendor(),
                        original.chain.parameters(),
                    )
                    .unwrap(),
                ),
                _ => None,
            });
        assert_eq!(replay.execute(users.collect()), block);
    }
    assert_eq!(replay.state, original.state);
}

/// Returns a development chain with or without event streams of stores.
fn new_chain(coin_event_handles: bool) -> MemoryChain {
    MemoryChain::new(&test_genesis(Parameters {
        gas_unit_price_min: 1,
        coin_event_handles,
        ..Parameters::default()
    }))
}

fn run(seed: u64, blocks: u64) -> MemoryChain {
    run_with(new_chain(true), seed, blocks, true)
}

/// Executes `blocks` blocks of random transactions on `chain`.
///
/// If `with_invalid` is set, the prologue rejects some of them.
fn run_with(mut chain: MemoryChain, seed: u64, blocks: u64, with_invalid: bool) -> MemoryChain {
    let mut random = Rng::with_seed(seed);
    for _ in 0..blocks {
        let mut next = HashMap::new();
        let count = random.u8(1..=20);
        let transactions = (0..count)
            .map(|_| random_transaction(&chain, &mut random, &mut next, with_invalid))
            .collect();
        chain.execute(transactions);
    }
    chain
}

/// Executes random transactions on a chain with or without event streams of stores, and checks that
/// only the fees change the supply.
fn assert_conserves_coins(seed: u64, coin_event_handles: bool) {
    println!("seed {seed}");
    let genesis = assert_supplies(&new_chain(coin_event_handles));
    let chain = run_with(new_chain(coin_event_handles), seed, 400, true);
    let supply = assert_supplies(&chain);
    let users: Vec<&ExecutedTransaction> = chain
        .blocks
        .iter()
        .flat_map(|block| &block.transactions)
        .filter(|executed| executed.transaction.as_user().is_some())
        .collect();
    let fees: i128 = users.iter().map(|executed| net_fee(&chain, executed)).sum();
    assert!(
        users.len() > 1_000,
        "the run committed only {} transactions",
        users.len()
    );
    assert!(
        users
            .iter()
            .any(|executed| !executed.info.v0().status.is_success()),
        "no transaction failed"
    );
    assert!(
        chain.blocks.iter().any(|block| !block.discarded.is_empty()),
        "no transaction was discarded"
    );
    let succeeded: BTreeSet<&str> = users
        .iter()
        .filter(|executed| executed.info.v0().status.is_success())
        .map(|executed| called_function(executed))
        .collect();
    assert_eq!(
        succeeded,
        BTreeSet::from(["cancel", "open", "release", "transfer"])
    );
    assert_eq!(
        i128::try_from(supply).unwrap(),
        i128::try_from(genesis).unwrap() - fees,
        "the supply changes only by the fees"
    );
    assert_numbers_rise_by_one(&chain.blocks);
}

fn called_function(executed: &ExecutedTransaction) -> &str {
    let user = executed.transaction.as_user().unwrap();
    user.raw.entry_function().unwrap().function.as_str()
}

#[test]
fn conserves_coins_in_random_transfers() {
    assert_conserves_coins(20_261_121, true);
}

#[test]
fn conserves_coins_without_event_handles() {
    assert_conserves_coins(20_261_130, false);
}

#[test]
fn reproduces_all_hashes_in_a_replay_from_genesis() {
    let seed = 7;
    println!("seed {seed}");
    let (first, second) = (run(seed, 60), run(seed, 60));
    for (a, b) in first.blocks.iter().zip(&second.blocks) {
        assert_eq!(a, b, "execution depends only on state and block");
    }
    assert_parents_link(&first.blocks);
    // A block stores only the hash of a discarded transaction. A replay from stored blocks is
    // therefore compared with a run without discarded transactions.
    let without_discards = run_with(new_chain(true), seed, 60, false);
    assert!(
        without_discards
            .blocks
            .iter()
            .all(|block| block.discarded.is_empty())
    );
    assert!(without_discards.blocks.iter().any(|block| {
        block
            .transactions
            .iter()
            .any(|t| !t.info.v0().status.is_success())
    }));
    assert_replay_is_equal(&without_discards);
}

fn assert_parents_link(blocks: &[ExecutedBlock]) {
    for pair in blocks.windows(2) {
        assert_eq!(pair[1].header.parent_hash, pair[0].tip.block_hash);
        assert_eq!(pair[1].first_version, pair[0].tip.version + 1);
    }
}

#[test]
fn rejects_blocks_that_do_not_follow_the_tip() {
    let chain = MemoryChain::development();
    let block = |height, timestamp_usecs| ledger_types::OrderedBlock {
        height,
        epoch: 1,
        round: 1,
        proposer: AccountAddress::ZERO,
        timestamp_usecs,
        executed: None,
        transactions: vec![],
        certificate: bytes::Bytes::new(),
    };
    assert!(execute_block(&chain.chain, &chain.tip, &chain, block(2, 5)).is_err());
    assert!(execute_block(&chain.chain, &chain.tip, &chain, block(1, 0)).is_err());
    assert!(execute_block(&chain.chain, &chain.tip, &chain, block(1, 1)).is_ok());
}

#[test]
fn sorts_writes_by_key_without_duplicates() {
    let chain = run(3, 20);
    for transaction in chain.blocks.iter().flat_map(|b| &b.transactions) {
        let keys: Vec<&StateKey> = transaction
            .writes
            .iter()
            .map(|(key, _): &(StateKey, WriteOp)| key)
            .collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
