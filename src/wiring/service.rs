//! A running node with its listeners, and their order: actors start first and stop last.

use super::{Listener, ListenerOptions, api_config, node_config};
use crate::{
    admin,
    commands::Failure,
    config::Settings,
    faucet::{self, Faucet},
};
use ledger::{Chain, Genesis};
use ledger_actors::Node;
use ledger_api::ApiState;
use ledger_store::Store;
use rustls::ServerConfig;
use std::{future::Future, time::Duration};

/// How long a stop lets long polls run to their own end. What starts and stops nodes commonly kills
/// one that has not ended after 10 s, and the pool must be saved before that.
const WAITS_END_WITHIN: Duration = Duration::from_secs(3);
/// How much longer a stop waits, so that answers reach their clients.
const SHUTDOWN_MARGIN: Duration = Duration::from_secs(1);

/// Everything that runs.
#[derive(Debug)]
pub struct Service {
    node: Node,
    api: Listener,
    faucet: Option<Listener>,
    admin: Listener,
}

impl Service {
    /// Starts the actors, then the listeners; with `tls`, the interface is served over TLS.
    ///
    /// # Errors
    /// When an actor cannot start or an address cannot be listened on.
    pub async fn start(
        settings: &Settings,
        genesis: &Genesis,
        chain: Chain,
        store: Store,
        tls: Option<ServerConfig>,
    ) -> Result<Self, Failure> {
        let directory = settings.storage.data_dir.as_path();
        let node = Node::start(chain, store, Some(directory), node_config(settings))
            .await
            .map_err(|error| Failure::fatal("the node does not start", &error))?;
        match Self::listen(settings, genesis, &node, tls) {
            Ok((api, faucet, admin)) => Ok(Self {
                node,
                api,
                faucet,
                admin,
            }),
            Err(failure) => {
                if let Err(error) = node.stop().await {
                    tracing::error!(%error, "stopping after a failed start");
                }
                Err(failure)
            }
        }
    }

    fn listen(
        settings: &Settings,
        genesis: &Genesis,
        node: &Node,
        tls: Option<ServerConfig>,
    ) -> Result<(Listener, Option<Listener>, Listener), Failure> {
        let state = ApiState::new(node.handle(), api_config(settings));
        let served = state.clone();
        let api = Listener::start(&api_options(settings, tls), move |config| {
            ledger_api::configure(config, &served);
        })?;
        let faucet = match genesis.faucet_key() {
            Some(key) if settings.faucet.enabled => {
                let faucet = Faucet::start(node.handle(), key, &settings.faucet);
                let options = side_options(settings, "faucet", settings.faucet.listen);
                Some(Listener::start(&options, move |config| {
                    faucet::configure(config, &faucet);
                })?)
            }
            _ => None,
        };
        let admin = admin::Admin::new(node.handle(), state, settings.admin.listen);
        let options = side_options(settings, "admin", settings.admin.listen);
        let admin = Listener::start(&options, move |config| admin::configure(config, &admin))?;
        Ok((api, faucet, admin))
    }

    /// The line that says where the node answers (design section 8).
    pub fn ready_line(&self) -> String {
        let listeners = [Some(&self.api), self.faucet.as_ref(), Some(&self.admin)];
        let words: Vec<_> = listeners
            .into_iter()
            .flatten()
            .map(Listener::ready_words)
            .collect();
        format!("ready {}", words.join(" "))
    }

    /// Serves until `stop` ends, or until something fails that nothing can go on without.
    ///
    /// # Errors
    /// What failed.
    pub async fn serve(&mut self, stop: impl Future<Output = &'static str>) -> Result<(), Failure> {
        let faucet_ended = async {
            match &mut self.faucet {
                Some(faucet) => faucet.ended().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            signal = stop => {
                tracing::info!(signal, "stopping");
                Ok(())
            }
            error = self.node.failed() => Err(Failure::fatal("fatal", &error)),
            failure = self.api.ended() => Err(failure),
            failure = faucet_ended => Err(failure),
            failure = self.admin.ended() => Err(failure),
        }
    }

    /// Accepts no more, finishes what is being served, then stops the actors in order. Long polls
    /// that take longer than a few seconds are cut off.
    ///
    /// # Errors
    /// When the node fails meanwhile, or the actors did not stop cleanly.
    pub async fn stop(self) -> Result<(), Failure> {
        let faucet_stopped = async {
            if let Some(faucet) = self.faucet {
                faucet.stop().await;
            }
        };
        let listeners_stopped = async {
            tokio::join!(self.api.stop(), faucet_stopped, self.admin.stop());
        };
        tokio::select! {
            () = listeners_stopped => {}
            error = self.node.failed() => return Err(Failure::fatal("fatal", &error)),
        }
        self.node
            .stop()
            .await
            .map_err(|error| Failure::fatal("the node did not stop cleanly", &error))
    }
}

fn api_options(settings: &Settings, tls: Option<ServerConfig>) -> ListenerOptions {
    ListenerOptions {
        name: "api",
        address: settings.api.listen,
        workers: settings.api.workers,
        backlog: settings.api.backlog,
        max_connections: settings.api.max_connections,
        tls,
        tls_handshake_timeout: Duration::from_millis(settings.api.tls_handshake_timeout_ms),
        keep_alive: Duration::from_secs(settings.api.keep_alive_secs),
        client_request_timeout: Duration::from_millis(settings.api.client_request_timeout_ms),
        shutdown_timeout: Duration::from_millis(settings.wait.timeout_ms).min(WAITS_END_WITHIN)
            + SHUTDOWN_MARGIN,
    }
}

/// The faucet and the admin listener serve few clients, of this machine as a rule: one thread each, and no
/// TLS.
fn side_options(settings: &Settings, name: &'static str, address: std::net::SocketAddr) -> ListenerOptions {
    ListenerOptions {
        name,
        address,
        workers: 1,
        ..api_options(settings, None)
    }
}
