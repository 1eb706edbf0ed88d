//! A running node with its listeners, and their order: actors start first and stop last.

use super::{listeners::Listeners, memory, node_config, room::RoomWatch};
use crate::{commands::Failure, config::Settings, guard::Token};
use ledger::{Chain, Genesis};
use ledger_actors::Node;
use ledger_store::Store;
use rustls::ServerConfig;
use std::future::Future;

/// Everything that runs.
#[derive(Debug)]
pub struct Service {
    node: Node,
    listeners: Listeners,
    /// Ends with the service.
    _room: Option<RoomWatch>,
}

impl Service {
    /// Starts the actors, then the listeners; with `tls`, the interface is served over TLS, and with
    /// `admin_token` the operator's listener answers only those who carry it.
    ///
    /// # Errors
    /// When an actor cannot start or an address cannot be listened on.
    pub async fn start(
        settings: &Settings,
        genesis: &Genesis,
        chain: Chain,
        store: Store,
        tls: Option<ServerConfig>,
        admin_token: Option<Token>,
    ) -> Result<Self, Failure> {
        tracing::info!(
            memory_bytes_max = memory::bytes_max(settings),
            "what the limits allow in memory"
        );
        let directory = settings.storage.data_dir.as_path();
        let node = Node::start(chain, store, Some(directory), node_config(settings))
            .await
            .map_err(|error| Failure::fatal("the node does not start", &error))?;
        let started = match RoomWatch::start(node.handle(), settings).await {
            Ok(room) => {
                let listeners = Listeners::start(settings, genesis, &node.handle(), tls, admin_token);
                listeners.map(|listeners| (room, listeners))
            }
            Err(error) => Err(Failure::fatal("the node does not start", &error)),
        };
        match started {
            Ok((room, listeners)) => Ok(Self {
                node,
                listeners,
                _room: room,
            }),
            Err(failure) => {
                if let Err(error) = node.stop().await {
                    tracing::error!(%error, "stopping after a failed start");
                }
                Err(failure)
            }
        }
    }

    /// The line that says where the node answers (design section 8).
    pub fn ready_line(&self) -> String {
        format!("ready {}", self.listeners.ready_words())
    }

    /// Serves until `stop` ends, or until something fails that nothing can go on without. A disk that fails
    /// is none of that: what is committed is served on.
    ///
    /// # Errors
    /// What failed.
    pub async fn serve(&mut self, stop: impl Future<Output = &'static str>) -> Result<(), Failure> {
        tokio::select! {
            signal = stop => {
                tracing::info!(signal, "stopping");
                Ok(())
            }
            error = self.node.failed() => Err(Failure::fatal("fatal", &error)),
            failure = self.listeners.ended() => Err(failure),
        }
    }

    /// Accepts no more, finishes what is being served, then stops the actors in order. Long polls
    /// that take longer than a few seconds are cut off.
    ///
    /// # Errors
    /// When the node fails meanwhile, or the actors did not stop cleanly.
    pub async fn stop(self) -> Result<(), Failure> {
        tokio::select! {
            () = self.listeners.stop() => {}
            error = self.node.failed() => return Err(Failure::fatal("fatal", &error)),
        }
        self.node
            .stop()
            .await
            .map_err(|error| Failure::fatal("the node did not stop cleanly", &error))
    }
}
