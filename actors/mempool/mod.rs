//! The mempool: holds pending transactions and supplies blocks with them in order.
//!
//! The sequencer pulls batches. Its `PullBatch` waits in the mempool while no transaction is ready,
//! so a block contains the transactions that arrived while the previous blocks were in flight. The
//! mempool sends each transaction that it removes unexecuted to the committer, which completes the
//! transaction's waiters.

mod gas_price;
pub(crate) mod meter;
mod offers;
pub(crate) mod persistence;
mod pool;
mod removal_log;

use crate::{
    SubmitError,
    protocol::{
        broadcast::{BlockCommitted, SetPaused},
        committer::{NotPending, TransactionsRemoved},
        consensus::{ReturnBatch, TransactionsDecided, TransactionsReady, WatchReady},
        mempool::{
            ArePending, CheckCapacity, CheckPending, Close, GetGasPrice, GetPending, Pending,
            PendingStatus, PullBatch, RemoveExpired, Removed, Submission, Submit,
        },
        sequencer::Batch,
        wait::{Absent, WaiterId},
    },
    relay::RelaySender,
    runtime::{
        actor::{Actor, ActorMessage as _, Handler},
        clock::LedgerClock,
        mailbox::Recipient,
        timer::{TimedActor, Timer},
    },
    state::{directory_size::DirectorySize, head::HeadReader},
};
pub(crate) use gas_price::GasHistory;
use offers::Offers;
pub use pool::{AGE_STEPS_SECS, BlockTimes, PRICE_STEPS, Pool};
#[cfg(test)]
pub(crate) use pool::{AccountTurn, DEBT_MIN_USECS, TurnLog};

use ledger_types::{
    AccountAddress, CheckedTransaction, Discard, DiscardedTransaction, ReplayProtector,
    ValidationStatus,
};
use meter::PoolMeter;
use std::{sync::Arc, time::Duration};

/// Interval at which the mempool observes the clock and removes expired transactions.
///
/// The mempool also does both at every submission, batch and block. Look-ups do neither.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(1);

/// The recipients of the mempool's messages. A batch goes to the sender of its [`PullBatch`].
#[derive(Debug)]
pub(crate) struct MempoolPeers {
    /// Recipient of the transactions that were removed unexecuted: the committer.
    pub(crate) removals: Recipient<TransactionsRemoved>,
    /// Recipient of the replies to [`CheckPending`]: the committer.
    pub(crate) not_pending: Recipient<NotPending>,
    /// Recipient of the transactions of clients: the relay to other nodes, if there is one.
    pub(crate) relay: Option<RelaySender>,
}

/// The actor that owns the pool of a node.
#[derive(Debug)]
pub(crate) struct Mempool {
    pool: Pool,
    gas: GasHistory,
    clock: LedgerClock,
    head: HeadReader,
    removals: Recipient<TransactionsRemoved>,
    not_pending: Recipient<NotPending>,
    /// `None` without a relay.
    offers: Option<Offers>,
    /// Request of the sequencer that waits for a ready transaction.
    waiting_pull: Option<PullBatch>,
    /// Request of the sequencer to be notified of a ready transaction.
    watch: Option<WatchReady>,
    is_closed: bool,
    is_paused: bool,
    size: DirectorySize,
    meter: Arc<PoolMeter>,
}

impl Mempool {
    /// Creates the actor.
    pub(crate) fn new(
        mut pool: Pool,
        gas: GasHistory,
        clock: LedgerClock,
        head: HeadReader,
        peers: MempoolPeers,
        size: DirectorySize,
        meter: Arc<PoolMeter>,
    ) -> Self {
        size.set_saved_pool_bytes(pool.saved_bytes());
        let MempoolPeers {
            removals,
            not_pending,
            relay,
        } = peers;
        Self {
            offers: relay.map(|relay| Offers::new(relay, &mut pool)),
            pool,
            gas,
            clock,
            head,
            removals,
            not_pending,
            waiting_pull: None,
            watch: None,
            is_closed: false,
            is_paused: false,
            size,
            meter,
        }
    }

    /// Returns the newest known sequence number of an account, which is at least `checked`.
    ///
    /// `checked` is the number that a submission was validated against. A submission may arrive
    /// after the [`BlockCommitted`] of a block that outdates the number, when the pool no longer
    /// holds the account. The committer updates the account cache before it sends that message, so
    /// the cache has the newer number.
    fn newest_sequence_number(&self, address: &AccountAddress, checked: u64) -> u64 {
        let published = self.head.with_accounts(|_, cache| cache.get(address));
        published.map_or(checked, |snapshot| snapshot.sequence_number.max(checked))
    }

    /// Returns whether a second copy of an orderless transaction arrived after the first was
    /// executed.
    ///
    /// The nonce of the copy may have been checked before the block of the first one was durable.
    /// The pool removes the first one with [`BlockCommitted`], so it would accept the copy as
    /// pending.
    fn was_executed_meanwhile(&self, transaction: &CheckedTransaction) -> bool {
        let is_orderless = matches!(
            transaction.raw().replay_protector(),
            ReplayProtector::Nonce(_)
        );
        is_orderless && self.head.load().is_in_recent_block(&transaction.hash())
    }

    /// Adds a transaction to the pool and returns the pool's copy of it. `now_secs` is the Unix
    /// time in seconds.
    ///
    /// # Errors
    ///
    /// Returns [`SubmitError::Invalid`] if the nonce was used meanwhile, and the errors of
    /// [`Pool::submit`].
    fn add(
        &mut self,
        submission: Submission,
        now_secs: u64,
    ) -> Result<Arc<CheckedTransaction>, SubmitError> {
        let Submission {
            transaction,
            sequence_number,
            is_relayed,
        } = submission;
        if self.was_executed_meanwhile(&transaction) {
            return Err(Discard::from(ValidationStatus::NonceAlreadyUsed).into());
        }
        let sender = transaction.raw().sender;
        let sequence_number = self.newest_sequence_number(&sender, sequence_number);
        let pending = Pending {
            transaction,
            inserted_at_secs: now_secs,
        };
        let accepted = self.pool.submit(pending, sequence_number, now_secs)?;
        if let Some(offers) = &self.offers
            && !is_relayed
        {
            offers.offer(&mut self.pool, &accepted);
        }
        Ok(accepted)
    }

    /// Returns whether blocks of the pending transactions may be made.
    fn may_give_batch(&self) -> bool {
        !self.is_closed && !self.is_paused && self.clock.is_trusted()
    }

    /// Replies to a waiting [`PullBatch`].
    fn give_batch(&mut self) {
        let Some(PullBatch {
            limits, reply_to, ..
        }) = self.waiting_pull.take()
        else {
            return;
        };
        let batch = self.pool.take_batch(limits);
        if let Some(last) = batch.last().filter(|_| self.pool.has_ready()) {
            self.gas.record_limited_batch(last.hash());
        }
        reply_to.send(Batch(batch));
    }

    /// Observes the clock and processes a change of the pool, as [`Self::after_change_at`] does.
    fn after_change(&mut self) {
        let now_usecs = self.clock.observe();
        self.after_change_at(now_usecs / 1_000_000);
    }

    /// Processes a change of the pool. `now_secs` is the Unix time in seconds.
    ///
    /// 1. Removes the transactions that have expired at `now_secs`.
    /// 2. Replies to a waiting [`PullBatch`] if a transaction is ready and blocks may be made.
    /// 3. Updates the metrics.
    /// 4. Sends the removed transactions to the committer.
    fn after_change_at(&mut self, now_secs: u64) {
        self.pool.expire(now_secs);
        if self.pool.has_ready() && self.may_give_batch() {
            self.give_batch();
            if let Some(WatchReady { reply_to }) = self.watch.take_if(|_| self.pool.has_ready()) {
                reply_to.send(TransactionsReady);
            }
        }
        self.size.set_saved_pool_bytes(self.pool.saved_bytes());
        self.pool.update_gauges(&self.meter);
        let removed = self.pool.drain_removed();
        for Removed { reason, .. } in &removed {
            self.meter.count_removed(reason);
        }
        if !removed.is_empty() {
            self.removals.send(TransactionsRemoved(removed));
        }
    }
}

impl Actor for Mempool {
    const NAME: &'static str = "mempool";
    const CAPACITY: &'static str = "actors.mempool.mailbox_capacity";
    const LABELS: &'static [&'static str] = &[
        Submit::LABEL,
        CheckCapacity::LABEL,
        GetPending::LABEL,
        ArePending::LABEL,
        CheckPending::LABEL,
        GetGasPrice::LABEL,
        PullBatch::LABEL,
        WatchReady::LABEL,
        TransactionsDecided::LABEL,
        ReturnBatch::LABEL,
        BlockCommitted::LABEL,
        SetPaused::LABEL,
        Close::LABEL,
        RemoveExpired::LABEL,
    ];
}

impl TimedActor for Mempool {
    fn timers(&self) -> Vec<Timer<Self>> {
        vec![Timer::every(EXPIRY_INTERVAL, RemoveExpired)]
    }
}

impl Handler<RemoveExpired> for Mempool {
    fn handle(&mut self, RemoveExpired(turn): RemoveExpired) {
        self.after_change();
        let now_secs = self.clock.now_secs();
        self.pool.update_groups(&self.meter, now_secs);
        if let Some(offers) = &mut self.offers {
            offers.offer_again(&self.pool, now_secs);
        }
        drop(turn);
    }
}

impl Handler<Submit> for Mempool {
    fn handle(&mut self, submit: Submit) {
        if submit.reply.is_closed() || self.is_closed {
            return;
        }
        let now_usecs = self.clock.observe();
        self.pool.observe_time(now_usecs);
        let now_secs = now_usecs / 1_000_000;
        // Before the first one, so that a list has the outcomes of as many messages of one.
        self.pool.expire(now_secs);
        let submissions = submit.submissions.into_iter();
        let outcomes = submissions.map(|submission| self.add(submission, now_secs));
        let outcomes = outcomes.collect();
        // A send fails only if the client has disconnected. It can look up the transactions by
        // their hashes.
        let _ = submit.reply.send(outcomes);
        self.after_change_at(now_secs);
    }
}

impl Handler<CheckCapacity> for Mempool {
    fn handle(&mut self, request: CheckCapacity) {
        let sizes = request.sizes.into_iter();
        let outcomes = sizes.map(|size| self.pool.check_capacity(size.key, size.size_bytes));
        // An error means that the receiver was dropped: the request was canceled.
        let _ = request.reply.send(outcomes.collect());
    }
}

impl Handler<GetPending> for Mempool {
    fn handle(&mut self, request: GetPending) {
        let status = match self.pool.get(&request.hash) {
            Some(transaction) => PendingStatus::Pending(transaction.clone()),
            None => match self.pool.removal_reason(&request.hash) {
                Some(reason) => PendingStatus::Removed(reason.clone()),
                None => PendingStatus::Unknown,
            },
        };
        // An error means that the receiver was dropped: the request was canceled.
        let _ = request.reply.send(status);
    }
}

impl Handler<ArePending> for Mempool {
    fn handle(&mut self, request: ArePending) {
        let hashes = request.hashes.iter();
        let are_pending = hashes.map(|hash| self.pool.get(hash).is_some());
        // An error means that the receiver was dropped: the request was canceled.
        let _ = request.reply.send(are_pending.collect());
    }
}

impl Handler<CheckPending> for Mempool {
    fn handle(&mut self, request: CheckPending) {
        let CheckPending { hashes, waiter } = request;
        let absent = (0..).zip(hashes.iter()).filter_map(|(index, hash)| {
            let reason = || self.pool.removal_reason(hash).cloned();
            self.pool.get(hash).is_none().then(|| Absent {
                index,
                reason: reason(),
            })
        });
        let absent: Vec<_> = absent.collect();
        // A wait for many ends its check with the reply.
        if matches!(waiter, WaiterId::Many(_)) || !absent.is_empty() {
            self.not_pending.send(NotPending {
                hashes,
                waiter,
                absent,
            });
        }
    }
}

impl Handler<GetGasPrice> for Mempool {
    fn handle(&mut self, request: GetGasPrice) {
        // An error means that the receiver was dropped: the request was canceled.
        let _ = request.reply.send(self.gas.estimate());
    }
}

impl Handler<PullBatch> for Mempool {
    fn handle(&mut self, request: PullBatch) {
        let is_immediate = request.is_immediate;
        self.waiting_pull = Some(request);
        self.after_change();
        if is_immediate && let Some(PullBatch { reply_to, .. }) = self.waiting_pull.take() {
            reply_to.send(Batch(Vec::new()));
        }
    }
}

impl Handler<WatchReady> for Mempool {
    fn handle(&mut self, request: WatchReady) {
        self.watch = Some(request);
        self.after_change();
    }
}

impl Handler<TransactionsDecided> for Mempool {
    fn handle(&mut self, TransactionsDecided(transactions): TransactionsDecided) {
        self.pool.take(&transactions);
        self.after_change();
    }
}

impl Handler<ReturnBatch> for Mempool {
    fn handle(&mut self, ReturnBatch(transactions): ReturnBatch) {
        self.pool.return_batch(&transactions);
        self.after_change();
    }
}

impl Handler<BlockCommitted> for Mempool {
    fn handle(&mut self, committed: BlockCommitted) {
        let BlockCommitted {
            block,
            execution_usecs,
            group_end,
        } = committed;
        let block = &block;
        let times = BlockTimes {
            execution_usecs,
            group_end,
        };
        self.pool.observe_time(self.clock.now_usecs());
        let latency = &self.meter.latency;
        let admitted_usecs = self.pool.record_times(block, times, latency);
        self.meter.estimated_usecs.add(admitted_usecs);
        self.meter.committed.add(self.pool.commit(block) as u64);
        let prices = block.transactions.iter().filter_map(|executed| {
            let user = executed.transaction.as_user()?;
            Some(user.raw.gas_unit_price)
        });
        let has_left_out = block
            .discarded
            .iter()
            .any(DiscardedTransaction::is_not_included);
        let executed = block.transactions.iter().map(|executed| executed.hash);
        let discarded = block.discarded.iter().map(|discarded| discarded.hash);
        let was_limited = self.gas.take_limited_batch(executed.chain(discarded));
        self.gas.record(prices, has_left_out || was_limited);
        let block_secs = block.header.timestamp_usecs / 1_000_000;
        self.pool.expire(block_secs);
        self.after_change();
    }
}

impl Handler<SetPaused> for Mempool {
    fn handle(&mut self, pause: SetPaused) {
        self.is_paused = pause.0;
        self.after_change();
    }
}

impl Handler<Close> for Mempool {
    fn handle(&mut self, close: Close) {
        self.is_closed = true;
        // A transaction that has expired is removed with its reason instead of being saved.
        self.after_change();
        // An error means that the receiver was dropped: the stop was canceled.
        let _ = close.reply.send(self.pool.contents());
    }
}

#[cfg(test)]
mod tests;
