//! The state that all requests share.

use super::ResponseCache;
use crate::{
    config::ApiConfig,
    error::LedgerHeaders,
    limits::{Compressors, DeniedAddresses, InFlightLimits, RouteMeters, Switches, TrafficMeter},
    model::MediaTypes,
    openapi::RenderedDocument,
};
use ledger_actors::NodeHandle;
use ledger_limits::{ClientKeys, Limit, MemoryBudget};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// The state that all requests share. Clones share all parts of it.
#[derive(Clone, Debug)]
pub struct ApiState {
    /// Switches of the interface.
    pub switches: Arc<Switches>,
    /// Addresses whose requests are rejected.
    pub denied_addresses: Arc<DeniedAddresses>,
    /// Metrics of each route.
    pub route_meters: Arc<RouteMeters>,
    /// The heaviest clients, senders and functions.
    pub traffic: Arc<TrafficMeter>,
    /// Cached responses.
    pub cache: ResponseCache,
    /// Classes of client addresses, with a secret of the process.
    pub client_keys: ClientKeys,
    pub(crate) node: NodeHandle,
    /// Commit of the build, empty if it is unknown.
    pub(crate) git_hash: &'static str,
    /// The configuration at the start. The limits that [`Self::set_in_flight_max`] and the methods
    /// after it change are not read here.
    pub(crate) config: Arc<ApiConfig>,
    /// Maximum size of a request body. Relaxed, because it orders no other memory.
    body_bytes_max: Arc<AtomicUsize>,
    /// Memory of the bodies of requests.
    pub(crate) bodies: MemoryBudget,
    /// Memory of responses that are made or unread.
    pub(crate) responses: MemoryBudget,
    pub(crate) headers: Arc<LedgerHeaders>,
    pub(crate) media_types: Arc<MediaTypes>,
    pub(crate) document: Arc<RenderedDocument>,
    pub(crate) in_flight: Arc<InFlightLimits>,
    pub(crate) compressors: Compressors,
    /// Counts the requests of `wait_by_hash` that are delayed without a wait for the commitment.
    pub(crate) delayed_waits: Arc<Limit>,
}

impl ApiState {
    /// Creates the state of an interface to `node`, with metrics and a document of its routes.
    pub(crate) fn with_routes(
        node: NodeHandle,
        config: ApiConfig,
        git_hash: &'static str,
        route_meters: RouteMeters,
        document: RenderedDocument,
    ) -> Self {
        let vendor = node.chain().vendor();
        Self {
            switches: Arc::new(Switches::new(config.switches)),
            denied_addresses: Arc::new(DeniedAddresses::new(config.denied_addresses.clone())),
            route_meters: Arc::new(route_meters),
            traffic: Arc::default(),
            cache: ResponseCache::new(config.response_cache_bytes_max),
            bodies: MemoryBudget::new(config.bodies_bytes_max),
            responses: MemoryBudget::new(config.answers_bytes_max),
            headers: Arc::new(LedgerHeaders::new(vendor)),
            media_types: Arc::new(MediaTypes::new(vendor)),
            document: Arc::new(document),
            in_flight: Arc::new(InFlightLimits::new(&config)),
            client_keys: ClientKeys::default(),
            body_bytes_max: Arc::new(config.max_body_bytes.into()),
            compressors: Compressors::default(),
            delayed_waits: Arc::default(),
            config: Arc::new(config),
            git_hash,
            node,
        }
    }

    /// Returns the memory of responses that are being made or that their clients have not read, in
    /// bytes. `api.answers_bytes_max` limits it.
    pub fn answers_bytes(&self) -> usize {
        self.responses.held_bytes()
    }

    /// Changes the maximum number of requests in flight. Requests beyond it continue.
    pub fn set_in_flight_max(&self, max: usize) {
        self.in_flight.set_max(max);
    }

    /// Changes the maximum number of requests in flight per client address. Requests beyond it
    /// continue.
    pub fn set_in_flight_per_address_max(&self, max: usize) {
        self.in_flight.set_max_per_address(max);
    }

    /// Changes the maximum size of a request body, in bytes, for bodies that begin from now on.
    pub fn set_body_bytes_max(&self, max: usize) {
        self.body_bytes_max.store(max, Relaxed);
    }

    /// Returns the maximum size of a request body, in bytes.
    pub(crate) fn body_bytes_max(&self) -> usize {
        self.body_bytes_max.load(Relaxed)
    }

    /// Returns the memory of the bodies of requests that are in progress, in bytes.
    /// `api.bodies_bytes_max` limits it.
    pub fn bodies_bytes(&self) -> usize {
        self.bodies.held_bytes()
    }

    /// Returns the state for the requests of one thread, and a task that must run on that thread
    /// while there are any; see [`NodeHandle::for_thread`].
    pub(crate) fn for_thread(&self) -> (Self, impl Future<Output = ()> + use<>) {
        let (node, notifier) = self.node.for_thread();
        let state = Self {
            node,
            bodies: self.bodies.for_thread(),
            responses: self.responses.for_thread(),
            ..self.clone()
        };
        (state, notifier)
    }
}
