//! The thread that applies durable blocks to the database when a reader requests it.
//!
//! The writer applies blocks as well, when it is idle. While it syncs the log it cannot, so readers
//! do not depend on it.

use super::health::HealthReporter;
use crate::{
    error::{FaultKind, StorageFault},
    protocol::durable_reader::ApplyRequest,
    runtime::{fatal::FatalErrorReporter, worker::WorkerThread},
    state::flight_recorder::FlightRecorder,
};
use crossbeam_channel::Receiver;
use ledger_store::{StoreApplier, StoreError};
use std::ops::ControlFlow;

/// Name of the thread.
pub(crate) const THREAD: &str = "store-applier";

/// Creates the thread. It ends when all sending sides of `requests` are dropped.
///
/// The thread reports a fault of the disk to `health` and continues, unless the fault is an earlier
/// one of the writer. Any other error is fatal: the thread reports it to `reporter` and ends.
pub(crate) fn applier(
    store: StoreApplier,
    requests: Receiver<ApplyRequest>,
    recorder: FlightRecorder,
    health: HealthReporter,
    reporter: FatalErrorReporter,
) -> WorkerThread<ApplyRequest> {
    WorkerThread::new(THREAD, requests, move |ApplyRequest, _| {
        let error = match store.apply() {
            Ok(()) => {
                recorder.record_applied(store.applied_height());
                return ControlFlow::Continue(());
            }
            // After an earlier failure, the thread that met it has reported it.
            Err(StoreError::Poisoned(_)) => return ControlFlow::Continue(()),
            Err(error) => error,
        };
        match StorageFault::of(THREAD, FaultKind::Write, &error) {
            Some(fault) => {
                health.report(&fault);
                ControlFlow::Continue(())
            }
            None => {
                reporter.report(THREAD, &error);
                ControlFlow::Break(())
            }
        }
    })
}
