//! `/snapshot`, `/history` and `/events`: actors, threads and queues, now, in the newest 15
//! minutes, and as a stream.

use super::context::{Admin, EVENT_STREAMS_MAX};
use crate::observe::{Published, SNAPSHOTS_MAX};
use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{CACHE_CONTROL, HeaderValue},
    web::{Bytes, Data, Query},
};
use futures::{Stream, future::LocalBoxFuture, stream};
use ledger_actors::Overload;
use ledger_api::{Connection, ErrorKind};
use ledger_limits::{Limit, Permit};
use serde::Deserialize;
use std::{convert::Infallible, mem, sync::Arc};
use tokio::sync::watch;

/// Name of the limit on streams in error messages.
const EVENT_STREAMS: &str = "event streams";

/// First bytes of a stream: the time after which a browser connects again, in milliseconds.
const RETRY: Bytes = Bytes::from_static(b"retry: 2000\n\n");

/// Number of points of `/history` if the request names none: about one for each pixel of a chart
/// on a phone.
const POINTS_DEFAULT: usize = 300;

/// Every response has the state of this second.
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// `GET /snapshot`: responds with the newest snapshot.
pub async fn snapshot(admin: Data<Admin>) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((CACHE_CONTROL, NO_STORE))
        .content_type("application/json")
        .body(admin.observer.newest().json())
}

/// Query of `GET /history`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryQuery {
    /// Uptime in milliseconds after which points are wanted.
    #[serde(default)]
    since_ms: u64,
    /// Maximum number of points.
    points: Option<usize>,
    /// Whether the response has the stages beside the series.
    #[serde(default = "true_by_default")]
    stages: bool,
}

fn true_by_default() -> bool {
    true
}

/// `GET /history?since_ms=N&points=N&stages=false`: responds with the snapshots after an uptime, at
/// most 15 minutes of them, combined to at most as many points. `stages=false` omits the stages.
///
/// Responds with 400 to another query.
pub async fn history(admin: Data<Admin>, request: HttpRequest) -> HttpResponse {
    let query = match Query::<HistoryQuery>::from_query(request.query_string()) {
        Ok(query) => query.into_inner(),
        Err(error) => return ErrorKind::InvalidInput(error.to_string()).response(),
    };
    let points = query.points.unwrap_or(POINTS_DEFAULT);
    if !(1..=SNAPSHOTS_MAX).contains(&points) {
        return ErrorKind::InvalidInput(format!(
            "points = {points} is not allowed: expected 1 to {SNAPSHOTS_MAX}"
        ))
        .response();
    }
    let mut history = admin.observer.history(query.since_ms, points);
    if !query.stages {
        history.stages.clear();
    }
    HttpResponse::Ok()
        .insert_header((CACHE_CONTROL, NO_STORE))
        .json(history)
}

/// `GET /events`: streams the event `snapshot` once per second, with the JSON of `/snapshot`.
///
/// A client that reads slowly misses snapshots and receives the newest one next. The stream ends
/// when the listener stops. Responds with 503 if `EVENT_STREAMS_MAX` streams are open.
pub async fn events(admin: Data<Admin>, request: HttpRequest) -> HttpResponse {
    let Some(permit) = Permit::try_acquire(Arc::clone(&admin.event_streams.0)) else {
        let overload = Overload::brief(EVENT_STREAMS, EVENT_STREAMS_MAX);
        return ErrorKind::from(overload).response();
    };
    let events = Events {
        snapshots: admin.observer.subscribe(),
        ends: Box::pin(Connection::stream_ends(&request)),
        next: Next::Retry,
        _permit: permit,
    };
    HttpResponse::Ok()
        .insert_header((CACHE_CONTROL, NO_STORE))
        .content_type("text/event-stream")
        .streaming(events.stream())
}

/// The stream of one client.
struct Events {
    snapshots: watch::Receiver<Arc<Published>>,
    ends: LocalBoxFuture<'static, ()>,
    next: Next,
    _permit: Permit<Arc<Limit>>,
}

/// The next part of a stream.
enum Next {
    /// The time after which to connect again.
    Retry,
    /// The snapshot that exists, without waiting for the next one.
    Present,
    /// The next snapshot.
    Later,
}

impl Events {
    /// Returns the parts of the response.
    fn stream(self) -> impl Stream<Item = Result<Bytes, Infallible>> {
        stream::unfold(self, |mut events| async {
            let part = events.next_part().await?;
            Some((Ok(part), events))
        })
    }

    /// Waits for the next part. Returns `None` at the end of the stream.
    async fn next_part(&mut self) -> Option<Bytes> {
        match mem::replace(&mut self.next, Next::Later) {
            Next::Retry => {
                self.next = Next::Present;
                return Some(RETRY);
            }
            Next::Present => {}
            Next::Later => tokio::select! {
                () = &mut self.ends => return None,
                // An error means that the sampler has ended: the node is stopping.
                changed = self.snapshots.changed() => changed.ok()?,
            },
        }
        Some(self.snapshots.borrow_and_update().event())
    }
}
