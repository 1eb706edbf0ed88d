//! Limits on what is held at once.
//!
//! | limit | holders |
//! |---|---|
//! | [`Limit`] | a number of [`Permit`]s |
//! | [`KeyedLimit`] | a number of [`KeyedPermit`]s for each key, such as a client's address |
//! | [`MemoryBudget`] | bytes, in [`MemoryLease`]s |
//! | [`open_regular_file`], [`read_bounded`] | the bytes of one file |
//!
//! None of them waits: a caller that gets no permit rejects its request. Permits and leases are
//! released when they are dropped, so a task that is canceled releases what it held.

mod file;
mod keyed;
mod memory;
mod permit;

pub use file::{open_regular_file, read_bounded, read_bounded_text};
pub use keyed::{KeyedLimit, KeyedPermit, network_of};
pub use memory::{MemoryBudget, MemoryLease, SMALL_LEASE_BYTES_MAX};
pub use permit::{Limit, Permit};
