//! The GraphQL query `processor_status` of an indexer, the only query of the indexer's API that a
//! node can serve.
//!
//! Clients of the REST API have a second source of data, an indexer with a GraphQL API, and wait
//! until it has processed their transactions. The TypeScript SDK waits whenever it funds an account
//! (docs/reference/reference-node.md#r36). The data of this node is as new as its ledger, so the
//! response has the ledger version. Other queries are rejected.

mod schema;
mod timestamp;

use crate::{
    context::{LedgerResponse, RequestContext, extract::JsonBody},
    error::{ApiError, ErrorCode, ErrorKind},
    model::format::Format,
    openapi::{
        StatusCode,
        errors::error,
        operation::{Operation, Success, Tag},
        schemas::schema as json_schema,
    },
};
use async_graphql::{Pos, Request, Response, Variables};
use futures::FutureExt as _;
use ledger_limits::{Demand, WorkKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Maximum size of a body, in bytes.
///
/// The query `processor_status` has 400 bytes with its variables. Parsing a query takes much longer
/// than parsing another body of the same length.
pub(super) const BODY_BYTES_MAX: usize = 4 * 1024;

/// Maximum number of brackets that a query may open. The query `processor_status` opens four.
///
/// The limit bounds the nesting of the query, because the parser is recursive, and the number of
/// fields that a query selects under aliases. The schema has no limit on depth of its own, whose error
/// would precede that of an unknown field: the queries of SDKs to an indexer are deeper.
const BRACKETS_MAX: usize = 16;

/// Maximum number of tokens of a query. The query `processor_status` has 28. A token takes 2 us to
/// parse, so a query takes about half a millisecond at most.
const TOKENS_MAX: usize = 256;

/// Maximum number of errors in a response. The first one names the cause.
const ERRORS_MAX: usize = 4;

/// Prefix of every error message.
const ERROR_PREFIX: &str = "this node has no indexer and serves the query processor_status only";

/// A GraphQL request.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GraphqlRequest {
    /// Text of the query.
    query: String,
    /// Values of the query's variables.
    variables: Option<Map<String, Value>>,
    /// Name of the operation to execute, if the query has several.
    #[serde(rename = "operationName")]
    operation_name: Option<String>,
}

/// The result of a GraphQL query, or its errors.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GraphqlAnswer")]
pub(super) struct GraphqlResponse {
    /// Selected fields, or `null` if there are errors.
    data: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<GraphqlError>,
}

/// An error of a GraphQL query.
#[derive(Serialize, JsonSchema)]
struct GraphqlError {
    message: String,
    /// Positions in the query that the error refers to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Location>,
}

/// A position in the text of a query. Line and column start at 1.
#[derive(Serialize, JsonSchema)]
struct Location {
    #[schemars(with = "u64")]
    line: usize,
    #[schemars(with = "u64")]
    column: usize,
}

/// Handles `POST /v1/graphql`.
///
/// Responds with 200 also if the query is rejected, as GraphQL specifies. Responds with 400
/// `bcs_not_supported` if `Accept` selects BCS, with 400 `web_framework_error` if the body is not a
/// [`GraphqlRequest`], and with 413 if it has more than [`BODY_BYTES_MAX`] bytes. Other failures to
/// read the body have the statuses of [`JsonBody::read`].
pub(super) async fn graphql(
    cx: RequestContext,
    body: JsonBody<GraphqlRequest, BODY_BYTES_MAX>,
) -> Result<LedgerResponse, ApiError> {
    if cx.format() == Format::Bcs {
        return Err(ErrorKind::BcsNotSupported("graphql").into());
    }
    let request = body.read(&cx).await?;
    let ledger_info = cx.newest();
    if let Some(cause) = check_before_parsing(&request.query) {
        return LedgerResponse::json(ledger_info, &GraphqlResponse::from_cause(&cause));
    }
    let demand = Demand::rows(token_count(&request.query));
    let execute = move || {
        let executed = schema::SCHEMA.execute(request.into_request(ledger_info));
        // The resolvers do not wait.
        let response = executed.now_or_never().map(GraphqlResponse::from);
        response.unwrap_or_else(|| GraphqlResponse::from_cause("the query was not executed"))
    };
    let response = cx.run(WorkKind::Parse, demand, execute).await?;
    LedgerResponse::json(ledger_info, &response)
}

/// Describes [`graphql`].
pub(super) fn describe_graphql() -> Operation {
    let query = "query getProcessorStatus($where_condition: processor_status_bool_exp) { \
                 processor_status(where: $where_condition) { last_success_version processor \
                 last_updated } }";
    let request = json!({
        "query": query,
        "variables": {"where_condition": {"processor": {"_eq": "fungible_asset_processor"}}},
    });
    let response = json!({"data": {"processor_status": [{
        "last_success_version": 7,
        "processor": "fungible_asset_processor",
        "last_updated": "2026-01-01T00:00:00.000000",
    }]}});
    let success = Success::ok(
        "Result of the query. If the query is rejected, the status is the same and the body has \
         `errors`, as GraphQL specifies.",
    )
    .json(json_schema::<GraphqlResponse>(), response);
    Operation::new(
        "graphql",
        Tag::Node,
        "Query the status of indexer processors",
        "Clients that also use an indexer wait until it has processed a transaction, and query \
         its `processor_status`. The node supports only this query, for the processors whose \
         data it serves: `account_transactions_processor`, `default_processor`, \
         `events_processor`, `fungible_asset_processor`, `objects_processor`, and \
         `user_transaction_processor`. Each of them is as new as the ledger: \
         `last_success_version` is the newest version, and `last_updated` is the time of its \
         block. `where` may contain `processor` with `_eq` or `_in`. A body has at most 4096 \
         bytes. Fragments and introspection are not supported.",
    )
    .json_body(json_schema::<GraphqlRequest>(), request)
    .success(success)
    .errors(&[error(
        StatusCode::BAD_REQUEST,
        ErrorCode::BcsNotSupported,
        "`Accept` selects BCS.",
    )])
    .errors(&[error(
        StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::WebFrameworkError,
        "The body has more than 4096 bytes.",
    )])
}

/// Returns the number of tokens of a query: names, numbers, and single other characters but white
/// space. The time to parse a query follows it, a hundred times as long as that of JSON per byte.
fn token_count(query: &str) -> usize {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = query.as_bytes().iter().copied();
    let before = std::iter::once(b' ').chain(bytes.clone());
    let begins_token = |(before, byte): &(u8, u8)| match is_word(*byte) {
        true => !is_word(*before),
        false => !byte.is_ascii_whitespace(),
    };
    before.zip(bytes).filter(begins_token).count()
}

/// Returns the reason to reject a query before it is parsed, or `None`.
///
/// Fragments are rejected because each can contain the next one many times, so a few bytes could
/// select a very large number of fields. Queries about the schema are rejected because their result
/// would be null without an error.
fn check_before_parsing(query: &str) -> Option<String> {
    if query.contains("...") {
        return Some("the query has fragments".to_owned());
    }
    let is_introspection = |(position, _)| !query[position..].starts_with("__typename");
    if query.contains("__schema") || query.match_indices("__type").any(is_introspection) {
        return Some("the query uses introspection".to_owned());
    }
    let brackets = query.matches(['(', '[', '{']).count();
    if brackets > BRACKETS_MAX {
        return Some(format!(
            "the query opens {brackets} brackets, at most {BRACKETS_MAX}"
        ));
    }
    let tokens = token_count(query);
    (tokens > TOKENS_MAX).then(|| format!("the query has {tokens} tokens, at most {TOKENS_MAX}"))
}

impl GraphqlRequest {
    /// Converts the request for execution. `data` is available to the resolvers.
    fn into_request(self, data: impl Send + Sync + 'static) -> Request {
        let variables = Variables::from_json(self.variables.unwrap_or_default().into());
        let request = Request::new(self.query).variables(variables).data(data);
        match self.operation_name {
            Some(name) => request.operation_name(name),
            None => request,
        }
    }
}

impl GraphqlResponse {
    fn from_cause(cause: &str) -> Self {
        Self {
            data: Value::Null,
            errors: vec![GraphqlError::new(cause, &[])],
        }
    }
}

impl From<Response> for GraphqlResponse {
    fn from(response: Response) -> Self {
        if response.is_ok() {
            return Self {
                // The conversion cannot fail, because the data consists of values that JSON can
                // represent.
                data: response.data.into_json().unwrap_or_default(),
                errors: Vec::new(),
            };
        }
        let errors = response.errors.iter().take(ERRORS_MAX);
        Self {
            data: Value::Null,
            errors: errors
                .map(|error| GraphqlError::new(&error.message, &error.locations))
                .collect(),
        }
    }
}

impl GraphqlError {
    fn new(cause: &str, positions: &[Pos]) -> Self {
        let locations = positions.iter().map(|position| Location {
            line: position.line,
            column: position.column,
        });
        Self {
            message: format!("{ERROR_PREFIX}: {cause}"),
            locations: locations.collect(),
        }
    }
}
