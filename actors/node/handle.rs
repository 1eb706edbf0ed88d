//! The handle of a node, which is its interface for HTTP and tests.
//!
//! The modules `submit`, `wait` and `lookup` implement its submissions, waits and look-ups, and
//! `operation` what operators use.

use super::{meters::Meters, renderers::Renderers, stalls::Stalls};
use crate::{
    ClockStatus, FilterRules, GasEstimate, Head, NodeConfig, NodeError, NotWritable,
    SubmissionFilter,
    committer::Committer,
    engine::{EngineReport, EngineRequests, EngineSource, WATCHED_PARTS},
    error::{FaultKind, StorageFault},
    mempool::Mempool,
    notifier::notifier,
    protocol::{
        mempool::GetGasPrice,
        notifier::CommitNotifier,
        storage::{Answer, Read},
    },
    pruner::Pruner,
    relay::{RelayReport, RelaySender, RelaySource},
    runtime::{
        actor::{ActorMessage, Handler},
        clock::LedgerClock,
        fatal::FatalErrorReporter,
        mailbox::{Mailbox, MailboxControl},
        progress::Watch,
    },
    sequencer::Sequencer,
    signatures::SignatureChecks,
    state::{directory_size::DirectorySize, head::HeadReader, storage_health::ShortageSource},
    storage::{Storage, health::HealthReporter, inline_reader::InlineReader, readers::ReadQueues},
};
use arc_swap::{ArcSwap, ArcSwapOption};
use ledger_limits::{ClientKey, Demand, FairLimit, Work, WorkKind};
use ledger_store::{Query, StoreFiles};
use ledger_vm::Chain;
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64},
};
use tokio::sync::oneshot;

/// Name of the consensus engine in reports.
const ENGINE: &str = "consensus";

/// Returns a read of a few rows for a submission or a look-up by hash of `client`.
pub(crate) const fn point_read(client: ClientKey) -> Work {
    point_reads(client, 1)
}

/// Returns a read of `rows` rows, a few for each of as many transactions of `client`.
pub(super) const fn point_reads(client: ClientKey, rows: usize) -> Work {
    Work {
        client,
        ..Work::of_node(WorkKind::PointRead, Demand::rows(rows))
    }
}

/// A handle of a running node. Cheap to clone.
#[derive(Clone, Debug)]
pub struct NodeHandle {
    pub(super) shared: Arc<Shared>,
    /// Notifier of the HTTP worker thread that this handle belongs to.
    pub(super) notifier: Option<Arc<CommitNotifier>>,
}

/// The state that all handles of a node share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) node: NodeParts,
    /// Filter of submissions. Every submission reads it, so it has no lock.
    pub(super) filter: ArcSwap<SubmissionFilter>,
    /// Set if the mempool had no capacity for the transaction that was checked last. The capacity
    /// is then checked before the signatures of the next one. Only a hint, hence relaxed.
    pub(super) pool_was_full: AtomicBool,
    /// Number of the next wait for many. Numbers do not repeat, because no process has 2^64 waits.
    pub(super) next_many_wait: AtomicU64,
    /// The consensus engine, while one runs beside the node.
    engine: ArcSwapOption<EngineSource>,
    /// The relay to the other nodes, while one runs.
    relay: ArcSwapOption<RelaySource>,
}

/// The parts of a node that its handles use.
#[derive(Debug)]
pub(crate) struct NodeParts {
    pub(crate) chain: Chain,
    /// Whether the node follows validators without being one.
    pub(crate) is_full_node: bool,
    pub(crate) config: NodeConfig,
    pub(crate) clock: LedgerClock,
    pub(crate) head: HeadReader,
    pub(crate) mailboxes: Mailboxes,
    pub(crate) inline_reader: InlineReader,
    pub(crate) queues: RequestQueues,
    /// Limit on concurrent waits, which clients share.
    pub(crate) wait_limit: FairLimit,
    /// The relay to the other nodes. `None` on a chain of one node.
    pub(crate) relay: Option<RelaySender>,
    /// Limit on concurrent look-ups at the other nodes, which clients share.
    pub(crate) elsewhere_limit: FairLimit,
    pub(crate) health: HealthReporter,
    pub(crate) size: DirectorySize,
    /// The files of the store, which may be removed or replaced while the node runs.
    pub(crate) files: StoreFiles,
    pub(crate) reporter: FatalErrorReporter,
    pub(crate) stalls: Stalls,
}

/// The mailboxes of all actors, and the metrics of the threads behind them.
#[derive(Clone, Debug)]
pub(crate) struct Mailboxes {
    pub(crate) mempool: Mailbox<Mempool>,
    pub(crate) sequencer: Mailbox<Sequencer>,
    pub(crate) committer: Mailbox<Committer>,
    pub(crate) storage: Mailbox<Storage>,
    pub(crate) pruner: Mailbox<Pruner>,
    pub(crate) meters: Arc<Meters>,
}

impl Mailboxes {
    /// Returns every mailbox, in the order of the settings `actors.*.mailbox_capacity`.
    pub(super) fn all(&self) -> [&dyn MailboxControl; 5] {
        let Self {
            mempool,
            sequencer,
            committer,
            storage,
            pruner,
            meters: _,
        } = self;
        [mempool, sequencer, committer, storage, pruner]
    }

    /// Adds the actors, and the threads behind queues, to `stalls`.
    pub(super) fn watch(&self, stalls: &Stalls) {
        for mailbox in self.all() {
            stalls.watch(&mailbox.watch());
        }
        for meter in self.meters.work() {
            stalls.watch_all(meter.watches());
        }
    }
}

/// The queues of threads that serve requests without an actor.
#[derive(Debug)]
pub(crate) struct RequestQueues {
    pub(crate) signatures: SignatureChecks,
    pub(crate) renderers: Renderers,
    /// Queues of queries, whose turns the storage actor assigns.
    pub(crate) reads: ReadQueues,
}

impl NodeHandle {
    /// Returns the receiver of the requests of a consensus engine.
    pub fn engine_requests(&self) -> EngineRequests {
        EngineRequests::new(self.node().mailboxes.sequencer.recipient())
    }

    /// Creates the handle of a node.
    pub(crate) fn new(parts: NodeParts) -> Self {
        let filter = ArcSwap::from_pointee(parts.config.filter.clone().into());
        Self {
            shared: Arc::new(Shared {
                node: parts,
                filter,
                pool_was_full: AtomicBool::new(false),
                next_many_wait: AtomicU64::new(0),
                engine: ArcSwapOption::empty(),
                relay: ArcSwapOption::empty(),
            }),
            notifier: None,
        }
    }

    /// Creates a handle for one HTTP worker thread, and the notifier task that the caller must run
    /// on that thread.
    ///
    /// The task completes the waits of the handle. If it is dropped, waits that it has received
    /// return [`NodeError::Stopping`].
    #[must_use = "the task completes the waits of the handle"]
    pub fn for_thread(&self) -> (Self, impl Future<Output = ()> + use<>) {
        let (notifier, task) = notifier();
        self.node().stalls.watch(&notifier.watch());
        let handle = Self {
            shared: Arc::clone(&self.shared),
            notifier: Some(Arc::new(notifier)),
        };
        (handle, task)
    }

    /// Returns the parts of the node.
    pub(crate) fn node(&self) -> &NodeParts {
        &self.shared.node
    }

    /// Returns the chain.
    pub fn chain(&self) -> &Chain {
        &self.node().chain
    }

    /// Returns the configuration that the node was started with.
    pub fn config(&self) -> &NodeConfig {
        &self.node().config
    }

    /// Returns the ledger's time in microseconds since the Unix epoch: the system clock as far as
    /// the newest block and elapsed time allow it. It is never before the newest ordered block.
    pub fn now_usecs(&self) -> u64 {
        self.node().clock.now_usecs()
    }

    /// Returns the system clock compared with the ledger's time.
    pub fn clock_status(&self) -> ClockStatus {
        self.node().clock.status()
    }

    /// Returns the newest durable version of the ledger.
    pub fn head(&self) -> Head {
        self.node().head.load()
    }

    /// Returns the reason that submissions are rejected at present, or `None` if they are accepted.
    ///
    /// The reason is a broken invariant, a fault of the disk, a ledger that differs from the one of
    /// the validators, low disk space, or a system clock too far ahead of the newest block.
    pub fn not_writable(&self) -> Option<NotWritable> {
        let NodeParts {
            health,
            reporter,
            clock,
            ..
        } = self.node();
        let unavailable = health.health().unavailable();
        if matches!(
            unavailable,
            Some(NotWritable::ReadFailed(_) | NotWritable::Diverged(_))
        ) {
            return unavailable;
        }
        // After a broken invariant, submissions are rejected until the process ends.
        let fatal = reporter.get();
        let fatal = fatal.map(|error| NotWritable::WriteFailed(Arc::clone(&error.cause)));
        fatal.or(unavailable).or_else(|| clock.distrust_reason())
    }

    /// Returns the difference of this node's ledger from the one that the validators decided, or
    /// `None` if none was found. No response may show the ledger after it.
    pub fn diverged(&self) -> Option<NotWritable> {
        self.node().health.health().diverged()
    }

    /// Names the consensus engine of the node, whose reports health and metrics show and the stall
    /// monitor watches. It replaces an earlier one.
    pub fn observe_engine(&self, report: impl Fn() -> EngineReport + Send + Sync + 'static) {
        let engine = Arc::new(EngineSource::new(report));
        for part in WATCHED_PARTS {
            let engine = Arc::downgrade(&engine);
            let sample = move || part.sample(&engine).map(Into::into);
            self.node().stalls.watch(&Watch::new(part.name, sample));
        }
        self.shared.engine.store(Some(engine));
    }

    /// Returns whether the node follows validators without being one.
    pub fn is_full_node(&self) -> bool {
        self.node().is_full_node
    }

    /// Returns the state of the consensus engine, or `None` on a chain of one node.
    pub fn engine_report(&self) -> Option<EngineReport> {
        let engine = self.shared.engine.load();
        engine.as_ref().map(|engine| engine.report())
    }

    /// Names the relay of the node, whose reports metrics show.
    pub fn observe_relay(&self, report: impl Fn() -> RelayReport + Send + Sync + 'static) {
        let relay = Arc::new(RelaySource::new(report));
        self.shared.relay.store(Some(relay));
    }

    /// Returns the state of the relay, or `None` on a chain of one node.
    pub fn relay_report(&self) -> Option<RelayReport> {
        let relay = self.shared.relay.load();
        relay.as_ref().map(|relay| relay.report())
    }

    /// Reports that the consensus engine has stopped, for this reason. Submissions are rejected from
    /// then on, and committed data is served.
    pub fn report_engine_stopped(&self, reason: &str) {
        self.node().health.report(&StorageFault {
            thread: ENGINE,
            kind: FaultKind::EngineStopped,
            cause: reason.into(),
        });
    }

    /// Reports a difference from the ledger of the validators, as the executor does when it finds
    /// one. For tests of its effects: a node that orders alone cannot differ.
    #[doc(hidden)]
    pub fn report_diverged(&self, thread: &'static str, cause: &str) {
        let fault = StorageFault::diverged(thread, &cause);
        self.node().health.report(&fault);
    }

    /// Reports that the disk space is low, with the cause in words, or that it is sufficient if
    /// `shortage` is `None`.
    ///
    /// While the disk space is low, submissions are rejected, and neither a block nor a step of
    /// pruning is started. Blocks and steps in progress are finished.
    pub fn report_disk_space(&self, shortage: Option<&Arc<str>>) {
        let health = &self.node().health;
        health.report_disk_space(ShortageSource::Monitor, shortage);
    }

    /// Reports that the disk space is low for the blocks of the pending transactions, with the
    /// cause in words, or that it is sufficient if `shortage` is `None`.
    ///
    /// While it is low, submissions are rejected. Blocks are started, so that the pending
    /// transactions become fewer; the writer holds one for which there is no space.
    pub fn report_pool_space(&self, shortage: Option<&Arc<str>>) {
        let health = &self.node().health;
        health.report_disk_space(ShortageSource::Pool, shortage);
    }

    /// Compares the files of the store with their paths, and returns whether all are in place.
    ///
    /// Reports one that was removed or replaced as a fault on `thread`, so that nothing is written
    /// until the next start. Blocks while the file system does not respond.
    pub fn check_files(&self, thread: &'static str) -> bool {
        let NodeParts { files, health, .. } = self.node();
        let Err(error) = files.check() else {
            return true;
        };
        health.report_write(thread, &error);
        false
    }

    /// Returns the size of the file that a stop would save the mempool in, in bytes.
    pub fn saved_pool_bytes(&self) -> u64 {
        self.node().size.saved_pool_bytes()
    }

    /// Runs a query on a snapshot at the Head, on a reader thread. `work` states the client and
    /// what the query demands.
    ///
    /// Returns the ledger info of the snapshot with the result.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::Overloaded`] if too many queries wait or too many of the client,
    /// [`NodeError::Stopping`] if the node is stopping, and [`NodeError::Store`] if the store
    /// cannot be read.
    pub async fn read<Q: Query>(&self, work: Work, query: Q) -> Answer<Q::Output> {
        request(&self.node().mailboxes.storage, |reply| Read {
            work,
            query,
            reply,
        })
        .await?
    }

    /// Runs a query that looks up a few rows.
    ///
    /// It runs on the calling thread if `InlineReader` admits it, and otherwise as [`Self::read`]
    /// does.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::read`].
    pub async fn read_few<Q: Query>(&self, work: Work, query: Q) -> Answer<Q::Output> {
        match self.node().inline_reader.read(query) {
            Ok(answer) => answer,
            Err(query) => self.read(work, query).await,
        }
    }

    /// Runs work that takes milliseconds on a renderer thread, so that it does not delay other
    /// requests of the calling thread.
    ///
    /// `work` states the client and what `run` demands. `run` is dropped without being run if the
    /// returned future is dropped before a thread takes it.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::Overloaded`] if too much work waits for the threads, and
    /// [`NodeError::Stopping`] if the node is stopping.
    pub async fn render<T: Send + 'static>(
        &self,
        work: Work,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NodeError> {
        self.node().queues.renderers.run(work, run).await
    }

    /// Returns estimates of the price of a gas unit.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::Overloaded`] if the mempool has too many requests, and
    /// [`NodeError::Stopping`] if the node is stopping.
    pub async fn gas_estimate(&self) -> Result<GasEstimate, NodeError> {
        request(&self.node().mailboxes.mempool, |reply| GetGasPrice {
            reply,
        })
        .await
    }

    /// Returns the filter of submissions.
    pub fn filter(&self) -> Arc<SubmissionFilter> {
        self.shared.filter.load_full()
    }

    /// Replaces the filter of submissions and returns the previous one. Rules of both keep their
    /// hits.
    ///
    /// The new filter applies to submissions that are checked from now on, not to transactions in
    /// the mempool. The next start uses the configured filter again.
    pub fn set_filter(&self, rules: FilterRules) -> Arc<SubmissionFilter> {
        let replaced = SubmissionFilter::replacing(&self.filter(), rules);
        self.shared.filter.swap(Arc::new(replaced))
    }
}

/// Sends a request with the sender of its reply, and waits for the reply.
///
/// # Errors
///
/// Returns [`NodeError::Overloaded`] if the mailbox is full, and [`NodeError::Stopping`] if the
/// node is stopping.
pub(super) async fn request<A, M, T>(
    mailbox: &Mailbox<A>,
    message: impl FnOnce(oneshot::Sender<T>) -> M,
) -> Result<T, NodeError>
where
    A: Handler<M>,
    M: ActorMessage,
{
    let (sender, reply) = oneshot::channel();
    mailbox.try_request(message(sender))?;
    reply.await.map_err(|_| NodeError::Stopping)
}
