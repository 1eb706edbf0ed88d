//! Senders that offer a fixed rate whatever the node responds, and the outcome of accepted
//! transactions.

use super::{explanation, passkeys::Passkeys};
use ledger_crypto::HashValue;
use ledger_test_support::{
    TestAccount,
    http::{NodeClient, RawConnection, submission_bytes, wait_bytes},
    node::{OpenLoop, TestNode},
};
use ledger_types::SignedTransaction;
use ledger_vm::Chain;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{sync::Mutex, task::JoinSet};

/// Pause of a sender after a rejection while the peak is measured.
const PAUSE_AT_PEAK: Duration = Duration::from_millis(2);
/// One of this number of senders awaits its transactions, to measure the latency.
const AWAITED_OF: usize = 10;
/// Maximum number of unexpected responses that are recorded.
const UNEXPECTED_MAX: usize = 10;

/// A node, and the accounts that send to it. Their sequence numbers continue in the next run.
pub struct Load<'a> {
    node: &'a TestNode,
    chain: Chain,
    senders: Vec<Arc<Sender>>,
}

/// An account that sends transactions.
struct Sender {
    wallet: Wallet,
    next: Mutex<u64>,
}

/// The signer of an account.
pub enum Wallet {
    /// An account with one key.
    Plain(TestAccount),
    /// An account whose signatures are the most expensive to check.
    Expensive(Passkeys),
}

impl Wallet {
    /// Returns the account that the faucet funds.
    pub fn account(&self) -> &TestAccount {
        match self {
            Self::Plain(account) => account,
            Self::Expensive(passkeys) => passkeys.account(),
        }
    }

    /// Signs a transfer of one unit to the account itself.
    fn transfer(&self, chain: &Chain, sequence_number: u64) -> SignedTransaction {
        let to = self.account().address;
        match self {
            Self::Plain(account) => account.transfer(chain, sequence_number, to, 1),
            Self::Expensive(passkeys) => passkeys.transfer(chain, sequence_number, to, 1),
        }
    }
}

/// The outcome of a phase.
#[derive(Debug, Default)]
pub struct Outcome {
    pub elapsed: Duration,
    pub offered: u64,
    pub accepted: u64,
    pub rejected: u64,
    /// Number of rejections with 507.
    pub pool_full: u64,
    /// Unexpected responses.
    pub unexpected: Vec<String>,
    pub commit_latencies_ms: Vec<u64>,
    rejection_latencies_ms: Vec<u64>,
    hashes: Vec<HashValue>,
    committed: u64,
}

impl<'a> Load<'a> {
    pub fn new(node: &'a TestNode, chain: &Chain, wallets: Vec<Wallet>) -> Self {
        let senders = wallets.into_iter().map(|wallet| {
            Arc::new(Sender {
                wallet,
                next: Mutex::new(0),
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
        let turns = rate.map(|rate| Arc::new(OpenLoop::new(rate)));
        let mut tasks = JoinSet::new();
        for (index, sender) in self.senders.iter().take(count).enumerate() {
            let task = Task {
                client: self.node.client.clone(),
                chain: self.chain.clone(),
                sender: Arc::clone(sender),
                pace: Pace {
                    start,
                    length,
                    turns: turns.clone(),
                },
                is_awaited: index % AWAITED_OF == 0,
                outcome: Outcome::default(),
            };
            tasks.spawn(task.run());
        }
        let mut all = Outcome::default();
        // The commit rate is that under load: transactions that are pending at the end are not
        // counted.
        tokio::time::sleep_until((start + length).into()).await;
        all.elapsed = start.elapsed();
        all.committed = committed(self.node).await - before;
        while let Some(outcome) = tasks.join_next().await {
            all.add(outcome.unwrap());
        }
        all
    }
}

/// Returns the number of transactions of clients in the ledger. A block has two of its own.
async fn committed(node: &TestNode) -> u64 {
    let ledger = node.get("/v1").await.json;
    let number = |name: &str| -> u64 { ledger[name].as_str().unwrap().parse().unwrap() };
    number("ledger_version") - 2 * number("block_height")
}

/// The schedule of requests.
struct Pace {
    start: Instant,
    length: Duration,
    /// The turns of all senders at a rate. Without them, a sender sends as soon as it can.
    turns: Option<Arc<OpenLoop>>,
}

impl Pace {
    /// Waits for the next request. Returns `false` if the phase has ended.
    async fn next(&self) -> bool {
        if let Some(turns) = &self.turns {
            turns.next().await;
        }
        self.start.elapsed() < self.length
    }
}

/// The task of one sender.
struct Task {
    client: NodeClient,
    chain: Chain,
    sender: Arc<Sender>,
    pace: Pace,
    is_awaited: bool,
    outcome: Outcome,
}

impl Task {
    /// Sends transactions until the phase ends.
    async fn run(mut self) -> Outcome {
        let sender = Arc::clone(&self.sender);
        let mut next = sender.next.lock().await;
        let mut connection = RawConnection::connect(self.client.authority()).await;
        let mut awaited: JoinSet<Option<u64>> = JoinSet::new();
        let (mut request, mut hash) = self.transfer(*next);
        while self.pace.next().await {
            let sent = Instant::now();
            let Some(response) = connection.exchange(&request).await else {
                self.record_unexpected("no response".to_owned());
                connection = RawConnection::connect(self.client.authority()).await;
                continue;
            };
            self.outcome.offered += 1;
            match response.status {
                202 => {
                    self.outcome.accepted += 1;
                    self.outcome.hashes.push(hash);
                    if self.is_awaited && awaited.is_empty() {
                        awaited.spawn(wait(self.client.clone(), hash, sent));
                    }
                    *next += 1;
                    (request, hash) = self.transfer(*next);
                }
                503 | 507 if response.headers.contains_key("retry-after") => {
                    self.outcome.rejected += 1;
                    self.outcome.pool_full += u64::from(response.status == 507);
                    self.outcome.rejection_latencies_ms.push(millis(sent));
                    if self.pace.turns.is_none() {
                        tokio::time::sleep(PAUSE_AT_PEAK).await;
                    }
                }
                _ => self.record_unexpected(format!("{response:?}")),
            }
            while let Some(waited) = awaited.try_join_next() {
                self.outcome.commit_latencies_ms.extend(waited.unwrap());
            }
        }
        while let Some(waited) = awaited.join_next().await {
            self.outcome.commit_latencies_ms.extend(waited.unwrap());
        }
        self.outcome
    }

    /// Returns the request of the next transfer, and its hash.
    fn transfer(&self, sequence_number: u64) -> (Vec<u8>, HashValue) {
        let transaction = self.sender.wallet.transfer(&self.chain, sequence_number);
        let hash = transaction.hash(self.chain.vendor());
        (submission_bytes(&transaction), hash)
    }

    /// Records an unexpected response.
    fn record_unexpected(&mut self, what: String) {
        if self.outcome.unexpected.len() < UNEXPECTED_MAX {
            self.outcome.unexpected.push(what);
        }
    }
}

/// Returns the time from the submission of a transaction to its commit, in milliseconds.
async fn wait(client: NodeClient, hash: HashValue, sent: Instant) -> Option<u64> {
    let mut connection = RawConnection::try_connect(client.authority()).await?;
    let request = wait_bytes(&hash);
    loop {
        let response = connection.exchange(&request).await?;
        if response.status == 200 && !response.text().contains("pending_transaction") {
            return Some(millis(sent));
        }
        if response.status == 404 {
            return None;
        }
    }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Outcome {
    /// Adds the counts and latencies of another sender.
    fn add(&mut self, other: Self) {
        self.offered += other.offered;
        self.accepted += other.accepted;
        self.rejected += other.rejected;
        self.pool_full += other.pool_full;
        self.unexpected.extend(other.unexpected);
        self.commit_latencies_ms.extend(other.commit_latencies_ms);
        self.rejection_latencies_ms
            .extend(other.rejection_latencies_ms);
        self.hashes.extend(other.hashes);
    }

    /// Returns the number of requests per second.
    pub fn offered_per_second(&self) -> f64 {
        self.offered as f64 / self.elapsed.as_secs_f64()
    }

    /// Returns the number of commits per second.
    pub fn committed_per_second(&self) -> f64 {
        self.committed as f64 / self.elapsed.as_secs_f64()
    }

    /// Returns a quantile of the time to the commit, in milliseconds.
    pub fn commit_quantile_ms(&self, quantile: f64) -> u64 {
        quantile_of(&self.commit_latencies_ms, quantile)
    }

    /// Returns a quantile of the latency of rejections, in milliseconds.
    pub fn rejection_quantile_ms(&self, quantile: f64) -> u64 {
        quantile_of(&self.rejection_latencies_ms, quantile)
    }

    /// Returns the accepted transactions that are neither committed nor removed with a reason.
    pub async fn unexplained(&self, node: &TestNode) -> Vec<String> {
        let mut unexplained = Vec::new();
        for hash in &self.hashes {
            let hash = hash.to_string();
            if explanation(node, &hash).await.is_none() {
                unexplained.push(hash);
            }
        }
        unexplained
    }
}

fn quantile_of(values: &[u64], quantile: f64) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let last = sorted.len().saturating_sub(1);
    let index = (last as f64 * quantile).round() as usize;
    sorted.get(index).copied().unwrap_or_default()
}
