//! A run: sorted entries in blocks of the table of runs, and its bloom filter.

pub(crate) mod block;
pub(crate) mod cursor;
pub(crate) mod reader;
pub(crate) mod writer;
