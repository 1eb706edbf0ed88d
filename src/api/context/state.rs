//! What every handler shares: the node, the limits, and the names that follow from the vendor word.

use crate::{
    config::{ApiConfig, SwitchSettings},
    context::cache::{ResponseCache, ResponseCacheStatus},
    error::{ErrorKind, LedgerHeaders},
    limits::{
        Switch, SwitchChange, Switches,
        large_responses::LargeResponses,
        route_meters::{RouteMeters, RouteStatus},
    },
    middleware::compression,
    model::MediaTypes,
    openapi::RenderedDocument,
    routes,
};
use ledger_actors::NodeHandle;
use ledger_limits::{KeyedLimit, Limit, MemoryBudget};
use std::{net::IpAddr, sync::Arc};

/// Maximum number of health checks in flight. They do not count as requests in flight, because a
/// load balancer must learn that a node at its limit is healthy.
const HEALTH_CHECKS_MAX: usize = 64;

/// The state that all handlers share. Clones share all limits.
#[derive(Clone, Debug)]
pub struct ApiState {
    node: NodeHandle,
    bodies: MemoryBudget,
    answers: MemoryBudget,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    config: ApiConfig,
    switches: Switches,
    headers: LedgerHeaders,
    media_types: MediaTypes,
    document: RenderedDocument,
    routes: Arc<RouteMeters>,
    in_flight: Limit,
    in_flight_of_addresses: Arc<KeyedLimit<IpAddr>>,
    health_checks: Limit,
    kept: ResponseCache,
    large_responses: LargeResponses,
    compressors: Arc<Limit>,
}

impl ApiState {
    /// The shared parts of an interface to `node`.
    pub fn new(node: NodeHandle, config: ApiConfig) -> Self {
        let vendor = node.chain().vendor();
        let bodies = MemoryBudget::new(config.bodies_bytes_max);
        let answers = MemoryBudget::new(config.answers_bytes_max);
        let shared = Shared {
            headers: LedgerHeaders::new(vendor),
            media_types: MediaTypes::new(vendor),
            document: RenderedDocument::default(),
            routes: Arc::new(RouteMeters::new(&routes::table())),
            in_flight: Limit::new(config.max_in_flight),
            in_flight_of_addresses: Arc::new(KeyedLimit::new(config.max_in_flight_per_address)),
            health_checks: Limit::new(HEALTH_CHECKS_MAX),
            switches: Switches::new(config.switches),
            kept: ResponseCache::new(config.kept_answers_bytes_max),
            config,
            large_responses: LargeResponses::default(),
            compressors: Arc::new(Limit::new(compression::AT_ONCE_MAX)),
        };
        Self {
            node,
            bodies,
            answers,
            shared: Arc::new(shared),
        }
    }

    /// For the requests of one thread, and what has to run on that thread for as long as there are
    /// any; see [`NodeHandle::for_thread`].
    pub(crate) fn for_thread(&self) -> (Self, impl Future<Output = ()> + use<>) {
        let (node, telling) = self.node.for_thread();
        let state = Self {
            node,
            bodies: self.bodies.for_thread(),
            answers: self.answers.for_thread(),
            shared: Arc::clone(&self.shared),
        };
        (state, telling)
    }

    /// What was counted of each route that was asked.
    pub fn routes(&self) -> Vec<RouteStatus> {
        self.shared.routes.status()
    }

    /// Counts each route.
    pub(crate) fn route_meters(&self) -> &Arc<RouteMeters> {
        &self.shared.routes
    }

    pub(crate) fn node(&self) -> &NodeHandle {
        &self.node
    }

    pub(crate) fn config(&self) -> &ApiConfig {
        &self.shared.config
    }

    /// What is on.
    pub fn switches(&self) -> SwitchSettings {
        self.shared.switches.settings()
    }

    /// Turns parts of the interface on and off, with effect on requests that begin from now on. The
    /// next start begins with the configured switches again.
    pub fn change_switches(&self, change: &SwitchChange) {
        self.shared.switches.change(change);
    }

    /// Goes on only where the switch is on.
    ///
    /// # Errors
    /// 403, which names the setting.
    pub(crate) fn require(&self, switch: Switch) -> Result<(), ErrorKind> {
        self.shared.switches.require(switch)
    }

    pub(crate) fn headers(&self) -> &LedgerHeaders {
        &self.shared.headers
    }

    /// The document of the interface.
    pub(crate) fn document(&self) -> &RenderedDocument {
        &self.shared.document
    }

    /// The media type under which a signed transaction is submitted as BCS.
    pub(crate) fn signed_transaction_media_type(&self) -> &str {
        &self.shared.media_types.signed_transaction
    }

    /// The media type under which a call of a view function is sent as BCS.
    pub(crate) fn view_function_media_type(&self) -> &str {
        &self.shared.media_types.view_function
    }

    /// Returns the memory budget of request bodies.
    pub(crate) fn bodies(&self) -> &MemoryBudget {
        &self.bodies
    }

    /// Returns the memory budget of responses that their clients have not read.
    pub(crate) fn answers(&self) -> &MemoryBudget {
        &self.answers
    }

    /// The answers that are kept for who asks next.
    pub(crate) fn kept(&self) -> &ResponseCache {
        &self.shared.kept
    }

    /// What was counted of the answers that are kept for who asks next.
    pub fn kept_answers(&self) -> ResponseCacheStatus {
        self.shared.kept.counts()
    }

    /// Returns the limit on large responses.
    pub(crate) fn large_responses(&self) -> &LargeResponses {
        &self.shared.large_responses
    }

    /// Returns the limit on responses that are compressed at a time.
    pub(crate) fn compressors(&self) -> &Arc<Limit> {
        &self.shared.compressors
    }

    /// Returns the limit on requests in flight.
    pub(crate) fn in_flight(&self) -> &Limit {
        &self.shared.in_flight
    }

    /// Returns the limit on requests in flight of each client address.
    pub(crate) fn in_flight_of_addresses(&self) -> &Arc<KeyedLimit<IpAddr>> {
        &self.shared.in_flight_of_addresses
    }

    /// Returns the limit on health checks in flight.
    pub(crate) fn health_checks(&self) -> &Limit {
        &self.shared.health_checks
    }
}
