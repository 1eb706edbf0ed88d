//! Clients that submit, poll and read while each sync hangs.

use super::{Fixture, header_version, paths_that_read, recipient, sync_duration};
use ledger_test_support::{
    TestAccount,
    http::{HttpResponse, NodeClient},
    node::{DiskOperation, until, within_patience},
};
use ledger_vm::Chain;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};
use tokio::task::JoinSet;

/// Number of clients that read in a run under load.
const READERS: usize = 2;

/// Number of slow syncs that a run under load takes.
const SYNCS_UNDER_LOAD: u64 = 3;

/// Observations of the clients under load.
#[derive(Default)]
struct Observations {
    /// Highest version in a response so far.
    version: AtomicU64,
    is_over: AtomicBool,
    committed: AtomicU64,
    reads: AtomicU64,
    /// Reads that were rejected with 503.
    rejected_reads: AtomicU64,
    /// A committed transfer, which the readers read.
    newest: Mutex<Option<serde_json::Value>>,
}

/// What one client has received.
#[derive(Default)]
struct Received {
    /// Number of responses to long polls, or of reads of all [`paths_that_read`] a transfer.
    ended: AtomicU64,
    /// Longest time of a response.
    longest_ms: AtomicU64,
}

impl Observations {
    /// Sends a request. Checks that the version of the response is not before that of a response
    /// that was received before the request was sent.
    async fn get(&self, node: &NodeClient, path: &str, received: &Received) -> HttpResponse {
        let version = self.version.load(Relaxed);
        let begun = Instant::now();
        let response = within_patience(path, node.get(path)).await;
        let ms = begun.elapsed().as_millis().try_into().unwrap();
        received.longest_ms.fetch_max(ms, Relaxed);
        // A 503 is of no version.
        if response.status != 503 {
            let read = header_version(&response);
            assert!(read >= version, "{path}: {read} after {version}");
            self.version.fetch_max(read, Relaxed);
        }
        response
    }

    /// Submits transfers one after the other, and waits for each by long polls.
    async fn send(
        &self,
        node: &NodeClient,
        chain: &Chain,
        account: &TestAccount,
        received: &Received,
    ) {
        for sequence_number in 0.. {
            if self.is_over.load(Relaxed) {
                return;
            }
            let transfer = account.transfer(chain, sequence_number, recipient().address, 1);
            let hash = node.submit(&transfer).await;
            let path = format!("/v1/transactions/wait_by_hash/{hash}");
            let committed = loop {
                let poll = self.get(node, &path, received).await;
                received.ended.fetch_add(1, Relaxed);
                assert_eq!(poll.status, 200, "{}", poll.text);
                if poll.json["type"] == "user_transaction" {
                    break poll.json;
                }
            };
            self.committed.fetch_add(1, Relaxed);
            *self.newest.lock().unwrap() = Some(committed);
        }
    }

    /// Reads the newest committed transfer from each table.
    async fn read(&self, node: &NodeClient, received: &Received) {
        while !self.is_over.load(Relaxed) {
            let newest = self.newest.lock().unwrap().clone();
            let Some(newest) = newest else {
                tokio::task::yield_now().await;
                continue;
            };
            for path in paths_that_read(&newest) {
                let read = self.get(node, &path, received).await;
                self.reads.fetch_add(1, Relaxed);
                if read.status == 503 {
                    assert!(read.headers.contains_key("retry-after"), "{}", read.text);
                    self.rejected_reads.fetch_add(1, Relaxed);
                } else {
                    assert_eq!(read.status, 200, "{path}: {}", read.text);
                }
            }
            received.ended.fetch_add(1, Relaxed);
        }
    }
}

/// Lets the sync in progress, or the next one, hang until each client has received two more
/// responses, and at least for [`sync_duration`]. The second response is to a request that began
/// during the sync.
async fn hang_until_clients_continue(fixture: &Fixture, clients: &[Arc<Received>]) {
    fixture.hang_sync().await;
    let begun = Instant::now();
    let ended = |client: &Arc<Received>| client.ended.load(Relaxed);
    let before: Vec<_> = clients.iter().map(ended).collect();
    until("responses to each client during a sync", || async {
        let mut counts = clients.iter().zip(&before);
        let have_continued = counts.all(|(client, before)| ended(client) >= before + 2);
        (have_continued && begun.elapsed() >= sync_duration()).then_some(())
    })
    .await;
    assert!(fixture.disk.calls(DiskOperation::Sync).waiting() > 0);
    fixture.disk.release(DiskOperation::Sync);
}

#[tokio::test]
async fn responds_to_each_client_during_each_sync_under_load() {
    let Some(fixture) = Fixture::new().await else {
        return;
    };
    let observations = Arc::new(Observations::default());
    let mut tasks = JoinSet::new();
    let mut senders = Vec::new();
    for (account, _) in fixture.senders.clone() {
        let received = Arc::new(Received::default());
        senders.push(Arc::clone(&received));
        let (observations, node) = (Arc::clone(&observations), fixture.node.client.clone());
        let chain = fixture.chain.clone();
        tasks.spawn(async move { observations.send(&node, &chain, &account, &received).await });
    }
    let mut readers = Vec::new();
    for _ in 0..READERS {
        let received = Arc::new(Received::default());
        readers.push(Arc::clone(&received));
        let (observations, node) = (Arc::clone(&observations), fixture.node.client.clone());
        tasks.spawn(async move { observations.read(&node, &received).await });
    }
    let clients = [&*senders, &*readers].concat();
    // The readers begin with the first committed transfer.
    until("the first responses to each client", || async {
        let mut counts = clients.iter().map(|client| client.ended.load(Relaxed));
        counts.all(|ended| ended > 0).then_some(())
    })
    .await;
    for _ in 0..SYNCS_UNDER_LOAD {
        // A client that fails ends the test here.
        tokio::select! {
            () = hang_until_clients_continue(&fixture, &clients) => {}
            Some(ended) = tasks.join_next() => panic!("a client ended early: {ended:?}"),
        }
    }
    observations.is_over.store(true, Relaxed);
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    print_figures(&observations, &senders, &readers);
    assert!(observations.committed.load(Relaxed) > 0);
}

#[allow(
    clippy::print_stdout,
    reason = "the figures are the result of a long run"
)]
fn print_figures(
    observations: &Observations,
    senders: &[Arc<Received>],
    readers: &[Arc<Received>],
) {
    let longest_ms = |clients: &[Arc<Received>]| {
        let all = clients.iter().map(|client| client.longest_ms.load(Relaxed));
        all.max().unwrap()
    };
    println!(
        "syncs of {} ms or more: {} transfers committed, longest long poll {} ms; {} reads, \
         longest {} ms, {} rejected with 503",
        sync_duration().as_millis(),
        observations.committed.load(Relaxed),
        longest_ms(senders),
        observations.reads.load(Relaxed),
        longest_ms(readers),
        observations.rejected_reads.load(Relaxed),
    );
}
