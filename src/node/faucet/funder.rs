//! The task that owns the faucet's key. It pays all waiting requests with one transaction at a
//! time.

use super::{batch_times::BatchTimes, error::FaucetError};
use ledger_actors::{NodeError, NodeHandle, RemovalReason, SubmitError, TransactionStatus};
use ledger_client::signer::{self, Payment, Signer, Terms};
use ledger_limits::ClientKey;
use ledger_types::{
    AccountAddress, ChainIdentity, CheckedTransaction, Discard, EntryFunction, ExecutionStatus,
    ReplayProtector, ValidationStatus,
};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

/// Maximum number of requests in one transaction. A recipient takes 40 bytes of the 64 KiB of a
/// transaction, and a transaction of a hundred is small beside the largest block.
const BATCH_MAX: usize = 100;
/// Minimum price that the faucet offers per gas unit. The storage fee does not depend on the price:
/// at a lower price a batch of new accounts would exceed the maximum number of gas units.
const GAS_UNIT_PRICE: u64 = 100;
/// Time until a transaction of the faucet expires, as in the reference node's faucet. For as long,
/// the faucet retries with a new sequence number if another user of its key took the number: the
/// faucet key of a development chain is public.
const EXPIRES_AFTER: Duration = Duration::from_secs(30);
/// Pause before a retry: of a wait while `wait.capacity` is exhausted, and of the next sequence
/// number while the block with the last one is not durable.
const POLL_PAUSE: Duration = Duration::from_millis(20);

/// A request to be funded.
#[derive(Debug)]
pub struct Request {
    /// Account to pay.
    pub to: AccountAddress,
    /// Amount in the coin's smallest unit.
    pub amount: u64,
    /// Receives the result.
    pub reply: oneshot::Sender<Result<Funded, FaucetError>>,
}

/// A committed, successful funding.
#[derive(Clone, Debug)]
pub struct Funded {
    /// The transaction, which may have paid other requests as well.
    pub transaction: Arc<CheckedTransaction>,
}

/// The owner of the faucet's key.
#[derive(Debug)]
pub struct Funder {
    node: NodeHandle,
    chain: ChainIdentity,
    signer: Signer,
    times: Arc<BatchTimes>,
}

/// Outcome of one transaction.
enum Attempt {
    Funded(Funded),
    /// Committed, but aborted with this reason.
    Aborted(String),
    /// Rejected with this reason, because another user of the key took its sequence number or
    /// replaced it in the mempool.
    Overtaken(String),
}

impl Funder {
    /// Creates the funder of `node` that pays from the account of `signer`. It measures its batches
    /// in `times`.
    pub fn new(node: NodeHandle, signer: Signer, times: Arc<BatchTimes>) -> Self {
        let chain = node.chain().identity().clone();
        Self {
            node,
            chain,
            signer,
            times,
        }
    }

    /// Serves requests until all senders are dropped.
    pub async fn run(self, mut requests: mpsc::Receiver<Request>) {
        let mut batch = Vec::with_capacity(BATCH_MAX);
        while requests.recv_many(&mut batch, BATCH_MAX).await > 0 {
            // Clients that have disconnected are not funded.
            batch.retain(|request: &Request| !request.reply.is_closed());
            if !batch.is_empty() {
                let batch = std::mem::take(&mut batch);
                let payment = serve(batch, async |payments| self.pay(payments).await);
                self.times.measure(payment).await;
            }
        }
    }

    async fn pay(&self, payments: &[Payment]) -> Result<Funded, FaucetError> {
        let deadline = Instant::now() + EXPIRES_AFTER;
        loop {
            match self.attempt(payments).await? {
                Attempt::Funded(funded) => return Ok(funded),
                Attempt::Aborted(reason) => return Err(FaucetError::Failed(reason)),
                Attempt::Overtaken(reason) if Instant::now() >= deadline => {
                    tracing::warn!(%reason, "other users of the faucet's key take its sequence numbers");
                    return Err(FaucetError::KeyInUse);
                }
                Attempt::Overtaken(_) => tokio::time::sleep(POLL_PAUSE).await,
            }
        }
    }

    async fn attempt(&self, payments: &[Payment]) -> Result<Attempt, FaucetError> {
        let sequence_number = self.sequence_number().await?;
        let transaction = self.sign(sequence_number, self.payload(payments))?;
        let hash = transaction.hash();
        let accepted = match self.node.submit(transaction, ClientKey::NODE).await {
            Ok(accepted) => accepted,
            Err(error) => return rejected_submission(error),
        };
        // Ends when the transaction expires, because the mempool removes it then.
        loop {
            let lookup = match self.node.wait_for_commit(hash, ClientKey::NODE).await {
                Ok((_, lookup)) => lookup,
                // The transaction is pending: the next one must not be sent before its outcome.
                Err(NodeError::Overloaded(_)) => {
                    tokio::time::sleep(POLL_PAUSE).await;
                    continue;
                }
                Err(error) => return Err(node_error(error)),
            };
            match lookup {
                TransactionStatus::Pending(_) => tokio::time::sleep(POLL_PAUSE).await,
                TransactionStatus::Committed(committed) => {
                    let transaction = committed
                        .content()
                        .map_err(|error| node_error(error.into()))?;
                    return Ok(match &transaction.info.v0().status {
                        ExecutionStatus::Success => Attempt::Funded(Funded {
                            transaction: accepted.transaction,
                        }),
                        failed => Attempt::Aborted(describe(failed)),
                    });
                }
                TransactionStatus::Removed(RemovalReason::Rejected(discard)) => {
                    return rejected_transaction(&discard);
                }
                TransactionStatus::Removed(reason) => {
                    return Ok(Attempt::Overtaken(reason.to_string()));
                }
                TransactionStatus::Pruned { .. } | TransactionStatus::Unknown => {
                    return Err(FaucetError::Unclear(hash));
                }
            }
        }
    }

    /// Returns the sequence number of the next transaction. No transaction of the funder is
    /// pending.
    async fn sequence_number(&self) -> Result<u64, FaucetError> {
        let account = self
            .node
            .account_snapshot(self.signer.address(), ClientKey::NODE)
            .await
            .map_err(node_error)?;
        Ok(account.sequence_number)
    }

    fn payload(&self, payments: &[Payment]) -> EntryFunction {
        match payments {
            [only] => signer::transfer(&self.chain.vendor, only.recipient, only.amount),
            several => signer::batch_transfer(&self.chain.vendor, several),
        }
    }

    fn sign(
        &self,
        sequence_number: u64,
        payload: EntryFunction,
    ) -> Result<CheckedTransaction, FaucetError> {
        let parameters = self.node.chain().parameters();
        let terms = Terms {
            max_gas_amount: parameters.max_gas_amount,
            gas_unit_price: parameters.gas_unit_price_min.max(GAS_UNIT_PRICE),
            // By the ledger's time, which validation uses. The system clock may differ.
            expiration_timestamp_secs: (self.node.now_usecs() / 1_000_000)
                .saturating_add(EXPIRES_AFTER.as_secs()),
        };
        let signed = self.signer.sign(
            &self.chain,
            ReplayProtector::SequenceNumber(sequence_number),
            payload,
            terms,
        );
        CheckedTransaction::check(
            signed,
            self.node.chain().vendor(),
            self.node.chain().parameters(),
        )
        .map_err(|discard| FaucetError::Failed(discard.to_string()))
    }
}

/// Pays a batch and responds to each request. `pay` pays all of its payments or none.
///
/// A batch that fails is halved. So one recipient that cannot be paid affects no other request, and
/// takes few transactions.
async fn serve(batch: Vec<Request>, pay: impl AsyncFn(&[Payment]) -> Result<Funded, FaucetError>) {
    let mut parts = vec![batch];
    while let Some(mut part) = parts.pop() {
        let payments: Vec<_> = part
            .iter()
            .map(|request| Payment {
                recipient: request.to,
                amount: request.amount,
            })
            .collect();
        let answer = pay(&payments).await;
        if part.len() > 1 && matches!(answer, Err(FaucetError::Failed(_))) {
            parts.push(part.split_off(part.len() / 2));
            parts.push(part);
            continue;
        }
        for request in part {
            // An error means that the client has disconnected.
            let _ = request.reply.send(answer.clone());
        }
    }
}

/// Returns the outcome of an attempt whose submission was rejected.
fn rejected_submission(error: SubmitError) -> Result<Attempt, FaucetError> {
    match error {
        SubmitError::Full { reason } | SubmitError::AccountFull { reason } => {
            Err(FaucetError::MempoolFull(reason))
        }
        SubmitError::Node(error) => Err(node_error(error)),
        SubmitError::SequenceNumberTooOld { .. }
        | SubmitError::InvalidUpdate(_)
        | SubmitError::OtherSignature { .. } => Ok(Attempt::Overtaken(error.to_string())),
        SubmitError::Invalid(discard) => rejected_transaction(&discard),
    }
}

/// Returns the outcome of an attempt that validation rejected.
fn rejected_transaction(discard: &Discard) -> Result<Attempt, FaucetError> {
    let reason = discard.to_string();
    match discard.status {
        ValidationStatus::SequenceNumberTooOld => Ok(Attempt::Overtaken(reason)),
        _ => Err(FaucetError::Failed(reason)),
    }
}

fn node_error(error: NodeError) -> FaucetError {
    if let Some(cause) = error.not_writable() {
        return FaucetError::Unwritable(cause);
    }
    match error {
        NodeError::Overloaded(overload) => overload.into(),
        NodeError::Stopping => FaucetError::Stopping,
        NodeError::NotWritable(cause) => FaucetError::Unwritable(cause),
        NodeError::NotApplied => FaucetError::NotApplied,
        NodeError::Unresolved => FaucetError::Unresolved,
        NodeError::Store(error) => {
            tracing::error!(%error, "the faucet cannot read the ledger");
            FaucetError::Internal
        }
    }
}

/// Returns a short description of a failed execution.
fn describe(status: &ExecutionStatus) -> String {
    match status {
        ExecutionStatus::MoveAbort {
            info: Some(info), ..
        } => {
            format!("{}: {}", info.reason_name, info.description)
        }
        ExecutionStatus::MoveAbort { code, .. } => format!("abort code {code:#x}"),
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests;
