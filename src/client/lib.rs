//! Clients of a ledger node: keys and signatures, REST interface, faucet, load generator.
//!
//! | module | content |
//! |---|---|
//! | [`signer`] | keys, and transactions that are built and signed |
//! | `node`, `faucet` | the REST interface ([`NodeClient`]) and the faucet ([`FaucetClient`]) |
//! | `admin` | the admin listener ([`AdminClient`]) |
//! | [`http`] | connections of HTTP/1.1, URLs, TLS |
//! | [`load`] | connections, workers and measurements of a load |
//! | `error` | errors of requests: [`ClientError`] |
//!
//! The commands of the binary use the crate. `docs/use/quickstart.md` shows the commands,
//! `docs/reference/rest-contract.md` describes the interface, and `benches/README.md` the
//! measurements with the load generator.
//!
//! # Rules
//!
//! Of the node's crates, this one depends only on `ledger-crypto` and `ledger-types`.
//!
//! # Example
//!
//! ```
//! use ledger_client::signer::{Signer, Terms, parse_private_key, transfer, unix_secs_after};
//! use ledger_types::{ChainIdentity, CheckedTransaction, Parameters, ReplayProtector, Vendor};
//! use std::time::Duration;
//!
//! let key = parse_private_key(&"07".repeat(32)).expect("64 hex digits");
//! let signer = Signer::new(key);
//! let chain = ChainIdentity { id: 4, vendor: Vendor::default() };
//! let terms = Terms {
//!     max_gas_amount: 2_000,
//!     gas_unit_price: 100,
//!     expiration_timestamp_secs: unix_secs_after(Duration::from_secs(60)),
//! };
//! let call = transfer(&chain.vendor, "0xb0b".parse()?, 1_000);
//! let signed = signer.sign(&chain, ReplayProtector::SequenceNumber(0), call, terms);
//! assert_eq!(signed.raw.sender, signer.address());
//!
//! // A node makes the same check when it receives the transaction.
//! let checked = CheckedTransaction::check(signed, &chain.vendor, &Parameters::default())?;
//! assert_eq!(checked.raw().sequence_number, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// A node's response must not end the process: a panic means a broken invariant, and names it.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod admin;
mod error;
mod faucet;
pub mod http;
pub mod load;
mod node;
pub mod signer;

pub use admin::AdminClient;
pub use error::{ClientError, ClientTlsError, RequestError};
pub use faucet::FaucetClient;
pub use node::{
    AccountState, LedgerState, NodeClient, NumberedTransaction, TransactionOutcome,
    submission_media_type,
};
