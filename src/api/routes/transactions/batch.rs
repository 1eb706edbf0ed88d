//! Submission of several transactions in one request (docs/reference/reference-node.md#r7). A
//! rejected transaction does not affect the others.
//!
//! Unlike on the reference node, a batch without an accepted transaction fails with the first
//! server error, if there is one.

use super::{
    signed_example,
    submit::{check, decode_failed, run_to_completion, submit_checked},
};
use crate::{
    context::{
        LedgerResponse, RequestContext,
        extract::{JsonOrBcs, JsonOrBcsBody},
    },
    error::{ApiError, ErrorBody, ErrorCode, ErrorKind, Switch},
    model::{
        format::Format,
        json::{SubmitRequest, parse_json},
    },
    openapi::{
        StatusCode,
        errors::{self, documented_only, error},
        operation::{Media, Operation, Success, Tag},
        schemas::schema,
    },
};
use actix_web::http;
use futures::future::join_all;
use ledger_actors::Accepted;
use ledger_types::{SignedTransaction, transaction::SIGNED_TRANSACTION_DEPTH_MAX};
use ledger_vm::Chain;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

/// Maximum number of transactions in a batch, as on the reference node.
const TRANSACTIONS_MAX: usize = 10;

/// The outcome of a batch.
#[derive(Serialize, JsonSchema)]
struct BatchJson {
    /// Transactions that the mempool did not accept, in the order of the batch.
    transaction_failures: Vec<FailureJson>,
}

/// A transaction that the mempool did not accept.
#[derive(Serialize, JsonSchema)]
struct FailureJson {
    /// Error body of the response to the same transaction, submitted alone.
    error: ErrorBody,
    /// Index in the batch. The first transaction has index 0.
    #[schemars(with = "u64")]
    transaction_index: usize,
}

/// A [`FailureJson`] in BCS, with its fields in this order.
#[derive(Serialize)]
struct FailureBcs<'a> {
    message: &'a str,
    error_code: ErrorCode,
    vm_error_code: Option<u64>,
    transaction_index: u64,
}

/// Handles `POST /v1/transactions/batch`.
///
/// Responds with 202 if the mempool accepted all transactions, and with 206 if it accepted some.
pub(crate) async fn batch(
    cx: RequestContext,
    body: JsonOrBcsBody<Batch>,
) -> Result<LedgerResponse, ApiError> {
    let Batch(transactions) = body.read(&cx).await?;
    run_to_completion(outcome(cx, transactions)).await
}

/// Describes [`batch`].
pub(crate) fn describe_batch() -> Operation {
    let failed = json!({"transaction_failures": [{
        "error": errors::example(
            "submit_batch_transactions",
            StatusCode::BAD_REQUEST,
            ErrorCode::VmError,
        ),
        "transaction_index": 1,
    }]});
    let all = Success::new(
        StatusCode::ACCEPTED,
        "All transactions are in the mempool, or committed already.",
    )
    .json(schema::<BatchJson>(), json!({"transaction_failures": []}))
    .bcs("Empty BCS vector.");
    let some = Success::new(
        StatusCode::PARTIAL_CONTENT,
        "Some transactions are in the mempool, or committed already. The others are listed, each \
         with its error.",
    )
    .json(schema::<BatchJson>(), failed)
    .bcs("BCS vector of the failures.");
    Operation::new(
        "submit_batch_transactions",
        Tag::Transactions,
        "Submit several signed transactions",
        "Submits up to 10 transactions in order, each as if it were submitted alone. A rejected \
         transaction does not affect the others. `transaction_index` starts at 0.",
    )
    .needs(Switch::Submission)
    .reads_no_ledger()
    .json_body(schema::<Vec<SubmitRequest>>(), json!([signed_example()]))
    .bcs_body(
        Media::SignedTransactionBcs,
        "BCS vector of signed transactions.",
    )
    .success(all)
    .success(some)
    .errors(&[
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::InvalidInput,
            "The batch has more than 10 transactions, the bytes do not decode to a vector of \
             transactions, or no transaction is accepted. In the last case, the message contains \
             the error of the first transaction.",
        ),
        error(
            StatusCode::FORBIDDEN,
            ErrorCode::ApiDisabled,
            "The operator has disabled submissions.",
        ),
        error(
            StatusCode::INSUFFICIENT_STORAGE,
            ErrorCode::MempoolIsFull,
            "No transaction is accepted, and the mempool has no capacity for one of them.",
        ),
        documented_only(
            StatusCode::NOT_FOUND,
            ErrorCode::AccountNotFound,
            "Declared by the REST contract as for a single submission, and never returned.",
        ),
    ])
}

/// Submits the transactions and responds with the failures.
async fn outcome(
    cx: RequestContext,
    transactions: Vec<Result<SignedTransaction, ErrorKind>>,
) -> Result<LedgerResponse, ApiError> {
    let outcomes = submit_all(&cx, transactions).await;
    let ledger_info = cx.newest();
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
        http::StatusCode::ACCEPTED
    } else {
        http::StatusCode::PARTIAL_CONTENT
    };
    let failures = failures
        .into_iter()
        .map(|(transaction_index, problem)| FailureJson {
            error: problem.body(),
            transaction_index,
        });
    let transaction_failures: Vec<_> = failures.collect();
    let response = match cx.format() {
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
    Ok(response?.with_status(status))
}

/// Returns the error of a batch without an accepted transaction: the first server error, because a
/// later attempt can succeed, or else [`ErrorKind::InvalidInput`].
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

/// The transactions of a batch. An element that cannot be converted is its error.
pub(crate) struct Batch(Vec<Result<SignedTransaction, ErrorKind>>);

impl JsonOrBcs for Batch {
    const BCS: Media = Media::SignedTransactionBcs;

    fn from_json(chain: &Chain, body: &[u8]) -> Result<Self, ErrorKind> {
        let requests: Vec<SubmitRequest> = parse_json(body)?;
        let requests = check_count(requests)?.into_iter();
        Ok(Self(
            requests.map(|request| request.into_signed(chain)).collect(),
        ))
    }

    fn from_bcs(chain: &Chain, body: &[u8]) -> Result<Self, ErrorKind> {
        check_size(chain, body.len())?;
        let signed = bcs::from_bytes_with_limit(body, SIGNED_TRANSACTION_DEPTH_MAX);
        let signed = signed.map_err(|cause| decode_failed("Vec<SignedTransaction>", &cause))?;
        Ok(Self(check_count(signed)?.into_iter().map(Ok).collect()))
    }
}

/// Rejects a body that is too large for a batch before it is decoded, because a few bytes can
/// decode to much memory.
fn check_size(chain: &Chain, size_bytes: usize) -> Result<(), ErrorKind> {
    let each_max = chain.parameters().transaction_bytes_max;
    // One byte for the number of transactions.
    let size_max = each_max
        .saturating_mul(TRANSACTIONS_MAX as u64)
        .saturating_add(1);
    if size_bytes as u64 > size_max {
        return Err(ErrorKind::InvalidInput(format!(
            "a batch of {TRANSACTIONS_MAX} transactions has at most {size_max} bytes, this one has \
             {size_bytes}"
        )));
    }
    Ok(())
}

fn check_count<T>(transactions: Vec<T>) -> Result<Vec<T>, ErrorKind> {
    let count = transactions.len();
    if count > TRANSACTIONS_MAX {
        return Err(ErrorKind::InvalidInput(format!(
            "Submitted too many transactions: {count}, a batch has at most {TRANSACTIONS_MAX}"
        )));
    }
    Ok(transactions)
}

/// Checks the signatures concurrently, and submits the valid transactions in the order of the
/// batch, so that sequence numbers of an account are ascending.
async fn submit_all(
    cx: &RequestContext,
    transactions: Vec<Result<SignedTransaction, ErrorKind>>,
) -> Vec<Result<Accepted, ErrorKind>> {
    let checks = transactions
        .into_iter()
        .map(async |transaction| check(cx, transaction?).await);
    let mut outcomes = Vec::new();
    for checked in join_all(checks).await {
        outcomes.push(submit_checked(cx, checked).await);
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
