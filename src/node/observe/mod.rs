//! Observation of the node: a snapshot of every actor, thread and queue once per second, the newest
//! 15 minutes of them, and the stage that limits the throughput.
//!
//! Nothing measures for this module. Each part of the node has its counters, and the kernel counts
//! the processor time of threads. A `Reading` is all of them at one time, and a [`Snapshot`] the
//! difference of two.
//!
//! | file | content |
//! |---|---|
//! | `snapshot.rs` | types of the JSON |
//! | `threads.rs` | processor time of threads |
//! | `reading.rs` | all counters at one time |
//! | `stages.rs`, `edges.rs`, `series.rs` | stages, messages between them, values of charts |
//! | `limit.rs`, `remedy.rs` | the rule that names the limiting stage, and what helps against it |
//! | `executions.rs` | the time of the executor for each sender and function |
//! | `history.rs` | the newest 15 minutes |
//! | `sampler.rs` | the task that takes the snapshots |

mod edges;
mod executions;
mod history;
mod limit;
mod reading;
mod remedy;
mod sampler;
mod series;
mod snapshot;
mod stages;
mod threads;

pub use history::SNAPSHOTS_MAX;
pub use reading::Sources;
pub use sampler::{Observer, Published, Sampler};
#[cfg(test)]
pub use snapshot::StageKind;
pub use snapshot::{
    Edge, History, Limit, LimitKind, Processor, Queue, SeriesHistory, Snapshot, Stage,
};
pub use stages::budget_setting;
pub use threads::ProcessReading;
