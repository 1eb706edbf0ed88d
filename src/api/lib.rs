//! The REST interface of a ledger node: one route table, one file per resource, one error table.
//!
//! The caller creates one [`ApiState`] and adds the routes to an actix-web app with [`configure`].
//! Handlers send requests to a [`ledger_actors::NodeHandle`].
//!
//! | module | content |
//! |---|---|
//! | `config` | [`ApiConfig`]: limits and switches, with their defaults |
//! | `error` | [`ErrorKind`]: every error with its status and code |
//! | `limits` | limits on requests, switches of the operator ([`Switches`]) |
//! | `model` | values as JSON and as BCS |
//! | `openapi` | the OpenAPI document, which [`openapi_document`] returns |
//! | `context` | [`ApiState`], a request and its response |
//! | `routes` | the route table, the handlers |
//! | `middleware` | tracing, CORS, admission, compression |
//! | `router` | the path of a request |
//!
//! `docs/internals/api.md` describes the stages of a request, `docs/reference/rest-contract.md` the
//! contract with clients, and `docs/use/interface.md` the rules where the contract is silent.
//!
//! # Rules
//!
//! * A module imports only from those above it (`tests/tidy/layers.rs`).
//! * The crate itself holds only permits, cached responses, and for each connection whether its
//!   signatures are trusted.
//!
//! # Example
//!
//! ```
//! use actix_web::{App, test};
//! use ledger_actors::{Node, NodeConfig};
//! use ledger_api::{ApiConfig, ApiState, configure};
//! use ledger_execution::{build_chain, development_genesis, execute_genesis};
//! use ledger_store::{Store, StoreOptions};
//! use ledger_types::{Parameters, Vendor};
//!
//! # actix_web::rt::System::new().block_on(async {
//! let genesis = development_genesis(4, Vendor::default(), Parameters::default());
//! let chain = build_chain(&genesis)?;
//! let directory = tempfile::tempdir()?;
//! let mut store = Store::open(directory.path(), &StoreOptions::default())?;
//! store.initialize(&genesis, &execute_genesis(&genesis, &chain))?;
//! let node = Node::start(chain, store, None, NodeConfig::default()).await?;
//!
//! let state = ApiState::new(node.handle(), ApiConfig::default(), "");
//! let app = test::init_service(App::new().configure(|app| configure(app, &state))).await;
//! let request = test::TestRequest::get().uri("/v1").to_request();
//! let ledger: serde_json::Value = test::call_and_read_body_json(&app, request).await;
//! assert_eq!((&ledger["chain_id"], &ledger["block_height"]), (&4.into(), &"0".into()));
//! node.stop().await?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub use context::{ApiState, ResponseCache, ResponseCacheStatus, UnencodedBody};
pub use error::{
    ErrorBody, ErrorCode, ErrorKind, SDK_NEEDS_PRESET, Switch, TransactionName,
    UNWRITABLE_RETRY_AFTER_SECS, extraction_error, unknown_route, wrong_method,
};
pub use limits::{
    Connection, DeniedAddresses, Execution, FunctionName, RouteMeters, RouteStatus, SwitchChange,
    Switches, TrafficMeter, TrafficReport, client_address,
};
pub use middleware::{admission::PATH_AND_QUERY_BYTES_MAX, cors::BrowserCors};
pub use model::json::{parse_body, submission_from_json, submission_json};
pub use openapi::DeclaredResponse;
pub use router::{configure, configure_graphql, declared_responses, openapi_document};
