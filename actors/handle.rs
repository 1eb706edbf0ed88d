//! All that HTTP and tests know of the node. How a submission is checked stands in [`admission`].
//!
//! # Why a wait never misses and a 404 never lies
//!
//! When a block is durable the committer publishes the Head, then tells the mempool, then those who
//! wait. A look-up goes the other way: the mempool first, then the Head and the storage. So a look
//! into the mempool that misses a committed transaction comes after the Head had it. Whoever waits
//! is subscribed first, and then the committer asks the mempool, which answers only if the transaction is not
//! pending: if the committer had told the waiters before, it had told the mempool before that, so that the
//! waiter is sent to look into Head and store and finds the block there; if not, it will tell this waiter.

mod admission;

pub(crate) use admission::read_account_snapshot;

use crate::{
    BlockFeed, ClockStatus, Committed, GasEstimate, Head, LaneStatus, MailboxStatus, NodeConfig,
    NodeError, RemovalReason, StorageUnavailable, SubmissionFilter, TransactionStatus, TuneError,
    clock::LedgerClock,
    committer::{
        self, CommitNotifier, Committer, HeadCell,
        messages::{Subscribe, SubscribeBlocks, WaitOutcome},
    },
    failure::FatalErrorReporter,
    mailbox::{Counted, Envelope, Mailbox},
    mempool::{
        self, Mempool,
        messages::{GetGasPrice, GetPending, GetSavedSize, PendingStatus, SetPaused},
    },
    meters::{MeterStatus, Meters},
    pruner::{self, Pruner},
    renderers::Renderers,
    sequencer::{self, Sequencer},
    signatures::SignatureChecks,
    storage::{
        self, InlineReader, Storage,
        messages::{Answer, Read},
    },
};
use actix::{Actor, Context, Handler};
use arc_swap::ArcSwap;
use ledger_crypto::HashValue;
use ledger_store::{HashLookup, Query, Snapshot, StoreError};
use ledger_types::LedgerInfo;
use ledger_vm::Chain;
use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};
use tokio::{
    sync::oneshot,
    time::{Instant, timeout_at},
};

/// The way to a running node. Cheap to clone.
#[derive(Clone, Debug)]
pub struct NodeHandle {
    parts: Arc<Parts>,
    /// That of the thread whose clients wait by it.
    notifier: Option<Arc<CommitNotifier>>,
}

#[derive(Debug)]
struct Parts {
    chain: Chain,
    config: NodeConfig,
    clock: LedgerClock,
    head: HeadCell,
    mailboxes: Mailboxes,
    direct: InlineReader,
    /// Read by every submission, so never behind a lock.
    filter: ArcSwap<SubmissionFilter>,
    queues: RequestQueues,
    failure: FatalErrorReporter,
    /// Whether the pool had no room for the transaction that asked last: then the next ones ask for room
    /// first. Only a hint, hence relaxed.
    pool_was_full: AtomicBool,
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
    pub(crate) fn new(
        chain: Chain,
        config: NodeConfig,
        clock: LedgerClock,
        mailboxes: Mailboxes,
        direct: InlineReader,
        queues: RequestQueues,
        failure: FatalErrorReporter,
    ) -> Self {
        let filter = ArcSwap::from_pointee(config.filter.clone());
        let parts = Parts {
            chain,
            config,
            clock,
            head: direct.head().clone(),
            mailboxes,
            direct,
            filter,
            queues,
            failure,
            pool_was_full: AtomicBool::new(false),
        };
        Self {
            parts: Arc::new(parts),
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
            parts: Arc::clone(&self.parts),
            notifier: Some(Arc::new(notifier)),
        };
        (handle, telling)
    }

    /// The chain.
    pub fn chain(&self) -> &Chain {
        &self.parts.chain
    }

    /// The settings that the node was started with.
    pub fn config(&self) -> &NodeConfig {
        &self.parts.config
    }

    /// Returns the ledger's time in microseconds since the Unix epoch: the system clock as far as the newest block
    /// and elapsed time allow it, and never before the newest ordered block.
    pub fn now_usecs(&self) -> u64 {
        self.parts.clock.now_usecs()
    }

    /// Returns the system clock compared with the ledger's time.
    pub fn clock_status(&self) -> ClockStatus {
        self.parts.clock.status()
    }

    /// The newest durable moment of the ledger.
    pub fn head(&self) -> Arc<Head> {
        self.parts.head.load()
    }

    /// Returns why the ledger is not written at the moment, if so: a write failed, the disk has little room left, or
    /// the clock is not believed. Submissions are refused with it.
    pub fn storage_unavailable(&self) -> Option<StorageUnavailable> {
        let failed = self.parts.failure.storage_unavailable();
        failed.or_else(|| self.parts.clock.unbelieved())
    }

    /// Says why the disk is taken for full, or with `None` that it has room. While it is full, submissions are
    /// refused and neither a new block nor a step of pruning is begun; those under way are finished. Gives
    /// whether that is news.
    pub fn set_no_room(&self, cause: Option<Arc<str>>) -> bool {
        let pause = SetPaused(cause.is_some());
        let is_news = self.parts.failure.set_no_room(cause);
        if is_news {
            let all = &self.parts.mailboxes;
            all.mempool.send(pause);
            all.sequencer.send(pause);
            all.pruner.send(pause);
        }
        is_news
    }

    /// In how many bytes a stop would save the pool now.
    ///
    /// # Errors
    /// When the mempool has too many requests or the node is stopping.
    pub async fn saved_pool_bytes(&self) -> Result<u64, NodeError> {
        ask(&self.parts.mailboxes.mempool, |reply| GetSavedSize {
            reply,
        })
        .await
    }

    /// What is known of the transaction `hash`, at the moment that the ledger info tells.
    ///
    /// # Errors
    /// When an actor has too many requests, the node is stopping, or the store fails.
    pub async fn transaction_by_hash(
        &self,
        hash: HashValue,
    ) -> Result<(LedgerInfo, TransactionStatus), NodeError> {
        let before = self.head();
        if let Some(found) = recently_committed(&before, &hash) {
            return Ok(found);
        }
        // What the store has is committed whatever the pool says, which is asked about all else.
        if let Ok(Ok((ledger_info, found @ TransactionStatus::Committed(_)))) =
            self.parts.direct.read(FindByHash(hash))
        {
            return Ok((ledger_info, found));
        }
        let reason = match ask(&self.parts.mailboxes.mempool, |reply| GetPending {
            hash,
            reply,
        })
        .await?
        {
            PendingStatus::Pending(transaction) => {
                return Ok((
                    *before.ledger_info(),
                    TransactionStatus::Pending(transaction),
                ));
            }
            PendingStatus::Removed(reason) => Some(reason),
            PendingStatus::Unknown => None,
        };
        self.not_in_pool(hash, reason).await
    }

    /// What is known of a transaction that the pool does not hold; `reason` is why it left, if the
    /// pool knew. Who was committed by another way has not left.
    async fn not_in_pool(
        &self,
        hash: HashValue,
        reason: Option<RemovalReason>,
    ) -> Result<(LedgerInfo, TransactionStatus), NodeError> {
        if let Some(found) = recently_committed(&self.head(), &hash) {
            return Ok(found);
        }
        let (ledger_info, found) = self.read_few(FindByHash(hash)).await?;
        let lookup = match (found, reason) {
            (TransactionStatus::Unknown, Some(reason)) => TransactionStatus::Removed(reason),
            (found, _) => found,
        };
        Ok((ledger_info, lookup))
    }

    /// As [`Self::transaction_by_hash`], but a pending transaction is waited for: until it is
    /// committed, leaves the pool, or `wait.timeout_ms` have passed.
    ///
    /// # Errors
    /// As [`Self::transaction_by_hash`]; and [`NodeError::StorageUnavailable`] at once when a write has failed, for then
    /// nothing is committed until a restart. That it is pending would be true, and the client would ask again
    /// at once and for ever.
    pub async fn wait_for_commit(
        &self,
        hash: HashValue,
    ) -> Result<(LedgerInfo, TransactionStatus), NodeError> {
        if let Some(found) = recently_committed(&self.head(), &hash) {
            return Ok(found);
        }
        let waits = &self.parts.mailboxes.meters.waits;
        let wait = &self.parts.config.wait;
        let Some(permit) = waits.try_acquire() else {
            return self.transaction_by_hash(hash).await;
        };
        let deadline = Instant::now() + Duration::from_millis(wait.timeout_ms);
        let (reply, outcome) = oneshot::channel();
        let notifier = self.notifier.clone();
        send(
            &self.parts.mailboxes.committer,
            Subscribe {
                hash,
                reply,
                notifier,
            },
        )?;
        let outcome = timeout_at(deadline, outcome).await;
        drop(permit);
        match outcome {
            Ok(Ok(WaitOutcome::Committed(ledger_info, committed))) => {
                waits.counters.committed.increment();
                Ok((ledger_info, TransactionStatus::Committed(committed)))
            }
            Ok(Ok(WaitOutcome::Removed(reason))) => {
                waits.counters.left.increment();
                self.not_in_pool(hash, Some(reason)).await
            }
            Ok(Ok(WaitOutcome::NotPending(reason))) => self.not_in_pool(hash, reason).await,
            Ok(Err(_)) => self.cancel_all(hash).await,
            Err(_) => {
                waits.counters.timed_out.increment();
                // The moment of the answer is now, not that of the beginning.
                self.transaction_by_hash(hash).await
            }
        }
    }

    /// The answer to a wait for `hash` that the committer let go, as a write has failed or as the node stops.
    async fn cancel_all(
        &self,
        hash: HashValue,
    ) -> Result<(LedgerInfo, TransactionStatus), NodeError> {
        let error = self.parts.failure.failed().ok_or(NodeError::Stopping)?;
        // What is committed is told even if a write has failed since.
        match self.transaction_by_hash(hash).await? {
            (_, TransactionStatus::Pending(_)) => Err(error.into()),
            found => Ok(found),
        }
    }

    /// Answers a query on one snapshot, and says which moment of the ledger that was.
    ///
    /// # Errors
    /// When the storage has too many requests, the node is stopping, or the store fails.
    pub async fn read<Q: Query>(&self, query: Q) -> Answer<Q::Output> {
        ask(&self.parts.mailboxes.storage, |reply| Read { query, reply }).await?
    }

    /// As [`Self::read`], of a query that looks up a few rows: on this thread, where it is quick.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn read_few<Q: Query>(&self, query: Q) -> Answer<Q::Output> {
        match self.parts.direct.read(query) {
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
        self.parts.queues.renderers.run(work).await
    }

    /// The node stops: nothing is read on the threads of those who ask.
    pub(crate) fn close(&self) {
        self.parts.direct.close();
    }

    /// What a transaction should pay for a gas unit.
    ///
    /// # Errors
    /// When the mempool has too many requests or the node is stopping.
    pub async fn gas_estimate(&self) -> Result<GasEstimate, NodeError> {
        ask(&self.parts.mailboxes.mempool, |reply| GetGasPrice { reply }).await
    }

    /// The blocks that become durable from now on, in order.
    ///
    /// # Errors
    /// When the committer has too many requests or the node is stopping.
    pub async fn subscribe_blocks(&self) -> Result<BlockFeed, NodeError> {
        ask(&self.parts.mailboxes.committer, |reply| SubscribeBlocks {
            reply,
        })
        .await
    }

    /// The numbers of each mailbox: mempool, sequencer, committer, storage, pruner.
    pub fn mailboxes(&self) -> Vec<MailboxStatus> {
        let all = &self.parts.mailboxes;
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
        self.parts.mailboxes.meters.status()
    }

    /// The numbers of the lanes in which transactions wait for the check of their signatures.
    pub fn signature_lanes(&self) -> [LaneStatus; 2] {
        self.parts.queues.signatures.status()
    }

    /// Which submissions are let in.
    pub fn filter(&self) -> Arc<SubmissionFilter> {
        self.parts.filter.load_full()
    }

    /// Changes which submissions are let in, with effect on all that are checked from now on; what is in
    /// the pool stays. Gives what was before. The next start begins with the configured filter again.
    pub fn set_filter(&self, filter: SubmissionFilter) -> Arc<SubmissionFilter> {
        self.parts.filter.swap(Arc::new(filter))
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
        let all = &self.parts.mailboxes;
        match actor {
            mempool::NAME => Ok(all.mempool.set_capacity(capacity)),
            sequencer::NAME => Ok(all.sequencer.set_capacity(capacity)),
            committer::NAME => Ok(all.committer.set_capacity(capacity)),
            storage::NAME => Ok(all.storage.set_capacity(capacity)),
            pruner::NAME => Ok(all.pruner.set_capacity(capacity)),
            _ => Err(TuneError::UnknownActor(actor.to_owned())),
        }
    }
}

/// Sends an actor a request that carries the way back, and awaits the answer.
async fn ask<A, M, T>(
    mailbox: &Mailbox<A>,
    request: impl FnOnce(oneshot::Sender<T>) -> M,
) -> Result<T, NodeError>
where
    A: Actor<Context = Context<A>> + Handler<Envelope<A>> + Handler<M, Result = ()>,
    M: Counted,
{
    let (reply, answer) = oneshot::channel();
    send(mailbox, request(reply))?;
    answer.await.map_err(|_| NodeError::Stopping)
}

/// Sends an actor a request.
fn send<A, M>(mailbox: &Mailbox<A>, request: M) -> Result<(), NodeError>
where
    A: Actor<Context = Context<A>> + Handler<Envelope<A>> + Handler<M, Result = ()>,
    M: Counted,
{
    mailbox.try_request(request)
}

fn recently_committed(head: &Head, hash: &HashValue) -> Option<(LedgerInfo, TransactionStatus)> {
    let committed = head.committed(hash)?;
    Some((*head.ledger_info(), TransactionStatus::Committed(committed)))
}

/// A transaction in the store, by its hash.
struct FindByHash(HashValue);

impl Query for FindByHash {
    type Output = TransactionStatus;

    fn run(self, snapshot: &Snapshot) -> Result<TransactionStatus, StoreError> {
        Ok(match snapshot.transaction_by_hash(&self.0)? {
            None => TransactionStatus::Unknown,
            Some(HashLookup::InWindow(found)) => {
                TransactionStatus::Committed(Committed::stored(found.transaction, &found.block))
            }
            Some(HashLookup::Pruned { version }) => TransactionStatus::Pruned { version },
        })
    }
}

#[cfg(test)]
mod tests;
