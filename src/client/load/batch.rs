//! The work of a connection that submits several transfers in one request.

use super::{
    account::{SignedTransfer, protector_after},
    commit_wait::wait_for_commit,
    plan::CommitWait,
    rejection::{BatchFailure, batch_failures, error_code, is_retryable},
    run::{Run, ScheduledTransfer},
    worker::{AcceptedTransfer, PAUSE_MAX, PAUSE_MIN, Worker, sleep_until},
};
use http::StatusCode;
use std::{
    collections::{BTreeSet, VecDeque},
    iter, mem,
    sync::Arc,
};

/// A transfer of a batch.
#[derive(Debug)]
struct BatchedTransfer {
    /// Index of the account that sends it, among those of the connection.
    account: usize,
    transfer: SignedTransfer,
    scheduled: ScheduledTransfer,
}

impl Worker {
    /// Sends batches until the run is over.
    pub(super) async fn run_batches(mut self) {
        let run = Arc::clone(self.session.run());
        sleep_until(&run, run.connect_at(self.index)).await;
        let mut awaited = VecDeque::new();
        loop {
            let scheduled = next_batch(&run);
            let Some(last) = scheduled.last() else { break };
            sleep_until(&run, last.due_at).await;
            if run.stop_cause().is_some() {
                break;
            }
            let count = scheduled.len() as u64;
            self.session.update_tally(|tally| tally.unanswered += count);
            let batch = self.take_batch(scheduled);
            let accepted = self.submit_batch(batch).await;
            awaited.push_back((accepted, count));
            while awaited.len() > run.plan().batches_ahead {
                self.finish_batch(awaited.pop_front()).await;
            }
        }
        while !awaited.is_empty() {
            self.finish_batch(awaited.pop_front()).await;
        }
    }

    /// Waits for the accepted transfers of a batch if the plan requires it. The number is that of
    /// its transfers.
    async fn finish_batch(&mut self, batch: Option<(Vec<AcceptedTransfer>, u64)>) {
        let Some((accepted, count)) = batch else {
            return;
        };
        match self.session.run().plan().commit_wait {
            CommitWait::None => {}
            CommitWait::Shared => {
                self.accepted = accepted;
                self.wait_for_accepted().await;
            }
            // A batch does not wait itself.
            CommitWait::LongPolls | CommitWait::InSubmission => self.wait_for_each(accepted).await,
        }
        self.session.update_tally(|tally| tally.unanswered -= count);
    }

    /// Returns the next transfers of the accounts of the connection, which send in turns.
    fn take_batch(&mut self, scheduled: Vec<ScheduledTransfer>) -> Vec<BatchedTransfer> {
        let batch = scheduled.into_iter().map(|scheduled| {
            let account = self.next_account;
            self.next_account = (account + 1) % self.accounts.len();
            let transfer = self.take_signed_transfer(account);
            self.accounts[account].next_protector = protector_after(transfer.protector, 1);
            BatchedTransfer {
                account,
                transfer,
                scheduled,
            }
        });
        batch.collect()
    }

    /// Submits transfers until the node has accepted each of them or rejected it permanently, or
    /// until the run is over. Returns those that it accepted.
    async fn submit_batch(&mut self, mut batch: Vec<BatchedTransfer>) -> Vec<AcceptedTransfer> {
        let (mut accepted, mut rejected) = (Vec::with_capacity(batch.len()), BTreeSet::new());
        let mut pause = PAUSE_MIN;
        loop {
            let failures = self.failures(&batch).await;
            let mut failures = failures.into_iter().peekable();
            for (index, transfer) in mem::take(&mut batch).into_iter().enumerate() {
                match failures.next_if(|failure| failure.index == index) {
                    None => {
                        self.record_accepted(&transfer);
                        accepted.push(AcceptedTransfer {
                            hash: transfer.transfer.hash,
                            account: transfer.account,
                            scheduled: transfer.scheduled,
                        });
                    }
                    Some(failure) if failure.is_retryable => batch.push(transfer),
                    Some(_) => {
                        rejected.insert(transfer.account);
                    }
                }
            }
            if batch.is_empty() || self.session.run().is_over() {
                break;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
        if !rejected.is_empty() {
            tokio::time::sleep(pause).await;
        }
        for account in rejected {
            self.refresh_sequence_number(account).await;
        }
        accepted
    }

    /// Sends the current request, a batch of `count` transfers. Returns the failures in ascending
    /// order, and counts them.
    ///
    /// Transfers without a response count as failures that can be retried: the node accepts them
    /// again if it has committed them.
    async fn failures(&mut self, batch: &[BatchedTransfer]) -> Vec<BatchFailure> {
        let all = |code: String, is_retryable| {
            let failure = |index| BatchFailure {
                index,
                code: code.clone(),
                is_retryable,
            };
            (0..batch.len()).map(failure).collect()
        };
        let transfers = batch.iter().map(|batched| &batched.transfer);
        let request = self.session.run().requests().batch(transfers);
        let failures: Vec<_> = match self.session.exchange(request).await {
            Ok(response) if response.status() == StatusCode::ACCEPTED => Vec::new(),
            Ok(response) => match batch_failures(&response) {
                Some(failures) => failures,
                None => all(error_code(&response), is_retryable(response.status())),
            },
            Err(_) => all("no response".to_owned(), true),
        };
        for failure in &failures {
            self.session.count_error(failure.code.clone());
        }
        failures
    }

    fn record_accepted(&self, batched: &BatchedTransfer) {
        let scheduled = batched.scheduled;
        if scheduled.is_measured {
            self.session
                .update_tally(|tally| tally.submit.record(scheduled.due_at.elapsed()));
        }
        self.session.run().count_accepted(scheduled);
    }

    /// Waits until the accepted transfers of a batch are committed, one after the other.
    async fn wait_for_each(&mut self, accepted: Vec<AcceptedTransfer>) {
        for transfer in accepted {
            let scheduled = transfer.scheduled;
            if !wait_for_commit(&mut self.session, transfer.hash).await {
                self.refresh_sequence_number(transfer.account).await;
            } else if scheduled.is_measured {
                self.session
                    .update_tally(|tally| tally.commit.record(scheduled.due_at.elapsed()));
            }
        }
    }
}

/// Returns the transfers of the next batch, fewer than the plan's number at the end of the
/// schedule.
fn next_batch(run: &Run) -> Vec<ScheduledTransfer> {
    let scheduled = iter::from_fn(|| run.next_transfer());
    scheduled.take(run.plan().batch).collect()
}
