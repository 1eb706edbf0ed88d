//! Runs: sorted entries in blocks of the table `runs`.
//!
//! The key of a block is the id of the run and the first entry. The bloom filter of a run is in the
//! same table under an id of its own.

pub(crate) mod block;
pub(crate) mod cursor;
pub(crate) mod reader;
pub(crate) mod writer;
