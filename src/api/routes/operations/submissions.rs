//! Submitting transactions, alone and in batches, and what helps to make one.

use super::{
    ErrorCode, Media, Operation, StatusCode, Success, Tag, Value, documented_only, error, errors,
    json, parameter, schema, transactions::committed_example,
};
use crate::{
    model::json::{HexBytes, PendingJson, SubmitRequest, TransactionJson},
    routes::transactions::{batch::BatchJson, encode::EncodeRequest},
};

/// What a client signs, in the form of the examples: a transfer between two accounts.
fn unsigned_example() -> Value {
    json!({
        "sender": "0x5",
        "sequence_number": "0",
        "max_gas_amount": "2000",
        "gas_unit_price": "100",
        "expiration_timestamp_secs": "1767225660",
        "payload": {
            "type": "entry_function_payload",
            "function": "0x1::coin::transfer",
            "type_arguments": ["0x1::node_coin::NodeCoin"],
            "arguments": ["0x6", "7"],
        },
    })
}

/// A signed transaction whose signature does not hold.
fn signed_example() -> Value {
    let mut example = unsigned_example();
    example["signature"] = json!({
        "type": "ed25519_signature",
        "public_key": format!("0x{:064x}", 1),
        "signature": format!("0x{:0128x}", 0),
    });
    example
}

const SIGNED_BCS: &str = "A signed transaction in BCS.";

/// Refusals of what tells whether the pool takes a transaction.
const POOL: &[errors::DeclaredError] = &[
    error(
        StatusCode::BAD_REQUEST,
        ErrorCode::InvalidTransactionUpdate,
        "The pool holds a transaction with the same sender and sequence number or nonce that this one may not \
         replace: something other than a higher gas price differs. If only the signature differs, the message names \
         the hash of the pending transaction.",
    ),
    error(
        StatusCode::BAD_REQUEST,
        ErrorCode::SequenceNumberTooOld,
        "The pool has given a transaction with this sequence number to a block that is not committed yet.",
    ),
    error(
        StatusCode::FORBIDDEN,
        ErrorCode::RejectedByFilter,
        "The operator's filter denies the sender, the function or the module.",
    ),
    error(
        StatusCode::FORBIDDEN,
        ErrorCode::ApiDisabled,
        "The operator has turned off submissions.",
    ),
    error(
        StatusCode::INSUFFICIENT_STORAGE,
        ErrorCode::MempoolIsFull,
        "The pool is full, or holds as many transactions of the sender as it takes of one.",
    ),
];

/// `POST /v1/transactions`
pub(crate) fn submit() -> Operation {
    let mut pending = signed_example();
    pending["hash"] = format!("0x{:064x}", 0xa).into();
    let success = Success::new(
        StatusCode::ACCEPTED,
        "The pending transaction. It is in the pool, not in a block yet.",
    )
    .json(schema::<PendingJson<'static>>(), pending)
    .bcs("Nothing: the body is empty.")
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
        "Checks the transaction against the newest state and takes it into the pool. What is signed is the BCS \
         form of the transaction behind a prefix of the chain; a transaction in JSON is brought into that form by the \
         node, for the chain that it serves. The same bytes are answered with 202 again while the transaction is \
         pending. The hash covers the signature: a pending transaction that is signed again is answered with 400 \
         `invalid_transaction_update`, and its message names the pending hash, on which the client can wait.",
    )
    .json_body(schema::<SubmitRequest>(), signed_example())
    .bcs_body(Media::SignedTransactionBcs, SIGNED_BCS)
    .success(success)
    .errors(errors::SUBMISSION)
    .errors(POOL)
    .errors(&[documented_only(
        StatusCode::NOT_FOUND,
        ErrorCode::AccountNotFound,
        "Declared by the interface and never the answer: a sender that cannot pay is refused as `vm_error`.",
    )])
}

/// `POST /v1/transactions/batch`
pub(crate) fn batch() -> Operation {
    let failed = json!({"transaction_failures": [{
        "error": errors::example("submit_batch_transactions", StatusCode::BAD_REQUEST, ErrorCode::VmError),
        "transaction_index": 1,
    }]});
    let all = Success::new(StatusCode::ACCEPTED, "All are in the pool.")
        .json(schema::<BatchJson>(), json!({"transaction_failures": []}))
        .bcs("An empty BCS vector.");
    let some = Success::new(
        StatusCode::PARTIAL_CONTENT,
        "Some are in the pool; the others are named, each with its error.",
    )
    .json(schema::<BatchJson>(), failed)
    .bcs("A BCS vector of the failures.");
    Operation::new(
        "submit_batch_transactions",
        Tag::Transactions,
        "Submit several signed transactions",
        "Up to 10 transactions, each as if it were submitted alone, in their order: what is wrong with one does not \
         hold up the others. `transaction_index` counts from 0.",
    )
    .json_body(schema::<Vec<SubmitRequest>>(), json!([signed_example()]))
    .bcs_body(Media::SignedTransactionBcs, "A BCS vector of signed transactions.")
    .success(all)
    .success(some)
    .errors(&[
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::InvalidInput,
            "There are more than 10 transactions, the bytes are no vector of transactions, or none of the \
             transactions was taken; the message says why of the first.",
        ),
        error(
            StatusCode::FORBIDDEN,
            ErrorCode::ApiDisabled,
            "The operator has turned off submissions.",
        ),
        error(
            StatusCode::INSUFFICIENT_STORAGE,
            ErrorCode::MempoolIsFull,
            "None of the transactions was taken, and for one of them the pool had no room.",
        ),
        documented_only(
            StatusCode::NOT_FOUND,
            ErrorCode::AccountNotFound,
            "Declared as for a single submission and never the answer.",
        ),
    ])
}

/// `POST /v1/transactions/simulate`
pub(crate) fn simulate() -> Operation {
    let flag = |name, description| parameter::query(name, description, parameter::flag(), true);
    let success =
        Success::ok("One transaction in an array, as if it were committed at the newest version.")
            .json(
                schema::<Vec<TransactionJson<'static>>>(),
                json!([committed_example()]),
            )
            .bcs("A BCS vector of one transaction on chain.")
            .with_gas_used();
    Operation::new(
        "simulate_transaction",
        Tag::Transactions,
        "What a transaction would do",
        "Runs the transaction on the newest state and leaves no trace. Its signatures must not hold: put zeros in \
         their place. A transaction that would be refused or fail is 200 with `success` false and its `vm_status`.",
    )
    .parameter(flag(
        "estimate_max_gas_amount",
        "Whether the node fills in `max_gas_amount`: what the payer can pay for.",
    ))
    .parameter(flag("estimate_gas_unit_price", "Whether the node fills in `gas_unit_price`: the usual price."))
    .parameter(flag(
        "estimate_prioritized_gas_unit_price",
        "Whether the node fills in `gas_unit_price`: the price of who cannot wait.",
    ))
    .json_body(schema::<SubmitRequest>(), signed_example())
    .bcs_body(Media::SignedTransactionBcs, SIGNED_BCS)
    .success(success)
    .errors(errors::SUBMISSION)
    .errors(&[
        error(StatusCode::BAD_REQUEST, ErrorCode::InvalidInput, "The signatures hold."),
        error(
            StatusCode::FORBIDDEN,
            ErrorCode::ApiDisabled,
            "The operator has turned off simulations.",
        ),
        documented_only(
            StatusCode::NOT_FOUND,
            ErrorCode::AccountNotFound,
            "Declared as for a submission and never the answer.",
        ),
        documented_only(
            StatusCode::INSUFFICIENT_STORAGE,
            ErrorCode::MempoolIsFull,
            "Declared as for a submission and never the answer: a simulation takes no room in the pool.",
        ),
    ])
}

/// `POST /v1/transactions/encode_submission`
pub(crate) fn encode() -> Operation {
    let success =
        Success::ok("The bytes to sign, in hex.").json(schema::<HexBytes>(), json!("0xb5e97db0"));
    Operation::new(
        "encode_submission",
        Tag::Transactions,
        "What to sign",
        "The message that the signers of a transaction sign. Whoever asks must trust the node, as it could describe \
         another transaction. `secondary_signers` makes it a multi-agent transaction and `fee_payer_address` a \
         sponsored one.",
    )
    .json_body(schema::<EncodeRequest>(), unsigned_example())
    .success(success)
    .errors(&[
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::InvalidInput,
            "The framework does not know the function, the arguments do not fit it, or there are too many signers.",
        ),
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::VmError,
            "The chain does not execute this kind of payload.",
        ),
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::BcsNotSupported,
            "`Accept` asks for BCS, which this operation does not speak.",
        ),
        error(
            StatusCode::FORBIDDEN,
            ErrorCode::ApiDisabled,
            "The operator has turned off encoding.",
        ),
    ])
}
