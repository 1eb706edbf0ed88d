//! The GraphQL query `processor_status` of an indexer, the only one that a node can answer.
//!
//! Clients of this interface have a second source of data, an indexer with a GraphQL API, and wait
//! until it has processed their transactions. The TypeScript SDK waits whenever it funds an account
//! (docs/reference/reference-node.md#r36). The data of this node is as new as its ledger, so the
//! response has the ledger version. Other queries are rejected.

mod schema;
mod timestamp;

use crate::{
    context::{LedgerResponse, RequestContext, extract::body},
    error::{ApiError, ErrorKind},
    model::format::{Format, JSON},
};
use async_graphql::{Pos, Request, Response, Variables};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The largest body, in bytes. The query that is answered has 400 with its variables; reading a query
/// takes much longer than reading other bodies of the same length.
pub(crate) const BODY_BYTES_MAX: usize = 4 * 1024;

/// How many brackets a query may open. It bounds how deep anything in it is nested before the query is
/// parsed, which is done by recursion, and how many fields can be asked for under other names. The query
/// that is answered opens four.
const BRACKETS_MAX: usize = 16;

/// How many errors an answer lists; the first tells what is wrong.
const ERRORS_MAX: usize = 4;

/// What every refusal begins with.
const REFUSAL: &str = "this node serves processor_status only";

/// The body of a request.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct GraphqlRequest {
    /// The text of the query.
    query: String,
    /// The values of the query's variables.
    variables: Option<Value>,
    /// Which of the query's operations is meant, where it has several.
    #[serde(rename = "operationName")]
    operation_name: Option<String>,
}

/// What was asked for, or why there is nothing.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GraphqlAnswer {
    /// The members that were asked for, `null` where there are errors.
    data: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<GraphqlError>,
}

/// Why a query has no answer.
#[derive(Serialize, JsonSchema)]
struct GraphqlError {
    message: String,
    /// What it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Location>,
}

/// A place in the text of a query; both from 1.
#[derive(Serialize, JsonSchema)]
struct Location {
    #[schemars(with = "u64")]
    line: usize,
    #[schemars(with = "u64")]
    column: usize,
}

/// `POST /v1/graphql`
pub(crate) async fn graphql(mut cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    if cx.format() == Format::Bcs {
        return Err(ErrorKind::BcsNotSupported("graphql").into());
    }
    let (_, body) = cx.body_up_to(BODY_BYTES_MAX, &[JSON]).await?;
    let request: GraphqlRequest = body::parse_json(&body)?;
    let ledger_info = *cx.node().head().ledger_info();
    let answer = match refused_unread(&request.query) {
        Some(cause) => GraphqlAnswer::refusal(&cause),
        None => schema::SCHEMA
            .execute(request.with_data(ledger_info))
            .await
            .into(),
    };
    LedgerResponse::json(ledger_info, &answer)
}

/// Why a query is not even parsed. Fragments are refused, as one may name another many times, and that one
/// the next: few bytes may stand for very many fields. Questions about the schema would be answered with null
/// and no error.
fn refused_unread(query: &str) -> Option<String> {
    if query.contains("...") {
        return Some("the query has fragments".to_owned());
    }
    let asks_of_types = |(place, _)| !query[place..].starts_with("__typename");
    if query.contains("__schema") || query.match_indices("__type").any(asks_of_types) {
        return Some("the query asks about the schema".to_owned());
    }
    let brackets = query.matches(['(', '[', '{']).count();
    (brackets > BRACKETS_MAX)
        .then(|| format!("the query opens {brackets} brackets, at most {BRACKETS_MAX}"))
}

impl GraphqlRequest {
    /// The request with what its answer is made of.
    fn with_data(self, data: impl Send + Sync + 'static) -> Request {
        let variables = Variables::from_json(self.variables.unwrap_or_default());
        let request = Request::new(self.query).variables(variables).data(data);
        match self.operation_name {
            Some(name) => request.operation_name(name),
            None => request,
        }
    }
}

impl GraphqlAnswer {
    fn refusal(cause: &str) -> Self {
        Self {
            data: Value::Null,
            errors: vec![GraphqlError::new(cause, &[])],
        }
    }
}

impl From<Response> for GraphqlAnswer {
    fn from(response: Response) -> Self {
        if response.is_ok() {
            return Self {
                // Made of values that JSON has.
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
    fn new(cause: &str, places: &[Pos]) -> Self {
        let locations = places.iter().map(|place| Location {
            line: place.line,
            column: place.column,
        });
        Self {
            message: format!("{REFUSAL}: {cause}"),
            locations: locations.collect(),
        }
    }
}
