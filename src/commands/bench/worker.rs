//! One connection of a run: signs, submits, and waits where it is asked to.

use super::{
    Mode,
    accounts::BenchAccount,
    connection::{Answer, Connection},
    form::SUBMIT_PATH,
    load::Load,
    plan::MAX_GAS_AMOUNT,
    tally::Tally,
};
use crate::signing::{self, Terms};
use bytes::Bytes;
use hyper::StatusCode;
use ledger::{HashValue, ReplayProtector, SignedTransaction, ValidationStatus};
use serde::Deserialize;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// What each transfer pays.
const AMOUNT: u64 = 1;
/// When a transfer expires: longer than a full pool takes to be worked off.
const EXPIRES_AFTER: Duration = Duration::from_secs(300);
/// When an orderless one expires: a chain takes those only that expire within 100 s.
const ORDERLESS_EXPIRES_AFTER: Duration = Duration::from_secs(60);
/// The first pause after an answer that asks to come again; doubles up to [`PAUSE_MAX`].
const PAUSE_MIN: Duration = Duration::from_millis(2);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(200);

/// One connection with the accounts that only it uses.
#[derive(Debug)]
pub struct Worker {
    pub(super) load: Arc<Load>,
    pub(super) connection: Connection,
    pub(super) tally: Tally,
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
    pub fn new(load: Arc<Load>, index: usize, accounts: Vec<BenchAccount>) -> Self {
        Self {
            connection: Connection::new(load.target.clone()),
            tally: Tally::default(),
            // Not every connection begins with the first of its accounts at the same moment.
            next_account: index % accounts.len().max(1),
            load,
            accounts,
        }
    }

    /// Makes transfers until the run is over.
    pub async fn run(mut self) -> Tally {
        if self.load.plan.accounts_used_before {
            for index in 0..self.accounts.len() {
                self.look_up_sequence_number(index).await;
            }
        }
        let load = Arc::clone(&self.load);
        while let Some(due) = load.next() {
            // Only an open loop may have to wait: a timer that is already due still costs its
            // granularity, a millisecond.
            if due.at > Instant::now() {
                tokio::time::sleep_until(due.at.into()).await;
            }
            let index = self.next_account;
            self.next_account = (index + 1) % self.accounts.len();
            self.transfer(index, due.at).await;
        }
        self.tally
    }

    async fn transfer(&mut self, index: usize, due: Instant) {
        let (transaction, body) = self.prepare(index);
        match self.submit(body).await {
            Submission::GivenUp => return,
            Submission::Refused => return self.look_up_sequence_number(index).await,
            Submission::Accepted => {}
        }
        self.tally.submit.record(due.elapsed());
        self.load.accept();
        let next = &mut self.accounts[index].next;
        *next = match *next {
            ReplayProtector::SequenceNumber(number) => ReplayProtector::SequenceNumber(number + 1),
            ReplayProtector::Nonce(nonce) => ReplayProtector::Nonce(nonce.wrapping_add(1)),
        };
        if self.load.plan.mode == Mode::Await {
            let hash: HashValue = transaction.hash(&self.load.plan.chain.vendor);
            if self.wait(hash).await {
                self.tally.commit.record(due.elapsed());
            } else {
                self.look_up_sequence_number(index).await;
            }
        }
    }

    fn prepare(&self, index: usize) -> (SignedTransaction, Bytes) {
        let plan = &self.load.plan;
        let account = &self.accounts[index];
        let expires_after = match account.next {
            ReplayProtector::SequenceNumber(_) => EXPIRES_AFTER,
            ReplayProtector::Nonce(_) => ORDERLESS_EXPIRES_AFTER,
        };
        let terms = Terms {
            max_gas_amount: MAX_GAS_AMOUNT,
            gas_unit_price: plan.gas_unit_price,
            expiration_timestamp_secs: signing::unix_secs_after(expires_after),
        };
        let call = signing::transfer(&plan.chain.vendor, account.pays, AMOUNT);
        let transaction = account.signer.sign(&plan.chain, account.next, call, terms);
        let body = self.load.form.body(&transaction);
        (transaction, body)
    }

    /// Submits until the node takes it or says that it never will.
    async fn submit(&mut self, body: Bytes) -> Submission {
        let mut pause = PAUSE_MIN;
        let mut unanswered = false;
        loop {
            let media_type = self.load.form.media_type();
            match self.connection.post(SUBMIT_PATH, media_type, body.clone()).await {
                Ok(answer) if answer.status == StatusCode::ACCEPTED => return Submission::Accepted,
                Ok(answer) => {
                    let code = error_code(&answer);
                    // The node may have taken and committed it when the connection broke.
                    if unanswered && is_too_old(&answer) {
                        return Submission::Accepted;
                    }
                    self.tally.error(code);
                    if !asks_to_come_again(answer.status) {
                        tokio::time::sleep(pause).await;
                        return Submission::Refused;
                    }
                }
                Err(_) => {
                    unanswered = true;
                    self.tally.error("no answer".to_owned());
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
        let Ok(answer) = self.connection.get(&path).await else {
            return self.tally.error("no answer".to_owned());
        };
        if answer.status != StatusCode::OK {
            return self.tally.error(error_code(&answer));
        }
        let number = serde_json::from_slice::<Account<'_>>(&answer.body)
            .ok()
            .and_then(|account| account.sequence_number.parse().ok());
        match number {
            Some(number) => self.accounts[index].next = ReplayProtector::SequenceNumber(number),
            None => self.tally.error("an account without a number".to_owned()),
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
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::INSUFFICIENT_STORAGE | StatusCode::TOO_MANY_REQUESTS
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
