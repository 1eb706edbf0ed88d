//! Application of durable blocks to the database, by the writer or by another thread.
//!
//! The writer makes blocks durable in the write-ahead log and adds them to a list. Any thread that
//! holds a [`StoreApplier`] applies the blocks of the list, also while the writer syncs the log. A
//! slow sync thus delays no reader of blocks that are durable already.

use super::{CommitKind, database::DatabaseWriter};
use crate::{
    StoreError, SyncTimer,
    directory::lock::DirectoryLock,
    read::view::{LatestView, ReadView},
    wal::WalConfig,
};
use ledger_types::ExecutedBlock;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

/// Blocks that are durable in the write-ahead log but not yet applied to the database.
#[derive(Debug, Default)]
struct UnappliedBlocks {
    /// Blocks in order of height. The first one follows the latest view, or the blocks that a
    /// thread is applying.
    blocks: Vec<Arc<ExecutedBlock>>,
    /// Total size of the blocks' log records, in bytes.
    log_bytes: u64,
}

/// The database of a store and the durable blocks that it does not contain. Clones share both.
#[derive(Clone, Debug)]
pub struct StoreApplier(Arc<Shared>);

/// The state that the writer and the appliers of a store share.
///
/// A thread that holds both locks has taken that of the database first.
#[derive(Debug)]
struct Shared {
    unapplied: Mutex<UnappliedBlocks>,
    /// Held during every commit, and during the syncs of a checkpoint.
    database: Mutex<DatabaseWriter>,
    latest_view: LatestView,
    sync_timer: SyncTimer,
    /// The error of the first write that failed.
    poison_cause: OnceLock<String>,
    /// Declared last, so that the database is closed before the directory is unlocked.
    _lock: Option<DirectoryLock>,
}

impl StoreApplier {
    /// Creates the applier of an open database. `lock` is the lock of its directory, or `None` for
    /// a store that is not in a directory.
    pub(super) fn new(database: DatabaseWriter, lock: Option<DirectoryLock>) -> Self {
        Self(Arc::new(Shared {
            unapplied: Mutex::default(),
            latest_view: database.latest_view.clone(),
            sync_timer: database.disk_status.sync_timer(),
            database: Mutex::new(database),
            poison_cause: OnceLock::new(),
            _lock: lock,
        }))
    }

    /// Applies all durable blocks to the database, so that new snapshots include them.
    ///
    /// Does nothing if no block is unapplied, or another thread is applying all of them. Otherwise
    /// waits while another thread commits to the database.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Poisoned`] if an earlier write failed, and [`StoreError::Database`] if
    /// the database fails. The blocks stay durable: the next start recovers them from the log.
    pub fn apply(&self) -> Result<(), StoreError> {
        self.check_usable()?;
        if self.unapplied().blocks.is_empty() {
            return Ok(());
        }
        self.poison_on_error(self.apply_pending())
    }

    /// Returns the number of durable transactions that are not applied, including the block
    /// metadata and block epilogue transactions.
    pub fn unapplied_transactions(&self) -> usize {
        let unapplied = self.unapplied();
        let blocks = unapplied.blocks.iter();
        blocks.map(|block| block.transactions.len()).sum()
    }

    /// Returns the height of the newest applied block, or 0 before genesis.
    pub fn applied_height(&self) -> u64 {
        let view = self.0.latest_view.get();
        view.map_or(0, |view| view.head.tip.height)
    }

    /// Returns whether a thread commits to the database, for a scheduler that runs all threads of a
    /// node in one.
    #[doc(hidden)]
    pub fn is_busy(&self) -> bool {
        matches!(self.0.database.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// Adds blocks that have become durable, whose log records take `log_bytes` bytes.
    pub(super) fn add(&self, blocks: &[Arc<ExecutedBlock>], log_bytes: u64) {
        let mut unapplied = self.unapplied();
        unapplied.blocks.extend_from_slice(blocks);
        unapplied.log_bytes += log_bytes;
    }

    /// Returns whether the number of unapplied blocks or the size of their records has reached its
    /// limit.
    pub(super) fn is_full(&self, config: &WalConfig) -> bool {
        let unapplied = self.unapplied();
        unapplied.blocks.len() >= config.unapplied_blocks_max
            || unapplied.log_bytes >= config.unapplied_bytes_max
    }

    /// Applies the unapplied blocks in one commit, without the checks of [`Self::apply`].
    ///
    /// The latest view includes all durable blocks then: those that another thread was applying are
    /// waited for. A commit on an older view would lose their index entries.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub(super) fn apply_pending(&self) -> Result<(), StoreError> {
        let mut database = self.database()?;
        // Taken under the lock of the database, so that blocks are applied in order.
        let UnappliedBlocks { blocks, .. } = std::mem::take(&mut *self.unapplied());
        if blocks.is_empty() {
            return Ok(());
        }
        let view = self.latest_view()?;
        database.extend(&view, CommitKind::Apply, &blocks)?;
        database.disk_status.check()
    }

    /// Waits for the end of another thread's commit, and locks the database.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Poisoned`] if a thread panicked during a commit.
    pub(crate) fn database(&self) -> Result<MutexGuard<'_, DatabaseWriter>, StoreError> {
        let panicked = |_| StoreError::Poisoned("a thread panicked during a commit".to_owned());
        self.0.database.lock().map_err(panicked)
    }

    /// Returns the latest view of the database.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Empty`] before genesis.
    pub(crate) fn latest_view(&self) -> Result<Arc<ReadView>, StoreError> {
        self.0.latest_view.get().ok_or(StoreError::Empty)
    }

    /// Returns the cell of the latest view.
    pub(crate) fn views(&self) -> &LatestView {
        &self.0.latest_view
    }

    /// Returns the timer of all syncs since the store was opened.
    pub(super) fn sync_timer(&self) -> SyncTimer {
        self.0.sync_timer.clone()
    }

    /// Checks that no earlier write has failed.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Poisoned`] if one has.
    pub(super) fn check_usable(&self) -> Result<(), StoreError> {
        match self.0.poison_cause.get() {
            Some(cause) => Err(StoreError::Poisoned(cause.clone())),
            None => Ok(()),
        }
    }

    /// Poisons the store if `result` is an error: later writes return [`StoreError::Poisoned`].
    ///
    /// [`StoreError::DiskFull`] has no effect, because the files are as before the write.
    /// Readers that wait for a newer view then receive the same error.
    ///
    /// # Errors
    ///
    /// Returns the error of `result`.
    pub(super) fn poison_on_error<T>(
        &self,
        result: Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if let Err(error) = &result
            && !matches!(error, StoreError::DiskFull(_))
        {
            self.0.poison_cause.get_or_init(|| error.to_string());
            self.0.latest_view.end(error.clone());
        }
        result
    }

    fn unapplied(&self) -> MutexGuard<'_, UnappliedBlocks> {
        // Each change is complete before the lock is released, also by a panic.
        self.0
            .unapplied
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
