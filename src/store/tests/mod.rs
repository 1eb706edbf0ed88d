//! Tests of the whole store: against a model, under crashes, and what it refuses.

mod cost;
mod crash;
mod damage;
mod kit;
mod model;
mod refusals;
mod replay;
mod shield;
mod slots;
mod workload;

use crate::{Store, StoreOptions, index::merge::Pace};

/// Little memory for pages, so that reads reach the backend.
const OPTIONS: StoreOptions = StoreOptions {
    cache_bytes: 1024 * 1024,
};

/// The pace of short runs.
const FAST: Pace = Pace::QUICK;

/// Sets the pace of a store.
fn with_pace(mut store: Store, pace: Pace) -> Store {
    store.set_pace(pace);
    store
}
