//! Signatures of one HTTP thread: all requests that are ready at the same time are checked together, by
//! the thread itself, so that a submission crosses no thread before its answer.

use crate::log::Log;
use actix_web::web::Bytes;
use ledger_crypto::{
    DecodedKeys, HashValue,
    ed25519::{Equation, batch},
};
use ledger_types::{decode_signed_transaction, transaction::TransactionAuthenticator};
use ledger_vm::Chain;
use std::{cell::RefCell, rc::Rc, sync::Arc};
use tokio::{sync::oneshot, task::yield_now};

/// A batch does not wait for more than this: sums of 16 signatures gain nothing beyond (`benches/README.md`).
const BATCH_ENOUGH: usize = 32;
/// The bytes of a plain authenticator at the end of a transaction: its tag, then key and signature, each
/// with a length.
const PLAIN_AUTHENTICATOR_BYTES: usize = 1 + (1 + 32) + (1 + 64);

/// Why a submission is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is no transaction.
    Form,
    /// The signature does not hold.
    Signature,
}

/// A transaction that is to be checked.
struct Job {
    body: Bytes,
    verdict: oneshot::Sender<Result<HashValue, Refusal>>,
}

/// The transactions of one thread.
#[derive(Clone)]
pub struct Checker {
    chain: Rc<Chain>,
    log: Arc<Log>,
    jobs: Rc<RefCell<Vec<(Equation, Job)>>>,
    keys: Rc<RefCell<DecodedKeys>>,
}

impl Checker {
    /// For transactions of `chain`, which go to `log`.
    pub fn new(chain: Chain, log: &Arc<Log>) -> Self {
        Self {
            chain: Rc::new(chain),
            log: Arc::clone(log),
            jobs: Rc::default(),
            keys: Rc::default(),
        }
    }

    /// Checks a submission and appends it to the log; gives its hash.
    ///
    /// # Errors
    /// When it is no transaction, or its signature does not hold.
    pub async fn take(&self, body: Bytes) -> Result<HashValue, Refusal> {
        let transaction = decode_signed_transaction(&body).map_err(|_| Refusal::Form)?;
        let TransactionAuthenticator::Ed25519 {
            public_key,
            signature,
        } = &transaction.authenticator
        else {
            // Every other kind is checked alone, as in a node all but its ed25519 parts are.
            transaction
                .check(self.chain.vendor(), self.chain.parameters())
                .map_err(|_| Refusal::Signature)?;
            let hash = self.hash(&body);
            self.log.append(std::iter::once((hash, &*body)));
            return Ok(hash);
        };
        let seed = self.chain.vendor().seeds().raw_transaction;
        // The encoding is canonical, so what came is what was signed.
        let signed = &body[..body.len().saturating_sub(PLAIN_AUTHENTICATOR_BYTES)];
        let equation = public_key.equation_with_cache(
            &mut self.keys.borrow_mut(),
            &[seed.as_bytes(), signed],
            signature,
        );
        let equation = equation.map_err(|_| Refusal::Signature)?;
        let (verdict, answer) = oneshot::channel();
        let is_first = {
            let mut jobs = self.jobs.borrow_mut();
            jobs.push((equation, Job { body, verdict }));
            jobs.len() == 1
        };
        if is_first {
            actix_web::rt::spawn(self.clone().check_all());
        }
        // An error would mean that the thread ends.
        answer.await.unwrap_or(Err(Refusal::Signature))
    }

    fn hash(&self, body: &[u8]) -> HashValue {
        const USER_TRANSACTION: &[u8] = &[0];
        self.chain
            .vendor()
            .seeds()
            .transaction
            .hash(&[USER_TRANSACTION, body])
    }

    /// Checks what waits, as soon as no more of it comes.
    async fn check_all(self) {
        let mut gathered = 0;
        loop {
            let waiting = self.jobs.borrow().len();
            if waiting == gathered || waiting >= BATCH_ENOUGH {
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
                    .then(|| self.hash(&job.body))
                    .ok_or(Refusal::Signature);
                (job, verdict)
            })
            .collect();
        let good = judged
            .iter()
            .filter_map(|(job, verdict)| Some((verdict.ok()?, &*job.body)));
        self.log.append(good);
        for (job, verdict) in judged {
            // Whoever went away does not hear it.
            let _ = job.verdict.send(verdict);
        }
    }
}
