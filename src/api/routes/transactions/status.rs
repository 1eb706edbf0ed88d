//! The final verdict about a signed transaction (docs/use/interface.md#verdicts).
//!
//! The request has the body of a submission and pays for its checks in the same queues, but adds
//! nothing to the mempool.

use super::{
    SIGNED_BCS, SubmissionBody, signed_example,
    submit::{check_call, run_to_completion, with_hash},
};
use crate::{
    context::{LedgerResponse, RequestContext},
    error::{ApiError, ErrorCode, ErrorKind, Switch},
    model::{
        json::SubmitRequest,
        verdict::{VerdictBcs, VerdictJson, VerdictKind, VerdictView},
    },
    openapi::{
        StatusCode,
        errors::error,
        operation::{Media, Operation, Success, Tag},
        schemas::schema,
    },
};
use ledger_actors::{SubmitError, TransactionVerdict};
use ledger_crypto::HashValue;
use ledger_execution::{BlockCause, Blocked, NeverReason, Verdict};
use ledger_types::{ExecutionStatus, LedgerInfo, SignedTransaction, ValidationStatus};
use serde_json::json;

/// Handles `POST /v1/transactions/status`.
pub(crate) async fn status(
    cx: RequestContext,
    body: SubmissionBody,
) -> Result<LedgerResponse, ApiError> {
    let signed = body.read(&cx).await;
    let signed = signed.map_err(|problem| problem.at(cx.newest()))?;
    run_to_completion(decided(cx, signed)).await
}

/// Describes [`status`].
pub(crate) fn describe_status() -> Operation {
    let never = json!({
        "verdict": "never",
        "hash": format!("0x{:064x}", 0xa),
        "reason": "sequence_number_used",
        "message": "Invalid transaction: Type: Validation Code: SEQUENCE_NUMBER_TOO_OLD \
                    (transaction sequence number is 3, current sequence number is 5)",
        "used_by": format!("0x{:064x}", 0xb),
    });
    let success = Success::ok("The verdict, at the ledger version of the headers.")
        .json(schema::<VerdictJson<'static>>(), never)
        .bcs("BCS enum: the verdicts in the order of the schema, with the same members.")
        .link(
            "by_hash",
            "get_transaction_by_hash",
            &[("txn_hash", "$response.body#/hash")],
        );
    Operation::new(
        "get_transaction_verdict",
        Tag::Transactions,
        "Get the final verdict about a signed transaction",
        "Decides from one version of the ledger whether the transaction is `committed`, `pending`, \
         `can_commit`, `blocked`, or `never`. The body is that of a submission, and nothing is \
         submitted. `never` is final: no node commits the transaction, after any crash. The reason \
         is that it expired by the time of a block, that its sequence number or nonce is used, \
         that it is for another chain, or that a signature does not verify under the key it \
         carries. \
         `committed` is final too. `blocked` may end: an account may rotate back to an earlier \
         key, and an operator may change a filter. A client without a response to its submission \
         repeats the same bytes after `can_commit`, and signs another transaction after `never`. \
         The signatures of a committed transaction are not checked again.",
    )
    .json_body(schema::<SubmitRequest>(), signed_example())
    .bcs_body(Media::SignedTransactionBcs, SIGNED_BCS)
    .success(success)
    .errors(&[
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::InvalidInput,
            "The body is well formed and invalid: bytes that do not decode to a transaction, an \
             unknown function, arguments of other types, more of them than any function has, or a \
             signature that does not decode.",
        ),
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::VmError,
            "The body is larger than a transaction in BCS, or a payload in JSON that the chain \
             does not execute.",
        ),
        error(
            StatusCode::GONE,
            ErrorCode::VersionPruned,
            "The transaction was committed at a version below the oldest readable version, or may \
             have been: its sequence number or nonce is used and the user is pruned, or it expired \
             and a version at which its nonce could be used is pruned.",
        ),
    ])
}

/// Responds with the verdict about a transaction.
async fn decided(
    cx: RequestContext,
    signed: SignedTransaction,
) -> Result<LedgerResponse, ApiError> {
    let outcome = verdict(&cx, signed).await;
    let (ledger_info, hash, verdict) = outcome.map_err(|problem| problem.at(cx.newest()))?;
    let verdict = match verdict {
        TransactionVerdict::Committed { version, status } => VerdictKind::Committed {
            version,
            is_success: status == ExecutionStatus::Success,
            vm_status: cx.chain().vm_status(&status),
        },
        TransactionVerdict::Pending => VerdictKind::Pending,
        TransactionVerdict::Uncommitted(verdict) => {
            remember_key(&cx, &verdict);
            VerdictKind::Uncommitted(with_switch(&cx, verdict))
        }
        TransactionVerdict::Pruned { version } => {
            let oldest = ledger_info.oldest_version;
            let unknown = || ErrorKind::TransactionPruned { hash, oldest };
            let error = version.map_or_else(unknown, ErrorKind::VersionPruned);
            return Err(error.at(ledger_info));
        }
    };
    let view = VerdictView { hash, verdict };
    cx.respond(
        ledger_info,
        || VerdictJson::from(&view),
        || VerdictBcs::from(&view),
    )
}

/// Returns the verdict about a transaction with its hash.
///
/// # Errors
///
/// Returns [`ErrorKind::InvalidInput`] if the call has more arguments than any function has, and
/// the errors of [`NodeHandle::verdict`](ledger_actors::NodeHandle::verdict).
async fn verdict(
    cx: &RequestContext,
    signed: SignedTransaction,
) -> Result<(LedgerInfo, HashValue, TransactionVerdict), ErrorKind> {
    check_call(&signed)?;
    let (signed, hash) = with_hash(cx, signed).await?;
    let may_be_committed = cx.node().may_be_committed(&signed);
    let of_committed = may_be_committed.then_some(hash);
    let verdict = cx
        .node()
        .verdict(signed, of_committed, cx.lane(), cx.client());
    let (ledger_info, verdict) = verdict.await?;
    Ok((ledger_info, hash, verdict))
}

/// Blocks a transaction that could be submitted if the operator had not disabled submissions.
fn with_switch(cx: &RequestContext, verdict: Verdict) -> Verdict {
    match (verdict, cx.state.switches.require(Switch::Submission)) {
        (Verdict::CanCommit(_), Err(disabled)) => {
            Verdict::Blocked(Blocked::new(BlockCause::Switch, &disabled))
        }
        (verdict, _) => verdict,
    }
}

/// Records a signature that is invalid or of another key for the connection, as a submission does.
fn remember_key(cx: &RequestContext, verdict: &Verdict) {
    let status = match verdict {
        Verdict::Never(never) if never.reason == NeverReason::InvalidSignature => {
            ValidationStatus::InvalidSignature
        }
        Verdict::Blocked(blocked) if blocked.cause == BlockCause::AuthenticationKey => {
            ValidationStatus::InvalidAuthKey
        }
        _ => return,
    };
    cx.remember_outcome(&Err(SubmitError::Invalid(status.into())));
}
