//! The checks of the oracle for each kind of response.

use super::{
    counters::{error_counter, rejection_counter, status_counter},
    oracle::{Oracle, RequestStart},
    properties::{self, LookupResponse},
    reads::ReadResult,
};
use crate::{Accepted, NodeError, NotWritable, SubmitError, TransactionStatus};
use ledger_crypto::HashValue;
use ledger_test_support::Disk;
use ledger_types::LedgerInfo;

impl Oracle {
    /// Checks the ledger info of a response that arrived now.
    ///
    /// Returns false if the simulation has ended or the node has crashed; the response is then
    /// ignored.
    pub(super) fn check_ledger_info(&self, start: RequestStart, info: &LedgerInfo) -> bool {
        if self.scheduler.is_halted() {
            return false;
        }
        self.add_visible_blocks();
        self.report(
            properties::LEDGER_INFO_IS_MONOTONIC,
            properties::check_monotonic(&start.floor, info),
        );
        let mut model = self.model();
        self.report(
            properties::RESPONSE_IS_NOT_AHEAD,
            properties::check_not_ahead(&model, info),
        );
        if self.scheduler.is_halted() {
            return false;
        }
        self.report(
            properties::WINDOW,
            properties::check_window(&model, info, &self.pruner),
        );
        model.floor.raise(info);
        !self.scheduler.is_halted()
    }

    /// Checks the error of a request.
    ///
    /// Storage is a valid reason only after a disk fault. The node retries a single failed read,
    /// and reads continue after a failed write.
    pub(super) fn check_error(&self, start: RequestStart, error: &NodeError) {
        self.count(error_counter(error));
        let is_caused_by = |is_faulty: fn(&Disk) -> bool| {
            let observed = self.observed.borrow();
            observed.as_ref().is_none_or(|node| is_faulty(&node.disk))
        };
        let is_permitted = match error {
            NodeError::Store(_) | NodeError::NotWritable(NotWritable::ReadFailed(_)) => {
                is_caused_by(|disk| disk.failed_reads() > 1)
            }
            NodeError::NotWritable(NotWritable::WriteFailed(_)) => {
                is_caused_by(|disk| disk.failures() > 0)
            }
            NodeError::NotWritable(NotWritable::LowDiskSpace(_)) => {
                self.disk_space.was_low_since(start.step)
                    || is_caused_by(|disk| disk.failures() > 0)
            }
            NodeError::NotWritable(NotWritable::ClockUntrusted(_)) => {
                let observed = self.observed.borrow();
                observed.as_ref().is_none_or(|node| node.had_clock_fault)
            }
            // A reader runs only when the newest block is applied. A node that orders alone cannot
            // differ from a decision, and asks no others.
            NodeError::NotApplied
            | NodeError::Unresolved
            | NodeError::NotWritable(NotWritable::Diverged(_) | NotWritable::EngineStopped(_)) => {
                false
            }
            NodeError::Overloaded(_) | NodeError::Stopping => true,
        };
        if !is_permitted && !self.scheduler.is_halted() {
            self.report(properties::NO_FAILURE, Err(error.to_string()));
        }
    }

    /// Checks the response to a submission.
    pub(super) fn check_submission(
        &self,
        start: RequestStart,
        hash: HashValue,
        response: Result<Accepted, SubmitError>,
    ) {
        let (now, now_secs) = (self.scheduler.now_steps(), self.now_secs());
        if let Some(sent) = self.model().sent.get_mut(&hash) {
            sent.open_submits = sent.open_submits.saturating_sub(1);
            sent.last_submit_step = now;
            sent.inserted_secs.include(now_secs);
        }
        match response {
            Ok(Accepted {
                ledger_info,
                transaction,
            }) => {
                self.count("transactions accepted");
                if !self.check_ledger_info(start, &ledger_info) {
                    return;
                }
                let mut model = self.model();
                let verdict =
                    properties::check_acceptance(&model, start, &ledger_info, &transaction);
                self.report(properties::ADMISSION, verdict);
                let verdict = properties::check_accepted_hash(&hash, &transaction);
                self.report(properties::ACCEPTED_IS_ACCOUNTED_FOR, verdict);
                let is_committed = model
                    .sent
                    .get(&hash)
                    .is_some_and(|sent| properties::is_committed_at(sent, &ledger_info));
                if is_committed {
                    self.count("committed transactions accepted again");
                } else {
                    self.report(
                        properties::ADMISSION,
                        self.disk_space.check_submission_may_be_accepted(start.step),
                    );
                }
                if let Some(sent) = model.sent.get_mut(&transaction.hash()) {
                    sent.is_accepted = true;
                    sent.last_submit_step = now;
                }
            }
            Err(error) => match &error {
                SubmitError::Node(error) => self.check_error(start, error),
                rejection => self.check_rejection(start, hash, rejection),
            },
        }
    }

    /// Checks the rejection of a submission.
    fn check_rejection(&self, start: RequestStart, hash: HashValue, error: &SubmitError) {
        self.count(rejection_counter(error));
        if self.scheduler.is_halted() {
            return;
        }
        self.add_visible_blocks();
        let rules = self.pool_rules();
        let model = self.model();
        let Some(sent) = model.sent.get(&hash) else {
            return;
        };
        let verdict = rules.check_rejection(&model, &start, sent, error);
        let verdict = verdict
            .map_err(|reason| format!("{hash} is rejected with {error}: {reason}: {sent:?}"));
        self.report(properties::REJECTION, verdict);
    }

    /// Checks the response to a look-up or a wait.
    pub(super) fn check_lookup(
        &self,
        start: RequestStart,
        hash: HashValue,
        response: Result<(LedgerInfo, TransactionStatus), NodeError>,
    ) {
        let (info, status) = match response {
            Ok(response) => response,
            Err(error) => return self.check_error(start, &error),
        };
        let counter = status_counter(&status);
        self.scheduler
            .trace(format_args!("{hash} at {}: {counter}", info.version));
        if !self.check_ledger_info(start, &info) {
            return;
        }
        self.count(counter);
        let response = LookupResponse {
            start,
            hash,
            info,
            status: &status,
        };
        let rules = self.pool_rules();
        let verdict = properties::check_status(&self.model(), &rules, &response);
        self.report(properties::STATUS_IS_TRUE, verdict);
        let now = self.scheduler.now_steps();
        if let Some(sent) = self.model().sent.get_mut(&hash) {
            match status {
                TransactionStatus::Committed(_) | TransactionStatus::Pruned { .. } => {
                    sent.reported_committed_at.get_or_insert(now);
                }
                TransactionStatus::Removed(_) => sent.reported_removed = Some((start.step, now)),
                TransactionStatus::Pending(_) | TransactionStatus::Unknown => {}
            }
        }
    }

    /// Checks the response to a read of a version.
    pub(super) fn check_read(
        &self,
        start: RequestStart,
        wallet: usize,
        version: u64,
        response: Result<(LedgerInfo, ReadResult), NodeError>,
    ) {
        let (info, result) = match response {
            Ok(response) => response,
            Err(error) => return self.check_error(start, &error),
        };
        self.scheduler
            .trace(format_args!("{version} at {}: {result:?}", info.version));
        if !self.check_ledger_info(start, &info) {
            return;
        }
        self.count(match result {
            ReadResult::InWindow { .. } => "reads inside the window",
            ReadResult::Pruned => "reads below the window",
            ReadResult::TooNew => "reads above the head",
        });
        let verdict = properties::check_read(&self.model(), &info, wallet, version, &result);
        self.report(properties::READS_ARE_CONSISTENT, verdict);
    }
}
