//! The cost of each pure stage of a transfer, per transaction: decode, hash, check of the signature,
//! validation, execution in blocks of several sizes and on several threads; and of a hash alone and among others.
//! `cargo bench -p ledger-execution --bench stages`.

#[path = "kit.rs"]
mod kit;

use bytes::Bytes;
use divan::{Bencher, counter::ItemsCount};
use ledger_crypto::HashValue;
use ledger_execution::{
    ValidationInputs, build_chain, execute_block, execute_genesis, validate_for_admission,
};
use ledger_types::{
    AccountAddress, ChainTip, CheckedTransaction, ExecutedBlock, OrderedBlock, SignedTransaction,
    StateKey, StateView, Vendor, accumulator::root_of, decode_signed_transaction,
};
use ledger_vm::Chain;
use std::{
    collections::HashMap,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

const NOW_SECS: u64 = 1_700_000_000;
const ACCOUNTS: u64 = 10_000;

fn main() {
    divan::main();
}

/// A chain at genesis with many funded accounts, its state in memory.
struct Fixture {
    chain: Chain,
    tip: ChainTip,
    state: HashMap<StateKey, Bytes>,
}

impl Fixture {
    fn new() -> Self {
        let genesis = kit::genesis(ACCOUNTS);
        let chain = build_chain(&genesis).expect("a valid genesis");
        let block: ExecutedBlock = execute_genesis(&genesis, &chain);
        let writes = block.transactions[0].writes.iter();
        let state = writes
            .filter_map(|(key, op)| Some((key.clone(), op.value()?.clone())))
            .collect();
        Self {
            chain,
            tip: block.tip,
            state,
        }
    }

    fn transfer(&self, number: u64) -> SignedTransaction {
        kit::transfer((number, (number + 1) % ACCOUNTS), 0, NOW_SECS + 600)
    }

    fn block(&self, size: u64) -> OrderedBlock {
        self.block_of(0..size)
    }

    /// A block of the transfers with these numbers.
    fn block_of(&self, numbers: Range<u64>) -> OrderedBlock {
        let trusted = |number| {
            Arc::new(CheckedTransaction::trusted(
                self.transfer(number),
                self.chain.vendor(),
            ))
        };
        OrderedBlock {
            height: 1,
            epoch: 1,
            round: 1,
            proposer: AccountAddress::ZERO,
            timestamp_usecs: NOW_SECS * 1_000_000,
            transactions: numbers.map(trusted).collect(),
            certificate: Bytes::new(),
        }
    }
}

impl StateView for Fixture {
    fn get(&self, key: &StateKey) -> Result<Option<Bytes>, ledger_types::StateError> {
        Ok(self.state.get(key).cloned())
    }
}

#[divan::bench]
fn decode(bencher: Bencher) {
    let bytes = bcs::to_bytes(&Fixture::new().transfer(1)).expect("BCS");
    bencher.bench(|| decode_signed_transaction(&bytes).expect("a transaction"));
}

#[divan::bench]
fn hash_and_size(bencher: Bencher) {
    let fixture = Fixture::new();
    let transaction = fixture.transfer(1);
    bencher
        .with_inputs(|| transaction.clone())
        .bench_values(|transaction| {
            CheckedTransaction::trusted(transaction, fixture.chain.vendor())
        });
}

/// Two hashes under a prefix: a node of a tree, one permutation of SHA-3.
#[divan::bench]
fn node_alone(bencher: Bencher) {
    let vendor = Vendor::default();
    let seed = vendor.seeds().transaction_accumulator;
    bencher.bench(|| seed.hash(&[&[1; 32], &[2; 32]]));
}

/// The same, of all nodes of a tree: those of a level are hashed side by side.
#[divan::bench]
fn node_among_others(bencher: Bencher) {
    const LEAVES: u64 = 1_024;
    let vendor = Vendor::default();
    let seed = vendor.seeds().transaction_accumulator;
    let leaves: Vec<_> = (0..LEAVES)
        .map(|n| HashValue::sha3_of(&[&n.to_le_bytes()]))
        .collect();
    bencher
        .counter(ItemsCount::new(LEAVES - 1))
        .bench(|| root_of(leaves.iter().copied(), &seed));
}

#[divan::bench]
fn check_signature(bencher: Bencher) {
    let fixture = Fixture::new();
    let transaction = fixture.transfer(1);
    bencher.bench(|| {
        transaction
            .check(fixture.chain.vendor(), fixture.chain.parameters())
            .expect("it holds");
    });
}

#[divan::bench]
fn validate(bencher: Bencher) {
    let fixture = Fixture::new();
    let transaction = CheckedTransaction::trusted(fixture.transfer(1), fixture.chain.vendor());
    let facts = ValidationInputs::read(&fixture.chain, &fixture, transaction.transaction());
    let facts = facts.expect("state in memory");
    bencher.bench(|| {
        validate_for_admission(&fixture.chain, &facts, &transaction, NOW_SECS).expect("valid");
    });
}

#[divan::bench(args = [1, 10, 100, 1_000])]
fn execute(bencher: Bencher, size: u64) {
    let fixture = Fixture::new();
    let block = fixture.block(size);
    bencher
        .counter(ItemsCount::new(size))
        .with_inputs(|| block.clone())
        .bench_values(|block| {
            execute_block(&fixture.chain, &fixture.tip, &fixture, block).expect("it executes")
        });
}

/// What executing independent transactions on several threads gains at the most: parts of a block of 1,000 are executed
/// apart, and nothing brings them together again. As many other threads as `busy` check signatures meanwhile, as those of a
/// loaded node do.
#[divan::bench(args = [(1, 0), (2, 0), (1, 2), (2, 2)])]
fn execute_in_parts(bencher: Bencher, (parts, busy): (u64, usize)) {
    const SIZE: u64 = 1_000;
    let fixture = Fixture::new();
    let of_part = |part| fixture.block_of(part * SIZE / parts..(part + 1) * SIZE / parts);
    let blocks: Vec<_> = (0..parts).map(of_part).collect();
    let execute = |block| {
        execute_block(&fixture.chain, &fixture.tip, &fixture, block).expect("it executes");
    };
    let is_over = AtomicBool::new(false);
    let transaction = fixture.transfer(1);
    thread::scope(|scope| {
        for _ in 0..busy {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    transaction
                        .check(fixture.chain.vendor(), fixture.chain.parameters())
                        .expect("it holds");
                }
            });
        }
        bencher
            .counter(ItemsCount::new(SIZE))
            .with_inputs(|| blocks.clone())
            .bench_local_values(|blocks| {
                thread::scope(|scope| {
                    for block in blocks {
                        scope.spawn(|| execute(block));
                    }
                });
            });
        is_over.store(true, Ordering::Relaxed);
    });
}
