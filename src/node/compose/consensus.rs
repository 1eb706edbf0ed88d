//! The start of a node, with its consensus engine if several validators order the chain.

use super::error::RunError;
#[cfg(feature = "bft")]
use crate::consensus::{ConsensusDirectory, ConsensusError};
use crate::{config::Settings, consensus::PeerRegistry};
use ledger_actors::{Clock, Node};
use ledger_store::Store;
use ledger_vm::Chain;
use std::sync::Arc;

/// Starts a node, and the engine if the chain has validators. `sequencer.mode` agrees with the
/// chain (`genesis.rs`).
///
/// # Errors
///
/// Returns [`RunError::Fatal`] if the node or the engine does not start.
pub async fn start_node(
    settings: &Settings,
    chain: Chain,
    store: Store,
) -> Result<(Node, Engine), RunError> {
    #[cfg(feature = "bft")]
    if let Some(genesis_hash) = chain.genesis_hash()
        && let Some(directory) = &settings.consensus.directory
    {
        return bft::start(settings, chain, store, genesis_hash, directory).await;
    }
    let clock = match settings.chain.start_secs {
        0 => Clock::default(),
        start_secs => Clock::starting_at_secs(start_secs),
    };
    let directory = settings.storage.directory();
    let node = Node::start_with_clock(chain, store, directory, settings.node_config(), clock)
        .await
        .map_err(|error| RunError::fatal("the node does not start", &error))?;
    Ok((node, Engine::default()))
}

/// Checks the keys and the peers of a node of several validators, as its start does.
///
/// # Errors
///
/// Returns [`RunError::Fatal`] if a file of `consensus.directory` cannot be used.
#[cfg(feature = "bft")]
pub fn check_consensus(settings: &Settings) -> Result<(), RunError> {
    let Some(directory) = &settings.consensus.directory else {
        return Ok(());
    };
    let check = || -> Result<(), ConsensusError> {
        let directory = ConsensusDirectory::new(directory);
        directory.secrets()?;
        directory.peers().peers()?;
        Ok(())
    };
    check().map_err(|error| RunError::fatal("consensus.directory", &error))
}

/// Accepts any settings, because a program without an engine reads no directory of one.
///
/// # Errors
///
/// Returns none.
#[cfg(not(feature = "bft"))]
pub fn check_consensus(_: &Settings) -> Result<(), RunError> {
    Ok(())
}

#[cfg(feature = "bft")]
pub use bft::Engine;

#[cfg(feature = "bft")]
mod bft {
    use super::*;
    use crate::consensus::{PreparedEngine, RunningEngine, RunningPeers};
    use ledger_crypto::HashValue;
    use std::path::Path;

    /// The engine of a node. Empty on a chain of one node.
    #[derive(Default)]
    pub struct Engine(Option<RunningEngine>);

    impl Engine {
        /// Returns the peers of the node.
        pub fn peers(&self) -> Option<Arc<dyn PeerRegistry>> {
            let engine = self.0.as_ref()?;
            Some(Arc::new(RunningPeers::new(engine)))
        }

        /// Stops the engine.
        pub async fn stop(self) {
            if let Some(engine) = self.0 {
                engine.stop().await;
            }
        }
    }

    impl std::fmt::Debug for Engine {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_tuple("Engine").field(&self.0.is_some()).finish()
        }
    }

    pub async fn start(
        settings: &Settings,
        chain: Chain,
        store: Store,
        genesis_hash: HashValue,
        directory: &Path,
    ) -> Result<(Node, Engine), RunError> {
        let failed = |error: ConsensusError| RunError::fatal("the node does not start", &error);
        let directory = ConsensusDirectory::new(directory);
        let (prepared, consensus) = PreparedEngine::open(directory, &chain).map_err(failed)?;
        let started = Node::start_with_consensus(
            chain,
            store,
            settings.storage.directory(),
            settings.node.clone(),
            consensus,
        );
        let (node, next_height) = started
            .await
            .map_err(|error| RunError::fatal("the node does not start", &error))?;
        let handle = node.handle();
        match prepared.start(settings, &handle, genesis_hash, next_height) {
            Ok(engine) => Ok((node, Engine(Some(engine)))),
            Err(error) => {
                if let Err(error) = node.stop().await {
                    tracing::error!(%error, "stopping after a failed start");
                }
                Err(failed(error))
            }
        }
    }
}

/// The engine of a node that orders alone: none.
#[cfg(not(feature = "bft"))]
#[derive(Debug, Default)]
pub struct Engine(());

#[cfg(not(feature = "bft"))]
impl Engine {
    /// Returns the peers of the node: none.
    pub fn peers(&self) -> Option<Arc<dyn PeerRegistry>> {
        None
    }

    /// Does nothing.
    pub async fn stop(self) {}
}
