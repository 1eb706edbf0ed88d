//! What is remembered of one HTTP connection: how many of its requests are in flight, and whether what came
//! over it was signed by who may sign it.
//!
//! HTTP/2 serves many requests of a connection at once. Its streams are bounded by the listener; a request that
//! its client takes back is no stream any more, and counts here until it was dropped.
//!
//! Trust is earned: a new connection waits among those that are not trusted until a transaction of its was
//! taken. Else a flood of bad signatures would be trusted by coming over a new connection each time.

use actix_web::{HttpMessage as _, HttpRequest};
use ledger::ValidationStatus;
use ledger_actors::{Accepted, Lane, SubmitError};
use std::{cell::Cell, rc::Rc};

/// What makes a new connection trusted: a transaction that the node took.
const TRUSTED_FIRST_AFTER: u8 = 1;

/// After a signature that does not hold, so many taken transactions make a connection trusted again. With fewer, who
/// sends good and bad ones by turns would have a large part of the bad ones checked among those of others;
/// with many more, an honest client would pay long for one mistake.
const TRUSTED_AFTER: u8 = 8;

/// What is remembered of a connection. All its requests are served on one thread, and find it as an `Rc` in the
/// data of their connection or in their own. A request that finds none is taken for the first and only one of
/// its connection.
#[derive(Debug)]
pub struct Connection {
    /// How many taken transactions are missing until it is trusted.
    owed: Cell<u8>,
    /// How many of its requests are in flight.
    in_flight: Rc<Cell<usize>>,
}

impl Default for Connection {
    /// A new one.
    fn default() -> Self {
        Self {
            owed: Cell::new(TRUSTED_FIRST_AFTER),
            in_flight: Rc::default(),
        }
    }
}

fn connection_of(request: &HttpRequest) -> Option<Rc<Connection>> {
    let of_connection = request.conn_data::<Rc<Connection>>().cloned();
    of_connection.or_else(|| request.extensions().get::<Rc<Connection>>().cloned())
}

/// The place of a request among those of its connection that are in flight, given back when dropped. It goes
/// wherever the answer goes, which the connection may end before.
#[derive(Debug)]
pub(crate) struct ConnectionPlace(Option<Rc<Cell<usize>>>);

impl ConnectionPlace {
    /// Takes a place among the `limit` of the connection of `request`, or `None` where all are taken.
    pub fn take(request: &HttpRequest, limit: usize) -> Option<Self> {
        let Some(connection) = connection_of(request) else {
            return Some(Self(None));
        };
        let in_flight = connection.in_flight.get();
        if in_flight >= limit {
            return None;
        }
        connection.in_flight.set(in_flight + 1);
        Some(Self(Some(Rc::clone(&connection.in_flight))))
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        if let Some(in_flight) = &self.0 {
            in_flight.set(in_flight.get().saturating_sub(1));
        }
    }
}

/// Where a submission over the connection of `request` waits for the check of its signatures.
pub(crate) fn lane_of(request: &HttpRequest) -> Lane {
    match connection_of(request) {
        Some(connection) if connection.owed.get() == 0 => Lane::Trusted,
        _ => Lane::Suspect,
    }
}

/// Remembers what became of a submission over the connection of `request`. A key that is not the account's
/// counts as a bad signature: anyone can make a valid one with a key of their own. Other refusals say
/// nothing.
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
