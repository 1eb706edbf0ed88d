//! A running node with its listeners, and their order: actors start first and stop last.

use super::{
    ConnectionLimits, disk_space::RoomWatch, listeners::Listeners, memory_bound, node_config,
};
use crate::{access::Token, cli::Failure, config::Settings};
use ledger_actors::Node;
use ledger_http::CertificateHolder;
use ledger_store::Store;
use ledger_types::Genesis;
use ledger_vm::Chain;
use std::future::Future;

/// Everything that runs.
#[derive(Debug)]
pub struct Service {
    node: Node,
    listeners: Listeners,
    /// Ends with the service.
    _room: Option<RoomWatch>,
}

/// A failure that ended serving before a signal did.
#[derive(Debug)]
pub enum ServeError {
    /// The node failed. Its memory may be inconsistent, so nothing of it may be saved: the next start
    /// continues from what is durable.
    Node(Failure),
    /// A listener ended. The node is sound, and [`Service::stop`] saves its mempool.
    Listener(Failure),
}

impl Service {
    /// Starts the actors, then the listeners, and waits until every listener accepts connections.
    ///
    /// With `tls`, the API is served over TLS. With `admin_token`, the admin listener answers only requests that
    /// carry it. The file of a restored mempool stays until [`Self::discard_saved_pool`].
    ///
    /// # Errors
    ///
    /// Returns [`Failure::Fatal`] if an actor or a listener cannot start. The node is stopped then, and what its
    /// mempool held is saved.
    pub async fn start(
        settings: &Settings,
        connections: ConnectionLimits,
        genesis: &Genesis,
        chain: Chain,
        store: Store,
        tls: Option<CertificateHolder>,
        admin_token: Option<Token>,
    ) -> Result<Self, Failure> {
        tracing::info!(
            memory_bytes_max = memory_bound::bytes_max(settings),
            "what the limits allow in memory"
        );
        let directory = settings.storage.data_dir.as_path();
        let node = Node::start(chain, store, Some(directory), node_config(settings))
            .await
            .map_err(|error| Failure::fatal("the node does not start", &error))?;
        let handle = node.handle();
        let started = async {
            let room = RoomWatch::start(handle.clone(), settings)
                .await
                .map_err(|error| Failure::fatal("the node does not start", &error))?;
            let mut listeners =
                Listeners::start(settings, connections, genesis, &handle, tls, admin_token)?;
            match listeners.wait_until_serving().await {
                Ok(()) => Ok((room, listeners)),
                Err(failure) => {
                    listeners.stop().await;
                    Err(failure)
                }
            }
        };
        match started.await {
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

    /// Removes the file of the mempool that the start restored. Call it when the start is complete.
    pub fn discard_saved_pool(&mut self) {
        self.node.discard_saved_pool();
    }

    /// Returns the line that says where the node answers.
    pub fn ready_line(&self) -> String {
        format!("ready {}", self.listeners.ready_words())
    }

    /// Serves until `stop` ends. After a failure of the disk the node still serves what is committed.
    ///
    /// # Errors
    ///
    /// Returns [`ServeError::Node`] if an invariant of the node is broken, and [`ServeError::Listener`] if a
    /// listener ended.
    pub async fn serve(
        &mut self,
        stop: impl Future<Output = &'static str>,
    ) -> Result<(), ServeError> {
        tokio::select! {
            signal = stop => {
                tracing::info!(signal, "stopping");
                Ok(())
            }
            error = self.node.failed() => Err(ServeError::Node(Failure::fatal("fatal", &error))),
            failure = self.listeners.ended() => Err(ServeError::Listener(failure)),
        }
    }

    /// Stops accepting connections, finishes the requests being served, then stops the actors in order and saves
    /// the mempool. Long polls that take longer than a few seconds are cut off.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::Fatal`] if the node fails meanwhile, or the actors did not stop cleanly.
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
