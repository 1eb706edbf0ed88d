//! Time of the look-up for a committed transaction before the signatures of a submission are
//! checked, beside that check.
//!
//! `cargo bench -p ledger-actors --bench resubmit -- [committed]`
//!
//! The ledger has `committed` transfers (200,000 by default) of half of the accounts, of which a
//! quarter have nonces. The node runs in this process, without HTTP, on a temporary directory. A
//! row is a kind of submission, timed alone on one thread while no block commits.

#![allow(clippy::print_stdout)]

use ledger_actors::{Accepted, Node, NodeConfig, NodeHandle, TransactionStatus};
use ledger_limits::ClientKey;
use ledger_store::{Store, StoreOptions};
use ledger_test_support::{
    TestAccount, TransactionBuilder, funded_genesis, now_secs, store::initialize_store,
};
use ledger_types::{CheckedTransaction, ReplayProtector, SignedTransaction};
use ledger_vm::Chain;
use std::{
    env,
    time::{Duration, Instant},
};

/// Number of accounts. Those of the first half have sent transactions.
const ACCOUNTS: u64 = 20_000;
/// Number of timed submissions of each kind.
const TIMED: u64 = 10_000;
/// Number of transactions that are submitted before the node has committed all of them.
const GROUP: usize = 5_000;
/// Lifetime of an orderless transaction, within the limit of the ledger.
const LIFETIME_SECS: u64 = 90;

fn main() {
    let arguments = env::args().skip(1);
    let mut numbers = arguments.filter_map(|text| text.parse().ok());
    let committed = numbers.next().unwrap_or(200_000);
    actix::System::new().block_on(run(committed));
}

/// Returns a transfer of an account, with a nonce or with the sequence number `number`.
fn transfer(chain: &Chain, account: u64, number: u64, is_orderless: bool) -> SignedTransaction {
    let account = TestAccount::from_seed(account);
    let builder = TransactionBuilder::transfer(chain, account.address, account.address, 1);
    let builder = match is_orderless {
        true => builder
            .nonce(number)
            .expiration_secs(now_secs() + LIFETIME_SECS),
        false => builder.sequence_number(number),
    };
    builder.sign(&account)
}

async fn run(committed: u64) {
    let genesis = funded_genesis(ACCOUNTS);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let options = StoreOptions::default();
    let store = Store::open(directory.path(), &options).expect("a new store");
    let (chain, store) = initialize_store(store, &genesis);
    let mut config = NodeConfig::default();
    config.wait.timeout_ms = 60_000;
    let node = Node::start(chain.clone(), store, None, config)
        .await
        .expect("the node starts");
    let handle = node.handle();
    let senders = ACCOUNTS / 2;
    let at = |index: u64| {
        let (round, account) = (index / senders, index % senders);
        transfer(&chain, account, round, account % 4 == 3)
    };
    let mut all = Vec::new();
    while (all.len() as u64) < committed {
        let begin = all.len() as u64;
        let group = begin..committed.min(begin + GROUP as u64);
        let group: Vec<_> = group.map(at).collect();
        commit(&handle, &group).await;
        all.extend(group);
    }
    let rounds = committed.div_ceil(senders);
    // With sequence numbers, because those with nonces are not found while inline reads are paused.
    let oldest = all.iter().take(TIMED as usize);
    let is_orderless = |signed: &SignedTransaction| {
        matches!(signed.raw.replay_protector(), ReplayProtector::Nonce(_))
    };
    let used: Vec<_> = oldest
        .filter(|signed| !is_orderless(signed))
        .cloned()
        .collect();
    let recent: Vec<_> = all[all.len() - GROUP..].to_vec();
    let new = |range: std::ops::Range<u64>, is_orderless| -> Vec<_> {
        let account = |index| range.start + index % (range.end - range.start);
        (0..TIMED)
            .map(|index| transfer(&chain, account(index), rounds + index, is_orderless))
            .collect()
    };
    println!("{:50} {:>12}", "submission", "us");
    time(
        "new, of a cached account",
        &handle,
        &new(0..senders, false),
        false,
    )
    .await;
    time(
        "new, of an account that is not cached",
        &handle,
        &new(senders..ACCOUNTS, false),
        false,
    )
    .await;
    time("new, with a nonce", &handle, &new(0..senders, true), false).await;
    time("committed, in a recent block", &handle, &recent, true).await;
    time("committed, in an older block", &handle, &used, true).await;
    let begin = Instant::now();
    for signed in &used {
        CheckedTransaction::check(signed.clone(), chain.vendor(), chain.parameters())
            .expect("a valid signature");
    }
    print("check of a signature, alone", begin.elapsed(), used.len());
    node.stop().await.expect("a clean stop");
}

/// Commits transactions, and returns when the store has applied them.
async fn commit(handle: &NodeHandle, transactions: &[SignedTransaction]) {
    let mut hashes = Vec::new();
    for signed in transactions {
        let checked = CheckedTransaction::new_unchecked(signed.clone(), handle.chain().vendor());
        hashes.push(checked.hash());
        handle
            .submit(checked, ClientKey::NODE)
            .await
            .expect("it is accepted");
    }
    for hash in hashes {
        let status = handle.wait_for_commit(hash, ClientKey::NODE).await;
        let (_, status) = status.expect("the node runs");
        assert!(matches!(status, TransactionStatus::Committed(_)));
    }
}

/// Times the look-up of each transaction, of which all or none are committed.
async fn time(
    name: &str,
    handle: &NodeHandle,
    transactions: &[SignedTransaction],
    is_committed: bool,
) {
    let begin = Instant::now();
    for signed in transactions {
        let may_be_committed = handle.may_be_committed(signed);
        let hash = may_be_committed.then(|| signed.hash(handle.chain().vendor()));
        let found: Option<Accepted> = handle
            .accept_unchecked(signed, hash, ClientKey::NODE)
            .await
            .expect("the node runs");
        assert_eq!(found.is_some(), is_committed);
    }
    print(name, begin.elapsed(), transactions.len());
}

fn print(name: &str, duration: Duration, count: usize) {
    let usecs = duration.as_secs_f64() * 1e6 / count as f64;
    println!("{name:50} {usecs:>12.2}");
}
