//! The faucet of a development chain: `/fund` and `/mint` as the ecosystem's SDKs call them.
//!
//! Requests are put into one bounded queue. A single task (`funder.rs`) owns the key and its
//! sequence number. It pays all waiting requests with one transaction, and responds when the
//! transaction is committed. So requests never collide on a sequence number, and many requests take
//! few transactions.

mod batch_times;
mod error;
mod funder;
mod handle;
mod host_origin;
mod recipient;
mod routes;

pub use error::FaucetError;
pub use handle::Faucet;
pub use routes::configure;
