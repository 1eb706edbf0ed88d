//! The operator's listener: each actor's mailbox, the lanes of signatures, the switches of a running node, and
//! all that is counted, for Prometheus.

mod actors;
mod authorize;
mod connections;
mod context;
mod filter;
mod metrics;
mod routes;
mod storage;
mod switches;

pub use context::Admin;
pub use routes::configure;
