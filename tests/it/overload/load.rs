//! Senders that offer a fixed rate whatever the node responds, and the outcome of accepted
//! transactions.

use ledger_client::load::LatencyHistogram;
use ledger_crypto::HashValue;
use ledger_test_support::{
    TransactionBuilder, TransactionSigner,
    http::{NodeClient, RawConnection, RawResponse, number, submission_bytes, wait_bytes},
    node::{OpenLoop, TestNode, until},
};
use ledger_vm::Chain;
use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};
use tokio::task::{JoinHandle, JoinSet};

/// Pause of a sender after a rejection while the peak is measured.
const PAUSE_AT_PEAK: Duration = Duration::from_millis(2);
/// One of this number of senders awaits its transactions, to measure the latency.
const AWAITED_OF: usize = 10;
/// Maximum number of unexpected responses that are recorded.
const UNEXPECTED_MAX: usize = 10;

/// The signer of an account that sends.
pub type Signer = Box<dyn TransactionSigner + Send + Sync>;

/// A node, and the accounts that send to it. Their sequence numbers continue in the next run.
pub struct Load<'a> {
    node: &'a TestNode,
    chain: Chain,
    senders: Vec<Arc<Sender>>,
}

/// An account that sends transactions.
struct Sender {
    signer: Signer,
    next: tokio::sync::Mutex<u64>,
}

/// The outcome of a phase.
#[derive(Debug, Default)]
pub struct Outcome {
    pub elapsed: Duration,
    pub offered: u64,
    /// The hashes of the accepted transactions.
    pub accepted: Vec<HashValue>,
    /// Number of rejections with 507.
    pub pool_full: u64,
    /// Unexpected responses.
    pub unexpected: Vec<String>,
    /// The time from submission to commit, of some transactions.
    pub commits: LatencyHistogram,
    /// The latency of rejections.
    pub rejections: LatencyHistogram,
    committed: u64,
}

impl<'a> Load<'a> {
    pub fn new(node: &'a TestNode, chain: &Chain, signers: Vec<Signer>) -> Self {
        let senders = signers.into_iter().map(|signer| {
            Arc::new(Sender {
                signer,
                next: tokio::sync::Mutex::new(0),
            })
        });
        Self {
            node,
            chain: chain.clone(),
            senders: senders.collect(),
        }
    }

    /// Returns the number of senders.
    pub fn senders(&self) -> usize {
        self.senders.len()
    }

    /// Runs the first `count` senders for `length`: at `rate` in an open loop over all of them, or
    /// without one as fast as responses arrive.
    pub async fn run(&self, count: usize, rate: Option<f64>, length: Duration) -> Outcome {
        let start = Instant::now();
        let before = committed(self.node).await;
        let phase = Arc::new(Phase {
            client: self.node.client.clone(),
            chain: self.chain.clone(),
            end: start + length,
            turns: rate.map(OpenLoop::new),
            outcome: Mutex::default(),
        });
        let mut tasks = JoinSet::new();
        for (index, sender) in self.senders.iter().take(count).enumerate() {
            let is_awaited = index % AWAITED_OF == 0;
            tasks.spawn(Arc::clone(&phase).send(Arc::clone(sender), is_awaited));
        }
        // The commit rate is that under load: transactions that are pending at the end are not
        // counted.
        tokio::time::sleep_until(phase.end.into()).await;
        let elapsed = start.elapsed();
        let committed = committed(self.node).await - before;
        tasks.join_all().await;
        let outcome = mem::take(&mut *phase.lock());
        Outcome {
            elapsed,
            committed,
            ..outcome
        }
    }
}

/// Returns the number of transactions of clients in the ledger. A block has two of its own.
async fn committed(node: &TestNode) -> u64 {
    let ledger = node.get("/v1").await.json;
    number(&ledger["ledger_version"]) - 2 * number(&ledger["block_height"])
}

/// The state that the senders of a phase share.
struct Phase {
    client: NodeClient,
    chain: Chain,
    end: Instant,
    /// The turns of all senders at a rate. Without them, a sender sends as soon as it can.
    turns: Option<OpenLoop>,
    outcome: Mutex<Outcome>,
}

impl Phase {
    fn lock(&self) -> MutexGuard<'_, Outcome> {
        self.outcome.lock().unwrap()
    }

    /// Sends transactions of one account until the phase ends.
    async fn send(self: Arc<Self>, sender: Arc<Sender>, is_awaited: bool) {
        let mut next = sender.next.lock().await;
        let mut connection = RawConnection::connect(self.client.authority()).await;
        let mut wait: Option<JoinHandle<()>> = None;
        let (mut request, mut hash) = self.transfer(&*sender.signer, *next);
        while self.has_turn().await {
            let sent = Instant::now();
            let Some(response) = connection.exchange(&request).await else {
                self.lock().record_unexpected("no response".to_owned());
                connection = RawConnection::connect(self.client.authority()).await;
                continue;
            };
            if self.record(&response, hash, sent) {
                if is_awaited && wait.as_ref().is_none_or(JoinHandle::is_finished) {
                    wait = Some(tokio::spawn(Arc::clone(&self).wait(hash, sent)));
                }
                *next += 1;
                (request, hash) = self.transfer(&*sender.signer, *next);
            } else if self.turns.is_none() {
                tokio::time::sleep(PAUSE_AT_PEAK).await;
            }
        }
        if let Some(wait) = wait {
            wait.await.unwrap();
        }
    }

    /// Waits for the next request of a sender. Returns `false` if the phase has ended.
    async fn has_turn(&self) -> bool {
        if let Some(turns) = &self.turns {
            turns.next().await;
        }
        Instant::now() < self.end
    }

    /// Returns the request of a transfer of one unit to the account itself, and its hash.
    fn transfer(
        &self,
        signer: &dyn TransactionSigner,
        sequence_number: u64,
    ) -> (Vec<u8>, HashValue) {
        let address = signer.address();
        let transaction = TransactionBuilder::transfer(&self.chain, address, address, 1)
            .sequence_number(sequence_number)
            .sign(signer);
        let hash = transaction.hash(self.chain.vendor());
        (submission_bytes(&transaction), hash)
    }

    /// Records the response to a submission. Returns whether the transaction is accepted.
    fn record(&self, response: &RawResponse, hash: HashValue, sent: Instant) -> bool {
        let mut outcome = self.lock();
        outcome.offered += 1;
        match response.status {
            202 => outcome.accepted.push(hash),
            503 | 507 if response.headers.contains_key("retry-after") => {
                outcome.pool_full += u64::from(response.status == 507);
                outcome.rejections.record(sent.elapsed());
            }
            _ => outcome.record_unexpected(format!("{response:?}")),
        }
        response.status == 202
    }

    /// Waits for the commit of a transaction, and records its time since the submission.
    async fn wait(self: Arc<Self>, hash: HashValue, sent: Instant) {
        let connection = RawConnection::try_connect(self.client.authority()).await;
        let Some(mut connection) = connection else {
            return;
        };
        let request = wait_bytes(&hash);
        while let Some(response) = connection.exchange(&request).await {
            if response.status == 200 && !response.text().contains("pending_transaction") {
                return self.lock().commits.record(sent.elapsed());
            }
            if response.status == 404 {
                return;
            }
        }
    }
}

impl Outcome {
    fn record_unexpected(&mut self, what: String) {
        if self.unexpected.len() < UNEXPECTED_MAX {
            self.unexpected.push(what);
        }
    }

    /// Returns the number of requests per second.
    pub fn offered_per_second(&self) -> f64 {
        self.offered as f64 / self.elapsed.as_secs_f64()
    }

    /// Returns the number of commits per second.
    pub fn committed_per_second(&self) -> f64 {
        self.committed as f64 / self.elapsed.as_secs_f64()
    }

    /// Returns the accepted transactions that are neither committed nor removed with a reason.
    pub async fn unexplained(&self, node: &TestNode) -> Vec<String> {
        let mut unexplained = Vec::new();
        for hash in &self.accepted {
            if !is_explained(node, hash).await {
                unexplained.push(hash.to_string());
            }
        }
        unexplained
    }
}

/// Returns whether a transaction is committed, or the response names the reason of its removal.
async fn is_explained(node: &TestNode, hash: &HashValue) -> bool {
    let path = format!("/v1/transactions/by_hash/{hash}");
    let response = until("a decided transaction", || async {
        let response = node.get(&path).await;
        (response.json["type"] != "pending_transaction").then_some(response)
    })
    .await;
    let is_removed = response.json["message"].as_str().is_some_and(|message| {
        // The reason follows the hash.
        message
            .split_once("Transaction hash(")
            .is_some_and(|(_, rest)| rest.contains("): "))
    });
    response.status == 200 || is_removed
}
