//! A validator whose engine, mempool and committer are the test, with its log on disk.

use crate::{
    Clock, Node, NodeConfig, SequencerConfig,
    engine::{ConsensusStart, EncodedBlock, EngineRequest, ProposedBlock, SyncedBlock},
    protocol::{
        committer::ExecuteBlock,
        consensus::{
            BlockChecked, DecisionDurable, ReturnBatch, TransactionsDecided, TransactionsReady,
            Turn, WatchReady,
        },
        durable_reader::{ApplyRequests, DurableReader},
        mempool::PullBatch,
        proposed_block::{CheckedBlock, payload_root},
        sequencer::Batch,
    },
    runtime::{fatal::FatalErrorReporter, mailbox::Recipient},
    sequencer::{
        SequencerPeers,
        bft::{
            Bft,
            restore::restore,
            worker::{ConsensusJob, ConsensusLogPeers, ConsensusWorker, JOBS_MAX},
        },
        ordering::Ordering,
    },
    state::{
        flight_recorder::FlightRecorder,
        head::HeadPublisher,
        prune_horizon::{Horizon, PruneHorizonPublisher},
    },
    testing::ledger_clock,
};
use crossbeam_channel::{Receiver, unbounded};
use ledger_crypto::{Ed25519PrivateKey, HashValue};
use ledger_execution::{build_chain, execute_genesis};
use ledger_store::{ConsensusLog, Store, StoreOptions};
use ledger_test_support::{HandClock, MemoryChain, TestAccount, TransactionBuilder, test_genesis};
use ledger_types::{
    AccountAddress, BlockHeader, CheckedTransaction, CommitCertificate, CommitSignature, Genesis,
    OrderedBlock, Parameters,
};
use ledger_vm::Chain;
use std::{sync::Arc, time::Duration};
use tempfile::TempDir;
use tokio::sync::{oneshot, watch};

pub(super) const NOW_SECS: u64 = 1_800_000_000;
/// Number of validators. The test is the one with index 0.
pub(super) const VALIDATORS: u8 = 4;

pub(super) fn key(index: u8) -> Ed25519PrivateKey {
    Ed25519PrivateKey::from_seed(&[index + 1; 32])
}

pub(super) fn address(index: u8) -> AccountAddress {
    AccountAddress::from_public_key(&key(index).public_key())
}

pub(super) fn genesis() -> Genesis {
    Genesis {
        validators: (0..VALIDATORS)
            .map(|index| key(index).public_key())
            .collect(),
        ..test_genesis(Parameters::default())
    }
}

/// The files of a validator, which outlast its restarts.
pub(super) struct Files {
    pub(super) ledger: TempDir,
    pub(super) consensus: TempDir,
    pub(super) clock: HandClock,
}

impl Files {
    pub(super) fn new() -> Self {
        let files = Self {
            ledger: tempfile::tempdir().unwrap(),
            consensus: tempfile::tempdir().unwrap(),
            clock: HandClock::at_secs(NOW_SECS),
        };
        let chain = build_chain(&genesis()).unwrap();
        let mut store = Store::open(files.ledger.path(), &StoreOptions::default()).unwrap();
        store
            .initialize(&genesis(), &execute_genesis(&genesis(), &chain))
            .unwrap();
        drop(ConsensusLog::create(files.consensus.path(), 0).unwrap());
        files
    }

    pub(super) fn log(&self) -> ConsensusLog {
        ConsensusLog::open(self.consensus.path()).unwrap().unwrap()
    }

    pub(super) fn start(&self) -> Validator {
        Validator::start(self, 2)
    }

    pub(super) fn start_full_node(&self) -> Validator {
        Validator::start_as(None, self, 2)
    }

    /// Starts a whole node, without an engine. Also returns the height that the engine would decide
    /// first.
    pub(super) async fn start_node(&self, config: NodeConfig) -> (Node, u64) {
        let chain = build_chain(&genesis()).unwrap();
        let store = Store::open(self.ledger.path(), &StoreOptions::default()).unwrap();
        let consensus = ConsensusStart {
            address: Some(address(0)),
            log: self.log(),
            work: watch::channel(0).0,
            may_vote: oneshot::channel().0,
            relay: None,
        };
        Node::start_with_consensus(chain, store, None, config, consensus)
            .await
            .unwrap()
    }
}

/// A validator or a full node between two starts.
pub(super) struct Validator {
    pub(super) bft: Bft,
    pub(super) ordering: Ordering,
    pub(super) worker: ConsensusWorker,
    pub(super) jobs: Receiver<ConsensusJob>,
    pub(super) checked: Receiver<BlockChecked>,
    pub(super) decisions: Receiver<DecisionDurable>,
    pub(super) pulls: Receiver<PullBatch>,
    pub(super) watches: Receiver<WatchReady>,
    pub(super) decided: Receiver<TransactionsDecided>,
    pub(super) returned: Receiver<ReturnBatch>,
    pub(super) executed: Receiver<OrderedBlock>,
    pub(super) work: watch::Receiver<u64>,
    pub(super) may_vote: oneshot::Receiver<()>,
    pub(super) reporter: FatalErrorReporter,
    pub(super) horizon: PruneHorizonPublisher,
    pub(super) chain: Chain,
}

/// Returns a recipient, and what it received.
pub(super) fn recipient<M: Send + 'static>() -> (Recipient<M>, Receiver<M>) {
    let (sender, receiver) = unbounded();
    let recipient = Recipient::new(move |message| {
        // An error means that the test has ended.
        let _ = sender.send(message);
    });
    (recipient, receiver)
}

impl Validator {
    pub(super) fn start(files: &Files, blocks_in_flight_max: usize) -> Self {
        Self::start_as(Some(address(0)), files, blocks_in_flight_max)
    }

    fn start_as(
        address: Option<AccountAddress>,
        files: &Files,
        blocks_in_flight_max: usize,
    ) -> Self {
        let chain = build_chain(&genesis()).unwrap();
        let (_, reader) = Store::open(files.ledger.path(), &StoreOptions::default())
            .unwrap()
            .split();
        let (work, heights) = watch::channel(0);
        let (may_vote, may_vote_receiver) = oneshot::channel();
        let consensus = ConsensusStart {
            address,
            log: files.log(),
            work,
            may_vote,
            relay: None,
        };
        let (start, log) = restore(consensus, &chain, reader.chain_tip().unwrap()).unwrap();
        let ledger_info = *reader.snapshot().unwrap().ledger_info();
        let horizon = PruneHorizonPublisher::new(Horizon::of(&ledger_info));
        let head = HeadPublisher::new(ledger_info, horizon.horizon());
        let (job_sender, jobs) = crossbeam_channel::bounded(JOBS_MAX);
        let (checked_recipient, checked) = recipient();
        let (decision_recipient, decisions) = recipient();
        let (pull_recipient, pulls) = recipient();
        let (watch_recipient, watches) = recipient();
        let (ready_recipient, _) = recipient::<TransactionsReady>();
        let (decided_recipient, decided) = recipient();
        let (returned_recipient, returned) = recipient();
        let (batch_recipient, _) = recipient::<Batch>();
        let (block_sender, executed) = unbounded();
        let reporter = FatalErrorReporter::new();
        let ordering = Ordering {
            config: SequencerConfig {
                blocks_in_flight_max,
                ..SequencerConfig::default()
            },
            clock: ledger_clock(&files.clock),
            recorder: FlightRecorder::new(Clock::default()),
            reporter: reporter.clone(),
            peers: SequencerPeers {
                mempool: pull_recipient,
                committer: Recipient::new(move |ExecuteBlock(block)| {
                    let _ = block_sender.send(block);
                }),
                batches: batch_recipient,
                watch_ready: watch_recipient,
                ready: ready_recipient,
                decided: decided_recipient,
                returned: returned_recipient,
            },
            is_stopped: false,
            in_flight: 0,
            is_paused: false,
            last_block_elapsed_usecs: 0,
        };
        let peers = ConsensusLogPeers {
            checked: checked_recipient,
            decisions: decision_recipient,
        };
        let mut validator = Self {
            bft: Bft::new(start, job_sender, Arc::default(), head.reader()),
            ordering,
            worker: ConsensusWorker::new(
                chain.clone(),
                log,
                DurableReader::new(reader, ApplyRequests::new().0),
                peers,
            ),
            jobs,
            checked,
            decisions,
            pulls,
            watches,
            decided,
            returned,
            executed,
            work: heights,
            may_vote: may_vote_receiver,
            reporter,
            horizon,
            chain,
        };
        validator.bft.started(&mut validator.ordering);
        validator
    }

    /// Sends a request, and handles all that follows from it. Returns the reply.
    pub(super) fn request<T>(
        &mut self,
        request: impl FnOnce(oneshot::Sender<T>) -> EngineRequest,
    ) -> Option<T> {
        let mut reply = self.send(request);
        self.settle();
        reply.try_recv().ok()
    }

    /// Sends a request, and does not run the thread of the log.
    pub(super) fn send<T>(
        &mut self,
        request: impl FnOnce(oneshot::Sender<T>) -> EngineRequest,
    ) -> oneshot::Receiver<T> {
        let (sender, reply) = oneshot::channel();
        self.bft.handle(request(sender), &mut self.ordering);
        reply
    }

    /// Runs the jobs of the log, and handles their messages.
    pub(super) fn settle(&mut self) {
        while !self.jobs.is_empty() {
            self.run_job();
        }
    }

    /// Runs the next job of the log, and handles its message.
    pub(super) fn run_job(&mut self) {
        self.worker.run(self.jobs.try_recv().unwrap()).unwrap();
        while let Ok(checked) = self.checked.try_recv() {
            self.bft.handle_checked(checked, &mut self.ordering);
        }
        while let Ok(DecisionDurable { height }) = self.decisions.try_recv() {
            self.bft.execute_decided(height, &mut self.ordering);
        }
    }

    /// Tells that the engine signs, and returns the height that it begins.
    pub(super) fn ready(&mut self) -> u64 {
        let is_signer = true;
        self.request(|reply| EngineRequest::Ready { is_signer, reply })
            .unwrap()
    }

    pub(super) fn start_round(&mut self, height: u64, round: u32) -> Vec<ProposedBlock> {
        let proposer = proposer(height, round);
        self.request(|reply| EngineRequest::RoundStarted {
            height,
            round,
            proposer,
            reply,
        })
        .unwrap()
    }

    /// Requests a block of this validator, whose mempool has `transactions`.
    pub(super) fn propose(
        &mut self,
        turn: Turn,
        transactions: &[Arc<CheckedTransaction>],
    ) -> EncodedBlock {
        let mut reply = self.send(|reply| EngineRequest::Propose {
            height: turn.height,
            round: turn.round,
            timeout: Duration::from_secs(1),
            reply,
        });
        if self.pulls.try_recv().is_ok() {
            self.bft
                .handle_batch(transactions.to_vec(), &mut self.ordering);
        }
        self.settle();
        reply.try_recv().unwrap()
    }

    /// Receives a block of another validator, and returns its verdict, or `None`.
    pub(super) fn receive(&mut self, turn: Turn, block: &CheckedBlock) -> Option<ProposedBlock> {
        let mut verdict = self.send_block(turn, block);
        self.settle();
        verdict.try_recv().unwrap()
    }

    /// Receives a block of another validator, and does not run the thread of the log.
    pub(super) fn send_block(
        &mut self,
        turn: Turn,
        block: &CheckedBlock,
    ) -> oneshot::Receiver<Option<ProposedBlock>> {
        let bytes = block.bytes.clone();
        self.send(|reply| EngineRequest::BlockReceived {
            height: turn.height,
            round: turn.round,
            valid_round: turn.valid_round,
            proposer: turn.proposer,
            bytes,
            reply,
        })
    }

    /// Receives a block that a peer sent as a decided one.
    pub(super) fn sync(&mut self, turn: Turn, block: &CheckedBlock) -> Option<SyncedBlock> {
        let mut synced = self.send_synced(turn, block);
        self.settle();
        synced.try_recv().ok()
    }

    /// Receives a block that a peer sent as a decided one, and does not run the thread of the log.
    pub(super) fn send_synced(
        &mut self,
        turn: Turn,
        block: &CheckedBlock,
    ) -> oneshot::Receiver<SyncedBlock> {
        let bytes = block.bytes.clone();
        self.send(|reply| EngineRequest::BlockSynced {
            height: turn.height,
            round: turn.round,
            proposer: turn.proposer,
            bytes,
            reply,
        })
    }

    pub(super) fn decide(&mut self, turn: Turn, hash: HashValue) -> Option<()> {
        let certificate = certificate(turn, hash);
        self.request(|reply| EngineRequest::Decided { certificate, reply })
    }

    /// Ends a height, and returns the receiver of the next one.
    pub(super) fn finalize(&mut self, turn: Turn, hash: HashValue) -> oneshot::Receiver<u64> {
        let certificate = certificate(turn, hash);
        self.send(|reply| EngineRequest::Finalized {
            certificate,
            equivocations: Vec::new(),
            reply,
        })
    }

    /// Commits the next executed block on a chain in memory.
    pub(super) fn commit_next(&mut self, memory: &mut MemoryChain) {
        let ordered = self.executed.try_recv().unwrap();
        let block =
            ledger_execution::execute_block(&self.chain, &memory.tip, memory, ordered).unwrap();
        self.bft.record_committed(&block);
        self.ordering.in_flight -= 1;
        memory.apply(block);
        self.bft.start_next_height(&mut self.ordering);
    }

    /// Returns a block that another validator proposes on top of this one's chain.
    pub(super) fn block_of(
        &self,
        turn: Turn,
        transactions: &[Arc<CheckedTransaction>],
    ) -> CheckedBlock {
        let parent = self.bft.parent;
        let header = BlockHeader {
            parent_hash: parent.hash,
            height: turn.height,
            epoch: parent.epoch,
            round: turn.round.into(),
            proposer: turn.proposer,
            timestamp_usecs: NOW_SECS * 1_000_000 + turn.height,
            payload_root: payload_root(transactions, &self.chain),
            executed: self.bft.root_for(turn.height).unwrap(),
        };
        CheckedBlock::new(header, transactions.to_vec(), &self.chain)
    }

    /// Returns a transfer of a development account.
    pub(super) fn transfer(&self, account: usize, number: u64) -> Arc<CheckedTransaction> {
        let accounts = TestAccount::development();
        let (from, to) = (&accounts[account], accounts[account + 1].address);
        let transfer = TransactionBuilder::transfer(&self.chain, from.address, to, 10)
            .sequence_number(number)
            .sign_checked(&self.chain, from);
        Arc::new(transfer)
    }
}

pub(super) fn proposer(height: u64, round: u32) -> AccountAddress {
    let chain = build_chain(&genesis()).unwrap();
    chain.validators().proposer(height, round).unwrap().address
}

pub(super) fn turn(height: u64, round: u32) -> Turn {
    Turn {
        height,
        round,
        valid_round: None,
        proposer: proposer(height, round),
    }
}

/// Returns the first round of a height in which this validator proposes.
pub(super) fn own_turn(height: u64) -> Turn {
    let rounds = (0..u32::from(VALIDATORS)).map(|round| turn(height, round));
    rounds
        .into_iter()
        .find(|turn| turn.proposer == address(0))
        .unwrap()
}

pub(super) fn certificate(turn: Turn, block_hash: HashValue) -> CommitCertificate {
    let signed = |index| CommitSignature {
        validator: address(index),
        signature: key(index).sign(b"not verified by the node"),
    };
    CommitCertificate {
        height: turn.height,
        round: turn.round,
        block_hash,
        signatures: (0..3).map(signed).collect(),
    }
}
