//! Starting and stopping: which actor runs where, and in which order they end.

use crate::{FatalError, NodeConfig, NodeHandle, StartError, StopError};
use ledger::Chain;
use ledger_store::Store;
use std::path::Path;

/// A running node; owns every thread and arbiter.
#[derive(Debug)]
pub struct Node;

impl Node {
    /// Starts all actors on an initialized store (its genesis is committed).
    ///
    /// `data_dir` is where a graceful stop saves the pool (file `mempool.bcs`) and a start looks
    /// for it; `None`: the pool is not saved. Must be called within an actix system.
    ///
    /// # Errors
    /// When a setting is 0 that may not be, the store cannot be read, or a thread not be started.
    pub async fn start(
        chain: Chain,
        store: Store,
        data_dir: Option<&Path>,
        config: NodeConfig,
    ) -> Result<Self, StartError> {
        let _ = (chain, store, data_dir, config);
        todo!()
    }

    /// The way to the node.
    pub fn handle(&self) -> NodeHandle {
        todo!()
    }

    /// Ends when the node can do no more work: a disk that fails or a broken invariant. Whoever
    /// runs the node then ends the process with the message and exit code 1. Safe to drop and call again.
    pub async fn failed(&self) -> FatalError {
        todo!()
    }

    /// Stops the actors in order, joins every thread, and saves the pool.
    ///
    /// # Errors
    /// When the node had failed before, a thread had panicked, or the pool could not be saved.
    /// Everything is stopped and joined all the same.
    pub async fn stop(self) -> Result<(), StopError> {
        todo!()
    }
}
