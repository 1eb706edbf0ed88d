//! Submission of several transactions in one request (docs/reference/reference-node.md#r7). A
//! rejected transaction does not affect the others.
//!
//! Unlike on the reference node, a batch without an accepted transaction fails with the first
//! server error, if there is one.

use super::submit::{check, check_filter, decode_failed, run_to_completion, submit_checked};
use crate::{
    context::{LedgerResponse, RequestContext, extract::body},
    error::{ApiError, ErrorBody, ErrorCode, ErrorKind, Switch},
    model::{
        format::{Format, JSON},
        json::SubmitRequest,
    },
};
use actix_web::http::StatusCode;
use futures::future::join_all;
use ledger_actors::Accepted;
use ledger_types::{SignedTransaction, transaction::SIGNED_TRANSACTION_DEPTH_MAX};
use schemars::JsonSchema;
use serde::Serialize;
use std::rc::Rc;

/// The most transactions of a batch; the reference's number.
const TRANSACTIONS_MAX: usize = 10;

/// What became of a batch.
#[derive(Serialize, JsonSchema)]
pub(crate) struct BatchJson {
    /// Those that are not in the pool, in the order of the batch.
    transaction_failures: Vec<FailureJson>,
}

/// A transaction that is not in the pool.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FailureJson {
    /// Why; as the body of the error that the transaction alone would have been answered with.
    error: ErrorBody,
    /// Its place in the batch, from 0.
    #[schemars(with = "u64")]
    transaction_index: usize,
}

/// As [`FailureJson`], in the order of the wire.
#[derive(Serialize)]
struct FailureBcs<'a> {
    message: &'a str,
    error_code: ErrorCode,
    vm_error_code: Option<u64>,
    transaction_index: u64,
}

/// `POST /v1/transactions/batch`: 202 where all are in the pool, 206 where some are.
pub(crate) async fn batch(mut cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    cx.state.require(Switch::Submission)?;
    let transactions = transactions(&mut cx).await?;
    run_to_completion(outcome(cx, transactions)).await
}

/// The answer to a batch that is well formed.
async fn outcome(
    cx: RequestContext,
    transactions: Vec<Result<SignedTransaction, ErrorKind>>,
) -> Result<LedgerResponse, ApiError> {
    let outcomes = submit_all(&cx, transactions).await;
    let ledger_info = *cx.node().head().ledger_info();
    let mut failures = Vec::new();
    let count = outcomes.len();
    for (transaction_index, outcome) in outcomes.into_iter().enumerate() {
        if let Err(problem) = outcome {
            failures.push((transaction_index, problem));
        }
    }
    if count > 0 && failures.len() == count {
        return Err(all_failed(failures).at(ledger_info));
    }
    let status = if failures.is_empty() {
        StatusCode::ACCEPTED
    } else {
        StatusCode::PARTIAL_CONTENT
    };
    let failures = failures
        .into_iter()
        .map(|(transaction_index, problem)| FailureJson {
            error: problem.body(),
            transaction_index,
        });
    let transaction_failures: Vec<_> = failures.collect();
    let answer = match cx.format() {
        Format::Json => LedgerResponse::json(
            ledger_info,
            &BatchJson {
                transaction_failures,
            },
        ),
        Format::Bcs => {
            let failures: Vec<_> = transaction_failures.iter().map(FailureBcs::from).collect();
            LedgerResponse::bcs(ledger_info, &failures)
        }
    };
    Ok(answer?.with_status(status))
}

/// What a batch of which nothing is in the pool is answered with: where the node could not take one,
/// that, as it may take it a little later; else that they are wrong.
fn all_failed(failures: Vec<(usize, ErrorKind)>) -> ErrorKind {
    let mut first = None;
    for (_, problem) in failures {
        if problem.row().0.is_server_error() {
            return problem;
        }
        first.get_or_insert(problem);
    }
    let first = first.map(|problem| problem.to_string()).unwrap_or_default();
    ErrorKind::InvalidInput(format!(
        "All transactions submitted were invalid. The first: {first}"
    ))
}

/// The transactions of the body, or what is wrong with each.
async fn transactions(
    cx: &mut RequestContext,
) -> Result<Vec<Result<SignedTransaction, ErrorKind>>, ErrorKind> {
    let state = Rc::clone(&cx.state);
    let media_types = [JSON, state.signed_transaction_media_type()];
    let (media_type, body) = cx.body(&media_types).await?;
    let transactions: Vec<_> = if media_type == 0 {
        let requests: Vec<SubmitRequest> = body::parse_json(&body)?;
        let requests = bounded(requests)?.into_iter();
        requests
            .map(|request| request.into_signed(cx.chain()))
            .collect()
    } else {
        check_size(cx, body.len())?;
        let signed = bcs::from_bytes_with_limit(&body, SIGNED_TRANSACTION_DEPTH_MAX);
        let signed = signed.map_err(|cause| decode_failed("Vec<SignedTransaction>", &cause))?;
        bounded(signed)?.into_iter().map(Ok).collect()
    };
    Ok(transactions)
}

/// Refuses what cannot be a batch of transactions that the chain takes, before it is decoded: a few bytes
/// may stand for much memory.
fn check_size(cx: &RequestContext, size_bytes: usize) -> Result<(), ErrorKind> {
    let each_max = cx.chain().parameters().transaction_bytes_max;
    // One byte says how many there are.
    let size_max = each_max
        .saturating_mul(TRANSACTIONS_MAX as u64)
        .saturating_add(1);
    if size_bytes as u64 > size_max {
        return Err(ErrorKind::InvalidInput(format!(
            "a batch of {TRANSACTIONS_MAX} transactions has at most {size_max} bytes, this one has {size_bytes}"
        )));
    }
    Ok(())
}

fn bounded<T>(transactions: Vec<T>) -> Result<Vec<T>, ErrorKind> {
    let count = transactions.len();
    if count > TRANSACTIONS_MAX {
        return Err(ErrorKind::InvalidInput(format!(
            "Submitted too many transactions: {count}, a batch has at most {TRANSACTIONS_MAX}"
        )));
    }
    Ok(transactions)
}

/// Has the signatures checked together, and hands over what holds in the order of the batch, so that an
/// account's sequence numbers come in order.
async fn submit_all(
    cx: &RequestContext,
    transactions: Vec<Result<SignedTransaction, ErrorKind>>,
) -> Vec<Result<Accepted, ErrorKind>> {
    let checks = transactions.into_iter().map(async |transaction| {
        match transaction.and_then(|signed| check_filter(cx, signed)) {
            Ok(signed) => Ok(check(cx, signed).await),
            Err(problem) => Err(problem),
        }
    });
    let mut outcomes = Vec::new();
    for checked in join_all(checks).await {
        outcomes.push(match checked {
            Ok(checked) => submit_checked(cx, checked).await.map_err(ErrorKind::from),
            Err(problem) => Err(problem),
        });
    }
    outcomes
}

impl<'a> From<&'a FailureJson> for FailureBcs<'a> {
    fn from(failure: &'a FailureJson) -> Self {
        Self {
            message: &failure.error.message,
            error_code: failure.error.error_code,
            vm_error_code: failure.error.vm_error_code,
            transaction_index: failure.transaction_index as u64,
        }
    }
}
