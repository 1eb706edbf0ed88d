//! The work of one connection of a run: submit transfers, sign those that are not signed yet, and
//! wait for their commits if the plan requires it.

use super::{
    account::{SendingAccount, SignedTransfer, protector_after},
    commit_wait::wait_for_commit,
    many_wait::wait_for_commits,
    plan::CommitWait,
    rejection::{error_code, is_retryable, is_sequence_number_too_old},
    run::{Run, ScheduledTransfer},
    session::Session,
    tally::Tally,
    transaction_status::TransactionStatus,
};
use crate::http::Response;
use http::StatusCode;
use ledger_crypto::HashValue;
use ledger_types::ReplayProtector;
use serde::Deserialize;
use std::{
    cell::RefCell,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

/// First pause before a retry. Each further pause is twice as long, up to [`PAUSE_MAX`].
pub(super) const PAUSE_MIN: Duration = Duration::from_millis(2);

/// Maximum pause before a retry.
pub(super) const PAUSE_MAX: Duration = Duration::from_millis(200);

/// A connection of a run, and the accounts that it sends from.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) session: Session,
    /// Index of the connection in the run.
    pub(super) index: usize,
    pub(super) accounts: Vec<SendingAccount>,
    /// Index of the account that sends next.
    pub(super) next_account: usize,
    /// Accepted transfers that the next shared wait is for.
    pub(super) accepted: Vec<AcceptedTransfer>,
}

/// A transfer that the node has accepted.
#[derive(Debug)]
pub(super) struct AcceptedTransfer {
    pub(super) hash: HashValue,
    /// Index of its account.
    pub(super) account: usize,
    pub(super) scheduled: ScheduledTransfer,
}

/// The outcome of a submission.
enum SubmitOutcome {
    /// The node accepted the transfer.
    Accepted,
    /// The node responded with the committed transfer.
    Committed {
        /// Whether the execution succeeded.
        success: bool,
    },
    /// The node rejected the transfer permanently. The sequence number may be wrong.
    Rejected,
    /// The run ended before the node accepted the transfer.
    RunOver,
}

impl Worker {
    /// Creates the worker of the connection with this index.
    pub(super) fn new(
        run: Arc<Run>,
        tally: Rc<RefCell<Tally>>,
        index: usize,
        accounts: Vec<SendingAccount>,
    ) -> Self {
        Self {
            session: Session::new(run, tally),
            index,
            // Connections start at different accounts, because orderless ones may share them.
            next_account: index % accounts.len().max(1),
            accounts,
            accepted: Vec::new(),
        }
    }

    /// Sends transfers until the run is over.
    pub(super) async fn run(mut self) {
        let run = Arc::clone(self.session.run());
        if run.plan().batch > 1 {
            return self.run_batches().await;
        }
        sleep_until(&run, run.connect_at(self.index)).await;
        loop {
            if self.accepted.len() == self.accounts.len() {
                self.wait_for_accepted().await;
            }
            let Some(scheduled) = run.next_transfer() else {
                break;
            };
            sleep_until(&run, scheduled.due_at).await;
            if run.stop_cause().is_some() {
                return;
            }
            let index = self.next_account;
            self.next_account = (index + 1) % self.accounts.len();
            self.session.update_tally(|tally| tally.unanswered += 1);
            self.transfer(index, scheduled).await;
            self.session.update_tally(|tally| tally.unanswered -= 1);
        }
        self.wait_for_accepted().await;
    }

    /// Sends the next transfer of the account at `index`.
    async fn transfer(&mut self, index: usize, scheduled: ScheduledTransfer) {
        let transfer = self.take_signed_transfer(index);
        let is_committed = match self.submit(&transfer).await {
            SubmitOutcome::RunOver => return,
            SubmitOutcome::Rejected => return self.refresh_sequence_number(index).await,
            SubmitOutcome::Accepted => false,
            SubmitOutcome::Committed { success } => {
                self.session
                    .update_tally(|tally| tally.failed += u64::from(!success));
                true
            }
        };
        if scheduled.is_measured {
            self.session
                .update_tally(|tally| tally.submit.record(scheduled.due_at.elapsed()));
        }
        self.session.run().count_accepted(scheduled);
        self.accounts[index].next_protector = protector_after(transfer.protector, 1);
        let plan = self.session.run().plan();
        if plan.commit_wait == CommitWait::Shared {
            self.accepted.push(AcceptedTransfer {
                hash: transfer.hash,
                account: index,
                scheduled,
            });
        } else if plan.commit_wait != CommitWait::None {
            if !is_committed && !wait_for_commit(&mut self.session, transfer.hash).await {
                self.refresh_sequence_number(index).await;
            } else if scheduled.is_measured {
                self.session
                    .update_tally(|tally| tally.commit.record(scheduled.due_at.elapsed()));
            }
        }
    }

    /// Waits for all accepted transfers with one request. Their commits are measured when the whole
    /// response has arrived.
    pub(super) async fn wait_for_accepted(&mut self) {
        let accepted = std::mem::take(&mut self.accepted);
        let hashes: Vec<_> = accepted.iter().map(|transfer| transfer.hash).collect();
        let committed = wait_for_commits(&mut self.session, &hashes).await;
        for (transfer, is_committed) in accepted.into_iter().zip(committed) {
            let AcceptedTransfer {
                account, scheduled, ..
            } = transfer;
            if !is_committed {
                self.refresh_sequence_number(account).await;
            } else if scheduled.is_measured {
                self.session
                    .update_tally(|tally| tally.commit.record(scheduled.due_at.elapsed()));
            }
        }
    }

    /// Returns the next transfer of an account.
    ///
    /// Transfers that were signed before the load are skipped if they do not have the account's
    /// next replay protector. Signs a transfer if none is left.
    pub(super) fn take_signed_transfer(&mut self, index: usize) -> SignedTransfer {
        let account = &mut self.accounts[index];
        while let Some(transfer) = account.signed_in_advance.pop_front() {
            if transfer.protector == account.next_protector {
                return transfer;
            }
        }
        self.session
            .update_tally(|tally| tally.signed_while_running += 1);
        let account = &self.accounts[index];
        let run = self.session.run();
        run.requests()
            .sign(run.plan(), account, account.next_protector)
    }

    /// Sends the current request until the node accepts it or rejects it permanently.
    async fn submit(&mut self, transfer: &SignedTransfer) -> SubmitOutcome {
        let mut pause = PAUSE_MIN;
        let mut was_unanswered = false;
        loop {
            let request = self.session.run().requests().submission(transfer);
            match self.session.exchange(request).await {
                Ok(response) if response.status() == StatusCode::ACCEPTED => {
                    return SubmitOutcome::Accepted;
                }
                Ok(response) if response.status() == StatusCode::OK => {
                    return committed(&response);
                }
                Ok(response) => {
                    let code = error_code(&response);
                    // The node may have committed it before the connection broke.
                    if was_unanswered && is_sequence_number_too_old(&response) {
                        return SubmitOutcome::Accepted;
                    }
                    self.session.count_error(code);
                    if !is_retryable(response.status()) {
                        tokio::time::sleep(pause).await;
                        return SubmitOutcome::Rejected;
                    }
                }
                Err(_) => {
                    was_unanswered = true;
                    self.session.count_error("no response".to_owned());
                }
            }
            if self.session.run().is_over() {
                return SubmitOutcome::RunOver;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Reads the next sequence number of an account from the ledger, unless nonces protect the
    /// transfers. The known number stays if the node does not respond.
    pub(super) async fn refresh_sequence_number(&mut self, index: usize) {
        if self.session.run().plan().is_orderless {
            return;
        }
        #[derive(Deserialize)]
        struct Account<'a> {
            sequence_number: &'a str,
        }
        let path = format!("/v1/accounts/{}", self.accounts[index].signer.address());
        let request = self.session.run().requests().get(&path);
        let Ok(response) = self.session.exchange(request).await else {
            return self.session.count_error("no response".to_owned());
        };
        if response.status() != StatusCode::OK {
            return self.session.count_error(error_code(&response));
        }
        let number = serde_json::from_slice::<Account<'_>>(response.body())
            .ok()
            .and_then(|account| account.sequence_number.parse().ok());
        match number {
            Some(number) => {
                self.accounts[index].next_protector = ReplayProtector::SequenceNumber(number);
            }
            None => self
                .session
                .count_error("an account without a sequence number".to_owned()),
        }
    }
}

/// Returns the outcome of a submission that waited for the commit.
///
/// A body in an unknown form counts as accepted, so that a wait by hash determines the outcome.
fn committed(response: &Response) -> SubmitOutcome {
    match TransactionStatus::parse(response.body()) {
        Some(TransactionStatus::Committed { success, .. }) => SubmitOutcome::Committed { success },
        Some(TransactionStatus::Pending) | None => SubmitOutcome::Accepted,
    }
}

/// Sleeps until `at`, or until the run is stopped.
///
/// Returns without a timer if `at` has passed, because a timer takes a millisecond even then.
pub(super) async fn sleep_until(run: &Run, at: Instant) {
    if at > Instant::now() {
        tokio::select! {
            () = tokio::time::sleep_until(at.into()) => {}
            () = run.wait_stopped() => {}
        }
    }
}
