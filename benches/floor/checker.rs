//! Batched signature checks of one HTTP thread.
//!
//! The thread checks all submissions that are ready at the same time in one batch. A submission
//! does not change threads before its response.

use crate::log::Log;
use actix_web::web::Bytes;
use ledger_crypto::{
    DecodedKeys, HashValue,
    ed25519::{Equation, batch},
};
use ledger_types::{
    SignedTransaction, decode_signed_transaction, transaction::TransactionAuthenticator,
};
use ledger_vm::Chain;
use std::{cell::RefCell, rc::Rc, sync::Arc};
use tokio::{sync::oneshot, task::yield_now};

/// Number of submissions from which a batch does not wait for more.
///
/// Sums of more than 16 signatures gain nothing (docs/decisions/verification-equation.md).
const BATCH_TARGET: usize = 32;
/// Size of a single-key authenticator at the end of a transaction, in bytes: its tag, then key and
/// signature, each with a length.
const PLAIN_AUTHENTICATOR_BYTES: usize = 1 + (1 + 32) + (1 + 64);

/// The reason why a submission is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejection {
    /// The body is not a transaction.
    Form,
    /// The signature is not valid.
    Signature,
}

/// A transaction to check.
struct Job {
    body: Bytes,
    verdict: oneshot::Sender<Result<HashValue, Rejection>>,
}

/// The queue of one thread. Clones share it.
#[derive(Clone)]
pub struct Checker {
    chain: Rc<Chain>,
    log: Arc<Log>,
    jobs: Rc<RefCell<Vec<(Equation, Job)>>>,
    keys: Rc<RefCell<DecodedKeys>>,
}

impl Checker {
    /// Creates a queue for transactions of `chain` that appends valid ones to `log`.
    pub fn new(chain: Chain, log: &Arc<Log>) -> Self {
        Self {
            chain: Rc::new(chain),
            log: Arc::clone(log),
            jobs: Rc::default(),
            keys: Rc::default(),
        }
    }

    /// Checks a submission, appends it to the log, and returns its hash.
    ///
    /// # Errors
    ///
    /// * [`Rejection::Form`] if the body is not a transaction.
    /// * [`Rejection::Signature`] if the signature is not valid.
    ///
    /// Nothing is appended then.
    pub async fn take(&self, body: Bytes) -> Result<HashValue, Rejection> {
        let transaction = decode_signed_transaction(&body).map_err(|_| Rejection::Form)?;
        let prepared = equation(
            &self.chain,
            &mut self.keys.borrow_mut(),
            &transaction,
            &body,
        )?;
        let Some(equation) = prepared else {
            let hash = hash(&self.chain, &body);
            self.log.append(std::iter::once((hash, &*body)));
            return Ok(hash);
        };
        self.queue(equation, body).await
    }

    /// Queues an equation, and returns the hash of its transaction when the batch was checked.
    fn queue(
        &self,
        equation: Equation,
        body: Bytes,
    ) -> impl Future<Output = Result<HashValue, Rejection>> + use<> {
        let (verdict, answer) = oneshot::channel();
        let is_first = {
            let mut jobs = self.jobs.borrow_mut();
            jobs.push((equation, Job { body, verdict }));
            jobs.len() == 1
        };
        if is_first {
            actix_web::rt::spawn(self.clone().check_all());
        }
        // An error means that the thread ends.
        async { answer.await.unwrap_or(Err(Rejection::Signature)) }
    }

    /// Checks all queued submissions once a yield adds no more of them.
    async fn check_all(self) {
        let mut gathered = 0;
        loop {
            let waiting = self.jobs.borrow().len();
            if waiting == gathered || waiting >= BATCH_TARGET {
                break;
            }
            gathered = waiting;
            yield_now().await;
        }
        let (equations, jobs): (Vec<_>, Vec<_>) = self.jobs.take().into_iter().unzip();
        let holds = batch::check(&equations);
        let judged: Vec<_> = jobs
            .into_iter()
            .zip(holds)
            .map(|(job, holds)| {
                let verdict = holds
                    .then(|| hash(&self.chain, &job.body))
                    .ok_or(Rejection::Signature);
                (job, verdict)
            })
            .collect();
        let good = judged
            .iter()
            .filter_map(|(job, verdict)| Some((verdict.ok()?, &*job.body)));
        self.log.append(good);
        for (job, verdict) in judged {
            // An error means that the receiver was dropped: the client has closed its connection.
            let _ = job.verdict.send(verdict);
        }
    }
}

/// Returns the equation of a transaction with a single ed25519 signature.
///
/// Checks all other kinds of signatures alone, as the node does, and returns `None`. `body` is the
/// BCS form of the transaction.
///
/// # Errors
///
/// Returns [`Rejection::Signature`] if the signature cannot be valid.
pub fn equation(
    chain: &Chain,
    keys: &mut DecodedKeys,
    transaction: &SignedTransaction,
    body: &[u8],
) -> Result<Option<Equation>, Rejection> {
    let TransactionAuthenticator::Ed25519 {
        public_key,
        signature,
    } = &transaction.authenticator
    else {
        let checked = transaction.check(chain.vendor(), chain.parameters());
        return checked.map(|_| None).map_err(|_| Rejection::Signature);
    };
    let seed = chain.vendor().seeds().raw_transaction;
    // The encoding is canonical, so these bytes are the signed bytes.
    let signed = &body[..body.len().saturating_sub(PLAIN_AUTHENTICATOR_BYTES)];
    public_key
        .equation_with_cache(keys, &[seed.as_bytes(), signed], signature)
        .map(Some)
        .map_err(|_| Rejection::Signature)
}

/// Returns the hash of a signed transaction in BCS.
pub fn hash(chain: &Chain, body: &[u8]) -> HashValue {
    const USER_TRANSACTION: &[u8] = &[0];
    let seed = &chain.vendor().seeds().transaction;
    seed.hash(&[USER_TRANSACTION, body])
}
