//! The state of an HTTP connection: its requests in flight, and whether its submissions are trusted
//! to have valid signatures.
//!
//! HTTP/2 serves many requests of a connection at a time. The listener limits its streams. A
//! request whose stream the client resets counts here until it is dropped.
//!
//! A new connection is untrusted until one of its transactions is accepted. Otherwise a flood of
//! invalid signatures would be trusted by opening a new connection for each.

use actix_web::{HttpMessage as _, HttpRequest};
use ledger_actors::{Accepted, Lane, Overload, SubmitError};
use ledger_http::EndOfWaits;
use ledger_limits::{Limit, Permit};
use ledger_types::ValidationStatus;
use std::{cell::Cell, future::pending, rc::Rc, time::Duration};
use tokio::time::{Instant, sleep, sleep_until};

/// Number of accepted transactions that make a new connection trusted.
const TRUSTED_FIRST_AFTER: u8 = 1;

/// Number of accepted transactions that make a connection trusted again after an invalid signature.
///
/// With fewer, a client that alternates valid and invalid signatures would have many of the invalid
/// ones checked in the trusted queue. With many more, an honest client would pay long for one
/// mistake.
const TRUSTED_AFTER: u8 = 8;

/// Time for work in progress after the listener has begun to stop. It is half of the time after
/// which the listener closes its connections, so that the responses arrive.
const WORK_ENDS_WITHIN: Duration = Duration::from_secs(2);

/// The state of a connection.
///
/// All requests of a connection are served on one thread. They find the state as an `Rc` in the
/// data of their connection or in their extensions. A request without one counts as the only
/// request of its connection.
#[derive(Debug)]
pub struct Connection {
    /// Number of accepted transactions until the connection is trusted.
    owed: Cell<u8>,
    /// Counts the requests in flight. The interface has their limit.
    in_flight: Rc<Limit>,
    end_of_waits: Option<EndOfWaits>,
}

impl Default for Connection {
    /// Creates the state of a new connection, whose waits last until their deadline.
    fn default() -> Self {
        Self {
            owed: Cell::new(TRUSTED_FIRST_AFTER),
            in_flight: Rc::new(Limit::unlimited()),
            end_of_waits: None,
        }
    }
}

impl Connection {
    /// Creates the state of a new connection of a listener.
    pub fn new(end_of_waits: EndOfWaits) -> Self {
        Self {
            end_of_waits: Some(end_of_waits),
            ..Self::default()
        }
    }

    /// Waits until a request must respond that waits for work in progress: some time after the
    /// listener has begun to stop, in which such work usually ends.
    pub async fn work_ends(request: &HttpRequest) {
        match Self::of(request).as_deref().and_then(Self::signal) {
            Some(signal) => signal.stop_begun().await,
            None => pending().await,
        }
        sleep(WORK_ENDS_WITHIN).await;
    }

    /// Waits until a request that streams without an end must end: its listener has begun to stop,
    /// or the client has closed its side.
    pub fn stream_ends(request: &HttpRequest) -> impl Future<Output = ()> + use<> {
        Self::waits_end(Self::of(request))
    }

    /// Returns the connection of a request, if its listener has made one.
    fn of(request: &HttpRequest) -> Option<Rc<Self>> {
        let of_connection = request.conn_data::<Rc<Self>>().cloned();
        of_connection.or_else(|| request.extensions().get::<Rc<Self>>().cloned())
    }

    fn signal(&self) -> Option<&EndOfWaits> {
        self.end_of_waits.as_ref()
    }

    /// Waits until the requests of a connection that wait must respond.
    async fn waits_end(connection: Option<Rc<Self>>) {
        match connection.as_deref().and_then(Self::signal) {
            Some(signal) => signal.reached().await,
            None => pending().await,
        }
    }
}

/// The end of the waits of a request: a deadline, or an earlier end of all waits of its connection.
#[derive(Clone)]
pub(crate) struct WaitEnd {
    deadline: Instant,
    connection: Option<Rc<Connection>>,
}

impl WaitEnd {
    /// Creates the end of the waits of `request` with this deadline.
    pub fn new(request: &HttpRequest, deadline: Instant) -> Self {
        let connection = Connection::of(request);
        Self {
            deadline,
            connection,
        }
    }

    /// Waits until the end is reached.
    pub async fn reached(self) {
        tokio::select! {
            () = sleep_until(self.deadline) => {}
            () = Connection::waits_end(self.connection) => {}
        }
    }
}

/// A permit of a request among the requests in flight of its connection. It moves with the
/// response, which can outlive the connection.
pub(crate) type ConnectionPermit = Permit<Rc<Limit>>;

/// Acquires a permit among the `limit` requests in flight of the connection of `request`.
///
/// # Errors
///
/// Returns [`Overload`] if the limit is reached.
pub(crate) fn acquire_permit(
    request: &HttpRequest,
    limit: usize,
) -> Result<Option<ConnectionPermit>, Overload> {
    let Some(connection) = Connection::of(request) else {
        return Ok(None);
    };
    // All requests of a connection are served on one thread, so nothing comes between.
    if connection.in_flight.held() >= limit {
        return Err(Overload::brief("api.max_streams_per_connection", limit));
    }
    Ok(Some(Permit::acquire(Rc::clone(&connection.in_flight))))
}

/// Returns the queue in which a submission over the connection of `request` waits for the check of
/// its signatures.
pub(crate) fn lane_of(request: &HttpRequest) -> Lane {
    match Connection::of(request) {
        Some(connection) if connection.owed.get() == 0 => Lane::Trusted,
        _ => Lane::Untrusted,
    }
}

/// Records the outcome of a submission over the connection of `request`.
///
/// A key that is not the account's counts as an invalid signature, because anyone can make a valid
/// signature with a key of their own. Other rejections change nothing.
pub(crate) fn remember_outcome(request: &HttpRequest, outcome: &Result<Accepted, SubmitError>) {
    let Some(connection) = Connection::of(request) else {
        return;
    };
    match outcome {
        Ok(_) => connection.owed.set(connection.owed.get().saturating_sub(1)),
        Err(SubmitError::Invalid(discard)) => match discard.status {
            ValidationStatus::InvalidSignature | ValidationStatus::InvalidAuthKey => {
                connection.owed.set(TRUSTED_AFTER);
            }
            _ => {}
        },
        Err(_) => {}
    }
}
