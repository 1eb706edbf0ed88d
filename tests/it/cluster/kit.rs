//! The validators and the full nodes of a chain, as processes on one machine.

use ledger_test_support::{
    TestAccount,
    http::number,
    node::{SlowDisk, TestNode, binary, until},
};
use ledger_types::SignedTransaction;
use serde_json::Value;
use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering::Relaxed},
    },
};
use tempfile::TempDir;

/// Number of validators. One of them may fail.
pub const VALIDATORS: usize = 4;

/// Port for the clients of a node that has an address of its own.
pub const API_PORT: u16 = 7100;

/// Address of nodes that have none of their own.
const LOCAL: &str = "127.0.0.1";

/// Amount of each transfer.
const AMOUNT: u64 = 10;

/// Returns a port below those that the system gives to others, so that nothing takes it between two
/// starts of a validator.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Processes begin at different ports.
    let base = 10_000 + (std::process::id() % 200) as u16 * 100;
    loop {
        let port = base + NEXT.fetch_add(1, Relaxed) % 10_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Changes the command that starts a node, whose index it receives.
type Wrap = Box<dyn Fn(usize, Command) -> Command + Send + Sync>;

/// The nodes of a chain: validators, and full nodes after them. Those that were killed are absent.
pub struct Cluster {
    /// Keys, genesis, and what the validators must not forget.
    files: TempDir,
    ledgers: Vec<Arc<TempDir>>,
    /// Addresses of the connections between nodes.
    listeners: Vec<String>,
    relay_listeners: Vec<String>,
    nodes: Vec<Option<TestNode>>,
    wrap: Wrap,
    /// The address of each node, or none for nodes on this machine's own.
    hosts: Vec<String>,
    /// Settings of all nodes beside those of their keys and peers.
    more_settings: Vec<String>,
}

impl Cluster {
    /// Creates the files of the validators and starts them.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts the validators as [`Self::start`] does, with additional settings.
    pub fn start_with(more_settings: &[&str]) -> Self {
        Self::start_full(0, more_settings)
    }

    /// Starts the validators as [`Self::start_with`] does, and full nodes.
    pub fn start_full(full_nodes: usize, more_settings: &[&str]) -> Self {
        let wrap: Wrap = Box::new(|_, command| command);
        Self::start_all(wrap, full_nodes, Vec::new(), more_settings)
    }

    /// Starts the validators as [`Self::start`] does, each by the command that `wrap` returns.
    pub fn start_wrapped(wrap: Wrap) -> Self {
        Self::start_all(wrap, 0, Vec::new(), &[])
    }

    /// Starts the validators as [`Self::start_wrapped`] does, and full nodes, each node at its own
    /// address with [`API_PORT`].
    pub fn start_at(hosts: Vec<String>, wrap: Wrap, more_settings: &[&str]) -> Self {
        Self::start_all(wrap, hosts.len() - VALIDATORS, hosts, more_settings)
    }

    /// Starts the validators with additional settings, one of them on a slow disk.
    pub fn start_on(disk: &Arc<SlowDisk>, validator: usize, more_settings: &[&str]) -> Self {
        let disk = Arc::clone(disk);
        let wrap: Wrap = Box::new(move |index, command| match index == validator {
            true => disk.wrap(command),
            false => command,
        });
        Self::start_all(wrap, 0, Vec::new(), more_settings)
    }

    fn start_all(
        wrap: Wrap,
        full_nodes: usize,
        hosts: Vec<String>,
        more_settings: &[&str],
    ) -> Self {
        let count = VALIDATORS + full_nodes;
        let files = tempfile::tempdir().unwrap();
        let dir = files.path().join("cluster");
        let created = binary()
            .args(["cluster", "init", "--validators", "4", "--full-nodes"])
            .args([&full_nodes.to_string(), "--dir"])
            .arg(&dir)
            .output()
            .unwrap();
        assert!(created.status.success(), "{created:?}");
        let listeners = || {
            let host = |index| hosts.get(index).map_or(LOCAL, String::as_str);
            let listener = |index| format!("{}:{}", host(index), free_port());
            (0..count).map(listener).collect::<Vec<_>>()
        };
        let mut cluster = Self {
            files,
            ledgers: (0..count)
                .map(|_| Arc::new(tempfile::tempdir().unwrap()))
                .collect(),
            listeners: listeners(),
            relay_listeners: listeners(),
            nodes: (0..count).map(|_| None).collect(),
            wrap,
            hosts,
            more_settings: more_settings.iter().map(|&one| one.to_owned()).collect(),
        };
        for index in 0..count {
            let peers = cluster.keys(index).join("peers.toml");
            replace_listeners(&peers, 7000, &cluster.listeners);
            replace_listeners(&peers, 7400, &cluster.relay_listeners);
        }
        for index in 0..count {
            cluster.start_node(index);
        }
        cluster
    }

    /// Returns the settings of a node.
    pub fn settings(&self, index: usize) -> Vec<String> {
        let dir = self.directory();
        let mut settings = vec![
            format!("chain.genesis={}", dir.join("genesis.toml").display()),
            "sequencer.mode=bft".to_owned(),
            format!("consensus.directory={}", self.keys(index).display()),
            format!("consensus.listen={}", self.listeners[index]),
            format!("consensus.relay_listen={}", self.relay_listeners[index]),
            "consensus.propose_timeout_ms=500".to_owned(),
        ];
        if let Some(host) = self.hosts.get(index) {
            settings.push(format!("api.listen={host}:{API_PORT}"));
            settings.push(format!("faucet.listen={host}:0"));
        }
        settings.extend_from_slice(&self.more_settings);
        settings
    }

    /// Starts a node in its directories.
    pub fn start_node(&mut self, index: usize) {
        let settings = self.settings(index);
        let ledger = Arc::clone(&self.ledgers[index]);
        let command = (self.wrap)(index, TestNode::command(ledger.path(), &settings));
        self.nodes[index] = Some(TestNode::spawn(command, ledger, settings));
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns a node that runs.
    pub fn node(&self, index: usize) -> &TestNode {
        self.nodes[index].as_ref().unwrap()
    }

    /// Kills a node.
    pub fn kill(&mut self, index: usize) {
        self.nodes[index].take().unwrap().kill();
    }

    /// Stops a node.
    pub fn stop(&mut self, index: usize) {
        let mut node = self.nodes[index].take().unwrap();
        let status = node.stop("TERM");
        assert!(status.success(), "{}", node.log());
    }

    /// Returns the directory of the ledger of a node.
    pub fn ledger(&self, index: usize) -> &Path {
        self.ledgers[index].path()
    }

    /// Replaces the directory of the ledger of a stopped node by an empty one.
    pub fn empty_ledger(&mut self, index: usize) {
        self.ledgers[index] = Arc::new(tempfile::tempdir().unwrap());
    }

    /// Returns the directory of the genesis and the nodes' directories.
    pub fn directory(&self) -> PathBuf {
        self.files.path().join("cluster")
    }

    /// Returns the directory of a validator's keys and memory.
    pub fn validator(&self, index: usize) -> PathBuf {
        self.directory().join(format!("node-{index}/validator"))
    }

    /// Returns the directory of a node's keys and peers.
    pub fn keys(&self, index: usize) -> PathBuf {
        match index < VALIDATORS {
            true => self.validator(index),
            false => self.directory().join(format!("node-{index}/full-node")),
        }
    }

    /// Commits a transfer of a development account at a node.
    pub async fn commit(&self, index: usize, transfer: &SignedTransaction) {
        let committed = self.node(index).submit_and_wait(transfer).await;
        assert_eq!(committed["success"], true, "{committed}");
    }

    /// Waits until a node has committed this transaction.
    pub async fn await_at(&self, index: usize, transfer: &SignedTransaction) {
        let chain = self.node(index).chain().await;
        let hash = transfer.hash(chain.vendor());
        let path = format!("/v1/transactions/by_hash/{hash}");
        until(&format!("{path} at node {index}"), || async {
            let response = self.node(index).get(&path).await;
            let is_committed = response.json["type"] == "user_transaction";
            is_committed.then_some(())
        })
        .await;
    }

    /// Asserts that the nodes that run have the same blocks, up to the lowest of their heights.
    pub async fn assert_same_blocks(&self) {
        let mut chains: Vec<Vec<Value>> = Vec::new();
        for node in self.nodes.iter().flatten() {
            let info = node.get("/v1").await.json;
            let height = number(&info["block_height"]);
            let mut blocks = Vec::new();
            for height in 0..=height {
                let block = node.get(&format!("/v1/blocks/by_height/{height}")).await;
                blocks.push(block.json);
            }
            chains.push(blocks);
        }
        let common = chains.iter().map(Vec::len).min().unwrap();
        for chain in &chains[1..] {
            assert_eq!(chain[..common], chains[0][..common]);
        }
        assert!(common > 1, "the nodes have a block");
    }

    /// Returns a transfer of a development account to the next one.
    pub fn transfer(
        &self,
        chain: &ledger_vm::Chain,
        account: usize,
        number: u64,
    ) -> SignedTransaction {
        let accounts = TestAccount::development();
        let to = accounts[(account + 1) % accounts.len()].address;
        accounts[account].transfer(chain, number, to, AMOUNT)
    }
}

/// Replaces the addresses with ports from `first` on by `listeners`, in order.
fn replace_listeners(peers: &Path, first: usize, listeners: &[String]) {
    let mut text = std::fs::read_to_string(peers).unwrap();
    for (index, listener) in listeners.iter().enumerate() {
        text = text.replace(
            &format!("{LOCAL}:{}\"", first + index),
            &format!("{listener}\""),
        );
    }
    std::fs::write(peers, text).unwrap();
}
