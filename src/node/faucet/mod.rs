//! The faucet of a development chain: `/fund` and `/mint` as the ecosystem's SDKs call them.
//!
//! Requests go into one bounded queue; a single task (`funder.rs`) owns the key and the sequence
//! number, folds what is waiting into one transaction, and answers when that is committed. So
//! requests never collide on a sequence number, and many at once cost few transactions.

mod error;
mod funder;
mod handle;
mod host_origin;
mod recipient;
mod routes;

pub use handle::Faucet;
pub use routes::configure;
