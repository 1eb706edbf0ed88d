//! Clients of every node, and of the balancer: transfers, each after the previous one of its
//! account is committed, reads at the version of a commit that any client knows of, and look-ups of
//! what any node has accepted.

use super::{
    balancer::Balancer,
    history::{History, Read},
};
use crate::crash::{
    acknowledged::Bounds,
    load::{CLIENTS, is_unknown, payer},
};
use ledger_crypto::HashValue;
use ledger_test_support::{
    http::{HttpResponse, NodeClient, number},
    node::OpenLoop,
};
use ledger_types::SignedTransaction;
use ledger_vm::Chain;
use reqwest::Method;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;

/// Reads per second at each entry, and as many look-ups. More would take the processor from the
/// commits.
const READS_PER_SECOND: f64 = 20.0;

/// Time that a read waits for its lowest version, in milliseconds.
const READ_TIMEOUT_MS: u64 = 2_000;

/// Pause after a rejection or no response, as a client makes it.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// Number of clients that transfer through the balancer, after those of the nodes.
const BALANCED: u64 = 4;

/// Number of clients that transfer.
pub const PAYERS: u64 = CLIENTS + BALANCED;

/// The clients of all nodes and of the balancer.
pub struct Load {
    chain: Chain,
    history: Arc<History>,
    /// The clients of each node, and after them those of the balancer.
    entries: Vec<Clients>,
}

/// The clients of one process, or of the balancer.
#[derive(Default)]
struct Clients {
    is_over: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Load {
    /// Creates a load without clients.
    pub fn new(chain: Chain, history: Arc<History>, nodes: usize) -> Self {
        Self {
            chain,
            history,
            entries: (0..=nodes).map(|_| Clients::default()).collect(),
        }
    }

    /// Starts the clients of a process of a node. Each account has one client.
    pub fn start(&mut self, index: usize, node: &NodeClient) {
        let nodes = self.entries.len() as u64 - 1;
        let is_over = Arc::default();
        let client = || Client {
            node: node.clone(),
            index: Some(index),
            history: Arc::clone(&self.history),
            is_over: Arc::clone(&is_over),
        };
        let of_node = (0..CLIENTS).filter(|number| number % nodes == index as u64);
        let mut tasks: Vec<_> = of_node
            .map(|number| tokio::spawn(client().transfer(self.chain.clone(), number)))
            .collect();
        tasks.push(tokio::spawn(client().read()));
        tasks.push(tokio::spawn(client().look_up()));
        self.entries[index] = Clients { is_over, tasks };
    }

    /// Starts the clients of the balancer. Each has an address of its own, by which the balancer
    /// chooses its node.
    pub fn start_balanced(&mut self, balancer: &Balancer) {
        let is_over = Arc::default();
        let client = |number: u64| Client {
            node: balancer.client(number as usize),
            index: None,
            history: Arc::clone(&self.history),
            is_over: Arc::clone(&is_over),
        };
        let mut tasks = Vec::new();
        for number in 0..BALANCED {
            let transfer = client(number).transfer(self.chain.clone(), CLIENTS + number);
            tasks.push(tokio::spawn(transfer));
            tasks.push(tokio::spawn(client(number).read()));
            tasks.push(tokio::spawn(client(number).look_up()));
        }
        *self.entries.last_mut().unwrap() = Clients { is_over, tasks };
    }

    /// Ends the clients of a node's process, after their current requests.
    pub async fn ended(&mut self, index: usize) {
        self.entries[index].is_over.store(true, SeqCst);
        for task in self.entries[index].tasks.drain(..) {
            task.await.unwrap();
        }
    }

    /// Ends all clients after their current requests.
    pub async fn finish(&mut self) {
        for entry in &self.entries {
            entry.is_over.store(true, SeqCst);
        }
        for index in 0..self.entries.len() {
            self.ended(index).await;
        }
    }
}

/// A client of one process of a node, or of the balancer.
struct Client {
    node: NodeClient,
    /// The node, unless the balancer chooses it.
    index: Option<usize>,
    history: Arc<History>,
    is_over: Arc<AtomicBool>,
}

impl Client {
    fn is_over(&self) -> bool {
        self.is_over.load(SeqCst)
    }

    /// Returns the node that responded. The balancer names it, unless the response is its own.
    fn responder(&self, response: &HttpResponse) -> Option<usize> {
        let name = response.headers.get("x-served-by");
        let of_balancer = name.and_then(|name| {
            let (_, index) = name.to_str().ok()?.rsplit_once('-')?;
            index.parse().ok()
        });
        self.index.or(of_balancer)
    }

    /// Asserts that a node which cannot answer says when to ask again. The balancer does not.
    fn check_rejection(&self, response: &HttpResponse) {
        let has_pause = response.headers.contains_key("retry-after");
        let is_own = self.responder(response).is_none();
        assert!(has_pause || is_own, "{}", response.text);
    }

    /// Transfers one after the other. A transfer without a final response is submitted again, the
    /// same.
    async fn transfer(self, chain: Chain, client: u64) {
        let account = payer(client);
        let to = payer((client + 1) % PAYERS).address;
        let newest = self.history.newest(client);
        let mut sequence_number = newest.map_or(0, |(newest, _)| newest + 1);
        while !self.is_over() {
            let transaction = account.transfer(&chain, sequence_number, to, 1);
            let hash = transaction.hash(chain.vendor());
            let write = self
                .history
                .begin_write(client, self.index, sequence_number, hash);
            while !self.commit(&transaction, hash, write).await {
                if self.is_over() {
                    return;
                }
                tokio::time::sleep(RETRY_PAUSE).await;
            }
            sequence_number += 1;
        }
    }

    /// Submits a transfer and waits for it. Returns whether it is committed.
    async fn commit(&self, transaction: &SignedTransaction, hash: HashValue, write: usize) -> bool {
        let Some(response) = self.node.try_submit(transaction).await else {
            return false;
        };
        match response.status {
            202 => self.history.accept_write(write, self.responder(&response)),
            // It was accepted before a restart or by another node, and executed.
            400 if is_unknown(&response) => self.history.reject_write(write),
            408 | 502..=504 => {
                self.check_rejection(&response);
                return false;
            }
            status => panic!("{status}: {}", response.text),
        }
        let began = Instant::now();
        let Some(response) = self.node.try_wait_until_known(&hash).await else {
            return false;
        };
        if response.status == 404 {
            let node = self.responder(&response);
            self.history.record_look_up(hash, node, began, 404);
            return false;
        }
        assert_eq!(response.status, 200, "{}", response.text);
        assert_eq!(response.json["success"], true, "{}", response.text);
        let node = self.responder(&response);
        self.history
            .end_write(write, node, number(&response.json["version"]));
        true
    }

    /// Looks up transfers that any node has accepted.
    async fn look_up(self) {
        let pace = OpenLoop::new(READS_PER_SECOND);
        while !self.is_over() {
            // Steps by a prime number visit all of them.
            let turn = pace.next().await as usize * 7;
            let Some(hash) = self.history.known(turn) else {
                continue;
            };
            let began = Instant::now();
            let url = format!("{}/v1/transactions/by_hash/{hash}", self.node.api);
            let request = self.node.http.request(Method::GET, &url);
            let Some(response) = self.node.http.try_send(request).await else {
                tokio::time::sleep(RETRY_PAUSE).await;
                continue;
            };
            match response.status {
                200 | 404 => {
                    let node = self.responder(&response);
                    self.history
                        .record_look_up(hash, node, began, response.status);
                }
                408 | 502..=504 => self.check_rejection(&response),
                status => panic!("{status}: {}", response.text),
            }
        }
    }

    /// Reads accounts of all clients.
    async fn read(self) {
        let pace = OpenLoop::new(READS_PER_SECOND);
        while !self.is_over() {
            let turn = pace.next().await;
            let client = turn % PAYERS;
            let known = self.history.newest(client);
            let version_min = known.map_or(0, |(_, committed)| committed.version);
            let began = Instant::now();
            let url = format!(
                "{}/v1/accounts/{}?min_ledger_version={version_min}&timeout_ms={READ_TIMEOUT_MS}",
                self.node.api,
                payer(client).address
            );
            let request = self.node.http.request(Method::GET, &url);
            let Some(response) = self.node.http.try_send(request).await else {
                tokio::time::sleep(RETRY_PAUSE).await;
                continue;
            };
            if response.status != 200 {
                // The node is behind, or it stops, or the balancer has none.
                assert!(
                    matches!(response.status, 404 | 408 | 502..=504),
                    "{}",
                    response.text
                );
                continue;
            }
            let bounds = Bounds::from_headers(&response).unwrap();
            self.history.lock().reads.push(Read {
                client,
                node: self.responder(&response),
                began,
                ended: Instant::now(),
                version_min,
                version: bounds.version,
                sequence_number: number(&response.json["sequence_number"]),
            });
        }
    }
}
