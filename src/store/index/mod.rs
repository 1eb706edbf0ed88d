//! Indices: sorted runs of packed entries, which find rows by random keys.
//!
//! New entries gather in a [`memtable`]. After [`compaction::CompactionConfig::flush_after`]
//! entries or versions it is flushed as a sorted [`run`]. Runs of one level merge into a run of the
//! next ([`compaction`]), a bounded step beside each commit. An entry is so written once per level,
//! always in order, and its cost does not grow with the tree. Runs of an index follow each other in
//! time: each holds the entries of its own range of versions, so a search from the newest run may
//! end early.
//!
//! | kind | entry | finds |
//! |---|---|---|
//! | `Hash` | hash 8, version 8 | transaction hash |
//! | `State` | digest 16, version 8, number 4 | state key, or its address |
//! | `Account` | digest 12, sequence number 8, version 8 | sender |
//! | `Account` | another digest 12, version 8, version 8 | sender of an orderless transaction |
//! | `Stream` | digest 12, sequence number 8, version 8, number 4 | event stream |
//! | `PrunedState` | digest 16; payload: key and write | state key, below the window |
//! | `PrunedState` | digest 16; payload: stream and next number | stream with pruned events |
//!
//! Numbers are big endian, so that entries sort as bytes. Merges drop entries below the window, and
//! a run that is completely below it is discarded. Kinds that are searched for single keys (`Hash`,
//! `State`, `PrunedState`) have a [`bloom`] filter beside each run, which excludes most runs that
//! do not contain a key.

pub(crate) mod batch;
pub(crate) mod bloom;
pub(crate) mod bloom_set;
pub(crate) mod compaction;
pub(crate) mod digest;
pub(crate) mod key;
pub(crate) mod manifest;
pub(crate) mod memtable;
pub(crate) mod reader;
pub(crate) mod run;

pub(crate) use bloom_set::BloomFilters;
pub(crate) use key::Kind;
pub(crate) use manifest::Manifest;
pub(crate) use memtable::Memtable;
pub(crate) use reader::IndexReader;
