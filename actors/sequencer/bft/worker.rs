//! The thread that checks blocks of other nodes and writes the consensus log.

use crate::{
    engine::DecidedBlock,
    error::{FaultKind, StorageFault},
    protocol::{
        consensus::{BlockChecked, BlockReply, DecisionDurable, Turn},
        durable_reader::DurableReader,
        proposed_block::{CheckedBlock, encode},
    },
    runtime::{fatal::FatalErrorReporter, mailbox::Recipient, worker::WorkerThread},
};
use bytes::Bytes;
use crossbeam_channel::Receiver;
use ledger_crypto::DecodedKeys;
use ledger_store::{ConsensusLog, LoggedProposal, StoreError};
use ledger_types::CommitCertificate;
use ledger_vm::Chain;
use std::{ops::ControlFlow, sync::Arc};
use tokio::sync::oneshot;

/// Name of the thread.
pub(crate) const THREAD: &str = "consensus-log";

/// Maximum number of jobs that wait for the thread.
///
/// Those that peers cause take [`PEER_JOBS_MAX`]. The others are a start of a round, a proposal of
/// this node, two decisions and a record of a followed height: a round begins only when the jobs
/// before it have ended.
pub(crate) const JOBS_MAX: usize = 16;

/// Number of waiting jobs from which on peers can cause no further ones: as many blocks as four
/// validators propose in two rounds.
pub(super) const PEER_JOBS_MAX: usize = 8;

/// Maximum size of the decided blocks of one reply to a peer, in bytes. The first block may exceed
/// it. The thread needs some 10 ms to read as much.
const DECIDED_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Runs when a write is durable.
pub(super) type Then = Box<dyn FnOnce() + Send>;

/// A job of the thread.
pub(crate) enum ConsensusJob {
    /// Checks the bytes of a block by the rules that need no state.
    Check {
        turn: Turn,
        bytes: Bytes,
        reply: BlockReply,
    },
    /// Runs when all earlier writes are durable.
    Confirm { then: Then },
    /// Records that this node may sign for a height.
    RecordHeight { height: u64, then: Then },
    /// Makes a proposal durable.
    AddProposal {
        turn: Turn,
        block: Arc<CheckedBlock>,
        then: Then,
    },
    /// Makes a decision durable. The ledger holds all blocks up to `ledger_height`.
    Decide {
        certificate: CommitCertificate,
        ledger_height: u64,
        reply: oneshot::Sender<()>,
    },
    /// Reads decided blocks for a peer. The ledger holds all blocks up to `ledger_height`.
    ReadDecided {
        first: u64,
        last: u64,
        ledger_height: u64,
        reply: oneshot::Sender<Vec<DecidedBlock>>,
    },
}

/// The state of the thread.
pub(crate) struct ConsensusWorker {
    chain: Chain,
    log: ConsensusLog,
    reader: DurableReader,
    peers: ConsensusLogPeers,
    keys: DecodedKeys,
}

/// The recipients of the thread's messages.
#[derive(Debug)]
pub(crate) struct ConsensusLogPeers {
    pub(crate) checked: Recipient<BlockChecked>,
    pub(crate) decisions: Recipient<DecisionDurable>,
}

impl ConsensusWorker {
    /// Creates the worker.
    pub(crate) fn new(
        chain: Chain,
        log: ConsensusLog,
        reader: DurableReader,
        peers: ConsensusLogPeers,
    ) -> Self {
        Self {
            chain,
            log,
            reader,
            peers,
            keys: DecodedKeys::default(),
        }
    }

    /// Returns the log.
    #[cfg(test)]
    pub(super) fn log(&self) -> &ConsensusLog {
        &self.log
    }

    /// Creates the thread that runs `jobs` in order. It ends when all sending sides are dropped.
    ///
    /// A failure drops the reply that depends on it and all later ones: the engine must not
    /// continue without what they state. The thread reports a fault of the disk to `health`, and
    /// any other error to `reporter`.
    pub(crate) fn serve(
        mut self,
        jobs: Receiver<ConsensusJob>,
        health: Recipient<StorageFault>,
        reporter: FatalErrorReporter,
    ) -> WorkerThread<ConsensusJob> {
        let mut has_failed = false;
        WorkerThread::new(THREAD, jobs, move |job, _| {
            if has_failed {
                return ControlFlow::Continue(());
            }
            if let Err(error) = self.run(job) {
                has_failed = true;
                match StorageFault::of(THREAD, FaultKind::Write, &error) {
                    Some(fault) => health.send(fault),
                    None => reporter.report(THREAD, &error),
                }
            }
            ControlFlow::Continue(())
        })
    }

    /// Runs a job.
    ///
    /// # Errors
    ///
    /// Returns the error of the log or the store.
    pub(super) fn run(&mut self, job: ConsensusJob) -> Result<(), StoreError> {
        match job {
            ConsensusJob::Check { turn, bytes, reply } => {
                let block = CheckedBlock::check(bytes, &self.chain, &mut self.keys);
                self.peers.checked.send(BlockChecked {
                    turn,
                    block: block.map(Arc::new),
                    reply,
                });
            }
            ConsensusJob::Confirm { then } => then(),
            ConsensusJob::RecordHeight { height, then } => {
                self.log.record_height(height)?;
                then();
            }
            ConsensusJob::AddProposal { turn, block, then } => {
                self.log.add_proposal(&logged(turn, &block))?;
                then();
            }
            ConsensusJob::Decide {
                certificate,
                ledger_height,
                reply,
            } => {
                self.log.decide(&certificate, ledger_height)?;
                // An error means that the receiver was dropped: the engine has stopped.
                let _ = reply.send(());
                let height = certificate.height;
                self.peers.decisions.send(DecisionDurable { height });
            }
            ConsensusJob::ReadDecided {
                first,
                last,
                ledger_height,
                reply,
            } => {
                let blocks = self.read_decided(first, last, ledger_height)?;
                // An error means that the receiver was dropped: the engine gave up.
                let _ = reply.send(blocks);
            }
        }
        Ok(())
    }

    /// Returns consecutive decided blocks from `first` to at most `last`, from the ledger and then
    /// from the log.
    ///
    /// # Errors
    ///
    /// Returns the error of the log or the store.
    fn read_decided(
        &self,
        first: u64,
        last: u64,
        ledger_height: u64,
    ) -> Result<Vec<DecidedBlock>, StoreError> {
        let mut blocks = Vec::new();
        let mut bytes_left = DECIDED_BYTES_MAX;
        let mut add = |block: DecidedBlock| {
            let fits = blocks.is_empty() || block.bytes.len() <= bytes_left;
            bytes_left = bytes_left.saturating_sub(block.bytes.len());
            if fits {
                blocks.push(block);
            }
            fits
        };
        let mut next = first;
        let snapshot = self.reader.snapshot(last.min(ledger_height))?;
        while next <= last
            && let Some(stored) = snapshot.decided_block(next)?
        {
            let certificate = CommitCertificate::from_bytes(&stored.certificate)
                .map_err(|error| inconsistent(next, &error))?;
            let bytes = encode(&stored.header, &stored.transactions);
            if !add(DecidedBlock { bytes, certificate }) {
                return Ok(blocks);
            }
            next = next.saturating_add(1);
        }
        for logged in self.log.decisions_from(next)? {
            let block = DecidedBlock {
                bytes: logged.block.into(),
                certificate: logged.certificate,
            };
            if block.certificate.height > last || !add(block) {
                break;
            }
        }
        Ok(blocks)
    }
}

fn inconsistent(height: u64, error: &bcs::Error) -> StoreError {
    StoreError::Inconsistent(format!("the certificate of block {height}: {error}"))
}

fn logged(turn: Turn, block: &CheckedBlock) -> LoggedProposal {
    LoggedProposal {
        height: turn.height,
        round: turn.round,
        valid_round: turn.valid_round,
        proposer: turn.proposer,
        hash: block.hash,
        block: block.bytes.to_vec(),
    }
}
