//! The listeners of a node: the interface, the faucet of a development chain, the operator's, and where it
//! is wanted a second one for GraphQL.

use super::{
    Listener, ListenerOptions, OpenListeners, api_config,
    net::{ConnectionOptions, Http2Limits},
};
use crate::{
    admin,
    commands::Failure,
    config::Settings,
    faucet::{self, Faucet},
    guard::{Pages, Token, Visitors},
};
use ledger::Genesis;
use ledger_actors::NodeHandle;
use ledger_api::ApiState;
use rustls::ServerConfig;
use std::{future::pending, net::SocketAddr, time::Duration};

/// How long a stop lets long polls run to their own end. What starts and stops nodes commonly kills
/// one that has not ended after 10 s, and the pool must be saved before that.
const WAITS_END_WITHIN: Duration = Duration::from_secs(3);
/// How much longer a stop waits, so that answers reach their clients.
const SHUTDOWN_MARGIN: Duration = Duration::from_secs(1);
/// Connections that a listener beside the interface has open at once: enough for a few scripts and a page or
/// two of each of some hundred users.
const SIDE_CONNECTIONS_MAX: usize = 1_024;
/// Those of one address among them, so that one cannot keep the others out.
const SIDE_CONNECTIONS_MAX_PER_ADDRESS: usize = 512;
/// How long the operator's listener keeps an idle connection: others of this machine could hold all places of
/// its address, which is the operator's too. A script asks anew.
const ADMIN_KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Those that run.
#[derive(Debug)]
pub struct Listeners {
    api: Listener,
    graphql: Option<Listener>,
    faucet: Option<Listener>,
    admin: Listener,
}

impl Listeners {
    /// Starts them; with `tls`, the interface is served over TLS, and with `admin_token` the operator's listener
    /// answers only those who carry it.
    ///
    /// # Errors
    /// When an address cannot be listened on.
    pub fn start(
        settings: &Settings,
        genesis: &Genesis,
        node: &NodeHandle,
        tls: Option<ServerConfig>,
        admin_token: Option<Token>,
    ) -> Result<Self, Failure> {
        let state = ApiState::new(node.clone(), api_config(settings));
        let opened = OpenListeners::default();
        let served = state.clone();
        let api = Listener::start(&api_options(settings, &opened, tls), move |config| {
            ledger_api::configure(config, &served);
        })?;
        Ok(Self {
            api,
            graphql: graphql(settings, &opened, &state)?,
            faucet: faucet(settings, &opened, genesis, node)?,
            admin: admin(settings, &opened, node, state, admin_token)?,
        })
    }

    /// Where they listen, as the ready line says it.
    pub fn ready_words(&self) -> String {
        let all = [
            Some(&self.api),
            self.graphql.as_ref(),
            self.faucet.as_ref(),
            Some(&self.admin),
        ];
        let words: Vec<_> = all.into_iter().flatten().map(Listener::ready_words).collect();
        words.join(" ")
    }

    /// Ends when one of them does, which without [`Self::stop`] is an error.
    pub async fn ended(&mut self) -> Failure {
        tokio::select! {
            failure = self.api.ended() => failure,
            failure = ended(self.graphql.as_mut()) => failure,
            failure = ended(self.faucet.as_mut()) => failure,
            failure = self.admin.ended() => failure,
        }
    }

    /// Stops all of them at the same time; see [`Listener::stop`].
    pub async fn stop(self) {
        tokio::join!(
            self.api.stop(),
            stop(self.graphql),
            stop(self.faucet),
            self.admin.stop()
        );
    }
}

fn graphql(
    settings: &Settings,
    opened: &OpenListeners,
    state: &ApiState,
) -> Result<Option<Listener>, Failure> {
    let Some(address) = settings.graphql.listen else {
        return Ok(None);
    };
    let state = state.clone();
    let options = side_options(settings, opened, "graphql", address);
    let listener = Listener::start(&options, move |config| {
        ledger_api::configure_graphql(config, &state);
    })?;
    Ok(Some(listener))
}

fn faucet(
    settings: &Settings,
    opened: &OpenListeners,
    genesis: &Genesis,
    node: &NodeHandle,
) -> Result<Option<Listener>, Failure> {
    let Some(key) = genesis.faucet_key().filter(|_| settings.faucet.enabled) else {
        return Ok(None);
    };
    let faucet = Faucet::start(node.clone(), key, &settings.faucet);
    let options = side_options(settings, opened, "faucet", settings.faucet.listen);
    let listener = Listener::start(&options, move |config| faucet::configure(config, &faucet))?;
    Ok(Some(listener))
}

fn admin(
    settings: &Settings,
    opened: &OpenListeners,
    node: &NodeHandle,
    state: ApiState,
    token: Option<Token>,
) -> Result<Listener, Failure> {
    let visitors = Visitors {
        section: "admin",
        hosts: settings.admin.hosts.clone(),
        pages: Pages::Own,
    };
    let admin = admin::Admin::new(
        node.clone(),
        state,
        visitors,
        token,
        settings.storage.data_dir.clone(),
    );
    let mut options = side_options(settings, opened, "admin", settings.admin.listen);
    options.connection.keep_alive = options.connection.keep_alive.min(ADMIN_KEEP_ALIVE);
    let opened = opened.clone();
    Listener::start(&options, move |config| admin::configure(config, &admin, &opened))
}

async fn ended(listener: Option<&mut Listener>) -> Failure {
    match listener {
        Some(listener) => listener.ended().await,
        None => pending().await,
    }
}

async fn stop(listener: Option<Listener>) {
    if let Some(listener) = listener {
        listener.stop().await;
    }
}

fn api_options(settings: &Settings, opened: &OpenListeners, tls: Option<ServerConfig>) -> ListenerOptions {
    ListenerOptions {
        address: settings.api.listen,
        max_connections: settings.api.max_connections,
        max_connections_per_address: settings.api.max_connections_per_address,
        ..options(settings, opened, "api", tls)
    }
}

/// What all listeners have of the interface's.
fn options(
    settings: &Settings,
    opened: &OpenListeners,
    name: &'static str,
    tls: Option<ServerConfig>,
) -> ListenerOptions {
    ListenerOptions {
        name,
        counts: opened.add(name),
        address: settings.api.listen,
        workers: settings.api.workers,
        backlog: settings.api.backlog,
        max_connections: SIDE_CONNECTIONS_MAX,
        max_connections_per_address: SIDE_CONNECTIONS_MAX_PER_ADDRESS,
        connection: connection_options(settings, tls),
        shutdown_timeout: Duration::from_millis(settings.wait.timeout_ms).min(WAITS_END_WITHIN)
            + SHUTDOWN_MARGIN,
    }
}

fn connection_options(settings: &Settings, tls: Option<ServerConfig>) -> ConnectionOptions {
    ConnectionOptions {
        tls,
        tls_handshake_timeout: Duration::from_millis(settings.api.tls_handshake_timeout_ms),
        keep_alive: Duration::from_secs(settings.api.keep_alive_secs),
        client_request_timeout: Duration::from_millis(settings.api.client_request_timeout_ms),
        client_send_timeout: Duration::from_millis(settings.api.client_send_timeout_ms),
        http2: Http2Limits {
            max_streams: u32::try_from(settings.api.max_streams_per_connection).unwrap_or(u32::MAX),
        },
    }
}

/// The other listeners serve few clients, of this machine as a rule: one thread each, and no TLS.
fn side_options(
    settings: &Settings,
    opened: &OpenListeners,
    name: &'static str,
    address: SocketAddr,
) -> ListenerOptions {
    ListenerOptions {
        name,
        address,
        workers: 1,
        ..options(settings, opened, name, None)
    }
}
