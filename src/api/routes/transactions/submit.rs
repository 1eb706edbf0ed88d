//! Submission of a transaction, as JSON or as BCS (docs/reference/rest-contract.md#s4-1).
//!
//! The filter of the operator is cheap and runs first. Signature threads check the signatures
//! before the mempool receives the transaction.

use super::{
    SIGNED_BCS, SubmissionBody,
    read::with_transaction,
    signed_example,
    submit_and_wait::{respond_at_commit, respond_pending},
};
use crate::{
    context::{
        LedgerResponse, RequestContext,
        extract::{JsonOrBcs, WaitTimeout},
    },
    error::{ApiError, ErrorCode, ErrorKind, Switch},
    limits::Subject,
    model::json::{PendingJson, SubmitRequest, submission_from_json},
    openapi::{
        StatusCode,
        errors::{self, DeclaredError, documented_only, error},
        operation::{Media, Operation, Success, Tag},
        schemas::schema,
    },
};
use actix_web::rt;
use ledger_actors::{Accepted, SubmitError};
use ledger_crypto::HashValue;
use ledger_limits::{Demand, WorkKind};
use ledger_types::{
    CheckedTransaction, EntryFunction, SignedTransaction, decode_signed_transaction,
};
use ledger_vm::Chain;
use std::{
    pin::Pin,
    task::{Context, Poll},
};
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

/// Errors of the checks before the mempool accepts a transaction.
const MEMPOOL_ERRORS: &[DeclaredError] = &[
    error(
        StatusCode::BAD_REQUEST,
        ErrorCode::InvalidTransactionUpdate,
        "A pending transaction has the same sender and sequence number or nonce, and this one \
         cannot replace it: they differ in more than a higher gas unit price. If only the \
         signature differs, the message contains the hash of the pending transaction.",
    ),
    error(
        StatusCode::BAD_REQUEST,
        ErrorCode::SequenceNumberTooOld,
        "Another transaction with this sequence number is in a block that is not committed yet. \
         The message contains its hash.",
    ),
    error(
        StatusCode::FORBIDDEN,
        ErrorCode::RejectedByFilter,
        "The operator's filter denies the sender, the function, or the module.",
    ),
    error(
        StatusCode::FORBIDDEN,
        ErrorCode::ApiDisabled,
        "The operator has disabled submissions.",
    ),
    error(
        StatusCode::INSUFFICIENT_STORAGE,
        ErrorCode::MempoolIsFull,
        "The mempool is full, or has the maximum number of transactions of the sender.",
    ),
];

/// Handles `POST /v1/transactions`.
///
/// With a requested time, waits for the commit until that time after the start of the request, at
/// most `wait.timeout_max_ms`. The wait ends if the client disconnects, the submission does not.
pub(crate) async fn submit(
    cx: RequestContext,
    requested: WaitTimeout,
    body: SubmissionBody,
) -> Result<LedgerResponse, ApiError> {
    let timeout = requested.clamped(&cx.node().config().wait);
    let timeout = timeout.unwrap_or_default();
    let deadline = Instant::now() + timeout;
    let signed = body.read(&cx).await;
    // Rejections are decided against the newest version.
    let signed = signed.map_err(|problem| problem.at(cx.newest()))?;
    cx.charge(|| Subject::of_submission(&signed));
    let (cx, accepted) = run_to_completion(accepted(cx, signed)).await?;
    if timeout.is_zero() {
        return respond_pending(&cx, accepted.ledger_info, &accepted.transaction);
    }
    let end = cx.wait_end(deadline);
    respond_at_commit(&cx, accepted, end).await
}

/// Describes [`submit`].
pub(crate) fn describe_submit() -> Operation {
    let mut pending = signed_example();
    pending["hash"] = format!("0x{:064x}", 0xa).into();
    let committed = with_transaction(Success::ok(
        "The committed transaction, if the client has requested a wait.",
    ));
    let accepted = Success::new(
        StatusCode::ACCEPTED,
        "The transaction as it was submitted. It is in the mempool, or in a block already if the \
         same bytes were submitted before.",
    )
    .json(schema::<PendingJson<'static>>(), pending)
    .bcs("The body is empty.")
    .link(
        "by_hash",
        "get_transaction_by_hash",
        &[("txn_hash", "$response.body#/hash")],
    )
    .link(
        "wait_by_hash",
        "wait_transaction_by_hash",
        &[("txn_hash", "$response.body#/hash")],
    );
    Operation::new(
        "submit_transaction",
        Tag::Transactions,
        "Submit a signed transaction",
        "Validates the transaction against the newest state and adds it to the mempool. Signatures \
         cover a prefix of the chain and the BCS form of the transaction. The node converts a \
         transaction in JSON to that form, for the chain that it serves. The same bytes get 202 \
         with the same body again while the transaction is pending, and after its commit as long \
         as its version is readable, even if it failed. So a client without a response can repeat \
         its request. Another transaction with a used sequence number or nonce is rejected, and \
         the message contains the hash that used it if the node finds it. The hash covers the \
         signature: a pending transaction with another signature is rejected with 400 \
         `invalid_transaction_update`. The message contains the pending hash, for which the client \
         can wait. With `timeout_ms` the node responds when the transaction is committed; \
         `success` is false if its execution failed.",
    )
    .wait_parameter(WaitTimeout::describe(
        "Maximum time to wait for the commit, in milliseconds from the start of the request. With \
         0, or by default, the node responds with 202 immediately. A larger value than \
         `wait.timeout_max_ms` of the configuration, 60000 by default, waits as long as that. At \
         the deadline the node responds with 202. A node without capacity for another wait \
         responds with 202 earlier.",
    ))
    .needs(Switch::Submission)
    .reads_no_ledger()
    .json_body(schema::<SubmitRequest>(), signed_example())
    .bcs_body(Media::SignedTransactionBcs, SIGNED_BCS)
    .success(committed)
    .success(accepted)
    .errors(errors::SUBMISSION)
    .errors(MEMPOOL_ERRORS)
    .errors(&[
        error(
            StatusCode::NOT_FOUND,
            ErrorCode::TransactionNotFound,
            "The transaction was accepted, and removed from the mempool during the wait. The \
             message contains the reason: expired, evicted, replaced, or rejected with \
             `vm_error_code`.",
        ),
        documented_only(
            StatusCode::NOT_FOUND,
            ErrorCode::AccountNotFound,
            "Declared by the REST contract and never returned: a sender that cannot pay is \
             rejected with `vm_error`.",
        ),
    ])
}

/// Submits a transaction. Returns the context with the outcome.
async fn accepted(
    cx: RequestContext,
    signed: SignedTransaction,
) -> Result<(RequestContext, Accepted), ApiError> {
    let checked = check(&cx, signed).await;
    let accepted = submit_checked(&cx, checked)
        .await
        .map_err(|problem| problem.at(cx.newest()))?;
    Ok((cx, accepted))
}

/// Runs work to completion, even if the client disconnects.
///
/// A transaction waits for its check and for the mempool in queues that do not drop canceled
/// entries. The lease of its body must therefore last until the work is complete.
///
/// # Errors
///
/// Returns the error of `work`.
pub(crate) fn run_to_completion<T: 'static>(
    work: impl Future<Output = Result<T, ApiError>> + 'static,
) -> impl Future<Output = Result<T, ApiError>> {
    RunToCompletion {
        work: Some(Box::pin(work)),
        span: Span::current(),
    }
}

/// A future whose work continues in its own task if the future is dropped.
struct RunToCompletion<W: Future<Output: 'static> + 'static> {
    /// The work, or `None` if it is complete or has panicked.
    work: Option<Pin<Box<W>>>,
    span: Span,
}

impl<W: Future<Output: 'static> + 'static> Future for RunToCompletion<W> {
    type Output = W::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<W::Output> {
        // Restored only if it is pending, so that work that panicked is not polled again.
        let Some(mut work) = self.work.take() else {
            return Poll::Pending;
        };
        let done = work.as_mut().poll(context);
        if done.is_pending() {
            self.work = Some(work);
        }
        done
    }
}

impl<W: Future<Output: 'static> + 'static> Drop for RunToCompletion<W> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            rt::spawn(work.instrument(self.span.clone()));
        }
    }
}

/// Maximum number of arguments of a call, as on the reference node. No function has as many.
const ARGUMENTS_MAX: usize = 128;

/// Maximum number of type arguments of a call, as on the reference node. No function has as many.
const TYPE_ARGUMENTS_MAX: usize = 32;

/// Rejects a call with more arguments than any function has. The mempool limits bytes, and an empty
/// argument has one byte but takes 32 bytes of memory.
///
/// # Errors
///
/// Returns [`ErrorKind::InvalidInput`] for a call with too many arguments or type arguments.
pub(crate) fn check_argument_count(call: &EntryFunction) -> Result<(), ErrorKind> {
    let given = [
        ("arguments", call.args.len(), ARGUMENTS_MAX),
        ("type arguments", call.type_args.len(), TYPE_ARGUMENTS_MAX),
    ];
    for (what, count, max) in given {
        if count > max {
            let error_text = format!("the call has {count} {what}, a function has at most {max}");
            return Err(ErrorKind::InvalidInput(error_text));
        }
    }
    Ok(())
}

/// Checks the call that a transaction makes, if it makes one.
///
/// # Errors
///
/// Returns [`ErrorKind::InvalidInput`] if there are more arguments than any function has, and
/// [`ErrorKind::Refused`] if the call publishes a package.
pub(crate) fn check_call(signed: &SignedTransaction) -> Result<(), ErrorKind> {
    let Some(call) = signed.raw.entry_function() else {
        return Ok(());
    };
    EntryFunction::check_publishes_nothing(&call.module)?;
    check_argument_count(call)
}

/// A submission after the checks that need no account.
pub(crate) enum Checked {
    /// The transaction is committed already, so its signatures were not checked again.
    Committed(Accepted),
    /// The signatures are valid.
    Signatures(CheckedTransaction),
    /// The mempool is full, or the signatures could not be checked or are invalid.
    Rejected(SubmitError),
}

/// Checks a transaction before its accounts are read: the number of arguments, the operator's
/// filter, the capacity of the mempool, and then its signatures, in the queue of its connection.
///
/// None of the checks applies to a transaction that is committed inside the window.
///
/// # Errors
///
/// Returns [`ErrorKind::InvalidInput`] if the call has more arguments than any function has,
/// [`ErrorKind::RejectedByFilter`] if the filter denies the transaction, and the errors of
/// [`NodeHandle::find_committed`](ledger_actors::NodeHandle::find_committed). The errors of
/// [`NodeHandle::accept_unchecked`](ledger_actors::NodeHandle::accept_unchecked) and of
/// [`NodeHandle::check_signatures`](ledger_actors::NodeHandle::check_signatures) are in
/// [`Checked::Rejected`].
pub(crate) async fn check(
    cx: &RequestContext,
    signed: SignedTransaction,
) -> Result<Checked, ErrorKind> {
    check_call(&signed)?;
    let (signed, hash) = with_hash_if_committed(cx, signed).await?;
    let (node, client) = (cx.node(), cx.client());
    if let Err(filtered) = node.check_filter(&signed) {
        // The filter may have changed since the transaction was accepted.
        let committed = match hash {
            Some(hash) => node.find_committed(&signed, hash, client).await?,
            None => None,
        };
        return committed.map(Checked::Committed).ok_or(filtered.into());
    }
    match node.accept_unchecked(&signed, hash, client).await {
        Ok(Some(accepted)) => return Ok(Checked::Committed(accepted)),
        Ok(None) => {}
        Err(error) => return Ok(Checked::Rejected(error)),
    }
    let checked = node.check_signatures(signed, cx.lane(), client).await;
    Ok(checked.map_or_else(Checked::Rejected, Checked::Signatures))
}

/// Number of bytes that are serialized and hashed in the time in which one byte of JSON is parsed.
pub(super) const HASH_SPEED: usize = 3;

/// Returns a transaction, with its hash if it may be committed.
///
/// # Errors
///
/// Returns the errors of [`with_hash`].
async fn with_hash_if_committed(
    cx: &RequestContext,
    signed: SignedTransaction,
) -> Result<(SignedTransaction, Option<HashValue>), ErrorKind> {
    if !cx.node().may_be_committed(&signed) {
        return Ok((signed, None));
    }
    // Boxed, because it is rare, and the future of every submission would have room for it.
    let (signed, hash) = Box::pin(with_hash(cx, signed)).await?;
    Ok((signed, Some(hash)))
}

/// Returns a transaction with its hash.
///
/// The hash of a large transaction takes longer than an HTTP worker may work at once (160 us for
/// 64 KB), so a renderer computes it.
///
/// # Errors
///
/// Returns the errors of [`RequestContext::run`].
pub(super) async fn with_hash(
    cx: &RequestContext,
    signed: SignedTransaction,
) -> Result<(SignedTransaction, HashValue), ErrorKind> {
    let size_bytes = bcs::serialized_size(&signed).expect("a decoded transaction has a BCS form");
    let demand = Demand::bytes(size_bytes / HASH_SPEED);
    let chain = cx.chain().clone();
    let hash = move || {
        let hash = signed.hash(chain.vendor());
        (signed, hash)
    };
    cx.run(WorkKind::Parse, demand, hash).await
}

/// Submits a checked transaction, and records the outcome for its connection.
///
/// The acceptance of a committed transaction is not recorded, because anyone can read its bytes.
///
/// # Errors
///
/// Returns the error in `checked`, or an error of
/// [`NodeHandle::submit`](ledger_actors::NodeHandle::submit).
pub(crate) async fn submit_checked(
    cx: &RequestContext,
    checked: Result<Checked, ErrorKind>,
) -> Result<Accepted, ErrorKind> {
    let outcome = match checked? {
        Checked::Committed(accepted) => return Ok(accepted),
        Checked::Signatures(checked) => cx.node().submit(checked, cx.client()).await,
        Checked::Rejected(error) => Err(error),
    };
    cx.remember_outcome(&outcome);
    Ok(outcome?)
}

/// Decodes a transaction without a check of its signatures.
impl JsonOrBcs for SignedTransaction {
    const BCS: Media = Media::SignedTransactionBcs;

    fn from_json(chain: &Chain, body: &[u8]) -> Result<Self, ErrorKind> {
        submission_from_json(chain, body)
    }

    fn from_bcs(chain: &Chain, body: &[u8]) -> Result<Self, ErrorKind> {
        chain.parameters().check_transaction_size(body.len())?;
        decode_signed_transaction(body).map_err(|cause| decode_failed("SignedTransaction", &cause))
    }
}

/// Returns the error of a body in BCS that does not decode as `what`.
pub(crate) fn decode_failed(what: &str, cause: &bcs::Error) -> ErrorKind {
    ErrorKind::InvalidInput(format!("Failed to deserialize input into {what}: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::{future::poll_immediate, pin_mut};
    use tokio::sync::oneshot;

    #[actix_web::test]
    async fn completes_work_with_and_without_a_waiting_client() {
        for is_waited_for in [true, false] {
            let (start, begun) = oneshot::channel();
            let (end, ended) = oneshot::channel();
            {
                let work = run_to_completion(async move {
                    let value: u8 = begun
                        .await
                        .map_err(|cause| ErrorKind::internal("receiving the value", &cause))?;
                    let _ = end.send(value);
                    Ok(value + 1)
                });
                pin_mut!(work);
                assert!(
                    poll_immediate(work.as_mut()).await.is_none(),
                    "the work waits for the value"
                );
                if is_waited_for {
                    start.send(7).unwrap();
                    assert_eq!(work.await.ok(), Some(8));
                    assert_eq!(ended.await, Ok(7));
                    continue;
                }
            }
            start.send(7).expect("it is still waited for");
            assert_eq!(ended.await, Ok(7));
        }
    }
}
