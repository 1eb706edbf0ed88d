//! Time to commit of one account beside another one that sends expensive transactions as fast as it
//! can, at the same price.
//!
//! `cargo bench -p ledger-actors --bench shares -- [seconds] [sequencer.block_time_max_ms]`
//!
//! Each row is a kind of transaction of the greedy account, which are signed before they are sent.
//! The polite account sends one transfer at a time and waits until it is committed. The node runs
//! in this process, without HTTP, on a temporary directory. The columns of blocks are 90th
//! percentiles over the blocks of the run, from the stages of the flight recorder: `execute` is the
//! time in the executor, `commit` the time from there until the block is durable, which includes
//! waiting for the writer.

#![allow(clippy::print_stdout)]

use ledger_actors::{Node, NodeConfig, NodeHandle, SubmitError, TransactionStatus};
use ledger_limits::ClientKey;
use ledger_store::{Store, StoreOptions};
use ledger_test_support::{
    TestAccount, TransactionBuilder, bcs_bytes, function_call, funded_genesis, now_secs,
    store::initialize_store, transfer_call,
};
use ledger_types::{AccountAddress, CheckedTransaction, EntryFunction};
use ledger_vm::Chain;
use serde_json::Value;
use std::{
    env, fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, Instant},
};

/// Time between two attempts of the greedy account after the pool has rejected a transaction.
const RETRY_INTERVAL: Duration = Duration::from_millis(1);
/// Pause of the polite account between two transfers.
const PAUSE: Duration = Duration::from_millis(5);
/// Lifetime of an orderless transaction, within the limit of the ledger.
const LIFETIME_SECS: u64 = 50;

/// Number of transactions that are signed in advance. The greedy account fills its share of the
/// pool with them.
const SIGNED_MAX: usize = 2_000;
/// Number of funded accounts.
const ACCOUNTS: u64 = 1_600;

/// A kind of transaction of the greedy account.
struct Load {
    name: &'static str,
    call: fn(&Chain) -> EntryFunction,
}

const LOADS: [Load; 4] = [
    Load {
        name: "transfers",
        call: |chain| transfer_call(chain.vendor(), recipients(1)[0], 1),
    },
    Load {
        name: "60 KB, fails",
        call: |_| function_call("0x1::coin::transfer", &[], vec![vec![1; 60_000]]),
    },
    Load {
        name: "1,500 transfers to one",
        call: |_| batch_transfer(&vec![recipients(1)[0]; 1_500]),
    },
    Load {
        name: "1,500 transfers to each",
        call: |_| batch_transfer(&recipients(1_500)),
    },
];

fn recipients(count: u64) -> Vec<AccountAddress> {
    let seeds = 2..2 + count;
    seeds
        .map(|seed| TestAccount::from_seed(seed).address)
        .collect()
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
    let mut numbers = arguments.iter().filter_map(|text| text.parse().ok());
    let duration = Duration::from_secs(numbers.next().unwrap_or(10));
    let mut config = NodeConfig::default();
    config.wait.timeout_ms = 60_000;
    config.actors.threads = 3;
    if let Some(block_time_max_ms) = numbers.next() {
        config.sequencer.block_time_max_ms = block_time_max_ms;
    }
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
        measure(None, duration, config.clone()).await;
        for load in &LOADS {
            measure(Some(load), duration, config.clone()).await;
        }
    });
}

async fn measure(load: Option<&Load>, duration: Duration, config: NodeConfig) {
    let genesis = funded_genesis(ACCOUNTS);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = Store::open(directory.path(), &StoreOptions::default()).expect("the store opens");
    let (chain, store) = initialize_store(store, &genesis);
    let node = Node::start(chain, store, Some(directory.path()), config)
        .await
        .expect("the node starts");
    let handle = node.handle();
    let is_done = Arc::new(AtomicBool::new(false));
    let greedy = load.map(|load| {
        let call = (load.call)(handle.chain());
        let transactions = sign_all(handle.chain().clone(), call);
        let (handle, is_done) = (handle.clone(), Arc::clone(&is_done));
        thread::spawn(move || send_all(&handle, &transactions, &is_done))
    });
    let mut times = send_politely(&handle, duration).await;
    is_done.store(true, Relaxed);
    if let Some(greedy) = greedy {
        greedy.join().expect("no panic");
    }
    times.sort();
    let recording = handle
        .flight_recorder()
        .write(directory.path(), "bench")
        .expect("a writable directory");
    let blocks = Blocks::read(&recording.path);
    let percentile = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    println!(
        "{:24} {:7} {:7.1} {:7.1} {:7.1} | {:7.0} {:6} {:6} {:9.1} {:9.1} {:9.1}",
        load.map_or("none", |load| load.name),
        times.len(),
        percentile(50),
        percentile(99),
        percentile(100),
        blocks.total_transactions as f64 / duration.as_secs_f64(),
        blocks.count,
        blocks.transactions,
        blocks.bytes as f64 / 1e3,
        blocks.execute_usecs as f64 / 1e3,
        blocks.commit_usecs as f64 / 1e3,
    );
    node.stop().await.expect("the node stops");
}

/// Starts a thread that signs orderless transactions with this call, and waits until
/// [`SIGNED_MAX`] are signed.
fn sign_all(chain: Chain, call: EntryFunction) -> Receiver<CheckedTransaction> {
    let (sender, receiver) = mpsc::sync_channel(SIGNED_MAX);
    let (filled, is_filled) = mpsc::channel();
    thread::spawn(move || {
        let account = TestAccount::from_seed(0);
        for nonce in 0.. {
            let transaction = TransactionBuilder::call(&chain, account.address, call.clone())
                .max_gas_amount(2_000_000)
                .expiration_secs(now_secs() + LIFETIME_SECS)
                .nonce(nonce)
                .sign_checked(&chain, &account);
            if nonce == SIGNED_MAX as u64 - 1 {
                // The receiver waits for this message.
                let _ = filled.send(());
            }
            // The run has ended if nobody receives.
            if sender.send(transaction).is_err() {
                return;
            }
        }
    });
    is_filled.recv().expect("the thread signs transactions");
    receiver
}

/// Submits the transactions as fast as the pool accepts them.
fn send_all(
    handle: &NodeHandle,
    transactions: &Receiver<CheckedTransaction>,
    is_done: &AtomicBool,
) {
    actix::System::new().block_on(async {
        for transaction in transactions.iter().take_while(|_| !is_done.load(Relaxed)) {
            while let Err(error) = handle.submit(transaction.clone(), ClientKey::NODE).await {
                match error {
                    SubmitError::AccountFull { .. } | SubmitError::Full { .. } => {
                        tokio::time::sleep(RETRY_INTERVAL).await;
                    }
                    // It was signed too long ago.
                    SubmitError::Invalid(_) => break,
                    error => panic!("{error}"),
                }
                if is_done.load(Relaxed) {
                    return;
                }
            }
        }
    });
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
            TransactionBuilder::transfer(handle.chain(), account.address, recipients(1)[0], 1)
                .sequence_number(number)
                .sign_checked(handle.chain(), &account);
        let hash = transfer.hash();
        let submitted_at = Instant::now();
        handle
            .submit(transfer, ClientKey::NODE)
            .await
            .expect("it is accepted");
        let (_, status) = handle
            .wait_for_commit(hash, ClientKey::NODE)
            .await
            .expect("the node runs");
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
    total_transactions: u64,
    transactions: u64,
    bytes: u64,
    execute_usecs: u64,
    commit_usecs: u64,
}

impl Blocks {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("the recording is readable");
        let recording: Value = serde_json::from_str(&text).expect("the recording is JSON");
        let blocks = recording["blocks"].as_array().expect("a list");
        let high = |value: &dyn Fn(&Value) -> Option<u64>| {
            let mut values: Vec<_> = blocks.iter().filter_map(value).collect();
            values.sort_unstable();
            values.get(values.len() * 9 / 10).copied().unwrap_or(0)
        };
        let between = |from: &'static str, to: &'static str| {
            move |block: &Value| Some(block[to].as_u64()?.saturating_sub(block[from].as_u64()?))
        };
        let transactions = |block: &Value| block["transactions"].as_u64();
        Self {
            count: blocks.len(),
            total_transactions: blocks.iter().filter_map(transactions).sum(),
            transactions: high(&transactions),
            bytes: high(&|block| block["bytes"].as_u64()),
            execute_usecs: high(&between(
                "execution_begun_after_usecs",
                "executed_after_usecs",
            )),
            commit_usecs: high(&between("executed_after_usecs", "durable_after_usecs")),
        }
    }
}
