//! The responses to an accepted submission, with and without a wait for its commit
//! (docs/use/interface.md#submit-and-wait).

use super::read::render_status;
use crate::{
    context::{LedgerResponse, RequestContext},
    error::ApiError,
    limits::WaitEnd,
    model::{format::Format, json::PendingJson},
};
use actix_web::http;
use bytes::Bytes;
use ledger_actors::{Accepted, TransactionStatus};
use ledger_types::{CheckedTransaction, LedgerInfo};

/// Waits for the commit of an accepted submission, and responds.
///
/// Responds with 200 if the transaction is committed, in the form of `wait_by_hash`. Otherwise
/// responds with 202, as a submission without a wait does: at `end`, without a permit of
/// `wait.capacity` for the client, and if the wait or the rendering fails. The transaction is
/// accepted whatever the cause, and an error would say the opposite.
///
/// The memory of the request's body is free during the wait. The transaction is that of the
/// mempool.
///
/// # Errors
///
/// Returns [`ErrorKind::TransactionNotFound`](crate::error::ErrorKind::TransactionNotFound) (404)
/// with the reason if the mempool removes the transaction during the wait.
pub(super) async fn respond_at_commit(
    cx: &RequestContext,
    accepted: Accepted,
    end: WaitEnd,
) -> Result<LedgerResponse, ApiError> {
    let Accepted {
        ledger_info,
        transaction,
    } = accepted;
    cx.body_lease.release();
    let hash = transaction.hash();
    let wait = cx
        .node()
        .wait_for_commit_until(hash, cx.client(), end.reached());
    let ledger_info = match wait.await {
        Ok((found_at, status @ TransactionStatus::Committed(_))) => {
            match render_status(cx, found_at, hash, status).await {
                Ok(response) => return Ok(response),
                Err(_) => ledger_info,
            }
        }
        Ok((found_at, status @ (TransactionStatus::Removed(_) | TransactionStatus::Unknown))) => {
            return render_status(cx, found_at, hash, status).await;
        }
        Ok((found_at, TransactionStatus::Pending(_))) => found_at,
        Ok((_, TransactionStatus::Pruned { .. })) | Err(_) => ledger_info,
    };
    // The response repeats the body. Without capacity it is sent nevertheless, because an accepted
    // submission cannot be rejected any more.
    let _ = cx.body_lease.try_grow(transaction.size_bytes());
    respond_pending(cx, ledger_info, &transaction)
}

/// Responds with 202 and an accepted transaction.
///
/// # Errors
///
/// Returns [`ErrorKind::Internal`](crate::error::ErrorKind::Internal) if the transaction has no
/// JSON form.
pub(super) fn respond_pending(
    cx: &RequestContext,
    ledger_info: LedgerInfo,
    transaction: &CheckedTransaction,
) -> Result<LedgerResponse, ApiError> {
    let response = match cx.format() {
        Format::Json => {
            let pending = PendingJson::new(cx.chain(), transaction);
            LedgerResponse::json(ledger_info, &pending)?
        }
        // The body is empty, as on the reference node, because the client can hash its own bytes.
        Format::Bcs => LedgerResponse::bytes(ledger_info, Format::Bcs, Bytes::new()),
    };
    Ok(response.with_status(http::StatusCode::ACCEPTED))
}
