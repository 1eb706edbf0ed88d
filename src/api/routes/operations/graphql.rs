//! What clients ask of an indexer and a node can answer.

use super::{ErrorCode, Operation, StatusCode, Success, Tag, error, json, schema};
use crate::routes::graphql::{GraphqlAnswer, GraphqlRequest};

/// `POST /v1/graphql`
pub(crate) fn graphql() -> Operation {
    let query = "query getProcessorStatus($where_condition: processor_status_bool_exp) { \
                 processor_status(where: $where_condition) { last_success_version processor last_updated } }";
    let request = json!({
        "query": query,
        "variables": {"where_condition": {"processor": {"_eq": "fungible_asset_processor"}}},
    });
    let answer = json!({"data": {"processor_status": [{
        "last_success_version": 7,
        "processor": "fungible_asset_processor",
        "last_updated": "2026-01-01T00:00:00.000000",
    }]}});
    let success = Success::ok(
        "What was asked for; or, as GraphQL has it, `errors` with the same status where the query is any other.",
    )
    .json(schema::<GraphqlAnswer>(), answer);
    Operation::new(
        "graphql",
        Tag::Node,
        "How far an indexer would be",
        "Clients that also use an indexer wait until it has seen a transaction, and ask it for `processor_status`. \
         The node answers this one query of it, for the processors whose data it serves itself: \
         `account_transactions_processor`, `default_processor`, `events_processor`, `fungible_asset_processor`, \
         `objects_processor` and `user_transaction_processor`. Each is as far as the ledger is: \
         `last_success_version` is the newest version and `last_updated` the time of its block. `where` may hold \
         `processor` with `_eq` or `_in`. A body has at most 4096 bytes, and a query neither fragments nor \
         introspection.",
    )
    .json_body(schema::<GraphqlRequest>(), request)
    .success(success)
    .errors(&[error(
        StatusCode::BAD_REQUEST,
        ErrorCode::BcsNotSupported,
        "`Accept` asks for BCS.",
    )])
    .errors(&[error(
        StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::WebFrameworkError,
        "The body has more than 4096 bytes.",
    )])
}
