//! Indices that find rows by random keys: sorted runs of packed entries.
//!
//! New entries gather in a [`Memtable`]. It is flushed to a sorted run ([`run`]) once it has
//! `CompactionConfig::flush_after` entries, or entries of as many versions. Several runs of a
//! level (`CompactionConfig::pick_compaction`) are merged into one of the next, in bounded steps
//! beside the commits ([`compaction`]). An entry is therefore written once per level, always in
//! order, and its cost does not grow with the tree.
//!
//! The runs of an index follow each other in time: each holds the entries of its own range of
//! versions. A search that begins with the newest run can therefore stop early.
//!
//! | kind | entry | found by |
//! |---|---|---|
//! | `Hash` | hash 8, version 8 | transaction hash |
//! | `State` | digest 16, version 8, number 4 | state key, or the address it belongs to |
//! | `Account` | digest 12, sequence number 8, version 8 | sender |
//! | `Account` | another digest 12, version 8, version 8 | sender of an orderless transaction |
//! | `Stream` | digest 12, sequence number 8, version 8, number 4 | event stream |
//! | `PrunedState` | digest 16; payload: key, last pruned write | state key, below the window |
//! | `PrunedState` | digest 16; payload: stream, next event number | stream with pruned events |
//!
//! Numbers are big-endian, so entries sort as bytes. A merge omits entries below the window,
//! and a run that lies entirely below it is removed. The kinds that are searched for single keys
//! (`Hash`, `State`, `PrunedState`) have a filter for each run ([`bloom`]), which excludes most
//! runs that do not hold a key.

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
