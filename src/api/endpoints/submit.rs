//! Submitting a transaction, as JSON or as BCS (interface section 4.1).
//!
//! Whether the operator lets a transaction in costs little to tell and is told first. The signatures are
//! checked before an actor is asked, on threads of their own.

use crate::{
    answer::Answer,
    body,
    call::Call,
    connection::{lane_of, remember_outcome},
    error::{ApiError, Problem},
    format::{Format, JSON},
    json::{PendingJson, SubmitRequest},
    switches::Switch,
};
use actix_web::http::StatusCode;
use bytes::Bytes;
use ledger::{
    Chain, CheckedTransaction, SignedTransaction, decode_signed_transaction, execute::validate_size,
};
use ledger_actors::{Accepted, SubmitError};

/// `POST /v1/transactions`
pub(crate) async fn submit(mut call: Call) -> Result<Answer, ApiError> {
    call.state.require(Switch::Submission)?;
    let signed = signed_transaction(&mut call).await;
    let signed = signed.and_then(|signed| let_in(&call, signed));
    let node = call.node();
    // Refusals are decided against the newest moment of the ledger, which is the head.
    let refused = |problem: Problem| problem.at(*node.head().ledger_info());
    let signed = signed.map_err(refused)?;
    let checked = check(&call, signed).await;
    let accepted = hand_over(&call, checked)
        .await
        .map_err(|error| refused(error.into()))?;
    let answer = match call.format() {
        Format::Json => {
            let pending = PendingJson::new(call.chain(), &accepted.transaction);
            Answer::json(accepted.ledger_info, &pending)?
        }
        // The client can hash what it sent, so the BCS answer is the empty one of the reference.
        Format::Bcs => Answer::bytes(accepted.ledger_info, Format::Bcs, Bytes::new()),
    };
    Ok(answer.with_status(StatusCode::ACCEPTED))
}

/// The transaction, where the operator's filter lets it in.
pub(super) fn let_in(call: &Call, signed: SignedTransaction) -> Result<SignedTransaction, Problem> {
    call.node().check_filter(&signed)?;
    Ok(signed)
}

/// Has the signatures of a transaction checked, in the lane of its client.
pub(super) async fn check(call: &Call, signed: SignedTransaction) -> Result<CheckedTransaction, SubmitError> {
    call.node().check_signatures(signed, lane_of(&call.request)).await
}

/// Hands over what was checked, and remembers of its client what became of it.
pub(super) async fn hand_over(
    call: &Call,
    checked: Result<CheckedTransaction, SubmitError>,
) -> Result<Accepted, SubmitError> {
    let outcome = match checked {
        Ok(checked) => call.node().submit(checked).await,
        Err(error) => Err(error),
    };
    remember_outcome(&call.request, &outcome);
    outcome
}

/// The transaction that the body holds, as JSON or as BCS. Its signatures are not looked at.
pub(super) async fn signed_transaction(call: &mut Call) -> Result<SignedTransaction, Problem> {
    let state = call.state.clone();
    let (media_type, body) = call.body(&[JSON, state.signed_transaction_media_type()]).await?;
    match media_type {
        0 => from_json(call.chain(), &body),
        _ => from_bcs(call.chain(), &body),
    }
}

fn from_json(chain: &Chain, body: &[u8]) -> Result<SignedTransaction, Problem> {
    body::parse_json::<SubmitRequest>(body)?.into_signed(chain)
}

fn from_bcs(chain: &Chain, body: &[u8]) -> Result<SignedTransaction, Problem> {
    validate_size(chain, body.len())?;
    decode_signed_transaction(body).map_err(|cause| decode_failed("SignedTransaction", &cause))
}

/// A body in BCS that is no `what`.
pub(super) fn decode_failed(what: &str, cause: &bcs::Error) -> Problem {
    Problem::InvalidInput(format!("Failed to deserialize input into {what}: {cause}"))
}
