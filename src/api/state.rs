//! What every handler shares: the node, the limits, and the names that follow from the vendor word.

use crate::{
    addresses::{AddressPlace, Addresses},
    budget::Budget,
    compression::Compressors,
    error::Problem,
    headers::LedgerHeaders,
    kept::{KeptAnswers, KeptAnswersStatus},
    large::LargeAnswers,
    media_types::MediaTypes,
    meter::{RouteMeters, RouteStatus},
    openapi::WrittenDocument,
    routes,
    switches::{Switch, SwitchChange, SwitchSettings, Switches},
};
use ledger_actors::NodeHandle;
use std::{net::IpAddr, sync::Arc};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many questions whether the node is well are answered at once, beside the requests in flight: whoever
/// spreads requests over nodes must hear that this one is well also while it is full.
const HEALTH_CHECKS_MAX: usize = 64;

/// The limits and switches of the interface; keys `api.*` of the configuration.
#[derive(Clone, Debug)]
pub struct ApiConfig {
    /// The largest body of a request, in bytes; above it the answer is 413.
    pub max_body_bytes: usize,
    /// How much memory the bodies of all requests may take, in bytes; above it the answer is 503. A single
    /// body is always taken.
    pub bodies_bytes_max: usize,
    /// How much memory answers may take that their clients have not read, in bytes; above it the answer is
    /// 503. A single answer is always given.
    pub answers_bytes_max: usize,
    /// How much memory answers may take that are kept for who asks next, in bytes; 0 keeps none.
    pub kept_answers_bytes_max: usize,
    /// How many requests may be in flight at once, over all workers; above it the answer is 503.
    /// Long polls count, and so do answers that are still being sent.
    pub max_in_flight: usize,
    /// How many of them may be of one address; above it the answer is 503.
    pub max_in_flight_per_address: usize,
    /// How many requests of one connection may be in flight at once; above it the answer is 503.
    pub max_streams_per_connection: usize,
    /// Whether answers are compressed for clients that take it.
    pub compression_enabled: bool,
    /// What is on, until [`ApiState::change_switches`] changes it.
    pub switches: SwitchSettings,
}

impl Default for ApiConfig {
    /// What the node has where nothing sets it.
    fn default() -> Self {
        Self {
            max_body_bytes: 8 * 1024 * 1024,
            bodies_bytes_max: 256 * 1024 * 1024,
            answers_bytes_max: 256 * 1024 * 1024,
            kept_answers_bytes_max: 32 * 1024 * 1024,
            max_in_flight: 20_000,
            max_in_flight_per_address: 19_500,
            max_streams_per_connection: 128,
            compression_enabled: true,
            switches: SwitchSettings::default(),
        }
    }
}

/// What every handler shares. Cheap to clone; clones share the places of requests in flight and of
/// large answers.
#[derive(Clone, Debug)]
pub struct ApiState(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    node: NodeHandle,
    config: ApiConfig,
    switches: Switches,
    headers: LedgerHeaders,
    media_types: MediaTypes,
    document: WrittenDocument,
    routes: Arc<RouteMeters>,
    in_flight: Arc<Semaphore>,
    in_flight_of_addresses: Arc<Addresses>,
    health_checks: Arc<Semaphore>,
    bodies: Budget,
    answers: Budget,
    kept: KeptAnswers,
    large_answers: LargeAnswers,
    compressors: Compressors,
}

impl ApiState {
    /// The shared parts of an interface to `node`.
    pub fn new(node: NodeHandle, config: ApiConfig) -> Self {
        let vendor = node.chain().vendor();
        Self(Arc::new(Shared {
            headers: LedgerHeaders::new(vendor),
            media_types: MediaTypes::new(vendor),
            document: WrittenDocument::default(),
            routes: Arc::new(RouteMeters::new(&routes::table())),
            node,
            in_flight: Arc::new(Semaphore::new(config.max_in_flight.min(Semaphore::MAX_PERMITS))),
            in_flight_of_addresses: Arc::new(Addresses::new(config.max_in_flight_per_address)),
            health_checks: Arc::new(Semaphore::new(HEALTH_CHECKS_MAX)),
            switches: Switches::new(config.switches),
            bodies: Budget::new(config.bodies_bytes_max),
            answers: Budget::new(config.answers_bytes_max),
            kept: KeptAnswers::new(config.kept_answers_bytes_max),
            config,
            large_answers: LargeAnswers::default(),
            compressors: Compressors::default(),
        }))
    }

    /// What was counted of each route that was asked.
    pub fn routes(&self) -> Vec<RouteStatus> {
        self.0.routes.status()
    }

    /// Counts each route.
    pub(crate) fn route_meters(&self) -> &Arc<RouteMeters> {
        &self.0.routes
    }

    pub(crate) fn node(&self) -> &NodeHandle {
        &self.0.node
    }

    pub(crate) fn config(&self) -> &ApiConfig {
        &self.0.config
    }

    /// What is on.
    pub fn switches(&self) -> SwitchSettings {
        self.0.switches.settings()
    }

    /// Turns parts of the interface on and off, with effect on requests that begin from now on. The next
    /// start begins with the configured switches again.
    pub fn change_switches(&self, change: &SwitchChange) {
        self.0.switches.change(change);
    }

    /// Goes on only where the switch is on.
    ///
    /// # Errors
    /// 403, which names the setting.
    pub(crate) fn require(&self, switch: Switch) -> Result<(), Problem> {
        self.0.switches.require(switch)
    }

    pub(crate) fn headers(&self) -> &LedgerHeaders {
        &self.0.headers
    }

    /// The document of the interface.
    pub(crate) fn document(&self) -> &WrittenDocument {
        &self.0.document
    }

    /// The media type under which a signed transaction is submitted as BCS.
    pub(crate) fn signed_transaction_media_type(&self) -> &str {
        &self.0.media_types.signed_transaction
    }

    /// The media type under which a call of a view function is sent as BCS.
    pub(crate) fn view_function_media_type(&self) -> &str {
        &self.0.media_types.view_function
    }

    /// The memory of bodies.
    pub(crate) fn bodies(&self) -> &Budget {
        &self.0.bodies
    }

    /// The memory of answers that their clients have not read.
    pub(crate) fn answers(&self) -> &Budget {
        &self.0.answers
    }

    /// The answers that are kept for who asks next.
    pub(crate) fn kept(&self) -> &KeptAnswers {
        &self.0.kept
    }

    /// What was counted of the answers that are kept for who asks next.
    pub fn kept_answers(&self) -> KeptAnswersStatus {
        self.0.kept.counts()
    }

    /// The places of answers that are large.
    pub(crate) fn large_answers(&self) -> &LargeAnswers {
        &self.0.large_answers
    }

    /// The places of compressors of answers.
    pub(crate) fn compressors(&self) -> &Compressors {
        &self.0.compressors
    }

    /// Takes a place among the requests in flight, or `None` where all are taken. It is given back
    /// when dropped, so that a request whose client went away cannot keep it.
    pub(crate) fn admit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0.in_flight).try_acquire_owned().ok()
    }

    /// Takes a place among the requests of this address, or `None` where all are taken.
    pub(crate) fn admit_of(&self, address: IpAddr) -> Option<AddressPlace> {
        self.0.in_flight_of_addresses.place(address)
    }

    /// Takes a place among the questions whether the node is well, or `None` where all are taken.
    pub(crate) fn admit_health_check(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0.health_checks).try_acquire_owned().ok()
    }
}
