//! What the log tells of requests: a line for each where it is asked for, and the trace that a request belongs to
//! (W3C Trace Context, level 1) on everything that is logged while it is served.
//!
//! The lines are of target `http` and level debug: `log.level = "info,http=debug"` turns them on. A request
//! without a trace costs nothing here while they are off.

use actix_web::{
    dev::ServiceResponse,
    http::header::{HeaderMap, HeaderName},
};
use std::time::{Duration, Instant};
use tracing::{Instrument as _, Level, Span};

/// The target of the lines.
const TARGET: &str = "http";

/// How much of a text that a client chose is logged, in characters.
const LOGGED_CHARS_MAX: usize = 100;

/// Where a request stands in the traces of its client: the header `traceparent`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TraceParent {
    /// 32 hex digits.
    trace_id: String,
    /// The caller's span; 16 hex digits.
    parent_id: String,
}

impl TraceParent {
    /// Reads `version-trace_id-parent_id-flags`, all hex digits in lower case. What later versions add behind
    /// the flags is passed over, as the standard asks for.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let mut hex = |digits: usize| {
            let part = parts.next()?;
            let is_hex = part
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            (part.len() == digits && is_hex).then_some(part)
        };
        let (version, trace_id, parent_id, _flags) = (hex(2)?, hex(32)?, hex(16)?, hex(2)?);
        let is_zero = |digits: &str| digits.bytes().all(|byte| byte == b'0');
        let ends_well = version != "00" || parts.next().is_none();
        (version != "ff" && !is_zero(trace_id) && !is_zero(parent_id) && ends_well).then(|| Self {
            trace_id: trace_id.to_owned(),
            parent_id: parent_id.to_owned(),
        })
    }

    /// Of the only header of this name; several mean nothing.
    fn of(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all("traceparent");
        match (values.next(), values.next()) {
            (Some(value), None) => Self::parse(value.to_str().ok()?),
            _ => None,
        }
    }

    fn span(&self) -> Span {
        tracing::error_span!(
            "request",
            trace_id = self.trace_id.as_str(),
            parent_id = self.parent_id.as_str()
        )
    }
}

/// A request while it is served.
pub(crate) struct RequestTrace {
    parent: Option<TraceParent>,
    is_logged: bool,
    begun: Instant,
}

impl RequestTrace {
    /// A request with these headers begins to be served.
    pub fn begin(headers: &HeaderMap) -> Self {
        Self {
            parent: TraceParent::of(headers),
            is_logged: tracing::enabled!(target: TARGET, Level::DEBUG),
            begun: Instant::now(),
        }
    }

    /// Serves it within its trace.
    pub async fn within<F: Future>(&self, served: F) -> F::Output {
        match &self.parent {
            Some(parent) => served.instrument(parent.span()).await,
            None => served.await,
        }
    }

    /// How long its answer took; logs a line about it where that is on. `client` is the header by which clients name
    /// themselves, and the route is a root and the pattern below it, where one fits.
    pub fn end(
        &self,
        client: &HeaderName,
        route: (&str, Option<&str>),
        response: &ServiceResponse,
    ) -> Duration {
        let took = self.begun.elapsed();
        if self.is_logged {
            log(client, self.parent.as_ref(), took, route, response);
        }
        took
    }
}

fn log(
    client: &HeaderName,
    parent: Option<&TraceParent>,
    took: Duration,
    (root, pattern): (&str, Option<&str>),
    response: &ServiceResponse,
) {
    let route = pattern.map_or("(none)".to_owned(), |pattern| format!("{root}{pattern}"));
    let request = response.request();
    let client = request.headers().get(client);
    // Written as text, which the log quotes and escapes.
    tracing::debug!(
        target: TARGET,
        method = shortened(request.method().as_str()),
        route,
        status = response.status().as_u16(),
        duration_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        trace_id = parent.map(|parent| parent.trace_id.as_str()),
        parent_id = parent.map(|parent| parent.parent_id.as_str()),
        client = client.map(|value| shortened(&String::from_utf8_lossy(value.as_bytes()))),
        "answered"
    );
}

/// The beginning of a text, control characters escaped.
fn shortened(text: &str) -> String {
    let escaped = |character: char| {
        let (as_is, escaped) = if character.is_control() {
            (None, Some(character.escape_default()))
        } else {
            (Some(character), None)
        };
        as_is.into_iter().chain(escaped.into_iter().flatten())
    };
    text.chars()
        .take(LOGGED_CHARS_MAX)
        .flat_map(escaped)
        .collect()
}

#[cfg(test)]
mod tests;
