//! Clients of every validator: transfers, each after the previous one of its account is committed,
//! and reads at the version of a commit that any client knows of.

use super::{
    history::{History, Read},
    kit::VALIDATORS,
};
use crate::crash::{
    acknowledged::Bounds,
    load::{CLIENTS, is_unknown, payer},
};
use ledger_test_support::{
    http::{NodeClient, number},
    node::OpenLoop,
};
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

/// Reads per second at each validator. More would take the processor from the commits.
const READS_PER_SECOND: f64 = 20.0;

/// Time that a read waits for its lowest version, in milliseconds.
const READ_TIMEOUT_MS: u64 = 2_000;

/// Pause after a rejection, as a client makes it.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// The clients of all validators.
pub struct Load {
    chain: Chain,
    history: Arc<History>,
    is_over: Arc<AtomicBool>,
    /// The clients of each validator.
    clients: Vec<Vec<JoinHandle<()>>>,
}

impl Load {
    /// Creates a load without clients.
    pub fn new(chain: Chain, history: Arc<History>) -> Self {
        Self {
            chain,
            history,
            is_over: Arc::default(),
            clients: (0..VALIDATORS).map(|_| Vec::new()).collect(),
        }
    }

    /// Starts the clients of a validator. Each account has one client.
    pub fn start(&mut self, index: usize, node: &NodeClient) {
        let client = || Client {
            node: node.clone(),
            index,
            history: Arc::clone(&self.history),
            is_over: Arc::clone(&self.is_over),
        };
        let of_node = (0..CLIENTS).filter(|number| number % VALIDATORS as u64 == index as u64);
        let mut clients: Vec<_> = of_node
            .map(|number| tokio::spawn(client().transfer(self.chain.clone(), number)))
            .collect();
        clients.push(tokio::spawn(client().read()));
        self.clients[index] = clients;
    }

    /// Waits until the clients of a validator have ended, because it has.
    pub async fn ended(&mut self, index: usize) {
        for client in self.clients[index].drain(..) {
            client.await.unwrap();
        }
    }

    /// Ends all clients after their current request.
    pub async fn finish(&mut self) {
        self.is_over.store(true, SeqCst);
        for index in 0..VALIDATORS {
            self.ended(index).await;
        }
    }
}

/// A client of one process of a validator. It ends when there is no response.
struct Client {
    node: NodeClient,
    /// The validator.
    index: usize,
    history: Arc<History>,
    is_over: Arc<AtomicBool>,
}

impl Client {
    /// Transfers one after the other. A transfer without a response is submitted again, the same.
    async fn transfer(self, chain: Chain, client: u64) {
        let account = payer(client);
        let to = payer((client + 1) % CLIENTS).address;
        let newest = self.history.newest(client);
        let mut sequence_number = newest.map_or(0, |(newest, _)| newest + 1);
        while !self.is_over.load(SeqCst) {
            let transaction = account.transfer(&chain, sequence_number, to, 1);
            let hash = transaction.hash(chain.vendor());
            let write = self
                .history
                .begin_write(client, self.index, sequence_number, hash);
            let Some(response) = self.node.try_submit(&transaction).await else {
                return;
            };
            match response.status {
                202 => self.history.accept_write(write),
                // It was accepted before a restart, and executed.
                400 if is_unknown(&response) => {}
                503 => {
                    tokio::time::sleep(RETRY_PAUSE).await;
                    continue;
                }
                _ => panic!("{}", response.text),
            }
            let Some(response) = self.node.try_wait_until_known(&hash).await else {
                return;
            };
            assert_eq!(response.status, 200, "{}", response.text);
            assert_eq!(response.json["success"], true, "{}", response.text);
            self.history
                .end_write(write, number(&response.json["version"]));
            sequence_number += 1;
        }
    }

    /// Reads accounts of clients of all validators.
    async fn read(self) {
        let pace = OpenLoop::new(READS_PER_SECOND);
        while !self.is_over.load(SeqCst) {
            let turn = pace.next().await;
            let client = turn % CLIENTS;
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
                return;
            };
            if response.status != 200 {
                // The validator is behind, or it stops.
                assert!(matches!(response.status, 404 | 503), "{}", response.text);
                continue;
            }
            let bounds = Bounds::from_headers(&response).unwrap();
            self.history.lock().reads.push(Read {
                client,
                node: self.index,
                began,
                ended: Instant::now(),
                version_min,
                version: bounds.version,
                sequence_number: number(&response.json["sequence_number"]),
            });
        }
    }
}
