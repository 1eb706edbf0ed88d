//! The task that owns the faucet's key: one transaction at a time, as many requests in it as wait.

use super::error::FaucetError;
use ledger_actors::{NodeError, NodeHandle, RemovalReason, SubmitError, TransactionStatus};
use ledger_client::signer::{self, Payment, Signer, Terms};
use ledger_types::{
    AccountAddress, ChainIdentity, CheckedTransaction, Discard, EntryFunction, ExecutionStatus,
    ReplayProtector, ValidationStatus,
};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

/// The most requests in one transaction. A recipient takes 40 bytes of the 64 KiB that a
/// transaction may have, and one of a hundred is still small beside the largest block.
const BATCH_MAX: usize = 100;
/// What the faucet offers for a gas unit at least: the fee for storage is the same at every price, so
/// that at a lower one a batch of new accounts would take more units than may be asked for.
const GAS_UNIT_PRICE: u64 = 100;
/// When a transaction of the faucet expires, the reference's; and for how long it is made anew when
/// another took its sequence number: everyone knows a development chain's faucet key.
const EXPIRES_AFTER: Duration = Duration::from_secs(30);
/// The pause before the node is asked again: for a transaction, when its waiters are at their limit,
/// and for the next sequence number, when the block that took the last one is not durable yet.
const POLL_PAUSE: Duration = Duration::from_millis(20);

/// A request to be funded.
#[derive(Debug)]
pub struct Request {
    /// Who is paid.
    pub to: AccountAddress,
    /// How much, in the coin's smallest unit.
    pub amount: u64,
    /// Where the answer goes.
    pub reply: oneshot::Sender<Result<Funded, FaucetError>>,
}

/// A committed, successful funding.
#[derive(Clone, Debug)]
pub struct Funded {
    /// The transaction that paid; others may have been paid by it too.
    pub transaction: Arc<CheckedTransaction>,
}

/// The owner of the key.
#[derive(Debug)]
pub struct Funder {
    node: NodeHandle,
    chain: ChainIdentity,
    signer: Signer,
}

/// How one transaction ended.
enum Attempt {
    Funded(Funded),
    /// Committed, but it aborted; in words.
    Aborted(String),
    /// Never to be committed, because another user of the key took its sequence number or its
    /// place in the pool; in words.
    Overtaken(String),
}

impl Funder {
    /// The faucet of `node` that pays from `signer`.
    pub fn new(node: NodeHandle, signer: Signer) -> Self {
        let chain = node.chain().identity().clone();
        Self {
            node,
            chain,
            signer,
        }
    }

    /// Serves requests until nobody can send any more.
    pub async fn run(self, mut requests: mpsc::Receiver<Request>) {
        let mut batch = Vec::with_capacity(BATCH_MAX);
        while requests.recv_many(&mut batch, BATCH_MAX).await > 0 {
            // Who has gone away is not funded.
            batch.retain(|request: &Request| !request.reply.is_closed());
            if !batch.is_empty() {
                serve(std::mem::take(&mut batch), async |payments| {
                    self.pay(payments).await
                })
                .await;
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
                    tracing::warn!(%reason, "others keep the faucet from paying with its key");
                    return Err(FaucetError::Overloaded("others use its key"));
                }
                Attempt::Overtaken(_) => tokio::time::sleep(POLL_PAUSE).await,
            }
        }
    }

    async fn attempt(&self, payments: &[Payment]) -> Result<Attempt, FaucetError> {
        let sequence_number = self.sequence_number().await?;
        let transaction = self.sign(sequence_number, self.call(payments))?;
        let hash = transaction.hash();
        let accepted = match self.node.submit(transaction).await {
            Ok(accepted) => accepted,
            Err(error) => return overtaken(error),
        };
        // Ends at the transaction's expiry at the latest: then the pool lets it go.
        loop {
            let lookup = match self.node.wait_for_commit(hash).await {
                Ok((_, lookup)) => lookup,
                // It is still on its way; nothing else may be sent before it has ended.
                Err(NodeError::Overloaded { .. }) => {
                    tokio::time::sleep(POLL_PAUSE).await;
                    continue;
                }
                Err(error) => return Err(unread(error)),
            };
            match lookup {
                TransactionStatus::Pending(_) => tokio::time::sleep(POLL_PAUSE).await,
                TransactionStatus::Committed(committed) => {
                    let transaction = committed.content().map_err(|error| unread(error.into()))?;
                    return Ok(match &transaction.info.v0().status {
                        ExecutionStatus::Success => Attempt::Funded(Funded {
                            transaction: accepted.transaction,
                        }),
                        failed => Attempt::Aborted(in_words(failed)),
                    });
                }
                TransactionStatus::Removed(RemovalReason::Rejected(discard)) => {
                    return refused(&discard);
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

    /// The number of the faucet's next transaction. Nothing of ours is pending when this is asked.
    async fn sequence_number(&self) -> Result<u64, FaucetError> {
        let facts = self
            .node
            .account_snapshot(self.signer.address())
            .await
            .map_err(unread)?;
        Ok(facts.sequence_number)
    }

    fn call(&self, payments: &[Payment]) -> EntryFunction {
        match payments {
            [only] => signer::transfer(&self.chain.vendor, only.recipient, only.amount),
            several => signer::batch_transfer(&self.chain.vendor, several),
        }
    }

    fn sign(
        &self,
        sequence_number: u64,
        call: EntryFunction,
    ) -> Result<CheckedTransaction, FaucetError> {
        let parameters = self.node.chain().parameters();
        let terms = Terms {
            max_gas_amount: parameters.max_gas_amount,
            gas_unit_price: parameters.gas_unit_price_min.max(GAS_UNIT_PRICE),
            // By the ledger's time, which decides; the system clock may differ.
            expiration_timestamp_secs: (self.node.now_usecs() / 1_000_000)
                .saturating_add(EXPIRES_AFTER.as_secs()),
        };
        let signed = self.signer.sign(
            &self.chain,
            ReplayProtector::SequenceNumber(sequence_number),
            call,
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

/// Pays for a batch with `pay`, which pays all that it is given or none, and answers each request. One recipient
/// that cannot be paid must neither cost the others theirs nor one transaction for each of them: what
/// failed is halved.
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
            // A client that went away in the meantime does not hear it.
            let _ = request.reply.send(answer.clone());
        }
    }
}

/// What a refused submission means for the attempt.
fn overtaken(error: SubmitError) -> Result<Attempt, FaucetError> {
    match error {
        SubmitError::Full { .. } | SubmitError::AccountFull { .. } => {
            Err(FaucetError::Overloaded("the mempool is full"))
        }
        SubmitError::Node(error) => Err(unread(error)),
        SubmitError::SequenceNumberTooOld { .. }
        | SubmitError::InvalidUpdate(_)
        | SubmitError::OtherSignature { .. } => Ok(Attempt::Overtaken(error.to_string())),
        SubmitError::Invalid(discard) => refused(&discard),
    }
}

/// What a refusal by the ledger's own rules means for the attempt.
fn refused(discard: &Discard) -> Result<Attempt, FaucetError> {
    let reason = discard.to_string();
    match discard.status {
        ValidationStatus::SequenceNumberTooOld => Ok(Attempt::Overtaken(reason)),
        _ => Err(FaucetError::Failed(reason)),
    }
}

fn unread(error: NodeError) -> FaucetError {
    if let Some(cause) = error.storage_unavailable() {
        return FaucetError::Unwritable(cause);
    }
    match error {
        NodeError::Overloaded { actor } => FaucetError::Overloaded(actor),
        NodeError::Stopping => FaucetError::Stopping,
        NodeError::StorageUnavailable(cause) => FaucetError::Unwritable(cause),
        NodeError::Store(error) => {
            tracing::error!(%error, "the faucet could not read the ledger");
            FaucetError::Internal
        }
    }
}

/// A failed execution, as short as the ledger tells it.
fn in_words(status: &ExecutionStatus) -> String {
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
