//! A node in memory that replies to the engine's requests.

use bytes::Bytes;
use ledger_actors::engine::{
    DecidedBlock, EncodedBlock, EngineRequest, Equivocation, ProposedBlock, SyncedBlock,
};
use ledger_bft::NodeSender;
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, CommitCertificate};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use tokio::sync::oneshot;

/// Time within which the condition of a test holds. It is long, because machines may be slow.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// The state of a node.
#[derive(Default)]
pub struct State {
    /// Decided blocks, from height 1 on.
    pub decided: Vec<DecidedBlock>,
    /// Blocks that are known, by hash.
    blocks: BTreeMap<HashValue, Bytes>,
    /// Blocks of the current height that the engine may vote on.
    known: Vec<ProposedBlock>,
    /// Blocks that this node proposed.
    proposed: BTreeMap<(u64, u32), EncodedBlock>,
    /// The withheld reply to `Finalized`, with the next height.
    waiting: Option<(u64, oneshot::Sender<u64>)>,
    /// Heights of `WorkAnnounced`.
    pub announced: Vec<u64>,
    /// Blocks that peers sent after they were decided.
    pub synced: usize,
    /// Blocks that validators proposed.
    pub received: usize,
    pub equivocations: Vec<Equivocation>,
    /// The node begins no height above this one on its own.
    pub height_max: u64,
    /// Names of requests whose replies are dropped.
    pub drops: Vec<&'static str>,
    /// Names of requests that get no reply.
    pub withholds: Vec<&'static str>,
    /// The requests without a reply.
    withheld: Vec<EngineRequest>,
}

/// A node in memory.
pub struct FakeNode {
    address: AccountAddress,
    block_bytes: usize,
    state: Mutex<State>,
    changed: Condvar,
}

fn hash_of(bytes: &[u8]) -> HashValue {
    HashValue::sha3_of(&[bytes])
}

impl FakeNode {
    /// Creates a node that proposes blocks of `block_bytes`, and begins heights up to `height_max`.
    pub fn new(address: AccountAddress, block_bytes: usize, height_max: u64) -> Arc<Self> {
        let state = State {
            height_max,
            ..State::default()
        };
        Arc::new(Self {
            address,
            block_bytes,
            state: Mutex::new(state),
            changed: Condvar::new(),
        })
    }

    /// Returns the receiver of the engine's requests.
    pub fn sender(self: &Arc<Self>) -> NodeSender {
        let node = self.clone();
        Arc::new(move |request| node.handle(request))
    }

    /// Waits until the state meets a condition, and returns what it finds.
    pub fn wait<T>(&self, name: &str, find: impl Fn(&mut State) -> Option<T>) -> T {
        let mut found = None;
        let state = self.state.lock().unwrap();
        let search = |state: &mut State| {
            found = find(state);
            found.is_none()
        };
        let (_guard, result) = self
            .changed
            .wait_timeout_while(state, WAIT_MAX, search)
            .unwrap();
        assert!(!result.timed_out(), "timeout: {name}");
        found.unwrap()
    }

    /// Waits until a number of blocks is decided.
    pub fn wait_for_height(&self, height: u64) {
        self.wait(&format!("height {height}"), |state| {
            (state.decided.len() as u64 >= height).then_some(())
        });
    }

    /// Returns the state at this time.
    pub fn read<T>(&self, read: impl Fn(&mut State) -> T) -> T {
        read(&mut self.state.lock().unwrap())
    }

    /// Begins heights up to `height_max`.
    pub fn begin(&self, height_max: u64) {
        let mut state = self.state.lock().unwrap();
        state.height_max = height_max.max(state.height_max);
        Self::begin_next(&mut state);
    }

    fn begin_next(state: &mut State) {
        let height_max = state.height_max;
        if let Some((next, reply)) = state.waiting.take_if(|(next, _)| *next <= height_max) {
            let _ = reply.send(next);
        }
    }

    fn build_block(&self, height: u64, round: u32) -> EncodedBlock {
        let mut bytes = vec![0; self.block_bytes.max(44)];
        bytes[..8].copy_from_slice(&height.to_be_bytes());
        bytes[8..12].copy_from_slice(&round.to_be_bytes());
        bytes[12..44].copy_from_slice(self.address.as_bytes());
        EncodedBlock {
            hash: hash_of(&bytes),
            bytes: bytes.into(),
        }
    }

    fn height_of(bytes: &[u8]) -> Option<u64> {
        Some(u64::from_be_bytes(bytes.get(..8)?.try_into().unwrap()))
    }

    fn handle(&self, request: EngineRequest) {
        let mut state = self.state.lock().unwrap();
        if state.drops.contains(&name(&request)) {
            return;
        }
        if state.withholds.contains(&name(&request)) {
            return state.withheld.push(request);
        }
        self.reply(&mut state, request);
        self.changed.notify_all();
    }

    fn reply(&self, state: &mut State, request: EngineRequest) {
        match request {
            EngineRequest::Ready { reply, .. } => {
                let _ = reply.send(state.decided.len() as u64 + 1);
            }
            EngineRequest::RoundStarted { height, reply, .. } => {
                let known = state.known.iter().filter(|block| block.height == height);
                let _ = reply.send(known.copied().collect());
            }
            EngineRequest::Propose {
                height,
                round,
                reply,
                ..
            } => {
                let build = || self.build_block(height, round);
                let block = state.proposed.entry((height, round)).or_insert_with(build);
                let block = block.clone();
                state.blocks.insert(block.hash, block.bytes.clone());
                let _ = reply.send(block);
            }
            EngineRequest::BlockReceived {
                height,
                round,
                valid_round,
                proposer,
                bytes,
                reply,
            } => {
                let block = ProposedBlock {
                    height,
                    round,
                    valid_round,
                    proposer,
                    hash: hash_of(&bytes),
                    is_valid: Self::height_of(&bytes) == Some(height),
                };
                state.received += 1;
                state.blocks.insert(block.hash, bytes);
                state.known.push(block);
                let _ = reply.send(Some(block));
            }
            EngineRequest::QuorumReached { .. } => {}
            EngineRequest::WorkAnnounced { height } => {
                state.announced.push(height);
                state.height_max = state.height_max.max(height);
                Self::begin_next(state);
            }
            EngineRequest::GetBlock { hash, reply, .. } => {
                let _ = reply.send(state.blocks.get(&hash).cloned());
            }
            EngineRequest::Decided { certificate, reply } => {
                Self::decide(state, certificate);
                let _ = reply.send(());
            }
            EngineRequest::Finalized {
                certificate,
                equivocations,
                reply,
            } => {
                state.equivocations.extend(equivocations);
                state.waiting = Some((certificate.height + 1, reply));
                Self::begin_next(state);
            }
            EngineRequest::GetOldestHeight { reply } => {
                let _ = reply.send(1);
            }
            EngineRequest::GetDecidedBlocks { first, last, reply } => {
                let first = usize::try_from(first - 1).unwrap();
                let count = usize::try_from(last).unwrap() - first;
                let blocks = state.decided.iter().skip(first).take(count);
                let _ = reply.send(blocks.cloned().collect());
            }
            EngineRequest::BlockSynced {
                height,
                round,
                proposer,
                bytes,
                reply,
            } => {
                let _ = reply.send(Self::store_synced(state, height, round, proposer, bytes));
            }
        }
    }

    fn store_synced(
        state: &mut State,
        height: u64,
        round: u32,
        proposer: AccountAddress,
        bytes: Bytes,
    ) -> SyncedBlock {
        if Self::height_of(&bytes) != Some(height) {
            return SyncedBlock::Malformed;
        }
        state.synced += 1;
        let hash = hash_of(&bytes);
        state.blocks.insert(hash, bytes);
        SyncedBlock::Stored(ProposedBlock {
            height,
            round,
            valid_round: None,
            proposer,
            hash,
            is_valid: true,
        })
    }

    fn decide(state: &mut State, certificate: CommitCertificate) {
        let next = state.decided.len() as u64 + 1;
        // A decision may come again after a restart.
        if certificate.height < next {
            return;
        }
        assert_eq!(certificate.height, next, "a height is missing");
        let bytes = state.blocks[&certificate.block_hash].clone();
        state
            .known
            .retain(|block| block.height > certificate.height);
        state.decided.push(DecidedBlock { bytes, certificate });
    }
}

fn name(request: &EngineRequest) -> &'static str {
    match request {
        EngineRequest::Ready { .. } => "Ready",
        EngineRequest::RoundStarted { .. } => "RoundStarted",
        EngineRequest::Propose { .. } => "Propose",
        EngineRequest::Decided { .. } => "Decided",
        EngineRequest::Finalized { .. } => "Finalized",
        EngineRequest::GetOldestHeight { .. } => "GetOldestHeight",
        _ => "other",
    }
}
