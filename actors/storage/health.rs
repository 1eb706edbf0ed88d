//! Reports of faults and of low disk space.

use crate::{
    error::{FaultKind, StorageFault},
    protocol::storage::{DiskSpaceChanged, FirstFault},
    runtime::mailbox::Recipient,
    state::storage_health::{FaultEffect, ShortageSource, StorageHealth, StorageHealthPublisher},
};
use ledger_store::StoreError;
use std::sync::Arc;

/// A publisher of the storage's health, for all threads that access or measure the disk.
///
/// It publishes the state before it sends the message to the storage actor. Submissions check the
/// published state, so none is accepted after the fault. The actor then notifies the other actors.
#[derive(Clone, Debug)]
pub(crate) struct HealthReporter {
    publisher: StorageHealthPublisher,
    first_fault: Recipient<FirstFault>,
    disk_space: Recipient<DiskSpaceChanged>,
}

impl HealthReporter {
    pub(crate) fn new(
        publisher: StorageHealthPublisher,
        first_fault: Recipient<FirstFault>,
        disk_space: Recipient<DiskSpaceChanged>,
    ) -> Self {
        Self {
            publisher,
            first_fault,
            disk_space,
        }
    }

    /// Returns the published health.
    pub(crate) fn health(&self) -> &StorageHealth {
        self.publisher.health()
    }

    /// Reports a failed read on `thread` if `error` is a fault of the disk. Any other error
    /// concerns only the caller of the read.
    pub(crate) fn report_read(&self, thread: &'static str, error: &StoreError) {
        if let Some(fault) = StorageFault::of(thread, FaultKind::Read, error) {
            self.report(&fault);
        }
    }

    /// Reports a failed write or a moved file on `thread` if `error` is a fault of the disk. Any
    /// other error concerns only the caller.
    pub(crate) fn report_write(&self, thread: &'static str, error: &StoreError) {
        if let Some(fault) = StorageFault::of(thread, FaultKind::Write, error) {
            self.report(&fault);
        }
    }

    /// Publishes a fault, and logs it if it changes the health. Notifies the storage actor of the
    /// first one.
    pub(crate) fn report(&self, fault: &StorageFault) {
        let effect = self.publisher.publish_fault(fault);
        if effect == FaultEffect::Unchanged {
            return;
        }
        let StorageFault {
            thread,
            kind,
            cause: error,
        } = fault;
        match kind {
            FaultKind::Write => tracing::error!(
                thread,
                %error,
                "the ledger cannot be written: submissions are rejected, committed data is served; \
                 free disk space or repair the disk, then restart the node"
            ),
            FaultKind::FileMoved => tracing::error!(
                thread,
                %error,
                "the ledger cannot be written: submissions are rejected, committed data is served; \
                 put the file back, then restart the node"
            ),
            FaultKind::Read => tracing::error!(
                thread,
                %error,
                "the ledger can be neither read nor written: only data in memory is served; repair \
                 the disk, then restart the node"
            ),
            FaultKind::EngineStopped => tracing::error!(
                thread,
                %error,
                "the consensus engine has stopped: submissions are rejected, committed data is \
                 served; repair the cause, then restart the node"
            ),
            FaultKind::Diverged => tracing::error!(
                thread,
                %error,
                "the ledger of this node differs from the one of the validators: nothing is \
                 written or served; keep the data directory, and restore the ledger from a backup \
                 or another node"
            ),
        }
        if effect == FaultEffect::FirstFault {
            self.first_fault.send(FirstFault);
        }
    }

    /// Publishes whether disk space is low according to `source`. Notifies the storage actor if
    /// that pauses or resumes the start of blocks.
    ///
    /// `shortage` describes the shortage. It is `None` if disk space suffices.
    pub(crate) fn report_disk_space(&self, source: ShortageSource, shortage: Option<&Arc<str>>) {
        if self.publisher.publish_disk_space(source, shortage) {
            self.disk_space.send(DiskSpaceChanged);
        }
    }
}
