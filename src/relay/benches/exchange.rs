//! Benchmark of the relay: processor time for each transaction that a validator sends to another.
//!
//! `cargo bench -p ledger-relay --bench exchange`
//!
//! Both relays run in this process. Each row offers transfers at one rate. `send` is the time of
//! the sender's thread, system calls included, and `receive` that of the receiver, up to the decoded
//! transaction; in microseconds per transaction. `messages` is the number of transactions in each.

#![allow(
    clippy::print_stdout,
    reason = "the figures are the result of the program"
)]

use ledger_actors::NodeError;
use ledger_actors::relay::{Admission, FoundHere, RelayNode, RelayQueues};
use ledger_crypto::{Ed25519PrivateKey, HashValue};
use ledger_limits::{ClientKey, ClientKeys};
use ledger_relay::{Peer, Relay, Settings, Times};
use ledger_test_support::draft::draft;
use ledger_types::{CheckedTransaction, SignedTransaction, Vendor};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Size of a transfer's argument, so that a transaction has the size of a typical one, 250 bytes.
const ARGUMENT_BYTES: usize = 64;

/// Transactions that differ. They are offered repeatedly.
const DISTINCT: u64 = 10_000;

/// Offered transactions per second, each with the duration of its row.
const ROWS: [(u64, Duration); 4] = [
    (100, Duration::from_secs(5)),
    (1_000, Duration::from_secs(5)),
    (10_000, Duration::from_secs(5)),
    (100_000, Duration::from_secs(5)),
];

/// Returns the processor time of a clock, in nanoseconds.
fn processor_nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    u64::try_from(time.tv_sec).unwrap() * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap()
}

/// A node that counts what it receives.
#[derive(Clone, Default)]
struct CountingNode {
    received: Arc<AtomicU64>,
    /// Processor time of the relay's thread at the last admission, in nanoseconds.
    thread_nanos: Arc<AtomicU64>,
}

impl RelayNode for CountingNode {
    async fn admit(&self, transactions: Vec<SignedTransaction>, _peer: ClientKey) -> Admission {
        let transactions = black_box(transactions);
        let nanos = processor_nanos(ClockId::ThreadCPUTime);
        self.thread_nanos.store(nanos, Ordering::Relaxed);
        let added = transactions.len();
        self.received.fetch_add(added as u64, Ordering::Relaxed);
        Admission {
            added,
            ..Admission::default()
        }
    }

    async fn find_here(&self, _hash: HashValue, _peer: ClientKey) -> Result<FoundHere, NodeError> {
        Ok(FoundHere::Unknown)
    }
}

struct Sender {
    relay: Relay,
    outgoing: mpsc::Sender<Arc<CheckedTransaction>>,
}

fn start(key: &Ed25519PrivateKey, node: CountingNode, peers: Vec<Peer>) -> Sender {
    let (outgoing, outgoing_receiver) = mpsc::channel(16_384);
    let (_, finds) = mpsc::channel(1);
    let settings = Settings {
        key: key.clone(),
        is_validator: true,
        genesis_hash: HashValue::new([3; 32]),
        vendor: Vendor::default(),
        transaction_bytes_max: 64 * 1024,
        listen: "127.0.0.1:0".parse().expect("an address"),
        peers,
        client_keys: ClientKeys::default(),
        times: Times::default(),
    };
    let queues = RelayQueues {
        outgoing: outgoing_receiver,
        finds,
    };
    let relay = Relay::start(settings, node, queues).expect("a relay");
    Sender { relay, outgoing }
}

fn peer(key: &Ed25519PrivateKey, relay: Option<&Relay>) -> Peer {
    Peer {
        name: "peer".to_owned(),
        key: key.public_key(),
        address: relay.map(|relay| relay.listen_address().to_string()),
        is_validator: true,
    }
}

fn main() {
    let mut keys = [1, 2].map(|byte| Ed25519PrivateKey::from_seed(&[byte; 32]));
    keys.sort_by_key(Ed25519PrivateKey::public_key);
    let [first, second] = keys;
    let node = CountingNode::default();
    let receiver = start(&second, node.clone(), vec![peer(&first, None)]);
    let dialed = peer(&second, Some(&receiver.relay));
    let sender = start(&first, CountingNode::default(), vec![dialed]);
    while !sender.relay.report()[0].is_connected {
        thread::sleep(Duration::from_millis(1));
    }
    let transactions: Vec<_> = (0..DISTINCT)
        .map(|number| draft(1, number).argument(&[7; ARGUMENT_BYTES]).checked())
        .collect();
    let size_bytes = transactions[0].size_bytes();
    println!("{size_bytes} bytes per transaction, microseconds per transaction");
    println!("per second   send   receive   messages");
    for (rate, duration) in ROWS {
        measure(&sender, &node, &transactions, rate, duration);
    }
}

/// Offers transactions at a rate, and prints the figures of a row.
fn measure(
    sender: &Sender,
    node: &CountingNode,
    transactions: &[Arc<CheckedTransaction>],
    rate: u64,
    duration: Duration,
) {
    let frames = || sender.relay.report()[0].traffic.frames_sent;
    let frames_before = frames();
    let received_before = node.received.load(Ordering::Relaxed);
    let receiver_before = node.thread_nanos.load(Ordering::Relaxed);
    let process_before = processor_nanos(ClockId::ProcessCPUTime);
    let own_before = processor_nanos(ClockId::ThreadCPUTime);
    let started = Instant::now();
    let count = rate * duration.as_secs();
    let mut offered = transactions.iter().cycle();
    for number in 0..count {
        let due = Duration::from_nanos(number * 1_000_000_000 / rate);
        if let Some(wait) = due.checked_sub(started.elapsed()) {
            thread::sleep(wait);
        }
        let transaction = offered.next().expect("a cycle");
        sender
            .outgoing
            .blocking_send(Arc::clone(transaction))
            .expect("a relay");
    }
    while node.received.load(Ordering::Relaxed) - received_before < count {
        thread::sleep(Duration::from_millis(1));
    }
    let own = processor_nanos(ClockId::ThreadCPUTime) - own_before;
    let process = processor_nanos(ClockId::ProcessCPUTime) - process_before;
    let receive = node.thread_nanos.load(Ordering::Relaxed) - receiver_before;
    let micros = |nanos: u64| nanos as f64 / 1_000.0 / count as f64;
    println!(
        "{rate:10} {:6.1} {:9.1} {:10.1}",
        micros(process - own - receive),
        micros(receive),
        count as f64 / (frames() - frames_before) as f64,
    );
}
