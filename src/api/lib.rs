//! The REST interface of a ledger node: one route table, one file per resource, one error table.
//!
//! | to find | look in |
//! |---|---|
//! | which routes there are | `routes.rs` |
//! | what the document of the interface says of them | `openapi/` |
//! | what a route does | `endpoints/` |
//! | every error with its status and code | `error/` |
//! | what is answered where no route fits | `fallback.rs` |
//! | how things look as JSON, as BCS | `json/`, `wire.rs` |
//! | where a resource lies in the state; the types of tables | `resource.rs`, `tables.rs` |
//! | what pages of other origins may do | `cors.rs` |
//! | which answers are compressed; what is logged and counted of requests | `compression.rs`, `trace.rs`, `meter.rs` |
//! | what an operator can turn off | `switches.rs` |
//! | limits on requests | `admission.rs`, `body.rs`, `large.rs`, `connection.rs`, [`ApiConfig`] |
//!
//! Everything is asked of a [`ledger_actors::NodeHandle`]; this crate keeps no state but the places
//! of requests in flight and of large answers, and of each connection whether it is trusted to sign well.

// What a client sends must not end the process: a panic is for a broken invariant, and says which.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod admission;
mod answer;
mod body;
mod call;
mod compression;
mod config;
mod connection;
mod cors;
mod decimal;
mod dispatch;
mod endpoints;
mod error;
mod fallback;
mod format;
mod headers;
mod json;
mod kept;
mod large;
mod media_types;
mod meter;
mod openapi;
mod params;
mod resource;
mod routes;
mod state;
mod switches;
mod tables;
mod trace;
mod vary;
mod wire;

pub use config::{ApiConfig, SwitchSettings};
pub use connection::Connection;
pub use cors::{ForPages, cors};
pub use error::{ErrorBody, ErrorCode, Problem, TransactionName};
pub use fallback::{extraction_problem, unknown_route, wrong_method};
pub use json::{submission_from_json, submission_json};
pub use kept::KeptAnswersStatus;
pub use meter::RouteStatus;
pub use openapi::{DeclaredAnswer, declared_answers, openapi_document};
pub use routes::{configure, configure_graphql};
pub use state::ApiState;
pub use switches::{Switch, SwitchChange};
