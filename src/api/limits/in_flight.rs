//! Limits on requests in flight: of all clients, of each client address, and of each connection.

use super::connection::{self, ConnectionPermit};
use crate::{config::ApiConfig, error::ErrorKind};
use actix_web::HttpRequest;
use ledger_actors::Overload;
use ledger_limits::{KeyedLimit, KeyedPermit, Limit, Permit, network_of};
use std::{net::IpAddr, ops::Deref, rc::Rc, sync::Arc};

/// Maximum number of health checks in flight. They do not count as requests in flight, because a
/// load balancer must see that a node at its limit is healthy.
const HEALTH_CHECKS_MAX: usize = 64;

/// Name of [`HEALTH_CHECKS_MAX`] in error messages.
const HEALTH_CHECKS: &str = "health checks in flight";

/// Path of the health check, which has a limit of its own.
const HEALTH_PATH: &str = "/v1/-/healthy";

/// The limits on requests in flight.
#[derive(Debug)]
pub struct InFlightLimits {
    all: Limit,
    of_addresses: Arc<KeyedLimit<IpAddr>>,
    health_checks: Limit,
    /// Maximum number of requests of one connection.
    connection_max: usize,
}

/// The permits of one request in flight.
pub(crate) struct RequestPermits {
    _of_connection: Option<ConnectionPermit>,
    _of_address: Option<KeyedPermit<IpAddr>>,
    _of_all: Permit<ThreadLimit>,
}

/// The limits, with a reference count of their own for the permits of one thread, so that threads
/// do not contend for a shared one.
pub(crate) struct ThreadLimits(Arc<InFlightLimits>);

/// One of the limits of a thread.
struct ThreadLimit {
    limits: Rc<ThreadLimits>,
    limit: fn(&InFlightLimits) -> &Limit,
}

impl Deref for ThreadLimit {
    type Target = Limit;

    fn deref(&self) -> &Limit {
        (self.limit)(&self.limits.0)
    }
}

/// Permits of `api.max_in_flight` that a request holds beside its first one, because it takes as
/// much as several requests.
pub(crate) type FurtherPermit = Permit<AllRequests>;

/// The limit on the requests of all clients.
pub(crate) struct AllRequests(Arc<InFlightLimits>);

impl Deref for AllRequests {
    type Target = Limit;

    fn deref(&self) -> &Limit {
        &self.0.all
    }
}

impl InFlightLimits {
    /// Acquires `count` further permits of a request that is in flight.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Overloaded`] (503) and acquires none if fewer are free.
    pub(crate) fn acquire_further(
        self: &Arc<Self>,
        count: usize,
    ) -> Result<FurtherPermit, ErrorKind> {
        let permit = Permit::try_acquire_all(AllRequests(Arc::clone(self)), count);
        let overload = || Overload::brief("api.max_in_flight", self.all.max());
        Ok(permit.ok_or_else(overload)?)
    }

    /// Creates the limits of a configuration.
    pub(crate) fn new(config: &ApiConfig) -> Self {
        Self {
            all: Limit::new(config.max_in_flight),
            of_addresses: Arc::new(KeyedLimit::new(config.max_in_flight_per_address)),
            health_checks: Limit::new(HEALTH_CHECKS_MAX),
            connection_max: config.max_streams_per_connection,
        }
    }

    /// Changes the maximum number of requests of all clients. Requests beyond it continue.
    pub(crate) fn set_max(&self, max: usize) {
        self.all.set_max(max);
    }

    /// Changes the maximum number of requests of one address. Requests beyond it continue.
    pub(crate) fn set_max_per_address(&self, max: usize) {
        self.of_addresses.set_max(max);
    }

    /// Returns the limits for the requests of one thread.
    pub(crate) fn for_thread(self: &Arc<Self>) -> Rc<ThreadLimits> {
        Rc::new(ThreadLimits(Arc::clone(self)))
    }
}

impl ThreadLimits {
    /// Acquires the permits of a request: of its connection, of the address of its client, and of
    /// all requests. A health check takes only one of its own limit.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Overloaded`] (503) with the limit that is reached.
    pub(crate) fn acquire(
        self: &Rc<Self>,
        request: &HttpRequest,
        client: Option<IpAddr>,
    ) -> Result<RequestPermits, ErrorKind> {
        let limits = &*self.0;
        let of_all = |limit, name| {
            let handle = ThreadLimit {
                limits: Rc::clone(self),
                limit,
            };
            let max = handle.max();
            Permit::try_acquire(handle).ok_or_else(|| Overload::brief(name, max))
        };
        if request.path() == HEALTH_PATH {
            return Ok(RequestPermits {
                _of_connection: None,
                _of_address: None,
                _of_all: of_all(|limits| &limits.health_checks, HEALTH_CHECKS)?,
            });
        }
        let of_connection = connection::acquire_permit(request, limits.connection_max)?;
        let of_address = client.map(|address| {
            let permit = limits.of_addresses.try_acquire(network_of(address));
            let max = limits.of_addresses.max();
            permit.ok_or_else(|| Overload::brief("api.max_in_flight_per_address", max))
        });
        Ok(RequestPermits {
            _of_connection: of_connection,
            _of_address: of_address.transpose()?,
            _of_all: of_all(|limits| &limits.all, "api.max_in_flight")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn names_the_setting_of_the_limit_that_is_reached() {
        let config = ApiConfig {
            max_in_flight: 2,
            max_in_flight_per_address: 1,
            ..ApiConfig::default()
        };
        let limits = Arc::new(InFlightLimits::new(&config)).for_thread();
        let request = TestRequest::default().to_http_request();
        let [one, two, three] = [1, 2, 3].map(|number| Some([127, 0, 0, number].into()));
        let permits = [one, two].map(|client| limits.acquire(&request, client).unwrap());
        for (client, expected) in [
            (one, "overloaded: api.max_in_flight_per_address = 1"),
            (three, "overloaded: api.max_in_flight = 2"),
        ] {
            let full = limits.acquire(&request, client).err().unwrap();
            assert_eq!(full.to_string(), expected);
        }
        drop(permits);
        limits.acquire(&request, one).unwrap();
    }

    #[test]
    fn follows_changed_maxima() {
        let limits = Arc::new(InFlightLimits::new(&ApiConfig::default()));
        let of_thread = limits.for_thread();
        let request = TestRequest::default().to_http_request();
        let [one, two] = [1, 2].map(|number| Some([127, 0, 0, number].into()));
        let _held = of_thread.acquire(&request, one).unwrap();
        let rejection = |client| of_thread.acquire(&request, client).err();
        for (change, client, expected) in [
            (
                (1, 1),
                one,
                Some("overloaded: api.max_in_flight_per_address = 1"),
            ),
            ((1, 2), two, Some("overloaded: api.max_in_flight = 1")),
            ((2, 2), two, None),
        ] {
            limits.set_max(change.0);
            limits.set_max_per_address(change.1);
            let message = rejection(client).map(|error| error.to_string());
            assert_eq!(message.as_deref(), expected);
        }
    }

    #[test]
    fn acquires_all_further_permits_or_none() {
        let config = ApiConfig {
            max_in_flight: 3,
            ..ApiConfig::default()
        };
        let limits = Arc::new(InFlightLimits::new(&config));
        let further = limits.acquire_further(2).unwrap();
        let full = limits.acquire_further(2).err().unwrap();
        assert_eq!(full.to_string(), "overloaded: api.max_in_flight = 3");
        assert_eq!(limits.all.held(), 2);
        drop(further);
        assert_eq!(limits.all.held(), 0);
    }

    #[test]
    fn rejects_health_checks_beyond_their_own_limit() {
        let limits = Arc::new(InFlightLimits::new(&ApiConfig::default())).for_thread();
        let request = TestRequest::with_uri(HEALTH_PATH).to_http_request();
        let mut permits: Vec<_> = (0..HEALTH_CHECKS_MAX)
            .map(|_| limits.acquire(&request, None).unwrap())
            .collect();
        let full = limits.acquire(&request, None).err().unwrap();
        assert_eq!(full.to_string(), "overloaded: health checks in flight = 64");
        permits.pop();
        limits.acquire(&request, None).unwrap();
    }
}
