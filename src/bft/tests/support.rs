//! Validators on loopback, each with an engine and a node in memory.

use crate::fake_node::FakeNode;
use ledger_bft::{
    Engine, EngineState, EngineStatus, NetworkKey, Peer, Settings, StartError, StopReason, Timeouts,
};
use ledger_crypto::{Ed25519PrivateKey, HashValue};
use ledger_types::{AccountAddress, ValidatorSet, Vendor};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Bytes of a block: three chunks, the last of which is not full.
pub const BLOCK_BYTES: usize = 600_000;

/// Time within which an engine changes its status. It is long, because machines may be slow.
const WAIT_MAX: Duration = Duration::from_secs(60);

pub const GENESIS: HashValue = HashValue::new([3; 32]);

pub fn validator_key(index: u8) -> Ed25519PrivateKey {
    Ed25519PrivateKey::from_seed(&[index + 1; 32])
}

pub fn network_key(index: u8) -> NetworkKey {
    NetworkKey::from_seed([index + 101; 32])
}

pub fn address(index: u8) -> AccountAddress {
    AccountAddress::from_public_key(&validator_key(index).public_key())
}

/// A number of ports that no process listens on.
pub fn free_ports(count: usize) -> Vec<u16> {
    let bind = |_| TcpListener::bind("127.0.0.1:0").unwrap();
    let listeners: Vec<_> = (0..count).map(bind).collect();
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    listeners.iter().map(port).collect()
}

/// Validators of a chain. Not all of them need to run.
pub struct Cluster {
    directory: TempDir,
    pub ports: Vec<u16>,
    pub nodes: Vec<Arc<FakeNode>>,
    pub engines: Vec<Option<Engine>>,
}

impl Cluster {
    /// Starts `running` of `count` validators, which begin heights up to `height_max`.
    pub fn start(count: u8, running: &[u8], height_max: u64) -> Self {
        // Another process may take a port before the engine does.
        for _ in 0..10 {
            let node = |index| FakeNode::new(address(index), BLOCK_BYTES, height_max);
            let mut cluster = Self {
                directory: TempDir::new().unwrap(),
                ports: free_ports(count.into()),
                nodes: (0..count).map(node).collect(),
                engines: (0..count).map(|_| None).collect(),
            };
            let mut started = running.iter().map(|index| cluster.try_start(*index));
            match started.find(Result::is_err) {
                None => return cluster,
                Some(Err(StartError::Listen { .. })) => {}
                Some(error) => error.unwrap(),
            }
        }
        panic!("no free ports");
    }

    pub fn log_path(&self, index: u8) -> PathBuf {
        self.directory.path().join(format!("{index}.log"))
    }

    pub fn validators(&self) -> ValidatorSet {
        let count = u8::try_from(self.ports.len()).unwrap();
        ValidatorSet::new((0..count).map(|index| validator_key(index).public_key()))
    }

    pub fn settings(&self, index: u8) -> Settings {
        let peer = |other: u8| Peer {
            identity: network_key(other).identity(),
            address: format!("127.0.0.1:{}", self.ports[usize::from(other)]),
            validator: Some(address(other)),
        };
        let count = u8::try_from(self.ports.len()).unwrap();
        Settings {
            validator_key: Some(validator_key(index)),
            is_validator: true,
            network_key: network_key(index),
            validators: self.validators(),
            vendor: Vendor::default(),
            genesis_hash: GENESIS,
            listen_address: format!("127.0.0.1:{}", self.ports[usize::from(index)]),
            peers: (0..count)
                .filter(|other| *other != index)
                .map(peer)
                .collect(),
            log_path: self.log_path(index),
            timeouts: Timeouts {
                propose: Duration::from_millis(700),
                rebroadcast: Duration::from_millis(500),
                ..Timeouts::default()
            },
            block_bytes_max: 2 * BLOCK_BYTES,
        }
    }

    pub fn try_start(&mut self, index: u8) -> Result<(), StartError> {
        let node = &self.nodes[usize::from(index)];
        let engine = Engine::start(self.settings(index), node.sender())?;
        self.engines[usize::from(index)] = Some(engine);
        Ok(())
    }

    pub fn restart(&mut self, index: u8) {
        self.try_start(index).unwrap();
    }

    pub fn stop(&mut self, index: u8) {
        self.engines[usize::from(index)].take().unwrap().stop();
    }

    pub fn engine(&self, index: u8) -> &Engine {
        self.engines[usize::from(index)].as_ref().unwrap()
    }

    pub fn node(&self, index: u8) -> &FakeNode {
        &self.nodes[usize::from(index)]
    }

    /// Checks that the nodes decided equal blocks, and that each certificate proves its block.
    pub fn check(&self, nodes: &[u8]) {
        let validators = self.validators();
        let mut longest: Vec<HashValue> = Vec::new();
        for index in nodes {
            let decided = self.node(*index).read(|state| state.decided.clone());
            for (height, block) in (1..).zip(&decided) {
                let certificate = &block.certificate;
                assert_eq!(certificate.height, height);
                assert_eq!(HashValue::sha3_of(&[&block.bytes]), certificate.block_hash);
                let verified = certificate.verify(&validators, &Vendor::default(), GENESIS);
                assert_eq!(verified, Ok(()), "height {height} of node {index}");
            }
            let hashes: Vec<_> = decided
                .iter()
                .map(|block| block.certificate.block_hash)
                .collect();
            let common = hashes.len().min(longest.len());
            assert_eq!(hashes[..common], longest[..common], "node {index}");
            if hashes.len() > longest.len() {
                longest = hashes;
            }
        }
    }
}

/// Waits until the status of an engine meets a condition.
pub fn wait_for_status(engine: &Engine, is_met: impl Fn(&EngineStatus) -> bool) -> EngineStatus {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut status = engine.status();
        let met = tokio::time::timeout(WAIT_MAX, status.wait_for(is_met)).await;
        met.expect("timeout").unwrap().clone()
    })
}

/// Waits until the engine stops.
pub fn stop_reason(engine: &Engine) -> StopReason {
    let is_stopped = |status: &EngineStatus| matches!(status.state, EngineState::Stopped(_));
    match wait_for_status(engine, is_stopped).state {
        EngineState::Stopped(reason) => reason,
        state => panic!("{state:?}"),
    }
}
