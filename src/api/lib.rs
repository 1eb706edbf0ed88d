//! The REST interface of a ledger node: one route table, one file per resource, one error table.
//!
//! | to find | look in |
//! |---|---|
//! | configuration | `config.rs` |
//! | every error with its status and code | `error/` |
//! | limits on requests, switches of the operator | `limits/` |
//! | values as JSON and as BCS | `model/` |
//! | the OpenAPI document | `openapi/` |
//! | the state, a request and its response | `context/` |
//! | the route table, the handlers | `routes/` |
//! | tracing, CORS, admission, compression | `middleware/` |
//! | the path of a request | `router.rs` |
//!
//! Handlers send requests to a [`ledger_actors::NodeHandle`]. The crate itself keeps permits,
//! cached responses, and for each connection whether its signatures are trusted.

// What a client sends must not end the process: a panic is for a broken invariant, and says which.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod config;
mod context;
mod error;
mod limits;
mod middleware;
mod model;
mod openapi;
mod router;
mod routes;

pub use config::{ApiConfig, SwitchSettings};
pub use context::{ApiState, ResponseCache, ResponseCacheStatus};
pub use error::{
    ErrorBody, ErrorCode, ErrorKind, Switch, TransactionName, extraction_error, unknown_route,
    wrong_method,
};
pub use limits::{Connection, RouteMeters, RouteStatus, SwitchChange, Switches};
pub use middleware::cors::BrowserCors;
pub use model::json::{submission_from_json, submission_json};
pub use openapi::DeclaredResponse;
pub use router::{configure, configure_graphql, declared_responses, openapi_document};
