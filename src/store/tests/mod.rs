//! Tests of the whole store: comparison with a model, cost, crashes, damage, recovery and
//! rejections.

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

/// A page cache so small that reads reach the backend.
const OPTIONS: StoreOptions = StoreOptions {
    cache_bytes: 1024 * 1024,
};

/// Configuration with short runs, so that few rows pass through several levels.
const SMALL_RUNS: CompactionConfig = CompactionConfig::SMALL_RUNS;

/// Returns `store` with another configuration of its compaction.
fn with_config(mut store: Store, config: CompactionConfig) -> Store {
    store.set_config(config);
    store
}
