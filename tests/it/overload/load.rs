//! Senders that offer a rate whatever the node answers, and what became of what it took.

use super::{explained, passkeys::Passkeys};
use crate::kit::{NodeClient, RawConnection, TestAccount, TestNode, submission_bytes, wait_bytes};
use ledger_crypto::HashValue;
use ledger_types::SignedTransaction;
use ledger_vm::Chain;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::{sync::Mutex, task::JoinSet};

/// A sender that finds the peak waits so long after a refusal.
const PAUSE_AT_PEAK: Duration = Duration::from_millis(2);
/// Of so many senders one has its transactions awaited, for the latency.
const AWAITED_OF: usize = 10;
/// How many unexpected answers are kept.
const OTHERS_MAX: usize = 10;

/// A node, and the accounts that send to it; they go on where the last run ended.
pub struct Load<'a> {
    node: &'a TestNode,
    chain: Chain,
    senders: Vec<Arc<Sender>>,
}

struct Sender {
    wallet: Wallet,
    next: Mutex<u64>,
}

/// Who signs.
pub enum Wallet {
    /// One key.
    Plain(TestAccount),
    /// The dearest to check.
    Dear(Passkeys),
}

impl Wallet {
    pub fn account(&self) -> &TestAccount {
        match self {
            Self::Plain(account) => account,
            Self::Dear(passkeys) => passkeys.account(),
        }
    }

    /// The least of transfers, to itself.
    fn transfer(&self, chain: &Chain, sequence_number: u64) -> SignedTransaction {
        let to = self.account().address;
        match self {
            Self::Plain(account) => account.transfer(chain, sequence_number, to, 1),
            Self::Dear(passkeys) => passkeys.transfer(chain, sequence_number, to, 1),
        }
    }
}

/// What became of a phase.
#[derive(Debug, Default)]
pub struct Outcome {
    pub elapsed: Duration,
    pub offered: u64,
    pub accepted: u64,
    pub refused: u64,
    /// How many of the refusals were 507.
    pub pool_full: u64,
    /// Answers that should not be.
    pub others: Vec<String>,
    pub commit_latencies_ms: Vec<u64>,
    refusal_latencies_ms: Vec<u64>,
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

    /// How many there are.
    pub fn senders(&self) -> usize {
        self.senders.len()
    }

    /// Runs the first so many senders for a time: with a rate in an open loop over all of them, without one as
    /// fast as answers come.
    pub async fn run(&self, count: usize, rate: Option<f64>, length: Duration) -> Outcome {
        let begun = Instant::now();
        let before = committed(self.node).await;
        let issued = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        for (index, sender) in self.senders.iter().take(count).enumerate() {
            let task = Task {
                client: self.node.client.clone(),
                chain: self.chain.clone(),
                sender: Arc::clone(sender),
                pace: Pace {
                    begun,
                    length,
                    rate,
                    issued: Arc::clone(&issued),
                },
                is_awaited: index % AWAITED_OF == 0,
                outcome: Outcome::default(),
            };
            tasks.spawn(task.run());
        }
        let mut all = Outcome::default();
        // The rate of commitments is that of the time under load: what waits at the end is not counted.
        tokio::time::sleep_until((begun + length).into()).await;
        all.elapsed = begun.elapsed();
        all.committed = committed(self.node).await - before;
        while let Some(outcome) = tasks.join_next().await {
            all.add(outcome.unwrap());
        }
        all
    }
}

/// How many transactions of clients the ledger has: a block has two of its own.
async fn committed(node: &TestNode) -> u64 {
    let ledger = node.get("/v1").await.json;
    let number = |name: &str| -> u64 { ledger[name].as_str().unwrap().parse().unwrap() };
    number("ledger_version") - 2 * number("block_height")
}

/// When the next request is due.
struct Pace {
    begun: Instant,
    length: Duration,
    rate: Option<f64>,
    issued: Arc<AtomicU64>,
}

impl Pace {
    /// Waits for the next request; false when the phase is over.
    async fn next(&self) -> bool {
        if let Some(rate) = self.rate {
            let number = self.issued.fetch_add(1, Relaxed);
            let due = self.begun + Duration::from_secs_f64(number as f64 / rate);
            if due > Instant::now() {
                tokio::time::sleep_until(due.into()).await;
            }
        }
        self.begun.elapsed() < self.length
    }
}

struct Task {
    client: NodeClient,
    chain: Chain,
    sender: Arc<Sender>,
    pace: Pace,
    is_awaited: bool,
    outcome: Outcome,
}

impl Task {
    async fn run(mut self) -> Outcome {
        let sender = Arc::clone(&self.sender);
        let mut next = sender.next.lock().await;
        let mut connection = RawConnection::connect(self.client.authority()).await;
        let mut awaited: JoinSet<Option<u64>> = JoinSet::new();
        let (mut request, mut hash) = self.transfer(*next);
        while self.pace.next().await {
            let sent = Instant::now();
            let Some(answer) = connection.exchange(&request).await else {
                self.other("no answer".to_owned());
                connection = RawConnection::connect(self.client.authority()).await;
                continue;
            };
            self.outcome.offered += 1;
            match answer.status {
                202 => {
                    self.outcome.accepted += 1;
                    self.outcome.hashes.push(hash);
                    if self.is_awaited && awaited.is_empty() {
                        awaited.spawn(wait(self.client.clone(), hash, sent));
                    }
                    *next += 1;
                    (request, hash) = self.transfer(*next);
                }
                503 | 507 if answer.headers.contains_key("retry-after") => {
                    self.outcome.refused += 1;
                    self.outcome.pool_full += u64::from(answer.status == 507);
                    self.outcome.refusal_latencies_ms.push(millis(sent));
                    if self.pace.rate.is_none() {
                        tokio::time::sleep(PAUSE_AT_PEAK).await;
                    }
                }
                _ => self.other(format!("{answer:?}")),
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

    fn transfer(&self, sequence_number: u64) -> (Vec<u8>, HashValue) {
        let transaction = self.sender.wallet.transfer(&self.chain, sequence_number);
        let hash = transaction.hash(self.chain.vendor());
        (submission_bytes(&transaction), hash)
    }

    fn other(&mut self, what: String) {
        if self.outcome.others.len() < OTHERS_MAX {
            self.outcome.others.push(what);
        }
    }
}

/// How long after it was sent a transaction was committed, in milliseconds.
async fn wait(client: NodeClient, hash: HashValue, sent: Instant) -> Option<u64> {
    let mut connection = RawConnection::try_connect(client.authority()).await?;
    let request = wait_bytes(&hash);
    loop {
        let answer = connection.exchange(&request).await?;
        if answer.status == 200 && !answer.text().contains("pending_transaction") {
            return Some(millis(sent));
        }
        if answer.status == 404 {
            return None;
        }
    }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Outcome {
    fn add(&mut self, other: Self) {
        self.offered += other.offered;
        self.accepted += other.accepted;
        self.refused += other.refused;
        self.pool_full += other.pool_full;
        self.others.extend(other.others);
        self.commit_latencies_ms.extend(other.commit_latencies_ms);
        self.refusal_latencies_ms.extend(other.refusal_latencies_ms);
        self.hashes.extend(other.hashes);
    }

    pub fn offered_per_second(&self) -> f64 {
        self.offered as f64 / self.elapsed.as_secs_f64()
    }

    pub fn committed_per_second(&self) -> f64 {
        self.committed as f64 / self.elapsed.as_secs_f64()
    }

    pub fn commit_quantile_ms(&self, quantile: f64) -> u64 {
        quantile_of(&self.commit_latencies_ms, quantile)
    }

    pub fn refusal_quantile_ms(&self, quantile: f64) -> u64 {
        quantile_of(&self.refusal_latencies_ms, quantile)
    }

    /// What was accepted and is neither committed nor told why it left.
    pub async fn unexplained(&self, node: &TestNode) -> Vec<String> {
        let mut unexplained = Vec::new();
        for hash in &self.hashes {
            let hash = hash.to_string();
            if explained(node, &hash).await.is_none() {
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
    let place = (last as f64 * quantile).round() as usize;
    sorted.get(place).copied().unwrap_or_default()
}
