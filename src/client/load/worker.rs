//! One connection of a run: submits, signs what is not signed yet, and waits where it is asked to.

use super::{
    Mode,
    connection::{AskError, Connection},
    funding::BenchAccount,
    presign::After as _,
    requests::Transfer,
    response::{Answer, NoAnswer},
    run::{Due, Load},
    tally::Tally,
};
use http::StatusCode;
use ledger::{ReplayProtector, ValidationStatus};
use serde::Deserialize;
use std::{
    cell::RefCell,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

/// The first pause after an answer that asks to come again; doubles up to [`PAUSE_MAX`].
const PAUSE_MIN: Duration = Duration::from_millis(2);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(200);

/// One connection with the accounts that only it uses.
#[derive(Debug)]
pub struct Worker {
    pub(super) load: Arc<Load>,
    /// Of all connections of the thread.
    tally: Rc<RefCell<Tally>>,
    connection: Connection,
    /// The request that is sent, as it is on the wire.
    request: Vec<u8>,
    index: usize,
    accounts: Vec<BenchAccount>,
    next_account: usize,
}

/// An answer that tells why, as much of it as is counted.
#[derive(Deserialize)]
struct Reason<'a> {
    error_code: &'a str,
    vm_error_code: Option<u64>,
}

/// What became of a submission.
enum Submission {
    Accepted,
    /// The node does not want it; the account's number must be looked up.
    Refused,
    /// The run was over before the node took it.
    GivenUp,
}

impl Worker {
    /// The connection number `index` of the run.
    pub fn new(
        load: Arc<Load>,
        tally: Rc<RefCell<Tally>>,
        index: usize,
        accounts: Vec<BenchAccount>,
    ) -> Self {
        Self {
            connection: Connection::new(load.target.authority().to_owned()),
            tally,
            request: Vec::new(),
            index,
            // Not every connection begins with the first of its accounts at the same moment.
            next_account: index % accounts.len().max(1),
            load,
            accounts,
        }
    }

    /// Makes transfers until the run is over.
    pub async fn run(mut self) {
        let load = Arc::clone(&self.load);
        sleep_until(&load, load.connect_at(self.index)).await;
        while let Some(due) = load.next() {
            sleep_until(&load, due.at).await;
            if load.stop_cause().is_some() {
                return;
            }
            let index = self.next_account;
            self.next_account = (index + 1) % self.accounts.len();
            self.count(|tally| tally.unanswered += 1);
            self.transfer(index, due).await;
            self.count(|tally| tally.unanswered -= 1);
        }
    }

    async fn transfer(&mut self, index: usize, due: Due) {
        let transfer = self.signed(index);
        self.load.form.submission(&transfer, &mut self.request);
        match self.submit().await {
            Submission::GivenUp => return,
            Submission::Refused => return self.look_up_sequence_number(index).await,
            Submission::Accepted => {}
        }
        if due.measured {
            self.count(|tally| tally.submit.record(due.at.elapsed()));
        }
        self.load.accept(due);
        self.accounts[index].next = transfer.protector.after(1);
        if self.load.plan.mode == Mode::Await {
            if !self.wait(transfer.hash).await {
                self.look_up_sequence_number(index).await;
            } else if due.measured {
                self.count(|tally| tally.commit.record(due.at.elapsed()));
            }
        }
    }

    /// The next transfer of an account: the one that was signed before, if it still fits.
    fn signed(&mut self, index: usize) -> Transfer {
        let account = &mut self.accounts[index];
        while let Some(transfer) = account.signed.pop_front() {
            if transfer.protector == account.next {
                return transfer;
            }
        }
        self.count(|tally| tally.signed_while_running += 1);
        let account = &self.accounts[index];
        self.load.form.sign(&self.load.plan, account, account.next)
    }

    /// Counts what the connection met.
    pub(super) fn count(&self, change: impl FnOnce(&mut Tally)) {
        change(&mut self.tally.borrow_mut());
    }

    /// Counts an error by its code.
    pub(super) fn error(&self, code: String) {
        self.count(|tally| tally.error(code));
    }

    /// Asks for `path`.
    ///
    /// # Errors
    /// When no answer came.
    pub(super) async fn ask(&mut self, path: &str) -> Result<Answer, NoAnswer> {
        self.load.form.question(path, &mut self.request);
        self.exchange().await
    }

    /// Asks for the transaction at `path`, in the form of the submissions.
    ///
    /// # Errors
    /// When no answer came.
    pub(super) async fn look(&mut self, path: &str) -> Result<Answer, NoAnswer> {
        self.load.form.look(path, &mut self.request);
        self.exchange().await
    }

    /// Sends the request and reads its answer. Stops the run if this machine cannot make the connection: then
    /// its figures would say nothing about the node.
    ///
    /// # Errors
    ///
    /// Returns [`NoAnswer`] if no answer came.
    async fn exchange(&mut self) -> Result<Answer, NoAnswer> {
        self.connection.ask(&self.request).await.map_err(|error| {
            if let AskError::Local(cause) = error {
                let connections = self.load.plan.connections;
                self.load.stop(format!(
                    "this machine cannot make all of the {connections} connections: {cause}"
                ));
            }
            NoAnswer
        })
    }

    /// Submits until the node takes it or says that it never will.
    async fn submit(&mut self) -> Submission {
        let mut pause = PAUSE_MIN;
        let mut unanswered = false;
        loop {
            match self.exchange().await {
                Ok(answer) if answer.status == StatusCode::ACCEPTED => return Submission::Accepted,
                Ok(answer) => {
                    let code = error_code(&answer);
                    // The node may have taken and committed it when the connection broke.
                    if unanswered && is_too_old(&answer) {
                        return Submission::Accepted;
                    }
                    self.error(code);
                    if !asks_to_come_again(answer.status) {
                        tokio::time::sleep(pause).await;
                        return Submission::Refused;
                    }
                }
                Err(_) => {
                    unanswered = true;
                    self.error("no answer".to_owned());
                }
            }
            if self.load.is_over() {
                return Submission::GivenUp;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Asks the ledger for the number of an account's next transaction; it stays when there is no answer.
    /// Where nonces protect the transfers there is nothing to look up.
    async fn look_up_sequence_number(&mut self, index: usize) {
        if self.load.plan.orderless {
            return;
        }
        #[derive(Deserialize)]
        struct Account<'a> {
            sequence_number: &'a str,
        }
        let path = format!("/v1/accounts/{}", self.accounts[index].signer.address());
        let Ok(answer) = self.ask(&path).await else {
            return self.error("no answer".to_owned());
        };
        if answer.status != StatusCode::OK {
            return self.error(error_code(&answer));
        }
        let number = serde_json::from_slice::<Account<'_>>(&answer.body)
            .ok()
            .and_then(|account| account.sequence_number.parse().ok());
        match number {
            Some(number) => self.accounts[index].next = ReplayProtector::SequenceNumber(number),
            None => self.error("an account without a number".to_owned()),
        }
    }
}

/// Sleeps until `at`, or until the run is stopped.
///
/// Only an open loop and a ramp have to wait: a timer that is already due still costs its granularity, a
/// millisecond.
async fn sleep_until(load: &Load, at: Instant) {
    if at > Instant::now() {
        tokio::select! {
            () = tokio::time::sleep_until(at.into()) => {}
            () = load.stopped() => {}
        }
    }
}

/// Whether the sequence number was used already.
fn is_too_old(answer: &Answer) -> bool {
    let too_old = ValidationStatus::SequenceNumberTooOld.code();
    serde_json::from_slice::<Reason<'_>>(&answer.body).is_ok_and(|reason| {
        reason.error_code == "sequence_number_too_old" || reason.vm_error_code == Some(too_old)
    })
}

/// Whether the same request may be answered better a little later.
pub(super) fn asks_to_come_again(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::INSUFFICIENT_STORAGE
            | StatusCode::TOO_MANY_REQUESTS
    )
}

/// Status and error code of an answer, as errors are counted.
pub(super) fn error_code(answer: &Answer) -> String {
    let status = answer.status.as_u16();
    match serde_json::from_slice::<Reason<'_>>(&answer.body) {
        Ok(Reason {
            error_code,
            vm_error_code: Some(vm_error_code),
        }) => match ValidationStatus::from_code(vm_error_code) {
            Some(name) => format!("{status} {error_code} {name}"),
            None => format!("{status} {error_code} {vm_error_code}"),
        },
        Ok(Reason { error_code, .. }) => format!("{status} {error_code}"),
        Err(_) => status.to_string(),
    }
}
