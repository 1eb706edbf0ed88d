//! Finding rows by random keys: sorted runs of packed entries.
//!
//! New entries gather in memory (`recent`). Every [`merge::CompactionConfig::flush_after`] of them, or versions, they are
//! written as a sorted run (`run`), and some runs of a level ([`merge::CompactionConfig::pick_compaction`]) merge into one of the next, a
//! bounded step beside each commit (`merge`). So an entry is written once per level, always in
//! order, and its cost does not grow with the tree. Runs of an index follow each other in time:
//! each holds the entries of its own range of versions, so looking newest first may stop early.
//!
//! | kind | entry | found by |
//! |---|---|---|
//! | `Hash` | hash 8, version 8 | transaction hash |
//! | `State` | digest 16, version 8, number 4 | state key, or the address it belongs to |
//! | `Account` | digest 12, sequence number 8, version 8 | sender |
//! | `Account` | another digest 12, version 8, version 8 | sender of an orderless transaction |
//! | `Stream` | digest 12, sequence number 8, version 8, number 4 | event stream |
//! | `PrunedState` | digest 16; with the key and its write as payload | state key, below the window |
//! | `PrunedState` | digest 16; with the stream and where it goes on | stream with pruned events |
//!
//! Numbers are big endian, so that entries sort as bytes. Entries below the window are left out
//! when runs merge, and a run wholly below it is dropped. The kinds of which single keys are asked for (`Hash`, `State`,
//! `PrunedState`) have a `filter` beside each run, which says of most runs that do not hold a key that they do not.

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
