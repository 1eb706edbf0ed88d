//! Tests of the whole store: against a model, under crashes, and what it refuses.

mod cost;
mod crash;
mod damage;
mod kit;
mod model;
mod recovery;
mod refusals;
mod state_keys;
mod workload;

use crate::{Store, StoreOptions, index::compaction::CompactionConfig};

/// Little memory for pages, so that reads reach the backend.
const OPTIONS: StoreOptions = StoreOptions {
    cache_bytes: 1024 * 1024,
};

/// The pace of short runs.
const SMALL_RUNS: CompactionConfig = CompactionConfig::SMALL_RUNS;

/// Sets the pace of a store.
fn with_config(mut store: Store, config: CompactionConfig) -> Store {
    store.set_config(config);
    store
}
