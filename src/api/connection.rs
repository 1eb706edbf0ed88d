//! What is remembered of one HTTP connection: whether the last signature that came over it held.

use actix_web::{HttpRequest, dev::Extensions};
use ledger::{CheckedTransaction, ValidationStatus};
use ledger_actors::{Lane, SubmitError};
use std::{any::Any, cell::Cell};

/// What is remembered of a connection. All its requests are served on one thread.
#[derive(Debug, Default)]
struct Connection {
    is_suspect: Cell<bool>,
}

/// Lets the interface remember something of a connection; to be set as the `on_connect` of the server.
/// Where it is not, each request is taken for the first of its connection.
pub fn remember_connection(_: &dyn Any, data: &mut Extensions) {
    data.insert(Connection::default());
}

/// Where a submission over the connection of `request` waits for the check of its signatures.
pub(crate) fn lane_of(request: &HttpRequest) -> Lane {
    match request.conn_data::<Connection>() {
        Some(connection) if connection.is_suspect.get() => Lane::Suspect,
        _ => Lane::Trusted,
    }
}

/// Remembers whether the signatures of a submission over the connection of `request` held. What was not
/// checked, or refused for something else, says nothing.
pub(crate) fn remember_verdict(request: &HttpRequest, verdict: &Result<CheckedTransaction, SubmitError>) {
    let is_suspect = match verdict {
        Ok(_) => false,
        Err(SubmitError::Invalid(discard)) if discard.status == ValidationStatus::InvalidSignature => true,
        Err(_) => return,
    };
    if let Some(connection) = request.conn_data::<Connection>() {
        connection.is_suspect.set(is_suspect);
    }
}
