//! Submission of several transactions in one request (docs/reference/reference-node.md#r7,
//! docs/use/interface.md#batches). A rejected transaction does not affect the others.
//!
//! Unlike on the reference node, a batch without an accepted transaction fails with the first
//! server error, if there is one.

use super::{
    batch_submission::submit_all,
    signed_example,
    submit::{decode_failed, run_to_completion},
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
use ledger_types::{LedgerInfo, SignedTransaction, transaction::SIGNED_TRANSACTION_DEPTH_MAX};
use ledger_vm::Chain;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

/// Number of transactions of the largest size that fit into a batch in BCS.
///
/// A byte of BCS can take a hundred bytes of memory, because an absent signature is one byte. So
/// decoding a batch takes at most about 64 MiB, as parsing a body in JSON does. A transfer has 250
/// bytes, so 1,000 of them take less than half of it.
const LARGEST_TRANSACTIONS_MAX: u64 = 10;

/// Expected size of a failure without the syntax of JSON, in bytes. Its message has at most 1,000
/// characters.
const FAILURE_BYTES: usize = 256;

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
    check_count(transactions.len(), cx.state.config.batch_transactions_max)?;
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
        "Submits transactions in order, each as if it were submitted alone: at most \
         `api.batch_transactions_max` of the configuration, 1000 by default, and in BCS at most as \
         many bytes as ten transactions of the largest size have. A rejected transaction does not \
         affect the others. `transaction_index` starts at 0. The signatures are checked together, \
         and the response follows when all outcomes are known. A client without a response can \
         repeat its request: transactions that are pending or committed already are not failures.",
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
            "The batch has more transactions or bytes than allowed, the bytes do not decode to a \
             vector of transactions, or no transaction is accepted. In the last case, the message \
             contains the error of the first transaction.",
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
    let count = outcomes.len();
    let failures = outcomes.into_iter().enumerate();
    let failures = failures.filter_map(|(index, outcome)| Some((index, outcome.err()?)));
    let failures: Vec<_> = failures.collect();
    if count > 0 && failures.len() == count {
        return Err(all_failed(failures).at(ledger_info));
    }
    let status = if failures.is_empty() {
        http::StatusCode::ACCEPTED
    } else {
        http::StatusCode::PARTIAL_CONTENT
    };
    let response = respond(&cx, ledger_info, failures).await?;
    Ok(response.with_status(status))
}

/// Responds with the failures. Many of them are rendered on another thread, in memory that is
/// leased from `api.answers_bytes_max`.
///
/// # Errors
///
/// Returns the errors of [`RequestContext::reserve_rendering`]. The transactions were submitted
/// nevertheless, so a repeated request has the same outcomes.
async fn respond(
    cx: &RequestContext,
    ledger_info: LedgerInfo,
    failures: Vec<(usize, ErrorKind)>,
) -> Result<LedgerResponse, ApiError> {
    let size_bytes = failures.len() * FAILURE_BYTES;
    let (format, mut body) = (cx.format(), cx.body_writer());
    cx.reserve_rendering(ledger_info, &mut body, size_bytes)
        .await?;
    let render = move || {
        let failures = failures.into_iter();
        let failures = failures.map(|(transaction_index, problem)| FailureJson {
            error: problem.body(),
            transaction_index,
        });
        let transaction_failures: Vec<_> = failures.collect();
        match format {
            Format::Json => {
                let batch = BatchJson {
                    transaction_failures,
                };
                body.json(ledger_info, &batch)
            }
            Format::Bcs => {
                let failures: Vec<_> = transaction_failures.iter().map(FailureBcs::from).collect();
                body.bcs(ledger_info, &failures)
            }
        }
    };
    // The last part of the request: it is not rejected, because the transactions are submitted.
    cx.render_part(false, size_bytes, render).await
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
        let requests = requests.into_iter();
        Ok(Self(
            requests.map(|request| request.into_signed(chain)).collect(),
        ))
    }

    fn from_bcs(chain: &Chain, body: &[u8]) -> Result<Self, ErrorKind> {
        check_size(chain, body.len())?;
        let signed = bcs::from_bytes_with_limit(body, SIGNED_TRANSACTION_DEPTH_MAX);
        let signed: Vec<_> =
            signed.map_err(|cause| decode_failed("Vec<SignedTransaction>", &cause))?;
        Ok(Self(signed.into_iter().map(Ok).collect()))
    }
}

/// Rejects a body that is too large for a batch before it is decoded, because a few bytes can
/// decode to much memory.
fn check_size(chain: &Chain, size_bytes: usize) -> Result<(), ErrorKind> {
    let each_max = chain.parameters().transaction_bytes_max;
    // One byte for the number of transactions.
    let size_max = each_max
        .saturating_mul(LARGEST_TRANSACTIONS_MAX)
        .saturating_add(1);
    if size_bytes as u64 > size_max {
        return Err(ErrorKind::InvalidInput(format!(
            "a batch has at most {size_max} bytes in BCS, this one has {size_bytes}: divide it"
        )));
    }
    Ok(())
}

/// Rejects a batch of more transactions than `api.batch_transactions_max`.
fn check_count(count: usize, count_max: usize) -> Result<(), ErrorKind> {
    if count > count_max {
        return Err(ErrorKind::InvalidInput(format!(
            "Submitted too many transactions: {count}, a batch has at most {count_max} \
             (api.batch_transactions_max)"
        )));
    }
    Ok(())
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
