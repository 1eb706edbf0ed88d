//! Observation of the node: a snapshot of every actor, thread and queue once per second, the newest
//! 15 minutes of them, and the stage that limits the throughput.

mod snapshot;

pub use snapshot::{
    Consumer, Edge, History, Limit, LimitKind, Processor, Queue, Rejection, SeriesHistory,
    SeriesInfo, SeriesValue, Snapshot, Stage, StageHistory, StageKind, SyncShare, ThreadGroup,
};
