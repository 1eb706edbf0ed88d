//! Benchmark of the pool alone: time to insert, take and commit a transaction, and memory per
//! pending transaction.
//!
//! `cargo bench -p ledger-actors --bench pool -- [pending...]`
//!
//! The benchmark fills a pool with `pending` transactions (10,000, 100,000 and 1,000,000 by
//! default). Then it inserts, takes and commits batches of 5,000 while `pending` transactions
//! remain. Memory is the growth of the resident set, and each case runs in a process of its own.
//! "bytes of the pool" excludes the transaction itself.

#![allow(clippy::print_stdout)]

use ledger_actors::{BatchLimits, MempoolConfig, Pending, Pool};
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature};
use ledger_test_support::{TransactionBuilder, block::block, development_chain, function_call};
use ledger_types::{AccountAddress, CheckedTransaction};
use std::{
    env, fs,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

const NOW_SECS: u64 = 1_000;
const BATCH: usize = 5_000;
const ROUNDS: usize = 10;
const PAGE_BYTES: usize = 4_096;

/// Distributions of transactions over accounts: name, and number of transactions per account.
const CASES: [(&str, u64); 3] = [("one each", 1), ("hundred each", 100), ("orderless", 5_000)];

fn main() {
    let arguments: Vec<String> = env::args()
        .skip(1)
        .filter(|text| text != "--bench")
        .collect();
    if let [case, pending] = &arguments[..]
        && let Some(&(name, per_account)) = CASES.iter().find(|(name, _)| name == case)
    {
        return measure(name, per_account, pending.parse().expect("a number"));
    }
    let numbers = arguments.iter().filter_map(|text| text.parse().ok());
    let mut sizes: Vec<usize> = numbers.collect();
    if sizes.is_empty() {
        sizes = vec![10_000, 100_000, 1_000_000];
    }
    println!(
        "accounts     |   pending | fill ns | insert ns | take ns | commit ns | bytes of the pool | of all"
    );
    for (name, _) in CASES {
        for pending in &sizes {
            let program = env::current_exe().expect("the path of this program");
            let run = Command::new(program)
                .args([name, &pending.to_string()])
                .status();
            assert!(run.expect("this program runs").success());
        }
    }
}

fn measure(name: &str, per_account: u64, pending: usize) {
    let before = resident_bytes();
    let count = (pending + ROUNDS * BATCH) as u64;
    let all: Vec<_> = (0..count)
        .map(|index| transaction(name, index, per_account))
        .collect();
    let with_transactions = resident_bytes();
    let mut pool = Pool::new(MempoolConfig::default());
    let (first, rest) = all.split_at(pending);
    let fill = insert(&mut pool, first);
    let memory = resident_bytes().saturating_sub(with_transactions) / pending;
    let transactions = with_transactions.saturating_sub(before) / all.len();
    let [mut inserting, mut taking, mut committing] = [Duration::ZERO; 3];
    for (height, batch) in (1..).zip(rest.chunks(BATCH)) {
        inserting += insert(&mut pool, batch);
        let begin = Instant::now();
        let taken = pool.take_batch(BatchLimits {
            transactions_max: BATCH,
            bytes_max: usize::MAX,
            usecs_max: u64::MAX,
        });
        taking += begin.elapsed();
        assert_eq!(taken.len(), BATCH);
        let block = block(height, &taken, &[]);
        drop(taken);
        let begin = Instant::now();
        pool.commit(&block);
        committing += begin.elapsed();
    }
    let per_transaction_nanos = |time: Duration| time.as_nanos() / (ROUNDS * BATCH) as u128;
    println!(
        "{name:12} | {pending:9} | {:7} | {:9} | {:7} | {:9} | {memory:17} | {:6}",
        fill.as_nanos() / pending as u128,
        per_transaction_nanos(inserting),
        per_transaction_nanos(taking),
        per_transaction_nanos(committing),
        memory + transactions
    );
}

fn insert(pool: &mut Pool, transactions: &[Arc<CheckedTransaction>]) -> Duration {
    let begin = Instant::now();
    for transaction in transactions {
        let pending = Pending {
            transaction: Arc::clone(transaction),
            inserted_at_secs: NOW_SECS,
        };
        pool.submit(pending, 0, NOW_SECS)
            .expect("the pool has free capacity");
    }
    begin.elapsed()
}

/// Returns the resident memory of this process in bytes, as Linux reports it.
fn resident_bytes() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").expect("/proc/self/statm is readable");
    let pages = statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok());
    pages.expect("the second field is a number") * PAGE_BYTES
}

/// Returns the transfer with this index, of an account that sends `per_account` of them.
fn transaction(name: &str, index: u64, per_account: u64) -> Arc<CheckedTransaction> {
    let chain = development_chain();
    let number = index % per_account;
    let call = function_call("0x1::coin::transfer", &[], vec![vec![1; 32], vec![2; 8]]);
    let sender = AccountAddress::from_low_u64(index / per_account);
    let mut builder = TransactionBuilder::call(&chain, sender, call)
        .gas_unit_price(100 + index / 97 % 10)
        .expiration_secs(NOW_SECS + 60 + index / 1_000 % 60);
    if name == "orderless" {
        // The multiplication spreads the nonces as random ones would be.
        builder = builder.nonce(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    let signed = builder
        .sequence_number(number)
        .with_signature(Ed25519PublicKey([1; 32]), Ed25519Signature([1; 64]));
    Arc::new(CheckedTransaction::new_unchecked(signed, chain.vendor()))
}
