//! Clients that wait for many transactions with one request.

use super::{
    clients::{Clients, TIMER_RESOLUTION, Wait},
    oracle::{Oracle, RequestStart},
    properties,
    scheduler::Scheduler,
};
use crate::{HashOutcome, ManyWait, NodeError, NodeHandle, TransactionStatus};
use ledger_crypto::HashValue;
use ledger_limits::ClientKey;
use ledger_types::LedgerInfo;
use std::{cell::Cell, collections::BTreeSet, rc::Rc, time::Duration};
use tokio::time::{Instant, sleep_until};

/// Maximum number of hashes of a wait, which may be more than `wait.capacity` admits.
const HASHES_MAX: usize = 4;

impl Clients {
    /// Begins a wait for several hashes, each of which [`Self::choose_hash`] chooses.
    pub(super) fn begin_wait_for_many(&self, scheduler: &Scheduler, handle: &NodeHandle) {
        let count = self.random.borrow_mut().usize(1..=HASHES_MAX);
        let hashes: Vec<_> = (0..count).map(|_| self.choose_hash()).collect();
        let timeout_ms = self.random.borrow_mut().u64(..2_000);
        let timeout = Duration::from_millis(timeout_ms);
        let (oracle, handle) = (Rc::clone(&self.oracle), handle.clone());
        let deadline = Rc::new(Cell::new(None));
        let wait = Wait {
            hashes: hashes.clone(),
            deadline: Rc::clone(&deadline),
        };
        let description = format!("wait for {hashes:?}");
        self.start(scheduler, description, Some(wait), async move {
            let start = oracle.begin_request();
            let end = Instant::now() + timeout;
            deadline.set(Some(end + TIMER_RESOLUTION));
            let distinct = hashes.iter().copied().collect();
            let waited = match handle.wait_for_many(hashes, ClientKey::NODE).await {
                Ok(wait) => receive(&oracle, &handle, start, wait, end, distinct).await,
                Err(error) => Err(error),
            };
            match waited {
                Ok(()) => oracle.count("waits for many that ended"),
                Err(error) => oracle.check_error(start, &error),
            }
        });
    }
}

/// Receives all outcomes of a wait, which must have one for each hash of `missing`.
async fn receive(
    oracle: &Oracle,
    handle: &NodeHandle,
    start: RequestStart,
    mut wait: ManyWait,
    end: Instant,
    mut missing: BTreeSet<HashValue>,
) -> Result<(), NodeError> {
    let mut newest = 0;
    let mut pending = Vec::new();
    let ended = loop {
        while let Some((hash, outcome)) = wait.next_known() {
            if !missing.remove(&hash) {
                let verdict = Err(format!("{hash} has two outcomes, or none was requested"));
                oracle.report(properties::STATUS_IS_TRUE, verdict);
            }
            let info = *handle.head().ledger_info();
            match outcome {
                HashOutcome::Committed { version, .. } => {
                    if version < newest {
                        let verdict = Err(format!("version {version} follows {newest}"));
                        oracle.report(properties::STATUS_IS_TRUE, verdict);
                    }
                    newest = version;
                    oracle.check_commit_of_many(start, hash, version, &info);
                }
                HashOutcome::Removed(reason) => {
                    let status = TransactionStatus::Removed(*reason);
                    oracle.check_lookup(start, hash, Ok((info, status)));
                }
                HashOutcome::Unknown => {
                    oracle.check_lookup(start, hash, Ok((info, TransactionStatus::Unknown)));
                }
                HashOutcome::Pruned => oracle.count("pruned outcomes of a wait for many"),
                HashOutcome::Pending => pending.push(hash),
            }
        }
        if let Some(ended) = wait.wait(sleep_until(end)).await? {
            break ended;
        }
    };
    oracle.check_end_of_many(start, &ended, newest, &pending);
    if !missing.is_empty() {
        let verdict = Err(format!("no outcome of {missing:?}"));
        oracle.report(properties::EVERY_REQUEST_ENDS, verdict);
    }
    Ok(())
}

impl Oracle {
    /// Checks a committed outcome, which was received while the Head had this ledger info.
    fn check_commit_of_many(
        &self,
        start: RequestStart,
        hash: HashValue,
        version: u64,
        info: &LedgerInfo,
    ) {
        if !self.check_ledger_info(start, info) {
            return;
        }
        self.count("committed outcomes of a wait for many");
        let now = self.scheduler.now_steps();
        let mut model = self.model();
        let Some(sent) = model.sent.get_mut(&hash) else {
            let verdict = Err(format!("{hash} was never sent"));
            return self.report(properties::STATUS_IS_TRUE, verdict);
        };
        sent.reported_committed_at.get_or_insert(now);
        let is_true = sent.version == Some(version) && version <= info.version;
        let verdict = is_true
            .then_some(())
            .ok_or_else(|| format!("{hash} at {version}, it is at {:?}", sent.version));
        drop(model);
        self.report(properties::STATUS_IS_TRUE, verdict);
    }

    /// Checks that no pending transaction is committed at the end of a wait, and that it is not
    /// before the newest commit.
    fn check_end_of_many(
        &self,
        start: RequestStart,
        ended: &LedgerInfo,
        newest: u64,
        pending: &[HashValue],
    ) {
        if !self.check_ledger_info(start, ended) {
            return;
        }
        let model = self.model();
        let is_committed = |hash: &&HashValue| {
            let sent = model.sent.get(hash);
            sent.and_then(|sent| sent.version)
                .is_some_and(|version| version <= ended.version)
        };
        let verdict = match pending.iter().find(is_committed) {
            Some(hash) => Err(format!("{hash} is pending at {}", ended.version)),
            None if newest > ended.version => {
                Err(format!("{newest} is reported at {}", ended.version))
            }
            None => Ok(()),
        };
        drop(model);
        for _ in pending {
            self.count("pending outcomes of a wait for many");
        }
        self.report(properties::STATUS_IS_TRUE, verdict);
    }
}
