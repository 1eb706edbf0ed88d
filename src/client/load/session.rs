//! The connection of a worker to the node, with the tally of its thread.

use super::{run::Run, tally::Tally};
use crate::{
    error::RequestError,
    http::{Connection, Request, Response},
};
use std::{cell::RefCell, rc::Rc, sync::Arc};

/// A connection of a run.
#[derive(Debug)]
pub(super) struct Session {
    run: Arc<Run>,
    /// The tally of all connections of the thread.
    tally: Rc<RefCell<Tally>>,
    connection: Connection,
}

/// The error of a request without a valid response.
#[derive(Debug)]
pub(super) struct NoResponse;

impl Session {
    /// Creates a session, which connects for its first request.
    pub(super) fn new(run: Arc<Run>, tally: Rc<RefCell<Tally>>) -> Self {
        Self {
            connection: Connection::new(run.endpoint().clone()),
            run,
            tally,
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

    /// Sends a request and reads its response.
    ///
    /// Stops the run if this machine cannot open the connection, because the figures of the run
    /// would then say nothing about the node.
    ///
    /// # Errors
    ///
    /// Returns [`NoResponse`] if no valid response was received.
    pub(super) async fn exchange(&mut self, request: Request) -> Result<Response, NoResponse> {
        self.connection.exchange(request).await.map_err(|error| {
            if let RequestError::Local(cause) = error {
                let connections = self.run.plan().connections;
                self.run.stop(format!(
                    "this machine cannot open all {connections} connections: {cause}"
                ));
            }
            NoResponse
        })
    }
}
