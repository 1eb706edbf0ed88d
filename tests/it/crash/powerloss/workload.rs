//! The workload of the recorded nodes, and what they acknowledge in it.

use super::{super::acknowledged::Bounds, recorder::Recorder};
use ledger_crypto::HashValue;
use ledger_test_support::{
    TestAccount,
    http::{NodeClient, number},
    node::{TestNode, until},
};
use ledger_vm::Chain;
use std::process::Stdio;

/// Number of concurrent clients.
const CLIENTS: u64 = 4;
/// Funds of each client.
const FUNDS: u64 = 1_000_000_000_000;
/// The exit code of a process that the recorder has ended.
const EXIT_RECORDER: i32 = 98;
/// The log line of a start that has restored a mempool, before the ready line.
const POOL_RESTORED: &str = "the saved mempool was restored";
/// The log line after the ready line.
const POOL_REMOVED: &str = "the file of the restored mempool was removed";
/// A window that every life fills, pruned in steps.
const WINDOW: [&str; 2] = ["pruner.window_versions=60", "pruner.batch_versions=10"];

/// One process, from its start to its end.
#[derive(Clone, Copy, Debug)]
pub enum Life {
    /// Creates a ledger with the first version of the framework, works, and stops with a pending
    /// mempool.
    Parking,
    /// Restores the saved mempool, works, and is killed.
    Killed,
    /// Activates a framework upgrade, and stops with an empty mempool.
    Upgraded,
    /// Works for a short time, and stops.
    Short,
    /// Ends immediately after the step whose line in the record has this prefix.
    KilledAfter(&'static str),
}

impl Life {
    /// The lives of a workload, in order.
    pub const ALL: [Self; 4] = [Self::Parking, Self::Killed, Self::Upgraded, Self::Short];
}

/// An acknowledgment of a node, which must hold from then on.
#[derive(Clone, Debug)]
pub enum Acknowledgment {
    /// The node printed its ready line: there is a ledger.
    Ready,
    /// The node removed the file of the restored mempool, if there was one.
    PoolRemoved,
    /// The transaction is committed.
    Committed { hash: HashValue, version: u64 },
    /// The ledger has these bounds.
    Bounds(Bounds),
    /// The chain has this number of framework upgrades.
    Upgrades(usize),
    /// The mempool with these transactions is saved.
    Saved(Vec<HashValue>),
}

/// Acknowledgments, each with the position in the record at which it was received.
#[derive(Debug)]
struct RecordedAcknowledgments<'a> {
    recorder: &'a Recorder,
    acknowledgments: Vec<(u64, Acknowledgment)>,
}

impl RecordedAcknowledgments<'_> {
    /// Records an acknowledgment at the current position of the record.
    fn record(&mut self, acknowledgment: Acknowledgment) {
        self.acknowledgments
            .push((self.recorder.position(), acknowledgment));
    }
}

/// Runs the lives one after the other. Returns what was acknowledged.
pub async fn run(recorder: &Recorder, lives: &[Life]) -> Vec<(u64, Acknowledgment)> {
    let mut recorded = RecordedAcknowledgments {
        recorder,
        acknowledgments: Vec::new(),
    };
    let mut parked = Vec::new();
    for &life in lives {
        if let Life::KilledAfter(line) = life {
            let mut command = recorder.command(&[], Some(line));
            let ended = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
            assert_eq!(
                ended.unwrap().code(),
                Some(EXIT_RECORDER),
                "the record has no line {line}"
            );
            // The process had restored the mempool and has lost it.
            parked.clear();
            continue;
        }
        parked = run_life(life, &mut recorded, parked).await;
    }
    recorded.acknowledgments
}

/// Returns the settings of a life on a ledger with this height.
fn settings(life: Life, height: u64) -> Vec<String> {
    let mut settings: Vec<_> = WINDOW.iter().map(|&setting| setting.to_owned()).collect();
    match life {
        Life::Parking => settings.push("chain.framework_upgrades=1@0".to_owned()),
        Life::Upgraded => {
            settings.push(format!("chain.framework_upgrades=1@0,2@{}", height + 1_000));
        }
        _ => {}
    }
    settings
}

/// Runs one life. Returns the hashes of the pending transactions if the mempool was saved.
async fn run_life(
    life: Life,
    recorded: &mut RecordedAcknowledgments<'_>,
    parked: Vec<HashValue>,
) -> Vec<HashValue> {
    let height =
        recorded.acknowledgments.iter().rev().find_map(
            |(_, acknowledgment)| match acknowledgment {
                Acknowledgment::Bounds(bounds) => Some(bounds.height),
                _ => None,
            },
        );
    let settings = settings(life, height.unwrap_or(0));
    let command = recorded.recorder.command(&settings, None);
    let mut node = TestNode::spawn(command, recorded.recorder.directory(), settings);
    recorded.record(Acknowledgment::Ready);
    until("the file of the restored pool to be removed", || async {
        let log = node.log();
        let count = |line: &str| log.matches(line).count();
        (count(POOL_RESTORED) == count(POOL_REMOVED)).then_some(())
    })
    .await;
    recorded.record(Acknowledgment::PoolRemoved);
    if matches!(life, Life::Upgraded) {
        recorded.record(Acknowledgment::Upgrades(2));
    }
    let chain = node.chain().await;
    let parker = TestAccount::from_seed(CLIENTS);
    for number in 0..=CLIENTS {
        node.fund(&TestAccount::from_seed(number), FUNDS).await;
    }
    if !parked.is_empty() {
        transfer(&node, &chain, CLIENTS, recorded).await;
        for hash in &parked {
            let response = node.try_wait_until_known(hash).await.unwrap();
            assert_eq!(response.status, 200, "{}", response.text);
        }
    }
    let rounds = if matches!(life, Life::Short) { 2 } else { 8 };
    for _ in 0..rounds {
        for number in 0..CLIENTS {
            transfer(&node, &chain, number, recorded).await;
        }
    }
    let mut pending = Vec::new();
    if matches!(life, Life::Parking | Life::Killed) {
        let next = node.sequence_number(&parker.address).await;
        for later in 1..=2 {
            let transaction = parker.transfer(&chain, next + later, parker.address, 1);
            pending.push(node.submit(&transaction).await);
        }
    }
    if matches!(life, Life::Killed) {
        node.kill();
        return Vec::new();
    }
    let status = node.stop("TERM");
    assert!(status.success(), "{}", node.log());
    if !pending.is_empty() {
        recorded.record(Acknowledgment::Saved(pending.clone()));
    }
    pending
}

/// Transfers, waits for the commit, and records the acknowledgments.
async fn transfer(
    node: &NodeClient,
    chain: &Chain,
    client: u64,
    recorded: &mut RecordedAcknowledgments<'_>,
) {
    let account = TestAccount::from_seed(client);
    let next = node.sequence_number(&account.address).await;
    let hash = node
        .submit(&account.transfer(chain, next, account.address, 1))
        .await;
    let response = node.try_wait_until_known(&hash).await.unwrap();
    assert_eq!(response.status, 200, "{}", response.text);
    let version = number(&response.json["version"]);
    recorded.record(Acknowledgment::Committed { hash, version });
    recorded.record(Acknowledgment::Bounds(Bounds::from_body(
        &node.get("/v1").await.json,
    )));
}
