//! Metrics of the routes: responses by status, and their duration.
//!
//! The caller passes in the routes of the table, so a client cannot add any. Requests that match no
//! route are counted together. A request whose client disconnects before the response is not
//! counted.

use actix_web::http::{Method, StatusCode};
use ledger_metrics::{Counter, DurationRecorder, Histogram, Metric};
use std::{array, time::Duration};

/// Lowest HTTP status.
const STATUS_MIN: u16 = 100;
/// Number of statuses: 100 to 599.
const STATUSES: usize = 500;

/// Method and path of requests that match no route.
const NO_ROUTE: (&str, &str) = ("(any)", "(none)");

/// Identifier of a route's metrics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouteMeterId(usize);

/// The metrics of all routes. The last are those of requests that match no route.
#[derive(Debug)]
pub struct RouteMeters(Vec<RouteMeter>);

/// The metrics of one route.
#[derive(Debug)]
struct RouteMeter {
    /// `None` for requests that match no route.
    route: Option<(Method, &'static str)>,
    /// Number of responses by status, from [`STATUS_MIN`] on.
    responses: Box<[Counter; STATUSES]>,
    took: DurationRecorder,
}

impl RouteMeters {
    /// Creates the metrics of `routes`, each given by its method and its path below `/v1`.
    pub(crate) fn new(routes: impl IntoIterator<Item = (Method, &'static str)>) -> Self {
        let routes = routes.into_iter().map(Some);
        let meters = routes.chain([None]).map(|route| RouteMeter {
            route,
            responses: Box::new(array::from_fn(|_| Counter::default())),
            took: DurationRecorder::default(),
        });
        Self(meters.collect())
    }

    /// Returns the identifier of a route of the table, given its method and its path below `/v1`.
    pub(crate) fn id_of(&self, method: &Method, path: &str) -> RouteMeterId {
        let is_of_route = |meter: &RouteMeter| {
            let route = meter.route.as_ref();
            route.is_none_or(|(of, at)| of == method && *at == path)
        };
        RouteMeterId(self.0.iter().position(is_of_route).unwrap_or(0))
    }

    /// Records a response of a route, or of no route if `id` is `None`, that took `duration`.
    pub(crate) fn record(&self, id: Option<RouteMeterId>, status: StatusCode, duration: Duration) {
        let meter = match id {
            Some(RouteMeterId(index)) => self.0.get(index),
            None => self.0.last(),
        };
        if let Some(meter) = meter {
            meter.record(status, duration);
        }
    }

    /// Returns the number of responses of all routes.
    pub fn responses(&self) -> u64 {
        let counts = self.0.iter().map(|meter| meter.took.snapshot().count());
        counts.sum()
    }

    /// Returns the current values of the routes that have responded to a request.
    pub fn status(&self) -> Vec<RouteStatus> {
        self.0.iter().filter_map(RouteMeter::status).collect()
    }
}

impl RouteMeter {
    fn record(&self, status: StatusCode, duration: Duration) {
        let index = usize::from(status.as_u16().saturating_sub(STATUS_MIN));
        self.responses[index.min(STATUSES - 1)].increment();
        self.took.record(duration);
    }

    /// Returns the current values, or `None` if the route has not responded to any request.
    fn status(&self) -> Option<RouteStatus> {
        let counts = self.responses.iter().map(Metric::snapshot);
        let statuses: Vec<_> = (STATUS_MIN..)
            .zip(counts)
            .filter(|(_, count)| *count > 0)
            .collect();
        let (method, path) = match &self.route {
            Some((method, path)) => (method.to_string(), format!("/v1{path}")),
            None => (NO_ROUTE.0.to_owned(), NO_ROUTE.1.to_owned()),
        };
        (!statuses.is_empty()).then(|| RouteStatus {
            method,
            path,
            statuses,
            took: self.took.snapshot(),
        })
    }
}

/// Snapshot of the metrics of a route since the start of the node.
#[derive(Clone, Debug)]
pub struct RouteStatus {
    /// Method of the route, or `(any)` for requests that match no route.
    pub method: String,
    /// Path of the route with its parameters in braces, or `(none)` for requests that match no
    /// route.
    pub path: String,
    /// Number of responses by status. Statuses that did not occur are absent.
    pub statuses: Vec<(u16, u64)>,
    /// Time from the head of a request to the head of its response, including a long poll's wait.
    pub took: Histogram,
}
