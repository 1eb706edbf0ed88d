//! Conservation of the coin under thousands of random transfers, some of them invalid.
//!
//! Transfers neither create nor destroy coins, sequence numbers increase by one, and a replay of
//! the chain has the same hashes.

// The tests print their seed, so that a failing run can be repeated.
#![allow(clippy::print_stdout)]

use fastrand::Rng;
use ledger_execution::{development_accounts, execute_block, genesis::DEVELOPMENT_BALANCE};
use ledger_test_support::{MemoryChain, START_SECS};
use ledger_types::{
    AccountAddress, CheckedTransaction, ExecutedBlock, StateKey, StateKeyParts, Transaction,
    WriteOp,
};
use std::collections::HashMap;

/// Returns the sum of all coin stores and the recorded supply, both read from the state.
fn held_and_supply(chain: &MemoryChain) -> (u128, u128) {
    let registry = chain.chain.registry();
    let (mut held, mut supply) = (0, 0);
    for (key, bytes) in &chain.state {
        let StateKeyParts::Resource { tag, .. } = key.decode().unwrap() else {
            continue;
        };
        let json = registry.value_to_json(&tag.clone().into(), bytes).unwrap();
        if tag.is_framework("coin", "CoinStore") {
            held += json["coin"]["value"]
                .as_str()
                .unwrap()
                .parse::<u128>()
                .unwrap();
        } else if tag.is_framework("coin", "CoinInfo") {
            supply = json["supply"]["vec"][0]["integer"]["vec"][0]["value"]
                .as_str()
                .unwrap()
                .parse()
                .unwrap();
        }
    }
    (held, supply)
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
    let mut raw = chain.raw(&accounts[from].private_key, chain.transfer(to, amount));
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
    let mut replay = MemoryChain::development();
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

fn run(seed: u64, blocks: u64) -> MemoryChain {
    run_with(seed, blocks, true)
}

/// Executes `blocks` blocks of random transactions.
///
/// If `with_invalid` is set, the prologue rejects some of them.
fn run_with(seed: u64, blocks: u64, with_invalid: bool) -> MemoryChain {
    let mut random = Rng::with_seed(seed);
    let mut chain = MemoryChain::development();
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

#[test]
fn conserves_coins_in_random_transfers() {
    let seed = 20_261_121;
    println!("seed {seed}");
    let chain = run(seed, 400);
    let (held, supply) = held_and_supply(&chain);
    let genesis = held_and_supply(&MemoryChain::development()).1;
    let users = || {
        chain
            .blocks
            .iter()
            .flat_map(|b| &b.transactions)
            .filter(|t| t.transaction.as_user().is_some())
    };
    let fees: u128 = users()
        .map(|t| {
            u128::from(t.info.v0().gas_used)
                * u128::from(t.transaction.as_user().unwrap().raw.gas_unit_price)
        })
        .sum();
    assert!(
        users().count() > 1_000,
        "the run committed only {} transactions",
        users().count()
    );
    assert!(
        users().any(|t| !t.info.v0().status.is_success()),
        "no transaction failed"
    );
    assert!(
        chain.blocks.iter().any(|b| !b.discarded.is_empty()),
        "no transaction was discarded"
    );
    assert_eq!(held, supply, "every coin is in a store");
    assert_eq!(
        supply,
        genesis - fees,
        "the supply changes only by the fees"
    );
    assert_numbers_rise_by_one(&chain.blocks);
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
    let without_discards = run_with(seed, 60, false);
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
