//! How often each route answered with which status, and how long that took.
//!
//! Routes are those of the table, so that nobody can make up new ones by asking; what fits none of them is
//! counted together. A request whose client left before the answer was made is not counted.

use crate::routes::Route;
use actix_web::http::{Method, StatusCode};
use ledger_metrics::{Counter, DurationRecorder, Histogram, Metric};
use std::{array, time::Duration};

/// The lowest status of HTTP.
const STATUS_MIN: u16 = 100;
/// How many statuses there are: 100 to 599.
const STATUSES: usize = 500;

/// The method and the path of what fits no route.
const NO_ROUTE: (&str, &str) = ("(any)", "(none)");

/// The place of a route's counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row(usize);

/// The counters of all routes, the last of which are of no route.
#[derive(Debug)]
pub(crate) struct RouteMeters(Vec<RouteMeter>);

#[derive(Debug)]
struct RouteMeter {
    /// `None` where no route fits.
    route: Option<(Method, &'static str)>,
    /// By status, from [`STATUS_MIN`] on.
    answers: Box<[Counter; STATUSES]>,
    took: DurationRecorder,
}

impl RouteMeters {
    /// The counters of these.
    pub(crate) fn new(table: &[Route]) -> Self {
        let routes = table
            .iter()
            .map(|route| Some((route.method().clone(), route.path())));
        let meters = routes.chain([None]).map(|route| RouteMeter {
            route,
            answers: Box::new(array::from_fn(|_| Counter::default())),
            took: DurationRecorder::default(),
        });
        Self(meters.collect())
    }

    /// Where the counters of a route of the table are, by its method and its path below `/v1`.
    pub(crate) fn row(&self, method: &Method, path: &str) -> Row {
        let wanted = |meter: &RouteMeter| {
            let route = meter.route.as_ref();
            route.is_none_or(|(of, at)| of == method && *at == path)
        };
        Row(self.0.iter().position(wanted).unwrap_or(0))
    }

    /// An answer of a route, if any fits, was made in so long a time.
    pub(crate) fn answered(&self, row: Option<Row>, status: StatusCode, took: Duration) {
        let meter = match row {
            Some(Row(row)) => self.0.get(row),
            None => self.0.last(),
        };
        if let Some(meter) = meter {
            meter.answered(status, took);
        }
    }

    /// What was counted until now of those that were asked.
    pub(crate) fn status(&self) -> Vec<RouteStatus> {
        self.0.iter().filter_map(RouteMeter::status).collect()
    }
}

impl RouteMeter {
    fn answered(&self, status: StatusCode, took: Duration) {
        let place = usize::from(status.as_u16().saturating_sub(STATUS_MIN));
        self.answers[place.min(STATUSES - 1)].increment();
        self.took.record(took);
    }

    fn status(&self) -> Option<RouteStatus> {
        let counts = self.answers.iter().map(Metric::snapshot);
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

/// What was counted of a route since the start.
#[derive(Clone, Debug)]
pub struct RouteStatus {
    /// The method; `(any)` for what fits no route.
    pub method: String,
    /// The path as the table has it, its parameters in braces; `(none)` for what fits no route.
    pub path: String,
    /// How many answers had which status.
    pub statuses: Vec<(u16, u64)>,
    /// How long it took from the head of the request to the head of the answer; with a long poll, its wait.
    pub took: Histogram,
}
