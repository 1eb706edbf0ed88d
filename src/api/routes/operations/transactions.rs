//! Transactions, one by one and in listings.

use super::{
    ErrorCode, Operation, StatusCode, Success, Tag, Value, error, errors, json, parameter, schema,
};
use crate::{
    model::json::{SummaryJson, TransactionJson},
    routes::transactions::auxiliary_info::AuxiliaryInfoJson,
};

/// The transaction of the examples: a state checkpoint, the shortest there is.
pub(super) fn committed_example() -> Value {
    let hash = |number: u64| format!("0x{number:064x}");
    json!({
        "type": "state_checkpoint_transaction",
        "version": "7",
        "hash": hash(0xa),
        "state_change_hash": hash(0xb),
        "event_root_hash": hash(0xc),
        "gas_used": "0",
        "success": true,
        "vm_status": "Executed successfully",
        "accumulator_root_hash": hash(0xd),
        "changes": [],
        "timestamp": "1767225600000000",
    })
}

fn one(success: Success) -> Success {
    success
        .json(schema::<TransactionJson<'static>>(), committed_example())
        .bcs("A BCS enum: a transaction on chain with all that it did, or a pending one as it was signed.")
        .link(
            "by_version",
            "get_transaction_by_version",
            &[("txn_version", "$response.body#/version")],
        )
        .link(
            "its_block",
            "get_block_by_version",
            &[("version", "$response.body#/version")],
        )
        .link(
            "its_sender",
            "get_account",
            &[("address", "$response.body#/sender")],
        )
}

fn lookup(id: &'static str, summary: &'static str, description: &'static str) -> Operation {
    Operation::new(id, Tag::Transactions, summary, description)
        .parameter(parameter::path(
            "txn_hash",
            "The hash of the transaction, with or without `0x`.",
            parameter::hash_text(),
            format!("0x{:064x}", 0xa),
        ))
        .success(one(Success::ok("The transaction, pending or committed.")))
        .errors(&[
            error(
                StatusCode::NOT_FOUND,
                ErrorCode::TransactionNotFound,
                "No transaction of this hash is pending or committed. Where one was pending not long ago, the message says why it left: \
                 expired, evicted, replaced, or rejected with `vm_error_code`.",
            ),
            error(
                StatusCode::GONE,
                ErrorCode::VersionPruned,
                "The transaction was committed and is older than what the node keeps.",
            ),
        ])
}

/// `GET /v1/transactions/by_hash/{txn_hash}`
pub(crate) fn by_hash() -> Operation {
    lookup(
        "get_transaction_by_hash",
        "A transaction by its hash",
        "The transaction as it stands at the moment: `type` is `pending_transaction` while it waits for its block.",
    )
}

/// `GET /v1/transactions/wait_by_hash/{txn_hash}`
pub(crate) fn wait_by_hash() -> Operation {
    lookup(
        "wait_transaction_by_hash",
        "A transaction by its hash, once it is committed",
        "As the lookup by hash, but while the transaction is pending the node holds the answer back until it is \
         committed, for about a second at most. An answer whose `type` is still `pending_transaction` means: ask \
         again. A hash that the node does not know is 404 at once.",
    )
}

/// `GET /v1/transactions/by_version/{txn_version}`
pub(crate) fn by_version() -> Operation {
    Operation::new(
        "get_transaction_by_version",
        Tag::Transactions,
        "A transaction by its version",
        "The committed transaction of a version. Each version of the ledger is one transaction; the first is 0.",
    )
    .parameter(parameter::path(
        "txn_version",
        "The version of the transaction.",
        parameter::u64_text(),
        "0",
    ))
    .success(one(Success::ok("The transaction.")))
    .errors(&[
        error(
            StatusCode::NOT_FOUND,
            ErrorCode::TransactionNotFound,
            "The version is above the newest one.",
        ),
        error(
            StatusCode::GONE,
            ErrorCode::VersionPruned,
            "The version is below the oldest that the node keeps.",
        ),
    ])
}

fn listing(success: Success) -> Success {
    success
        .json(
            schema::<Vec<TransactionJson<'static>>>(),
            json!([committed_example()]),
        )
        .bcs("A BCS vector of transactions on chain.")
        .link(
            "first_by_version",
            "get_transaction_by_version",
            &[("txn_version", "$response.body#/0/version")],
        )
        .link(
            "first_by_hash",
            "get_transaction_by_hash",
            &[("txn_hash", "$response.body#/0/hash")],
        )
        .link(
            "block_of_first",
            "get_block_by_version",
            &[("version", "$response.body#/0/version")],
        )
}

const LIMIT: &str = "How many transactions a page has at most; 25 without it, 100 above that. A page of large \
                     transactions may have fewer.";

/// `GET /v1/transactions`
pub(crate) fn list() -> Operation {
    Operation::new(
        "get_transactions",
        Tag::Transactions,
        "Committed transactions",
        "Ascending by version. There is no cursor: the next page starts one after the version of the last \
         transaction.",
    )
    .parameter(parameter::query(
        "start",
        "The version of the first transaction; without it the newest transactions are given.",
        parameter::u64_text(),
        "0",
    ))
    .parameter(parameter::limit(LIMIT))
    .success(listing(Success::ok("The transactions.")))
    .errors(errors::LIMIT)
    .errors(&[
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::InvalidInput,
            "`start` is above the newest version.",
        ),
        error(
            StatusCode::GONE,
            ErrorCode::VersionPruned,
            "`start` is below the oldest version that the node keeps.",
        ),
    ])
}

/// `GET /v1/accounts/{address}/transactions`
pub(crate) fn of_account() -> Operation {
    Operation::new(
        "get_account_transactions",
        Tag::Accounts,
        "Transactions of an account by sequence number",
        "Committed transactions that the account sent, ascending by sequence number. Orderless transactions have no \
         sequence number and are not among them; summaries have both. There is no cursor: the next page starts one \
         after the last sequence number.",
    )
    .parameter(parameter::address())
    .parameter(parameter::query(
        "start",
        "The sequence number of the first transaction; without it the newest transactions are given.",
        parameter::u64_text(),
        "0",
    ))
    .parameter(parameter::limit(LIMIT))
    .success(listing(Success::ok("The transactions.")))
    .errors(errors::LIMIT)
    .errors(errors::NOTHING_TO_FIND)
    .errors(&[error(
        StatusCode::GONE,
        ErrorCode::VersionPruned,
        "`start` is below the first transaction of the account that the node keeps.",
    )])
}

/// `GET /v1/accounts/{address}/transaction_summaries`
pub(crate) fn summaries() -> Operation {
    let example = json!([{
        "sender": "0x5",
        "version": "5",
        "transaction_hash": format!("0x{:064x}", 0xa),
        "replay_protector": {"type": "sequence_number", "sequence_number": "0"},
    }]);
    let success = Success::ok("The summaries.")
        .json(schema::<Vec<SummaryJson>>(), example)
        .bcs("A BCS vector of an enum of one variant with the same members.")
        .link(
            "first_by_hash",
            "get_transaction_by_hash",
            &[("txn_hash", "$response.body#/0/transaction_hash")],
        )
        .link(
            "first_by_version",
            "get_transaction_by_version",
            &[("txn_version", "$response.body#/0/version")],
        );
    let bound = |name, description| parameter::query(name, description, parameter::u64_text(), "0");
    Operation::new(
        "get_account_transaction_summaries",
        Tag::Accounts,
        "Transactions of an account in short",
        "Committed transactions that the account sent, those with a sequence number and orderless ones, ascending \
         by version. Both bounds are included, and both hold where both are given; with only `end_version`, or \
         none, the newest ones are given.",
    )
    .parameter(parameter::address())
    .parameter(bound("start_version", "The lowest version."))
    .parameter(parameter::query(
        "end_version",
        "The highest version; it may be above the newest one.",
        parameter::u64_text(),
        "1000000",
    ))
    .parameter(parameter::limit("How many summaries a page has at most; 100 without it and above it."))
    .success(success)
    .errors(errors::LIMIT)
    .errors(errors::NOTHING_TO_FIND)
    .errors(&[
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::InvalidInput,
            "`start_version` is above `end_version`.",
        ),
        error(
            StatusCode::GONE,
            ErrorCode::VersionPruned,
            "A bound is below the oldest version that the node keeps.",
        ),
    ])
}

/// `GET /v1/transactions/auxiliary_info`
pub(crate) fn auxiliary_info() -> Operation {
    let success =
        Success::ok("The place of each transaction in its block, from 0, ascending by version.")
            .json(
                schema::<Vec<AuxiliaryInfoJson>>(),
                json!([{"transaction_index": 0}]),
            )
            .bcs("A BCS vector of an enum whose second variant holds the place as a u32.");
    Operation::new(
        "get_auxiliary_info",
        Tag::Transactions,
        "Where transactions stand in their blocks",
        "One entry for each version from `start_version` on. The node knows the place of every transaction.",
    )
    .parameter(parameter::required_query(
        "start_version",
        "The version of the first transaction.",
        parameter::u64_text(),
        "0",
    ))
    .parameter(parameter::limit(
        "How many entries a page has at most; 25 without it, 100 above that.",
    ))
    .success(success)
    .errors(errors::LIMIT)
    .errors(&[
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::WebFrameworkError,
            "`start_version` is missing.",
        ),
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::InvalidInput,
            "`start_version` is above the newest version.",
        ),
        error(
            StatusCode::GONE,
            ErrorCode::VersionPruned,
            "`start_version` is below the oldest version that the node keeps.",
        ),
    ])
}
