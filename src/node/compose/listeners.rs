//! The listeners of a node: API, admin, the faucet of a development chain, and an optional one for
//! GraphQL.

use super::{
    addresses::{bind_error, faucet_key, listener_addresses},
    descriptors::ConnectionLimits,
    error::RunError,
    rejected_head,
    threads::{check_thread_limit, worker_threads},
};
use crate::{
    access::Gate,
    admin::{self, Certificates, EventStreams, PhaseCell, StorageForecast},
    config::{Config, Settings},
    consensus::PeerRegistry,
    console,
    faucet::{self, Faucet},
    observe::{Observer, Sampler, Sources},
    tunable::{RunTimeSettings, Targets},
    version::git_hash,
};
use actix_web::web::ServiceConfig;
use ledger_actors::{NodeHandle, name_thread};
use ledger_api::{ApiState, Connection};
use ledger_http::{
    CertificateHolder, ConnectionConfig, Listener, ListenerError, ListenerOptions, ListenerRegistry,
};
use ledger_limits::{KeyedLimit, Networks};
use ledger_types::Genesis;
use std::{future::pending, net::SocketAddr, path::Path, rc::Rc, sync::Arc, time::Duration};

/// Maximum time for which a stop waits for requests to be responded to. Service managers commonly
/// kill a process that has not ended after 10 s, and the mempool must be saved before that.
const REQUESTS_END_WITHIN: Duration = Duration::from_secs(4);
/// Part of the connections of a listener beside the API, one in so many, that one address may have
/// open, so that it cannot exclude other addresses.
const SIDE_ADDRESS_SHARE: usize = 2;
/// Maximum idle time of a connection of the admin listener. Other users of the machine share the
/// operator's address, and could hold all of its permits with idle connections.
const ADMIN_KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Options of a listener, whose connections carry the API's state of a connection.
type Options = ListenerOptions<Rc<Connection>>;

/// The running listeners.
#[derive(Debug)]
pub struct Listeners {
    api: Listener,
    graphql: Option<Listener>,
    faucet: Option<Listener>,
    admin: Listener,
    settings: RunTimeSettings,
    /// Runs until the listeners stop, because the admin listener serves what it takes.
    _sampler: Sampler,
}

/// The parts of the process that the listeners use, beside settings and actors.
#[derive(Debug)]
pub struct ListenerResources {
    /// The configuration of the node.
    pub config: Config,
    /// Whether the file of kept settings is ignored.
    pub ignores_overrides: bool,
    /// Maximum numbers of open connections.
    pub connections: ConnectionLimits,
    /// Certificates of the listeners. A listener with one serves TLS only.
    pub certificates: Certificates,
    /// The requests that the admin listener serves.
    pub admin_gate: Gate,
    /// Phase of the node's life, which the admin listener serves.
    pub phase: PhaseCell,
    /// Time at which the ledger has no more space, which the admin listener serves.
    pub forecast: StorageForecast,
    /// Peers of the node, once its engine has started. `None` on a chain of one node.
    pub peers: Option<Arc<dyn PeerRegistry>>,
}

/// The settings and limits of the listeners, and their metrics.
#[derive(Debug)]
struct Parts<'a> {
    settings: &'a Settings,
    connections: ConnectionLimits,
    opened: ListenerRegistry,
}

/// Returns the number of listeners beside the API's.
pub fn side_listeners(settings: &Settings, genesis: &Genesis) -> usize {
    listener_addresses(settings, genesis).count() - 1
}

/// Checks that the system allows the threads of the listeners.
///
/// # Errors
///
/// Returns [`RunError::Fatal`] if it refuses one of them.
pub fn check_threads(settings: &Settings, genesis: &Genesis) -> Result<(), RunError> {
    // Each listener has a thread that accepts connections. Listeners beside the API have one worker
    // each.
    let side = side_listeners(settings, genesis);
    let threads = worker_threads(settings.api_listener.workers) + 1 + 2 * side;
    check_thread_limit(threads).map_err(|error| {
        let action = format!("the {threads} threads of the listeners cannot be started");
        RunError::fatal(action, &error)
    })
}

impl Listeners {
    /// Binds all addresses and starts the listeners, which serve after
    /// [`Self::wait_until_serving`].
    ///
    /// # Errors
    ///
    /// Returns [`RunError::Fatal`] if an address cannot be bound, or if the system refuses threads.
    pub fn start(
        settings: &Settings,
        genesis: &Genesis,
        node: &NodeHandle,
        resources: ListenerResources,
    ) -> Result<Self, RunError> {
        check_threads(settings, genesis)?;
        let state = ApiState::new(node.clone(), settings.api.clone(), git_hash());
        let parts = Parts {
            settings,
            connections: resources.connections,
            opened: ListenerRegistry::default(),
        };
        let sources = Sources {
            node: node.clone(),
            api: state.clone(),
            http_workers: worker_threads(settings.api_listener.workers),
        };
        let (sampler, observer) = Sampler::start(sources);
        // In the order of the metrics.
        let api_options = parts.api_options(resources.certificates.api.clone());
        let run_time = RunTimeSettings::new(
            resources.config.clone(),
            resources.ignores_overrides,
            Targets {
                node: node.clone(),
                api: state.clone(),
                connections: Arc::clone(&api_options.addresses),
            },
        );
        let graphql = parts.graphql(node, &state)?;
        let faucet = parts.faucet(genesis, node)?;
        let admin = parts.admin(node, state.clone(), run_time.clone(), observer, resources)?;
        // Last, so that no transaction is accepted before the other listeners have their threads.
        let api = start(node, &api_options, move |config| {
            ledger_api::configure(config, &state);
        })?;
        Ok(Self {
            api,
            graphql,
            faucet,
            admin,
            settings: run_time,
            _sampler: sampler,
        })
    }

    /// Returns the run-time settings, which the admin listener changes.
    pub fn settings(&self) -> RunTimeSettings {
        self.settings.clone()
    }

    /// Waits until every listener has its threads and accepts connections.
    ///
    /// # Errors
    ///
    /// Returns [`RunError::Fatal`] if a listener ended.
    pub async fn wait_until_serving(&mut self) -> Result<(), RunError> {
        let all = [
            Some(&mut self.admin),
            self.graphql.as_mut(),
            self.faucet.as_mut(),
            Some(&mut self.api),
        ];
        for listener in all.into_iter().flatten() {
            let serving = listener.wait_until_serving().await;
            serving.map_err(|error| RunError::Fatal(error.to_string()))?;
        }
        Ok(())
    }

    /// Returns name and URL of each listener, for the ready line.
    pub fn ready_words(&self) -> String {
        let all = [
            Some(&self.api),
            self.graphql.as_ref(),
            self.faucet.as_ref(),
            Some(&self.admin),
        ];
        let words: Vec<_> = all
            .into_iter()
            .flatten()
            .map(|listener| format!("{}={}", listener.name(), listener.url()))
            .collect();
        words.join(" ")
    }

    /// Waits until a listener ends, which is an error unless [`Self::stop`] was called.
    pub async fn ended(&mut self) -> RunError {
        let error = tokio::select! {
            error = self.api.ended() => error,
            error = ended(self.graphql.as_mut()) => error,
            error = ended(self.faucet.as_mut()) => error,
            error = self.admin.ended() => error,
        };
        RunError::Fatal(error.to_string())
    }

    /// Stops all listeners at the same time, as [`Listener::stop`] does.
    pub async fn stop(self) {
        tokio::join!(
            self.api.stop(),
            stop(self.graphql),
            stop(self.faucet),
            self.admin.stop()
        );
    }
}

impl Parts<'_> {
    fn graphql(&self, node: &NodeHandle, state: &ApiState) -> Result<Option<Listener>, RunError> {
        let Some(address) = self.settings.graphql.listen else {
            return Ok(None);
        };
        let state = state.clone();
        let options = ListenerOptions {
            trusted_proxies: self.settings.api.trusted_proxies.clone(),
            respond_to_rejected: rejected_head::interface_response,
            ..self.side_options("graphql", address)
        };
        let listener = start(node, &options, move |config| {
            ledger_api::configure_graphql(config, &state);
        })?;
        Ok(Some(listener))
    }

    fn faucet(&self, genesis: &Genesis, node: &NodeHandle) -> Result<Option<Listener>, RunError> {
        let Some(key) = faucet_key(self.settings, genesis) else {
            return Ok(None);
        };
        let settings = &self.settings.faucet;
        let faucet = Faucet::start(node.clone(), key, settings);
        let options = ListenerOptions {
            respond_to_rejected: rejected_head::faucet_response,
            ..self.side_options("faucet", settings.listen)
        };
        let listener = start(node, &options, move |config| {
            faucet::configure(config, &faucet);
        })?;
        Ok(Some(listener))
    }

    fn admin(
        &self,
        node: &NodeHandle,
        state: ApiState,
        run_time: RunTimeSettings,
        observer: Observer,
        resources: ListenerResources,
    ) -> Result<Listener, RunError> {
        let settings = &self.settings.admin;
        let data_dir = self.settings.storage.directory().map(Path::to_owned);
        let admin = admin::Admin {
            node: node.clone(),
            api: state,
            settings: run_time,
            gate: resources.admin_gate,
            data_dir,
            phase: resources.phase,
            forecast: resources.forecast,
            observer,
            event_streams: EventStreams::default(),
            peers: resources.peers,
        };
        let certificates = resources.certificates;
        let mut options = self.side_options("admin", settings.listen);
        options.tls = certificates.admin.clone();
        options.connection.keep_alive = options.connection.keep_alive.min(ADMIN_KEEP_ALIVE);
        let opened = self.opened.clone();
        start(node, &options, move |config| {
            admin::configure(config, &admin, &certificates, &opened, console::configure);
        })
    }

    fn api_options(&self, tls: Option<CertificateHolder>) -> Options {
        let listener = &self.settings.api_listener;
        ListenerOptions {
            address: listener.listen,
            max_connections: self.connections.api,
            addresses: Arc::new(KeyedLimit::new(listener.max_connections_per_address)),
            addresses_limit: "api.max_connections_per_address",
            trusted_proxies: self.settings.api.trusted_proxies.clone(),
            tls,
            respond_to_rejected: rejected_head::interface_response,
            ..self.options("api")
        }
    }

    /// Returns the options of a listener that serves few clients, usually of this machine: one
    /// worker thread, and no TLS by default.
    fn side_options(&self, name: &'static str, address: SocketAddr) -> Options {
        ListenerOptions {
            address,
            workers: 1,
            ..self.options(name)
        }
    }

    /// Returns the options that all listeners share.
    fn options(&self, name: &'static str) -> Options {
        let settings = self.settings;
        let side = self.connections.side;
        ListenerOptions {
            name,
            metrics: self.opened.add(name),
            address: settings.api_listener.listen,
            workers: worker_threads(settings.api_listener.workers),
            max_connections: side,
            addresses: Arc::new(KeyedLimit::new(side.div_ceil(SIDE_ADDRESS_SHARE))),
            addresses_limit: "connections of an address to a side listener",
            trusted_proxies: Networks::default(),
            tls: None,
            connection: connection_config(settings),
            on_connect: |end_of_waits| Rc::new(Connection::new(end_of_waits)),
            respond_to_rejected: rejected_head::error_response,
            shutdown_timeout: REQUESTS_END_WITHIN,
        }
    }
}

/// Starts a listener, whose worker threads `node` watches.
///
/// # Errors
///
/// Returns [`RunError::Fatal`] with the setting of the address if it cannot be bound.
fn start<F>(node: &NodeHandle, options: &Options, routes: F) -> Result<Listener, RunError>
where
    F: Fn(&mut ServiceConfig) + Clone + Send + 'static,
{
    let node = node.clone();
    let thread: Arc<str> = format!("http-{}", options.name).into();
    let routes = move |config: &mut ServiceConfig| {
        // Each worker thread calls this once.
        name_thread(&thread);
        actix_web::rt::spawn(node.watch_event_loop(Arc::clone(&thread)));
        routes(config);
    };
    Listener::start(options, routes).map_err(|error| match error {
        ListenerError::Bind { address, source } => bind_error(options.name, address, &source),
        error @ ListenerError::Ended { .. } => RunError::Fatal(error.to_string()),
    })
}

async fn ended(listener: Option<&mut Listener>) -> ListenerError {
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

fn connection_config(settings: &Settings) -> ConnectionConfig {
    ConnectionConfig {
        keep_alive: Duration::from_secs(settings.api_listener.keep_alive_secs),
        client_request_timeout: Duration::from_millis(
            settings.api_listener.client_request_timeout_ms,
        ),
        client_send_timeout: Duration::from_millis(settings.api_listener.client_send_timeout_ms),
        max_streams: u32::try_from(settings.api.max_streams_per_connection).unwrap_or(u32::MAX),
    }
}
