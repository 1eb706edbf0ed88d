//! What is remembered of one HTTP connection: how many of its requests are in flight, and whether
//! what came over it was signed by who may sign it.
//!
//! HTTP/2 serves many requests of a connection at once. Its streams are bounded by the listener; a
//! request that its client takes back is no stream any more, and counts here until it was dropped.
//!
//! Trust is earned: a new connection waits among those that are not trusted until a transaction of
//! its was taken. Else a flood of bad signatures would be trusted by coming over a new connection
//! each time.

use crate::error::Problem;
use actix_web::{HttpMessage as _, HttpRequest};
use ledger::ValidationStatus;
use ledger_actors::{Accepted, Lane, SubmitError};
use ledger_limits::{Limit, Permit};
use std::{cell::Cell, rc::Rc};

/// What makes a new connection trusted: a transaction that the node took.
const TRUSTED_FIRST_AFTER: u8 = 1;

/// After a signature that does not hold, so many taken transactions make a connection trusted
/// again. With fewer, who sends good and bad ones by turns would have a large part of the bad ones
/// checked among those of others; with many more, an honest client would pay long for one mistake.
const TRUSTED_AFTER: u8 = 8;

/// What is remembered of a connection. All its requests are served on one thread, and find it as an
/// `Rc` in the data of their connection or in their own. A request that finds none is taken for the
/// first and only one of its connection.
#[derive(Debug)]
pub struct Connection {
    /// How many taken transactions are missing until it is trusted.
    owed: Cell<u8>,
    /// Counts its requests in flight. The configuration that limits them is that of the interface.
    in_flight: Rc<Limit>,
}

impl Default for Connection {
    /// A new one.
    fn default() -> Self {
        Self {
            owed: Cell::new(TRUSTED_FIRST_AFTER),
            in_flight: Rc::new(Limit::unlimited()),
        }
    }
}

fn connection_of(request: &HttpRequest) -> Option<Rc<Connection>> {
    let of_connection = request.conn_data::<Rc<Connection>>().cloned();
    of_connection.or_else(|| request.extensions().get::<Rc<Connection>>().cloned())
}

/// A permit of a request among the requests in flight of its connection. It moves with the
/// response, which can outlive the connection.
pub(crate) type ConnectionPermit = Permit<Rc<Limit>>;

/// Acquires a permit among the `limit` requests in flight of the connection of `request`.
///
/// # Errors
///
/// Returns [`Problem::TooManyOnConnection`] if the limit is reached.
pub(crate) fn acquire_permit(
    request: &HttpRequest,
    limit: usize,
) -> Result<Option<ConnectionPermit>, Problem> {
    let Some(connection) = connection_of(request) else {
        return Ok(None);
    };
    let permit = Permit::try_acquire(Rc::clone(&connection.in_flight));
    let permit = permit.filter(|_| connection.in_flight.held() <= limit);
    permit.map(Some).ok_or(Problem::TooManyOnConnection(limit))
}

/// Where a submission over the connection of `request` waits for the check of its signatures.
pub(crate) fn lane_of(request: &HttpRequest) -> Lane {
    match connection_of(request) {
        Some(connection) if connection.owed.get() == 0 => Lane::Trusted,
        _ => Lane::Suspect,
    }
}

/// Remembers what became of a submission over the connection of `request`. A key that is not the
/// account's counts as a bad signature: anyone can make a valid one with a key of their own. Other
/// refusals say nothing.
pub(crate) fn remember_outcome(request: &HttpRequest, outcome: &Result<Accepted, SubmitError>) {
    let Some(connection) = connection_of(request) else {
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
