//! All that HTTP and tests know of the node. How a submission is checked stands in [`super::submit`].

use super::{
    meters::{MeterStatus, Meters},
    renderers::Renderers,
};
use crate::{
    BlockFeed, ClockStatus, FilterRules, GasEstimate, Head, LaneStatus, MailboxStatus, NodeConfig,
    NodeError, StorageUnavailable, SubmissionFilter, TuneError,
    committer::Committer,
    mempool::Mempool,
    protocol::{
        committer::SubscribeBlocks,
        mempool::{GetGasPrice, GetSavedSize},
        notifier::CommitNotifier,
        storage::{Answer, Read},
    },
    pruner::Pruner,
    runtime::{
        actor::{Actor, ActorMessage, Handler},
        clock::LedgerClock,
        fatal::FatalErrorReporter,
        mailbox::Mailbox,
    },
    sequencer::Sequencer,
    signatures::SignatureChecks,
    state::head::HeadReader,
    storage::{Storage, health::HealthReporter, inline_reader::InlineReader},
};
use arc_swap::ArcSwap;
use ledger_store::Query;
use ledger_vm::Chain;
use std::sync::{Arc, atomic::AtomicBool};
use tokio::sync::oneshot;

/// The way to a running node. Cheap to clone.
#[derive(Clone, Debug)]
pub struct NodeHandle {
    pub(super) shared: Arc<Shared>,
    /// That of the thread whose clients wait by it.
    pub(super) notifier: Option<Arc<CommitNotifier>>,
}

/// What all handles of a node share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) node: NodeParts,
    /// Read by every submission, so never behind a lock.
    pub(super) filter: ArcSwap<SubmissionFilter>,
    /// Whether the mempool had no capacity for the transaction that was checked last: then the next
    /// ones are checked against its capacity first. Only a hint, hence relaxed.
    pub(super) pool_was_full: AtomicBool,
}

/// The parts of a node that its handles use.
#[derive(Debug)]
pub(crate) struct NodeParts {
    pub(crate) chain: Chain,
    pub(crate) config: NodeConfig,
    pub(crate) clock: LedgerClock,
    pub(crate) head: HeadReader,
    pub(crate) mailboxes: Mailboxes,
    pub(crate) inline_reader: InlineReader,
    pub(crate) queues: RequestQueues,
    pub(crate) health: HealthReporter,
    pub(crate) reporter: FatalErrorReporter,
}

/// The mailboxes of all actors, and the meters of what works behind them.
#[derive(Clone, Debug)]
pub(crate) struct Mailboxes {
    pub(crate) mempool: Mailbox<Mempool>,
    pub(crate) sequencer: Mailbox<Sequencer>,
    pub(crate) committer: Mailbox<Committer>,
    pub(crate) storage: Mailbox<Storage>,
    pub(crate) pruner: Mailbox<Pruner>,
    pub(crate) meters: Arc<Meters>,
}

/// Queues of the threads that work for requests before or after an actor does.
#[derive(Debug)]
pub(crate) struct RequestQueues {
    pub(crate) signatures: SignatureChecks,
    pub(crate) renderers: Renderers,
}

impl NodeHandle {
    /// Creates the handle of a node.
    pub(crate) fn new(parts: NodeParts) -> Self {
        let filter = ArcSwap::from_pointee(parts.config.filter.clone().into());
        Self {
            shared: Arc::new(Shared {
                node: parts,
                filter,
                pool_was_full: AtomicBool::new(false),
            }),
            notifier: None,
        }
    }

    /// A handle for the clients of one thread, and what has to run on that thread for as long as there are any: who
    /// waits by the handle is told by it, together with the others of the thread. To whom it was to tell when it is
    /// dropped, the node is stopping ([`NodeError::Stopping`]).
    #[must_use = "who waits by the handle is told by the future"]
    pub fn for_thread(&self) -> (Self, impl Future<Output = ()> + use<>) {
        let (notifier, telling) = CommitNotifier::new();
        let handle = Self {
            shared: Arc::clone(&self.shared),
            notifier: Some(Arc::new(notifier)),
        };
        (handle, telling)
    }

    /// The chain.
    pub fn chain(&self) -> &Chain {
        &self.shared.node.chain
    }

    /// The settings that the node was started with.
    pub fn config(&self) -> &NodeConfig {
        &self.shared.node.config
    }

    /// Returns the ledger's time in microseconds since the Unix epoch: the system clock as far as the newest block
    /// and elapsed time allow it, and never before the newest ordered block.
    pub fn now_usecs(&self) -> u64 {
        self.shared.node.clock.now_usecs()
    }

    /// Returns the system clock compared with the ledger's time.
    pub fn clock_status(&self) -> ClockStatus {
        self.shared.node.clock.status()
    }

    /// The newest durable moment of the ledger.
    pub fn head(&self) -> Head {
        self.shared.node.head.load()
    }

    /// Returns why submissions are rejected at the moment: a fault of the disk, little disk space, or
    /// a clock that is not believed.
    pub fn storage_unavailable(&self) -> Option<StorageUnavailable> {
        let NodeParts {
            health,
            reporter,
            clock,
            ..
        } = &self.shared.node;
        let unavailable = health.health().unavailable();
        if matches!(unavailable, Some(StorageUnavailable::ReadFailed(_))) {
            return unavailable;
        }
        // Until the process has ended, nothing is accepted either.
        let fatal = reporter.get();
        let fatal = fatal.map(|error| StorageUnavailable::WriteFailed(Arc::clone(&error.cause)));
        fatal.or(unavailable).or_else(|| clock.unbelieved())
    }

    /// Reports whether the disk has little space, with the cause in words.
    ///
    /// While the disk has little space, submissions are rejected, and neither a block nor a step of
    /// pruning is started; those in progress are finished.
    pub fn report_disk_space(&self, shortage: Option<&Arc<str>>) {
        self.shared.node.health.report_disk_space(shortage);
    }

    /// In how many bytes a stop would save the pool now.
    ///
    /// # Errors
    /// When the mempool has too many requests or the node is stopping.
    pub async fn saved_pool_bytes(&self) -> Result<u64, NodeError> {
        request(&self.shared.node.mailboxes.mempool, |reply| GetSavedSize {
            reply,
        })
        .await
    }

    /// Answers a query on one snapshot, and says which moment of the ledger that was.
    ///
    /// # Errors
    /// When the storage has too many requests, the node is stopping, or the store fails.
    pub async fn read<Q: Query>(&self, query: Q) -> Answer<Q::Output> {
        request(&self.shared.node.mailboxes.storage, |reply| Read {
            query,
            reply,
        })
        .await?
    }

    /// As [`Self::read`], of a query that looks up a few rows: on this thread, where it is quick.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn read_few<Q: Query>(&self, query: Q) -> Answer<Q::Output> {
        match self.shared.node.inline_reader.read(query) {
            Ok(answer) => answer,
            Err(query) => self.read(query).await,
        }
    }

    /// Runs work that takes milliseconds on a renderer thread, so that it does not delay the other requests
    /// of this thread.
    ///
    /// `work` is dropped without being run if the returned future is dropped before a thread takes it.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::Overloaded`] if too much work waits for the threads, and
    /// [`NodeError::Stopping`] if the node is stopping.
    pub async fn render<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NodeError> {
        self.shared.node.queues.renderers.run(work).await
    }

    /// What a transaction should pay for a gas unit.
    ///
    /// # Errors
    /// When the mempool has too many requests or the node is stopping.
    pub async fn gas_estimate(&self) -> Result<GasEstimate, NodeError> {
        request(&self.shared.node.mailboxes.mempool, |reply| GetGasPrice {
            reply,
        })
        .await
    }

    /// The blocks that become durable from now on, in order.
    ///
    /// # Errors
    /// When the committer has too many requests or the node is stopping.
    pub async fn subscribe_blocks(&self) -> Result<BlockFeed, NodeError> {
        request(&self.shared.node.mailboxes.committer, |reply| {
            SubscribeBlocks { reply }
        })
        .await
    }

    /// The numbers of each mailbox: mempool, sequencer, committer, storage, pruner.
    pub fn mailboxes(&self) -> Vec<MailboxStatus> {
        let all = &self.shared.node.mailboxes;
        vec![
            all.mempool.status(),
            all.sequencer.status(),
            all.committer.status(),
            all.storage.status(),
            all.pruner.status(),
        ]
    }

    /// What is measured behind the actors: the pool, the threads with queues, commits, waits.
    pub fn meters(&self) -> MeterStatus {
        self.shared.node.mailboxes.meters.status()
    }

    /// The numbers of the lanes in which transactions wait for the check of their signatures.
    pub fn signature_lanes(&self) -> [LaneStatus; 2] {
        self.shared.node.queues.signatures.status()
    }

    /// Which submissions are let in.
    pub fn filter(&self) -> Arc<SubmissionFilter> {
        self.shared.filter.load_full()
    }

    /// Changes which submissions are let in, with effect on all that are checked from now on; what is in
    /// the pool stays. Gives what was before. The next start begins with the configured filter again.
    pub fn set_filter(&self, rules: FilterRules) -> Arc<SubmissionFilter> {
        self.shared.filter.swap(Arc::new(rules.into()))
    }

    /// Changes how many requests may wait for an actor, with effect at once.
    ///
    /// # Errors
    /// When there is no such actor, or the capacity is 0.
    pub fn set_mailbox_capacity(
        &self,
        actor: &str,
        capacity: usize,
    ) -> Result<MailboxStatus, TuneError> {
        if capacity == 0 {
            return Err(TuneError::CapacityZero);
        }
        let all = &self.shared.node.mailboxes;
        match actor {
            Mempool::NAME => Ok(all.mempool.set_capacity(capacity)),
            Sequencer::NAME => Ok(all.sequencer.set_capacity(capacity)),
            Committer::NAME => Ok(all.committer.set_capacity(capacity)),
            Storage::NAME => Ok(all.storage.set_capacity(capacity)),
            Pruner::NAME => Ok(all.pruner.set_capacity(capacity)),
            _ => Err(TuneError::UnknownActor(actor.to_owned())),
        }
    }
}

/// Sends a request with the sender of its reply, and waits for the reply.
///
/// # Errors
///
/// Returns [`NodeError::Overloaded`] if the mailbox is full, and [`NodeError::Stopping`] if the node
/// is stopping.
pub(super) async fn request<A, M, T>(
    mailbox: &Mailbox<A>,
    message: impl FnOnce(oneshot::Sender<T>) -> M,
) -> Result<T, NodeError>
where
    A: Handler<M>,
    M: ActorMessage,
{
    let (reply, answer) = oneshot::channel();
    mailbox.try_request(message(reply))?;
    answer.await.map_err(|_| NodeError::Stopping)
}
