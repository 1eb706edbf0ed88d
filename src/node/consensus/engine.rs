//! The engine of a validator, beside its node.

use super::{DirectoryError, Secrets, ValidatorDirectory};
use crate::config::Settings;
use ledger_actors::{
    NodeHandle,
    engine::{ConsensusStart, may_sign},
};
use ledger_bft::{Engine, EngineState, EngineStatus, StartError, Timeouts, log_height};
use ledger_crypto::HashValue;
use ledger_types::AccountAddress;
use ledger_vm::Chain;
use std::{io, path::PathBuf, sync::Arc, time::Duration};
use tokio::{sync::watch, task::JoinHandle};

/// The reason that a validator does not start.
#[derive(Debug, thiserror::Error)]
pub enum ConsensusError {
    /// A file of the directory cannot be used.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The engine's log cannot be read.
    #[error("{path}: {source}")]
    EngineLog {
        /// Path of the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The engine does not start.
    #[error("the consensus engine does not start: {0}")]
    Engine(#[from] StartError),
}

/// An engine that is not started, with what it needs of its directory.
#[derive(Debug)]
pub struct PreparedEngine {
    directory: ValidatorDirectory,
    secrets: Secrets,
    signed_height: Option<u64>,
    work: watch::Receiver<u64>,
}

impl PreparedEngine {
    /// Reads the directory of a validator. Also returns what its node starts with.
    ///
    /// # Errors
    ///
    /// Returns [`ConsensusError::Directory`] if a file cannot be used.
    pub fn open(directory: ValidatorDirectory) -> Result<(Self, ConsensusStart), ConsensusError> {
        let secrets = directory.secrets()?;
        let (log, signed_height) = directory.consensus_log()?;
        let (work, heights) = watch::channel(0);
        let start = ConsensusStart {
            address: AccountAddress::from_public_key(&secrets.validator.public_key()),
            log,
            work,
        };
        let prepared = Self {
            directory,
            secrets,
            signed_height,
            work: heights,
        };
        Ok((prepared, start))
    }

    /// Starts the engine. `next_height` is the height that it decides first.
    ///
    /// # Errors
    ///
    /// Returns [`ConsensusError`] if a file cannot be used or the engine does not start.
    pub fn start(
        self,
        settings: &Settings,
        node: &NodeHandle,
        genesis_hash: HashValue,
        next_height: u64,
    ) -> Result<RunningEngine, ConsensusError> {
        let chain = node.chain();
        let log_path = self.directory.engine_log();
        let logged = log_height(&log_path).map_err(|source| ConsensusError::EngineLog {
            path: log_path.clone(),
            source,
        })?;
        let is_validator = is_validator(chain, &self.secrets);
        let is_signer = is_validator && may_sign(next_height, self.signed_height, logged);
        if is_validator && !is_signer {
            tracing::warn!(
                next_height,
                signed_height = ?self.signed_height,
                engine_log_height = ?logged,
                "this validator may have signed for a height that its files do not have: it follows \
                 without votes until two heights are decided"
            );
        }
        let requests = node.engine_requests();
        let engine = Engine::start(
            ledger_bft::Settings {
                validator_key: is_signer.then(|| self.secrets.validator.clone()),
                network_key: self.secrets.network.clone(),
                validators: chain.validators().clone(),
                vendor: chain.vendor().clone(),
                genesis_hash,
                listen_address: settings.consensus.listen.to_string(),
                peers: self.directory.peers()?,
                log_path,
                timeouts: Timeouts {
                    propose: Duration::from_millis(settings.consensus.propose_timeout_ms),
                    ..Timeouts::default()
                },
                block_bytes_max: usize::try_from(chain.parameters().encoded_block_bytes_max())
                    .unwrap_or(usize::MAX),
            },
            Arc::new(move |request| requests.send(request)),
        )?;
        Ok(RunningEngine::new(engine, self.work, node.clone()))
    }
}

/// Returns whether the node's key is one of the validators'.
fn is_validator(chain: &Chain, secrets: &Secrets) -> bool {
    let address = AccountAddress::from_public_key(&secrets.validator.public_key());
    chain.validators().get(&address).is_some()
}

/// A running engine.
pub struct RunningEngine {
    engine: Arc<Engine>,
    task: JoinHandle<()>,
}

impl RunningEngine {
    /// Starts a task that announces the heights of `work` to the peers, and reports the end of the
    /// engine to the node.
    fn new(engine: Engine, mut work: watch::Receiver<u64>, node: NodeHandle) -> Self {
        let engine = Arc::new(engine);
        let running = Arc::clone(&engine);
        let task = tokio::spawn(async move {
            let mut status = running.status();
            loop {
                tokio::select! {
                    changed = work.changed() => {
                        let height = *work.borrow_and_update();
                        match changed {
                            Ok(()) => running.announce_work(height),
                            // The node has stopped.
                            Err(_) => return,
                        }
                    }
                    reason = stop_reason(&mut status) => {
                        return node.report_engine_stopped(&reason);
                    }
                }
            }
        });
        Self { engine, task }
    }

    /// Stops the engine, and waits until its threads have ended.
    pub async fn stop(self) {
        self.task.abort();
        // The task holds the other reference until it has ended.
        let _ = self.task.await;
        // Blocks this thread, which has nothing else to do during a stop.
        drop(self.engine);
    }
}

/// Waits until the engine stops, and returns the reason.
async fn stop_reason(status: &mut watch::Receiver<EngineStatus>) -> String {
    let is_stopped = |status: &EngineStatus| matches!(status.state, EngineState::Stopped(_));
    match status
        .wait_for(is_stopped)
        .await
        .map(|status| status.state.clone())
    {
        Ok(EngineState::Stopped(reason)) => reason.to_string(),
        Ok(_) | Err(_) => "its thread ended".to_owned(),
    }
}
