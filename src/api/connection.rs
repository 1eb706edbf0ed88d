//! What is remembered of one HTTP connection: whether the last signatures that came over it held.

use actix_web::{HttpRequest, dev::Extensions};
use ledger::{CheckedTransaction, ValidationStatus};
use ledger_actors::{Lane, SubmitError};
use std::{any::Any, cell::Cell};

/// After a signature that does not hold, so many that do make a connection trusted again. With fewer, who
/// sends good and bad ones by turns would have a large part of the bad ones checked among those of others;
/// with many more, an honest client would pay long for one mistake.
const TRUSTED_AFTER: u8 = 8;

/// What is remembered of a connection. All its requests are served on one thread.
#[derive(Debug, Default)]
struct Connection {
    /// How many signatures that hold are missing until it is trusted.
    owed: Cell<u8>,
}

/// Lets the interface remember something of a connection; to be set as the `on_connect` of the server.
/// Where it is not, each request is taken for the first of its connection.
pub fn remember_connection(_: &dyn Any, data: &mut Extensions) {
    data.insert(Connection::default());
}

/// Where a submission over the connection of `request` waits for the check of its signatures.
pub(crate) fn lane_of(request: &HttpRequest) -> Lane {
    match request.conn_data::<Connection>() {
        Some(connection) if connection.owed.get() > 0 => Lane::Suspect,
        _ => Lane::Trusted,
    }
}

/// Remembers whether the signatures of a submission over the connection of `request` held. What was not
/// checked, or refused for something else, says nothing.
pub(crate) fn remember_verdict(request: &HttpRequest, verdict: &Result<CheckedTransaction, SubmitError>) {
    let Some(connection) = request.conn_data::<Connection>() else {
        return;
    };
    match verdict {
        Ok(_) => connection.owed.set(connection.owed.get().saturating_sub(1)),
        Err(SubmitError::Invalid(discard)) if discard.status == ValidationStatus::InvalidSignature => {
            connection.owed.set(TRUSTED_AFTER);
        }
        Err(_) => {}
    }
}
