//! Test support for several crates: accounts, transactions, chains in memory, a disk that fails,
//! and HTTP clients (feature `http`).
//!
//! The crate does not depend on the store or the actors, so that their unit tests can use it.

mod account;
mod chain;
mod disk;
#[cfg(feature = "http")]
pub mod http;
mod image;
mod signer;
mod transaction;

pub use account::{TestAccount, seed};
pub use chain::{
    GAS_UNIT_PRICE, MemoryChain, START_SECS, development_chain, funded_genesis, next_block,
    test_genesis,
};
pub use disk::{Disk, Fault, LogFile, Traffic};
pub use image::Image;
pub use signer::{TestKey, TestSigner};
pub use transaction::{
    FAR_FUTURE_SECS, TransactionBuilder, TransactionSigner, bcs_bytes, function_call,
    orderless_payload, transfer_call,
};
