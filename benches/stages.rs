//! The cost of each pure stage of a transfer, per transaction.
//!
//! The stages are decoding, hashing, the signature check, validation, and execution in blocks of
//! several sizes and on several threads. Two more benches measure one hash of a tree alone and
//! among others.
//!
//! `cargo bench -p ledger-execution --bench stages`

use divan::{Bencher, counter::ItemsCount};
use ledger_crypto::HashValue;
use ledger_execution::{ValidationInputs, execute_block, validate_for_admission};
use ledger_test_support::{MemoryChain, START_SECS, TestAccount, funded_genesis, next_block};
use ledger_types::{
    CheckedTransaction, OrderedBlock, SignedTransaction, Vendor, accumulator::root_of,
    decode_signed_transaction,
};
use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

const ACCOUNTS: u64 = 10_000;

/// The allocator of the node.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    divan::main();
}

/// Creates a chain at genesis with [`ACCOUNTS`] funded accounts and its state in memory.
fn rich_chain() -> MemoryChain {
    MemoryChain::new(&funded_genesis(ACCOUNTS))
}

/// Returns a signed transfer of one unit from account `number` to the next account.
fn transfer(fixture: &MemoryChain, number: u64) -> SignedTransaction {
    let to = TestAccount::from_seed((number + 1) % ACCOUNTS).address;
    TestAccount::from_seed(number).transfer(&fixture.chain, 0, to, 1)
}

/// Returns block 1 with the transfers of the accounts `numbers`.
fn block(fixture: &MemoryChain, numbers: Range<u64>) -> OrderedBlock {
    let vendor = fixture.chain.vendor();
    let trusted = |number| {
        Arc::new(CheckedTransaction::new_unchecked(
            transfer(fixture, number),
            vendor,
        ))
    };
    OrderedBlock {
        transactions: numbers.map(trusted).collect(),
        ..next_block(&fixture.tip)
    }
}

#[divan::bench]
fn decode(bencher: Bencher) {
    let bytes = bcs::to_bytes(&transfer(&rich_chain(), 1)).expect("BCS");
    bencher.bench(|| decode_signed_transaction(&bytes).expect("a transaction"));
}

#[divan::bench]
fn hash_and_size(bencher: Bencher) {
    let fixture = rich_chain();
    let transaction = transfer(&fixture, 1);
    bencher
        .with_inputs(|| transaction.clone())
        .bench_values(|transaction| {
            CheckedTransaction::new_unchecked(transaction, fixture.chain.vendor())
        });
}

/// Measures one node of a tree: the hash of a prefix and two hashes, one permutation of SHA-3.
#[divan::bench]
fn node_alone(bencher: Bencher) {
    let vendor = Vendor::default();
    let seed = vendor.seeds().transaction_accumulator;
    bencher.bench(|| seed.hash(&[&[1; 32], &[2; 32]]));
}

/// Measures all nodes of a tree. The nodes of one level are hashed side by side in one batch.
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
    let fixture = rich_chain();
    let transaction = transfer(&fixture, 1);
    bencher.bench(|| {
        transaction
            .check(fixture.chain.vendor(), fixture.chain.parameters())
            .expect("valid");
    });
}

#[divan::bench]
fn validate(bencher: Bencher) {
    let fixture = rich_chain();
    let transaction =
        CheckedTransaction::new_unchecked(transfer(&fixture, 1), fixture.chain.vendor());
    let inputs = ValidationInputs::read(&fixture.chain, &fixture, transaction.transaction());
    let inputs = inputs.expect("state in memory");
    bencher.bench(|| {
        validate_for_admission(&fixture.chain, &inputs, &transaction, START_SECS).expect("valid");
    });
}

#[divan::bench(args = [1, 10, 100, 1_000])]
fn execute(bencher: Bencher, size: u64) {
    bench_block(bencher, &rich_chain(), size);
}

/// Measures execution on a chain whose stores of coins have no event streams.
#[divan::bench(args = [1_000])]
fn without_streams(bencher: Bencher, size: u64) {
    let mut genesis = funded_genesis(ACCOUNTS);
    genesis.parameters.coin_event_handles = false;
    bench_block(bencher, &MemoryChain::new(&genesis), size);
}

/// Measures the execution of a block of `size` transfers.
fn bench_block(bencher: Bencher, fixture: &MemoryChain, size: u64) {
    let block = block(fixture, 0..size);
    bencher
        .counter(ItemsCount::new(size))
        .with_inputs(|| block.clone())
        .bench_values(|block| {
            execute_block(&fixture.chain, &fixture.tip, fixture, block).expect("the block executes")
        });
}

/// Measures an upper bound of the gain of parallel execution.
///
/// The parts of a block of 1,000 independent transactions are executed on one thread each, and
/// their results are not merged. Meanwhile `busy` other threads check signatures, as the threads of
/// a loaded node do.
#[divan::bench(args = [(1, 0), (2, 0), (1, 2), (2, 2)])]
fn execute_in_parts(bencher: Bencher, (parts, busy): (u64, usize)) {
    const SIZE: u64 = 1_000;
    let fixture = rich_chain();
    let part_of_block = |part| block(&fixture, part * SIZE / parts..(part + 1) * SIZE / parts);
    let blocks: Vec<_> = (0..parts).map(part_of_block).collect();
    let execute = |block| {
        execute_block(&fixture.chain, &fixture.tip, &fixture, block).expect("the block executes");
    };
    let is_done = AtomicBool::new(false);
    let transaction = transfer(&fixture, 1);
    thread::scope(|scope| {
        for _ in 0..busy {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    transaction
                        .check(fixture.chain.vendor(), fixture.chain.parameters())
                        .expect("valid");
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
        is_done.store(true, Ordering::Relaxed);
    });
}
