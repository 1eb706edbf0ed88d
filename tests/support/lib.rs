//! Test support for several crates.
//!
//! | module | content |
//! |---|---|
//! | `account`, `signer` | [`TestAccount`] with one ed25519 key, [`TestSigner`] with keys of every scheme |
//! | `transaction` | [`TransactionBuilder`], calls of functions |
//! | `chain` | development chains; [`MemoryChain`], a chain with its state in memory |
//! | `image`, `disk` | [`Disk`]: a disk in memory that fails like a real one |
//! | `hooked_disk` | [`HookedDisk`]: a disk in memory that calls a function before each read |
//! | `http` | HTTP clients (feature `http`) |
//!
//! `docs/internals/testing.md` lists the kinds of tests.
//!
//! # Rules
//!
//! The crate does not depend on the store or the actors, so that their unit tests can use it.

mod account;
mod chain;
mod disk;
mod hooked_disk;
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
pub use hooked_disk::HookedDisk;
pub use image::Image;
pub use signer::{TestKey, TestSigner};
pub use transaction::{
    FAR_FUTURE_SECS, TransactionBuilder, TransactionSigner, bcs_bytes, function_call,
    orderless_payload, transfer_call,
};
