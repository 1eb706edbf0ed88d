//! Waits for many transactions with one request.
//!
//! # Order of outcomes
//!
//! Committed transactions are returned in ascending order of their versions:
//!
//! * Transactions that were committed before the subscription are not pending. They are looked up
//!   after the mempool has checked all hashes, and returned first.
//! * Commits after the subscription arrive as events in ascending order. They wait for the end of
//!   the look-ups.
//! * A hash that the mempool did not hold at its check may be submitted and committed while it is
//!   looked up. Its version is above that of the Head at the end of the check, so the outcome is
//!   held until a later one is returned, or until the end of the wait.
//!
//! # Begin and end
//!
//! The ledger info of the response is read after the check of the mempool and before the look-ups.
//! So no hash that is reported as unknown is committed at or below its version.
//!
//! At its end the wait unsubscribes. The committer replies with the ledger info of the Head,
//! behind all commits up to its version. So no transaction is reported as pending at a version that
//! includes it.

use super::{
    handle::{NodeHandle, NodeParts, Shared, point_read},
    hash_outcome::{FindOutcomes, Found, HashOutcome},
    wait::before,
};
use crate::{
    NodeError, Overload,
    protocol::{
        committer::{Subscribe, Unsubscribe, Wait},
        wait::{Absent, CommittedHash, WaitEvent},
    },
};
use ledger_crypto::HashValue;
use ledger_limits::{ClientKey, Demand, FairLimit, FairPermit, Work, WorkKind};
use ledger_types::LedgerInfo;
use std::{
    cmp::Reverse,
    collections::VecDeque,
    ops::Deref,
    pin::pin,
    sync::{Arc, atomic::Ordering::Relaxed},
};
use tokio::{
    sync::mpsc::{self, UnboundedReceiver},
    task::yield_now,
};

/// Maximum number of hashes that one query looks up in the store. It is estimated at 1.3 ms.
const QUERY_HASHES_MAX: usize = 256;

/// Maximum number of hashes that are looked up in the store as a point read, without the queue of
/// larger queries.
const POINT_READ_HASHES_MAX: usize = 4;

/// Number of hashes that are looked up in the recent blocks before the task yields. It takes up to
/// 50 µs.
const RECENT_HASHES_PER_YIELD: usize = 64;

/// An outcome with the index of its hash.
type IndexedOutcome = (u32, HashOutcome);

/// The limit on concurrent waits of a node.
#[derive(Debug)]
struct WaitLimit(Arc<Shared>);

impl Deref for WaitLimit {
    type Target = FairLimit;

    fn deref(&self) -> &FairLimit {
        &self.0.node.wait_limit
    }
}

/// A wait for many transactions. It ends when it is dropped.
///
/// Each hash holds a permit of `wait.capacity` until its outcome is known.
#[derive(Debug)]
pub struct ManyWait {
    node: NodeHandle,
    client: ClientKey,
    /// Number of the wait in the committer.
    id: u64,
    hashes: Arc<[HashValue]>,
    events: UnboundedReceiver<WaitEvent>,
    permits: FairPermit<WaitLimit>,
    /// Whether the outcome of each hash is known.
    is_known: Box<[bool]>,
    /// Number of hashes whose outcome is not known.
    unknown: usize,
    /// Outcomes that [`Self::next_known`] returns, in order.
    known: VecDeque<IndexedOutcome>,
    /// Commits that are held until a later one is known, the earliest last.
    late: Vec<CommittedHash>,
    /// Whether the committer has been asked to forget the wait.
    is_unsubscribed: bool,
    /// Whether an error ended the wait.
    has_failed: bool,
    /// The ledger info before the first look-up.
    begun: LedgerInfo,
    /// The ledger info at the end of the wait, once it is over.
    ended: Option<LedgerInfo>,
}

impl NodeHandle {
    /// Starts to wait until the transactions with these hashes are committed or removed from the
    /// mempool, for `client`. A hash counts once.
    ///
    /// Returns when the mempool has checked all hashes, and those that are not pending have been
    /// looked up, here and at the other nodes of the chain. So the wait may begin after the submissions, and may be repeated.
    ///
    /// # Errors
    ///
    /// * [`NodeError::Overloaded`] if `wait.capacity` or the client's part of it has not enough
    ///   free permits, the mailbox of the committer is full, or too many queries wait.
    /// * [`NodeError::NotWritable`] after a fault of the disk, if a transaction is pending:
    ///   no block becomes durable until a restart.
    /// * [`NodeError::Unresolved`] if another node may know one and does not answer.
    /// * [`NodeError::Stopping`] if the node is stopping.
    /// * [`NodeError::Store`] if the store cannot be read.
    pub async fn wait_for_many(
        &self,
        mut hashes: Vec<HashValue>,
        client: ClientKey,
    ) -> Result<ManyWait, NodeError> {
        hashes.sort_unstable();
        hashes.dedup();
        let hashes: Arc<[HashValue]> = hashes.into();
        let wait = self.wait_for_many_here(Arc::clone(&hashes), client).await?;
        let elsewhere = self.are_elsewhere(&wait.absent(), client).await?;
        if elsewhere.is_empty() {
            return Ok(wait);
        }
        drop(wait);
        let mut wait = self.wait_for_many_here(hashes, client).await?;
        wait.replace_absent(&elsewhere);
        Ok(wait)
    }

    /// Starts to wait as [`Self::wait_for_many`] does, for distinct transactions that this node has.
    async fn wait_for_many_here(
        &self,
        hashes: Arc<[HashValue]>,
        client: ClientKey,
    ) -> Result<ManyWait, NodeError> {
        let node = self.node();
        let limit = WaitLimit(Arc::clone(&self.shared));
        let Some(permits) = FairPermit::try_acquire_all(limit, client, hashes.len()) else {
            node.mailboxes.meters.waits.refused.increment();
            return Err(Overload::brief("wait.capacity", node.wait_limit.max()).into());
        };
        let failed = node.health.health().failed();
        let (sender, events) = mpsc::unbounded_channel();
        let id = self.shared.next_many_wait.fetch_add(1, Relaxed);
        node.mailboxes.committer.try_request(Subscribe {
            wait: Wait::Many {
                id,
                hashes: Arc::clone(&hashes),
                events: sender,
            },
            notifier: self.notifier.clone(),
        })?;
        let mut wait = ManyWait {
            node: self.clone(),
            client,
            id,
            events,
            permits,
            is_known: vec![false; hashes.len()].into(),
            unknown: hashes.len(),
            hashes,
            known: VecDeque::new(),
            late: Vec::new(),
            is_unsubscribed: false,
            has_failed: false,
            begun: *self.head().ledger_info(),
            ended: None,
        };
        let started = wait.start().await;
        wait.has_failed = started.is_err() || failed.is_some();
        started?;
        match failed {
            Some(cause) if wait.unknown > 0 => Err(cause.into()),
            _ => Ok(wait),
        }
    }
}

impl ManyWait {
    /// Returns the ledger info at the begin of the wait: no transaction whose outcome is not
    /// [`HashOutcome::Committed`] or [`HashOutcome::Pruned`] is committed at its version.
    pub fn begun(&self) -> &LedgerInfo {
        &self.begun
    }

    /// Returns the hashes that are known to be absent here.
    fn absent(&self) -> Vec<HashValue> {
        let absent = self.known.iter().filter(|(_, outcome)| outcome.is_absent());
        absent
            .map(|(index, _)| self.hashes[*index as usize])
            .collect()
    }

    /// Reports those of `hashes` that are absent here as pending: another node has them, or may
    /// have, and the mempool of this one has not.
    fn replace_absent(&mut self, hashes: &[HashValue]) {
        for (index, outcome) in &mut self.known {
            if outcome.is_absent() && hashes.contains(&self.hashes[*index as usize]) {
                *outcome = HashOutcome::Pending;
            }
        }
    }

    /// Returns the next outcome that is known, with its hash.
    pub fn next_known(&mut self) -> Option<(HashValue, HashOutcome)> {
        let (index, outcome) = self.known.pop_front()?;
        if self.known.is_empty() {
            // The next outcomes may be few.
            self.known = VecDeque::new();
        }
        Some((self.hashes[index as usize], outcome))
    }

    /// Waits until further outcomes are known. Returns the ledger info at the end of the wait if
    /// there are none: no transaction that was reported as pending is committed at its version.
    ///
    /// The wait ends when `end` completes, and in the same way after a fault of the disk.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::Stopping`] if the node is stopping, and the errors of
    /// [`NodeHandle::read`] if a transaction that the mempool has removed cannot be looked up.
    pub async fn wait(
        &mut self,
        end: impl Future<Output = ()>,
    ) -> Result<Option<LedgerInfo>, NodeError> {
        let waited = self.wait_for_event(end).await;
        self.has_failed |= waited.is_err();
        waited
    }

    async fn wait_for_event(
        &mut self,
        end: impl Future<Output = ()>,
    ) -> Result<Option<LedgerInfo>, NodeError> {
        let mut end = pin!(end);
        loop {
            if !self.known.is_empty() {
                return Ok(None);
            }
            if let Some(ledger_info) = self.ended {
                return Ok(Some(ledger_info));
            }
            if self.unknown == 0 {
                self.end(*self.node.head().ledger_info());
                continue;
            }
            let event = match self.is_unsubscribed {
                true => self.events.recv().await,
                false => match before(end.as_mut(), self.events.recv()).await {
                    Some(event) => event,
                    None => {
                        self.unsubscribe();
                        continue;
                    }
                },
            };
            // The committer drops the sender before the last event only if it stops.
            self.apply(event.ok_or(NodeError::Stopping)?).await?;
        }
    }

    /// Waits for the check of the mempool, and looks up the hashes that it does not hold.
    async fn start(&mut self) -> Result<(), NodeError> {
        if self.hashes.is_empty() {
            return Ok(());
        }
        let mut earlier = Vec::new();
        let (absent, checked_version) = loop {
            match self.events.recv().await.ok_or(NodeError::Stopping)? {
                WaitEvent::Checked { absent, version } => break (absent, version),
                event => earlier.push(event),
            }
        };
        // Before the look-ups, because a transaction that they do not find may be committed next.
        self.begun = *self.node.head().ledger_info();
        let found = self.look_up(absent, false).await?;
        // Later ones were submitted after the check.
        let (before, after) = found
            .into_iter()
            .partition(|found| found.version <= checked_version);
        self.push_committed(before);
        self.hold(after);
        for event in earlier {
            self.apply(event).await?;
        }
        Ok(())
    }

    async fn apply(&mut self, event: WaitEvent) -> Result<(), NodeError> {
        match event {
            WaitEvent::Committed(committed) => self.push_committed(committed),
            WaitEvent::Removed(removed) => {
                // It may have been submitted again and committed since.
                let found = self.look_up(removed, true).await?;
                self.hold(found);
                let absent = self.absent();
                let elsewhere = match self.node.are_elsewhere(&absent, self.client).await {
                    Err(NodeError::Unresolved | NodeError::Overloaded(_)) => absent,
                    asked => asked?,
                };
                self.replace_absent(&elsewhere);
            }
            // The first phase has taken the only check.
            WaitEvent::Checked { .. } => {}
            WaitEvent::Ended(ledger_info) => self.end(ledger_info),
        }
        Ok(())
    }

    /// Adds commits in ascending order, behind the held ones that precede them.
    fn push_committed(&mut self, committed: Vec<CommittedHash>) {
        for next in committed {
            while self
                .late
                .last()
                .is_some_and(|held| held.version < next.version)
            {
                self.push_held();
            }
            self.push_commit(next);
        }
    }

    fn push_held(&mut self) {
        if let Some(held) = self.late.pop() {
            self.push_commit(held);
        }
    }

    fn push_commit(&mut self, committed: CommittedHash) {
        let CommittedHash {
            index,
            version,
            failure,
        } = committed;
        self.node().mailboxes.meters.waits.committed.increment();
        self.push(index, HashOutcome::Committed { version, failure });
    }

    /// Holds commits until a later one is known, or until the end of the wait.
    fn hold(&mut self, committed: Vec<CommittedHash>) {
        self.late.extend(committed);
        self.late.sort_unstable_by_key(|held| Reverse(held.version));
        if self.late.len() == self.unknown {
            while !self.late.is_empty() {
                self.push_held();
            }
        }
    }

    fn push(&mut self, index: u32, outcome: HashOutcome) {
        let is_known = &mut self.is_known[index as usize];
        if !std::mem::replace(is_known, true) {
            self.unknown -= 1;
            self.permits.release(1);
            self.known.push_back((index, outcome));
        }
    }

    /// Ends the wait. The transactions without an outcome are pending.
    fn end(&mut self, ledger_info: LedgerInfo) {
        while !self.late.is_empty() {
            self.push_held();
        }
        let meter = &self.node().mailboxes.meters.waits;
        meter.timed_out.add(self.unknown as u64);
        for index in 0..self.hashes.len() {
            if !self.is_known[index] {
                self.push(index as u32, HashOutcome::Pending);
            }
        }
        self.ended = Some(ledger_info);
    }

    /// Looks up transactions that the mempool does not hold. Adds the outcomes of those that are
    /// not committed, and returns the others in ascending order of their versions.
    ///
    /// `is_continued` says whether the look-up belongs to a wait that has begun, so that it is not
    /// rejected.
    async fn look_up(
        &mut self,
        absent: Vec<Absent>,
        is_continued: bool,
    ) -> Result<Vec<CommittedHash>, NodeError> {
        let (mut committed, rest) = self.look_up_recent(absent).await;
        for (number, part) in (0..).zip(rest.chunks(QUERY_HASHES_MAX)) {
            let indexed = |absent: &Absent| (absent.index, self.hashes[absent.index as usize]);
            let query = FindOutcomes(part.iter().map(indexed).collect());
            let found = self.read(query, is_continued || number > 0).await?;
            for (absent, found) in part.iter().zip(found) {
                match found {
                    Found::Committed(found) => committed.push(found),
                    Found::Pruned => self.push(absent.index, HashOutcome::Pruned),
                    Found::Unknown => self.push_absent(absent),
                }
            }
        }
        committed.sort_unstable_by_key(|found| found.version);
        Ok(committed)
    }

    /// Looks up transactions in the recent blocks. Returns those that are found, and the rest.
    async fn look_up_recent(&self, absent: Vec<Absent>) -> (Vec<CommittedHash>, Vec<Absent>) {
        let (mut found, mut rest) = (Vec::new(), Vec::new());
        let head = self.node.head();
        for (number, absent) in (1..).zip(absent) {
            let committed = head.committed(&self.hashes[absent.index as usize]);
            // The content of a recent block is in memory and is not decoded.
            match committed
                .and_then(|committed| Some((committed.version, committed.content().ok()?)))
            {
                Some((version, content)) => {
                    let status = &content.info.v0().status;
                    found.push(CommittedHash::new(absent.index, version, status));
                }
                None => rest.push(absent),
            }
            if number % RECENT_HASHES_PER_YIELD == 0 {
                yield_now().await;
            }
        }
        (found, rest)
    }

    fn push_absent(&mut self, absent: &Absent) {
        let outcome = match &absent.reason {
            Some(reason) => {
                self.node().mailboxes.meters.waits.removed.increment();
                HashOutcome::Removed(Box::new(reason.clone()))
            }
            None => HashOutcome::Unknown,
        };
        self.push(absent.index, outcome);
    }

    async fn read(&self, query: FindOutcomes, is_continued: bool) -> Result<Vec<Found>, NodeError> {
        let count = query.0.len();
        let work = Work {
            is_continued,
            demand: Demand::rows(count),
            ..point_read(self.client)
        };
        let (_, found) = if count <= POINT_READ_HASHES_MAX {
            self.node.read_few(work, query).await?
        } else {
            let kind = WorkKind::Page;
            self.node.read(Work { kind, ..work }, query).await?
        };
        Ok(found)
    }

    fn node(&self) -> &NodeParts {
        self.node.node()
    }

    fn unsubscribe(&mut self) {
        self.is_unsubscribed = true;
        self.node().mailboxes.committer.send(Unsubscribe(self.id));
    }
}

impl Drop for ManyWait {
    fn drop(&mut self) {
        if self.unknown > 0 && !self.has_failed {
            let meter = &self.node().mailboxes.meters.waits;
            meter.disconnected.add(self.unknown as u64);
        }
        if self.unknown > 0 && !self.is_unsubscribed {
            self.unsubscribe();
        }
    }
}
