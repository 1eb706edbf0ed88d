//! Reads of durable blocks, including blocks that are not applied to the database yet.

use crossbeam_channel::{Receiver, Sender};
use ledger_store::{Snapshot, StoreError, StoreReader};
use ledger_types::LedgerInfo;
use std::time::Duration;

/// Maximum time that the read of a client waits until a durable block is applied.
///
/// An apply takes milliseconds. It takes longer if the disk delays reads or writes of the database,
/// or the syncs of a checkpoint, which hold the database; a sync of the log does not delay it. The
/// client can then repeat its request, and the thread of the read serves other clients.
const APPLY_WAIT_MAX: Duration = Duration::from_secs(2);

/// A request to apply the durable blocks to the database.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ApplyRequest;

/// The sending side of the queue of the thread that applies blocks on request.
///
/// Its capacity is 1: a request that waits in the queue serves all blocks that are durable when the
/// thread takes it, so further requests are dropped.
#[derive(Clone, Debug)]
pub(crate) struct ApplyRequests(Sender<ApplyRequest>);

impl ApplyRequests {
    /// Creates a queue, and returns its sending and its receiving side.
    pub(crate) fn new() -> (Self, Receiver<ApplyRequest>) {
        let (requests, receiver) = crossbeam_channel::bounded(1);
        (Self(requests), receiver)
    }

    fn send(&self) {
        // An error means that a request waits already, or that the node is stopping.
        let _ = self.0.try_send(ApplyRequest);
    }
}

/// A reader of the store as of the Head.
///
/// The Head may be ahead of the database, because durable blocks are applied some time after they
/// are published. The reader then requests their application and waits for it.
#[derive(Clone, Debug)]
pub(crate) struct DurableReader {
    store: StoreReader,
    requests: ApplyRequests,
}

impl DurableReader {
    pub(crate) fn new(store: StoreReader, requests: ApplyRequests) -> Self {
        Self { store, requests }
    }

    /// Waits until the durable block of this height is applied, and returns the newest snapshot.
    ///
    /// The wait has no limit: the executor cannot continue without the block.
    ///
    /// # Errors
    ///
    /// Returns the error of the store if the block cannot be applied or the store cannot be read.
    pub(crate) fn snapshot(&self, height: u64) -> Result<Snapshot, StoreError> {
        self.request_apply(height);
        self.store.wait_applied(height, None)?;
        self.store.snapshot()
    }

    /// Waits until the block of this ledger info is applied, at most for [`APPLY_WAIT_MAX`], and
    /// returns the snapshot at it.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NotApplied`] if the block is not applied in time, and
    /// [`StoreError::VersionOutOfRange`] if the version is pruned. Returns the error of the store
    /// if the block cannot be applied or the store cannot be read.
    pub(crate) fn snapshot_at(&self, ledger_info: &LedgerInfo) -> Result<Snapshot, StoreError> {
        let height = ledger_info.block_height;
        self.request_apply(height);
        self.store.wait_applied(height, Some(APPLY_WAIT_MAX))?;
        self.store.snapshot_at(ledger_info)
    }

    /// Requests the application of the durable block of this height, unless it is already applied.
    pub(crate) fn request_apply(&self, height: u64) {
        if self.store.would_wait(height) {
            self.requests.send();
        }
    }
}
