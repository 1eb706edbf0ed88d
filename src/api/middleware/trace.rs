//! Log lines and trace context of requests.
//!
//! Each request is logged in one line of target `http` and level debug, which
//! `log.level = "info,http=debug"` enables. All events that are logged while a request is processed
//! carry the trace that the request belongs to (W3C Trace Context, level 1).
//!
//! A request without a trace has no cost here while the lines are disabled.

use actix_web::{
    dev::ServiceResponse,
    http::header::{HeaderMap, HeaderName},
};
use std::{
    net::IpAddr,
    time::{Duration, Instant},
};
use tracing::{Instrument as _, Level, Span};

/// Target of the log lines.
const TARGET: &str = "http";

/// Maximum number of characters of a client's text in a log line.
const LOGGED_CHARS_MAX: usize = 100;

/// Position of a request in the traces of its client, from the header `traceparent`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TraceParent {
    /// Trace id: 32 hexadecimal digits.
    trace_id: String,
    /// Id of the caller's span: 16 hexadecimal digits.
    parent_id: String,
}

impl TraceParent {
    /// Parses `version-trace_id-parent_id-flags`, all lower-case hexadecimal digits, or returns
    /// `None`.
    ///
    /// Text that a later version of the standard adds after the flags is ignored, as the standard
    /// requires.
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
        let has_valid_end = version != "00" || parts.next().is_none();
        (version != "ff" && !is_zero(trace_id) && !is_zero(parent_id) && has_valid_end).then(|| {
            Self {
                trace_id: trace_id.to_owned(),
                parent_id: parent_id.to_owned(),
            }
        })
    }

    /// Returns the trace context of the headers, or `None` if the header is missing, invalid, or
    /// given more than once.
    fn from_headers(headers: &HeaderMap) -> Option<Self> {
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

/// The trace context and start time of a request that is being processed.
pub(crate) struct RequestTrace {
    parent: Option<TraceParent>,
    /// Address of the client.
    address: Option<IpAddr>,
    is_logged: bool,
    started_at: Instant,
}

impl RequestTrace {
    /// Starts to trace a request with these headers, of the client at this address.
    pub fn start(headers: &HeaderMap, address: Option<IpAddr>) -> Self {
        Self {
            parent: TraceParent::from_headers(headers),
            address,
            is_logged: tracing::enabled!(target: TARGET, Level::DEBUG),
            started_at: Instant::now(),
        }
    }

    /// Returns the time at which the request started.
    pub fn started_at(&self) -> Instant {
        self.started_at
    }

    /// Runs `served` in the span of the request's trace, if it has one.
    pub async fn in_scope<F: Future>(&self, served: F) -> F::Output {
        match &self.parent {
            Some(parent) => served.instrument(parent.span()).await,
            None => served.await,
        }
    }

    /// Returns the time since the request started, and logs a line if log lines are enabled.
    ///
    /// `client` is the header that identifies a client's software. `route` is a root and, if a
    /// route matches, the pattern below it.
    pub fn finish(
        &self,
        client: &HeaderName,
        route: (&str, Option<&str>),
        response: &ServiceResponse,
    ) -> Duration {
        let duration = self.started_at.elapsed();
        if self.is_logged {
            self.log(client, duration, route, response);
        }
        duration
    }

    fn log(
        &self,
        client: &HeaderName,
        duration: Duration,
        (root, pattern): (&str, Option<&str>),
        response: &ServiceResponse,
    ) {
        let route = pattern.map_or("(none)".to_owned(), |pattern| format!("{root}{pattern}"));
        let parent = self.parent.as_ref();
        let address = self.address.map(|address| address.to_string());
        let request = response.request();
        let client = request.headers().get(client);
        // The fields are logged as text, because the log quotes and escapes text.
        tracing::debug!(
            target: TARGET,
            method = truncated(request.method().as_str()),
            route,
            status = response.status().as_u16(),
            duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
            trace_id = parent.map(|parent| parent.trace_id.as_str()),
            parent_id = parent.map(|parent| parent.parent_id.as_str()),
            address,
            client = client.map(|value| truncated(&String::from_utf8_lossy(value.as_bytes()))),
            "answered"
        );
    }
}

/// Returns the first [`LOGGED_CHARS_MAX`] characters of a text, with control characters escaped.
fn truncated(text: &str) -> String {
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
