//! Tests of the whole store: against a model, under crashes and damage, its errors and its costs.

mod apply;
mod cost;
mod crash;
mod damage;
mod decided;
mod disk_space;
mod log_tail;
mod model;
mod moved_files;
mod recovery;
mod refusals;
mod scrub;
mod state_keys;
mod usage;
mod workload;

use crate::{Store, StoreOptions, index::compaction::CompactionConfig, wal::WalConfig};

/// Options with so little memory for pages that reads reach the backend.
const OPTIONS: StoreOptions = StoreOptions {
    cache_bytes: 1024 * 1024,
};

/// Configuration of a store.
#[derive(Clone, Copy, Debug)]
struct Config {
    wal: WalConfig,
    compaction: CompactionConfig,
}

impl Config {
    /// A configuration of short tests.
    const SMALL: Self = Self {
        wal: WalConfig::SMALL,
        compaction: CompactionConfig::SMALL,
    };

    /// Returns [`Self::SMALL`] with this configuration of the log.
    const fn with_wal(wal: WalConfig) -> Self {
        Self { wal, ..Self::SMALL }
    }

    /// Returns [`Self::SMALL`] with this configuration of compaction.
    const fn with_compaction(compaction: CompactionConfig) -> Self {
        Self {
            compaction,
            ..Self::SMALL
        }
    }
}

/// Configures a store.
fn configured(mut store: Store, config: Config) -> Store {
    store.configure(config.wal, config.compaction);
    store
}
