//! Time to commit of one account beside another one that sends expensive transactions as fast as it
//! can, at the same price.
//!
//! `cargo bench -p ledger-actors --bench shares -- [seconds]`
//!
//! Each row is a kind of transaction of the greedy account. The polite account sends one transfer
//! at a time and waits until it is committed. The node runs in this process, without HTTP, on a
//! temporary directory. The columns of blocks are medians over the blocks of the run, from the
//! stages of the flight recorder: `execute` is the time in the executor, `commit` the time from
//! there until the block is durable, which includes waiting for the writer.

#![allow(clippy::print_stdout)]

use futures::future::{Either, select};
use ledger_actors::{Node, NodeConfig, NodeHandle, SubmitError, TransactionStatus};
use ledger_execution::{build_chain, execute_genesis};
use ledger_store::{Store, StoreOptions};
use ledger_test_support::{
    TestAccount, TransactionBuilder, bcs_bytes, funded_genesis, function_call, transfer_call,
};
use ledger_types::{AccountAddress, EntryFunction};
use ledger_vm::Chain;
use serde_json::Value;
use std::{
    env, fs,
    path::Path,
    pin::pin,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// Time between two attempts of the greedy account after the pool has rejected a transaction.
const RETRY_INTERVAL: Duration = Duration::from_millis(1);
/// Pause of the polite account between two transfers.
const PAUSE: Duration = Duration::from_millis(5);
/// Lifetime of an orderless transaction, within the limit of the ledger.
const LIFETIME_SECS: u64 = 50;

/// A kind of transaction of the greedy account.
struct Load {
    name: &'static str,
    call: fn(&Chain) -> EntryFunction,
}

const LOADS: [Load; 5] = [
    Load {
        name: "transfers",
        call: |chain| transfer_call(chain.vendor(), recipient(), 1),
    },
    Load {
        name: "60 KB, fails",
        call: |_| function_call("0x1::coin::transfer", &[], vec![vec![1; 60_000]]),
    },
    Load {
        name: "1,500 transfers to one",
        call: |_| batch_transfer(&vec![recipient(); 1_500]),
    },
    Load {
        name: "1,500 transfers to each",
        call: |_| {
            let recipients = (1..=1_500).map(AccountAddress::from_low_u64);
            batch_transfer(&recipients.collect::<Vec<_>>())
        },
    },
    Load {
        name: "100 transfers to each",
        call: |_| {
            let recipients = (1..=100).map(AccountAddress::from_low_u64);
            batch_transfer(&recipients.collect::<Vec<_>>())
        },
    },
];

fn recipient() -> AccountAddress {
    TestAccount::from_seed(2).address
}

fn batch_transfer(recipients: &[AccountAddress]) -> EntryFunction {
    let amounts = vec![1u64; recipients.len()];
    let arguments = vec![bcs_bytes(&recipients), bcs_bytes(&amounts)];
    function_call("0x1::node_account::batch_transfer", &[], arguments)
}

fn main() {
    let arguments: Vec<String> = env::args()
        .skip(1)
        .filter(|text| text != "--bench")
        .collect();
    let secs = arguments.iter().find_map(|text| text.parse().ok());
    let duration = Duration::from_secs(secs.unwrap_or(10));
    println!(
        "{:24} {:>7} {:>7} {:>7} {:>7} | {:>7} {:>6} {:>6} {:>9} {:>9} {:>9}",
        "greedy account",
        "polite",
        "p50 ms",
        "p99 ms",
        "max ms",
        "sent/s",
        "blocks",
        "count",
        "kB",
        "execute",
        "commit"
    );
    actix::System::new().block_on(async {
        measure(None, duration).await;
        for load in &LOADS {
            measure(Some(load), duration).await;
        }
    });
}

async fn measure(load: Option<&Load>, duration: Duration) {
    let genesis = funded_genesis(3);
    let chain = build_chain(&genesis).expect("a valid genesis");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut store =
        Store::open(directory.path(), &StoreOptions::default()).expect("the store opens");
    store
        .initialize(&genesis, &execute_genesis(&genesis, &chain))
        .expect("a writable store");
    let mut config = NodeConfig::default();
    config.wait.timeout_ms = 60_000;
    config.actors.threads = 3;
    let node = Node::start(chain, store, Some(directory.path()), config)
        .await
        .expect("the node starts");
    let handle = node.handle();
    let greedy = async {
        match load {
            Some(load) => send_all(&handle, (load.call)(handle.chain())).await,
            None => std::future::pending().await,
        }
    };
    let polite = send_politely(&handle, duration);
    let mut times = match select(pin!(greedy), pin!(polite)).await {
        Either::Left(never) => match never.0 {},
        Either::Right((times, _)) => times,
    };
    times.sort();
    let recording = handle
        .flight_recorder()
        .write(directory.path(), "bench")
        .expect("a writable directory");
    let blocks = Blocks::read(&recording.path);
    let percentile =
        |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    println!(
        "{:24} {:7} {:7.1} {:7.1} {:7.1} | {:7.0} {:6} {:6} {:9.1} {:9.1} {:9.1}",
        load.map_or("none", |load| load.name),
        times.len(),
        percentile(50),
        percentile(99),
        percentile(100),
        blocks.transactions as f64 / duration.as_secs_f64(),
        blocks.count,
        blocks.median_transactions,
        blocks.median_bytes as f64 / 1e3,
        blocks.median_execute_usecs as f64 / 1e3,
        blocks.median_commit_usecs as f64 / 1e3,
    );
    node.stop().await.expect("the node stops");
}

/// Submits orderless transactions with this call as fast as the pool accepts them.
async fn send_all(handle: &NodeHandle, call: EntryFunction) -> std::convert::Infallible {
    let account = TestAccount::from_seed(0);
    for nonce in 0.. {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("a clock after 1970");
        let transaction =
            TransactionBuilder::call(handle.chain(), account.address, call.clone())
                .max_gas_amount(2_000_000)
                .expiration_secs(now.as_secs() + LIFETIME_SECS)
                .nonce(nonce)
                .sign_checked(handle.chain(), &account);
        loop {
            match handle.submit(transaction.clone()).await {
                Ok(_) => break,
                Err(SubmitError::AccountFull { .. } | SubmitError::Full { .. }) => {
                    tokio::time::sleep(RETRY_INTERVAL).await;
                }
                Err(error) => panic!("{error}"),
            }
        }
        tokio::task::yield_now().await;
    }
    unreachable!("nonces do not end within a run")
}

/// Sends one transfer after another, each after the previous one is committed, and returns the time
/// that each took.
async fn send_politely(handle: &NodeHandle, duration: Duration) -> Vec<Duration> {
    let account = TestAccount::from_seed(1);
    let begin = Instant::now();
    let mut times = Vec::new();
    for number in 0.. {
        if begin.elapsed() >= duration {
            break;
        }
        let transfer =
            TransactionBuilder::transfer(handle.chain(), account.address, recipient(), 1)
                .sequence_number(number)
                .sign_checked(handle.chain(), &account);
        let hash = transfer.hash();
        let submitted_at = Instant::now();
        handle.submit(transfer).await.expect("it is accepted");
        let (_, status) = handle.wait_for_commit(hash).await.expect("the node runs");
        assert!(
            matches!(status, TransactionStatus::Committed(_)),
            "{status:?}"
        );
        times.push(submitted_at.elapsed());
        tokio::time::sleep(PAUSE).await;
    }
    times
}

/// The blocks of a recording, without its empty ones.
struct Blocks {
    count: usize,
    transactions: u64,
    median_transactions: u64,
    median_bytes: u64,
    median_execute_usecs: u64,
    median_commit_usecs: u64,
}

impl Blocks {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("the recording is readable");
        let recording: Value = serde_json::from_str(&text).expect("the recording is JSON");
        let blocks = recording["blocks"].as_array().expect("a list");
        let median = |value: &dyn Fn(&Value) -> Option<u64>| {
            let mut values: Vec<_> = blocks.iter().filter_map(value).collect();
            values.sort_unstable();
            values.get(values.len() / 2).copied().unwrap_or(0)
        };
        let between = |from: &'static str, to: &'static str| {
            move |block: &Value| Some(block[to].as_u64()?.saturating_sub(block[from].as_u64()?))
        };
        let transactions = |block: &Value| block["transactions"].as_u64();
        Self {
            count: blocks.len(),
            transactions: blocks.iter().filter_map(transactions).sum(),
            median_transactions: median(&transactions),
            median_bytes: median(&|block| block["bytes"].as_u64()),
            median_execute_usecs: median(&between(
                "execution_begun_after_usecs",
                "executed_after_usecs",
            )),
            median_commit_usecs: median(&between("executed_after_usecs", "durable_after_usecs")),
        }
    }
}
