//! The test kit of all crates.
//!
//! | module | content |
//! |---|---|
//! | `account`, `wallet` | [`TestAccount`] with one ed25519 key; [`Wallet`] counts its sequence number |
//! | `signer` | [`TestSigner`] with keys of every scheme |
//! | `transaction` | [`TransactionBuilder`], calls of functions |
//! | [`mod@draft`], [`mod@block`] | transactions without valid signatures, blocks without execution |
//! | [`generated`] | a generator of large chains without execution |
//! | `chain` | development chains; [`MemoryChain`], a chain with its state in memory |
//! | `image`, `disk` | [`Disk`]: a disk in memory that fails like a real one |
//! | `hooked_disk` | [`HookedDisk`]: a disk in memory that calls a function before each read |
//! | `hand_clock` | [`HandClock`]: a clock that tests advance manually |
//! | `differences` | differences from the reference node, and the lists of their reasons (feature `differences`) |
//! | `store` | stores of development chains (feature `store`) |
//! | `http` | HTTP clients (feature `http`) |
//! | `node` | the binary in a process of its own, its load, and a disk that slows it (feature `node`) |
//!
//! `docs/internals/testing.md` lists the kinds of tests.
//!
//! # Rules
//!
//! The crate names public types only. Without features it depends on no crate above
//! `ledger-execution`, so the unit tests of the crates above can use it without a second copy of
//! their own types. A helper that names private types is in one private module of its crate's unit
//! tests, a helper of a single test binary in that binary.

mod account;
pub mod block;
mod chain;
#[cfg(feature = "differences")]
pub mod differences;
mod disk;
pub mod draft;
pub mod generated;
mod hand_clock;
mod hooked_disk;
#[cfg(feature = "http")]
pub mod http;
mod image;
#[cfg(feature = "node")]
pub mod node;
mod signer;
#[cfg(feature = "store")]
pub mod store;
mod transaction;
mod wallet;

pub use account::{TestAccount, seed};
pub use chain::{
    GAS_UNIT_PRICE, MemoryChain, START_SECS, development_chain, funded_genesis, next_block,
    test_genesis,
};
pub use disk::{Disk, Fault, LogFile, Traffic};
pub use hand_clock::HandClock;
pub use hooked_disk::HookedDisk;
pub use image::Image;
pub use signer::{TestKey, TestSigner};
pub use transaction::{
    FAR_FUTURE_SECS, TransactionBuilder, TransactionSigner, bcs_bytes, function_call, now_secs,
    orderless_payload, transfer_call,
};
pub use wallet::Wallet;
