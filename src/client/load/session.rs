//! The connection of a worker to the node, with the tally of its thread.

use super::{account::SignedTransfer, run::Run, tally::Tally};
use crate::{
    error::RequestError,
    http::{Connection, InvalidResponse, Response},
};
use std::{cell::RefCell, rc::Rc, sync::Arc};

/// A connection of a run.
#[derive(Debug)]
pub(super) struct Session {
    run: Arc<Run>,
    /// The tally of all connections of the thread.
    tally: Rc<RefCell<Tally>>,
    connection: Connection,
    /// The bytes of the current request.
    request: Vec<u8>,
}

impl Session {
    /// Creates a session, which connects for its first request.
    pub(super) fn new(run: Arc<Run>, tally: Rc<RefCell<Tally>>) -> Self {
        Self {
            connection: Connection::new(run.endpoint().clone()),
            run,
            tally,
            request: Vec::new(),
        }
    }

    /// Returns the run of the session.
    pub(super) fn run(&self) -> &Arc<Run> {
        &self.run
    }

    /// Changes the tally of the thread.
    pub(super) fn update_tally(&self, change: impl FnOnce(&mut Tally)) {
        change(&mut self.tally.borrow_mut());
    }

    /// Counts an error under its code.
    pub(super) fn count_error(&self, code: String) {
        self.update_tally(|tally| tally.count_error(code));
    }

    /// Makes the submission of a transfer the current request.
    pub(super) fn prepare_submission(&mut self, transfer: &SignedTransfer) {
        self.run
            .requests()
            .write_submission(transfer, &mut self.request);
    }

    /// Makes the bytes that `write` writes the current request.
    pub(super) fn prepare(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.request);
    }

    /// Makes the submission of transfers as a batch the current request.
    pub(super) fn prepare_batch<'t>(
        &mut self,
        transfers: impl ExactSizeIterator<Item = &'t SignedTransfer> + Clone,
    ) {
        self.run
            .requests()
            .write_batch(transfers, &mut self.request);
    }

    /// Requests `path`, and returns the response in JSON.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidResponse`] if no valid response was received.
    pub(super) async fn get(&mut self, path: &str) -> Result<Response, InvalidResponse> {
        self.run.requests().write_get(path, &mut self.request);
        self.exchange().await
    }

    /// Requests the transaction at `path`, and returns the response in the format of the
    /// submissions.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidResponse`] if no valid response was received.
    pub(super) async fn get_transaction(
        &mut self,
        path: &str,
    ) -> Result<Response, InvalidResponse> {
        self.run
            .requests()
            .write_transaction_get(path, &mut self.request);
        self.exchange().await
    }

    /// Sends the current request and reads its response.
    ///
    /// Stops the run if this machine cannot open the connection, because the figures of the run
    /// would then say nothing about the node.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidResponse`] if no valid response was received.
    pub(super) async fn exchange(&mut self) -> Result<Response, InvalidResponse> {
        self.connection
            .exchange(&self.request)
            .await
            .map_err(|error| {
                if let RequestError::Local(cause) = error {
                    let connections = self.run.plan().connections;
                    self.run.stop(format!(
                        "this machine cannot open all {connections} connections: {cause}"
                    ));
                }
                InvalidResponse
            })
    }
}
