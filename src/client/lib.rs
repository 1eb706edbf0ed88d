//! Clients of a ledger node: keys and signatures, REST interface, faucet, load generator.
//!
//! | to find | look in |
//! |---|---|
//! | keys, and transactions that are built and signed | `signer` |
//! | the REST interface and the faucet | `node`, `faucet` |
//! | connections of HTTP/1.1, URLs, TLS | `http` |
//! | connections, workers and measurements of a load | `load` |
//! | errors of requests | `error` |

// A node's response must not end the process: a panic means a broken invariant, and names it.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod error;
mod faucet;
pub mod http;
pub mod load;
mod node;
pub mod signer;

pub use error::{ClientError, RequestError, TlsError};
pub use faucet::FaucetClient;
pub use node::{
    AccountState, CommittedTransaction, LedgerState, NodeClient, submission_media_type,
};
