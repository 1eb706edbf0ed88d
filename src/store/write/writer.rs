//! The single writer of a store: appends blocks to the write-ahead log and applies them.
//!
//! A group of blocks is durable once its record is in the write-ahead log ([`crate::wal`]). The
//! writer applies several groups to the database later, in one commit without a sync, unless a
//! [`StoreApplier`] does so earlier. New snapshots include a block once it is applied.
//!
//! A group that the log has no capacity for is written as a *checkpoint*: a durable commit of the
//! database. It also persists every commit applied before it, so the log restarts empty.

use super::{
    CommitKind,
    applier::StoreApplier,
    disk_space::{LedgerDisk, content_bytes},
    usage::UsageProbe,
    validate::{check_consistent, check_follows},
};
use crate::{
    StoreError, SyncTimer,
    io::{file_identity::StoreFiles, file_watch::FileWatch},
    read::usage::UsageMeter,
    tables::schema::{LogState, PersistedHead},
    wal::{Record, RecordWriter, Wal, WalConfig, block::WalBlock, entry},
};
use ledger_types::ExecutedBlock;
use redb::WriteTransaction;
use std::sync::Arc;

/// The writer of a store. Each store has exactly one.
///
/// The first write that fails poisons the writer: later writes return [`StoreError::Poisoned`].
#[derive(Debug)]
pub struct StoreWriter {
    pub(crate) applier: StoreApplier,
    pub(crate) wal: Wal,
    pub(crate) wal_config: WalConfig,
    /// Whether the newest checkpoint opened the log. Recovery ignores a closed log, so the
    /// writer appends only to an open one.
    pub(super) is_log_open: bool,
    /// The newest block that this writer made durable, or `None` if the latest view includes all
    /// blocks.
    newest: Option<Arc<ExecutedBlock>>,
    /// The disk of the data directory, or `None` for a store that is not in a directory.
    pub(crate) disk: Option<LedgerDisk>,
    /// Content of prune steps since the last checkpoint, in bytes.
    pub(crate) pruned_bytes: u64,
    /// Compared with their paths before a record is acknowledged, if `watch` reports a change.
    files: StoreFiles,
    watch: FileWatch,
    pub(crate) usage: UsageProbe,
}

impl StoreWriter {
    /// Creates the writer of an open database, whose view includes all blocks.
    pub(super) fn new(
        applier: StoreApplier,
        wal: Wal,
        is_log_open: bool,
        files: StoreFiles,
        usage: UsageProbe,
    ) -> Self {
        Self {
            applier,
            wal,
            wal_config: WalConfig::default(),
            is_log_open,
            newest: None,
            disk: None,
            pruned_bytes: 0,
            watch: FileWatch::new(&files),
            files,
            usage,
        }
    }

    /// Returns the files of the store.
    pub(crate) fn files(&self) -> StoreFiles {
        self.files.clone()
    }

    /// Returns a handle that applies durable blocks on another thread.
    pub fn applier(&self) -> StoreApplier {
        self.applier.clone()
    }

    /// Returns the timer of all syncs since the store was opened.
    pub fn sync_timer(&self) -> SyncTimer {
        self.applier.sync_timer()
    }

    /// Measures the space of the content now and at each checkpoint from now on, and returns the
    /// meter.
    ///
    /// The first measurement is that of the last checkpoint, usually of the last stop. There is
    /// none before genesis, or if that checkpoint has no state of the page allocator.
    pub fn measure_usage(&mut self) -> UsageMeter {
        let view = self.applier.views().get();
        self.usage.enable(view.as_deref(), self.wal.file_bytes());
        self.usage.meter()
    }

    /// Commits a group of consecutive blocks atomically.
    ///
    /// When this returns, the blocks are durable and new snapshots include them. No snapshot
    /// includes a block before it is durable.
    ///
    /// # Errors
    ///
    /// Returns one of these errors without writing anything:
    ///
    /// * [`StoreError::Gap`] if the blocks do not follow the newest block or each other.
    /// * [`StoreError::Inconsistent`] if the parts of a block contradict each other.
    /// * [`StoreError::Empty`] if the store has no genesis.
    /// * [`StoreError::Poisoned`] if an earlier write failed.
    /// * [`StoreError::DiskFull`] if the disk has no space for the group.
    ///
    /// Any other failure, usually [`StoreError::Database`], poisons the writer. After a restart,
    /// either all blocks of the group are present or none.
    pub fn commit(&mut self, blocks: &[Arc<ExecutedBlock>]) -> Result<(), StoreError> {
        self.append(blocks, |_| ())?;
        self.apply()
    }

    /// Appends a group of consecutive blocks durably, usually without applying it to the database.
    ///
    /// Calls `on_durable` as soon as the blocks are durable. Its argument holds the encoded form of
    /// each block in the write-ahead log, or is empty if the group was written as a checkpoint.
    ///
    /// New snapshots include the blocks after [`Self::apply`], or once later groups have filled the
    /// apply queue. A thread that needs them earlier can block in
    /// [`StoreReader::wait_applied`](crate::StoreReader::wait_applied) while another thread calls
    /// [`StoreApplier::apply`].
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Gap`], [`StoreError::Inconsistent`], [`StoreError::Empty`], or
    /// [`StoreError::Poisoned`] as [`Self::commit`] does, without writing anything. Returns
    /// [`StoreError::DiskFull`] if the disk has no space for the group: nothing is written then,
    /// and the same call succeeds once space is free. Any other failure poisons the writer. If
    /// `on_durable` was called before it, the blocks are durable, and new snapshots include them
    /// unless the disk cannot be read.
    pub fn append(
        &mut self,
        blocks: &[Arc<ExecutedBlock>],
        on_durable: impl FnOnce(Vec<WalBlock>),
    ) -> Result<(), StoreError> {
        self.applier.check_usable()?;
        if blocks.is_empty() {
            return Ok(());
        }
        let view = self.applier.latest_view()?;
        let newest = self.newest.as_ref();
        let tip = newest.map_or(&view.head.tip, |block| &block.tip);
        check_follows(tip, blocks)?;
        for block in blocks {
            check_consistent(block)?;
        }
        let height = tip.height;
        let content_bytes = content_bytes(blocks);
        self.ensure_space(content_bytes, content_bytes)?;
        self.poison_on_error(|writer| writer.append_checked(blocks, height, on_durable))
    }

    /// Appends blocks that follow the block at `height`, as [`Self::append`] does.
    fn append_checked(
        &mut self,
        blocks: &[Arc<ExecutedBlock>],
        height: u64,
        on_durable: impl FnOnce(Vec<WalBlock>),
    ) -> Result<(), StoreError> {
        // Excludes this group, so that its clients are notified before the database is busy with
        // it: a group that reaches the limit is applied together with the next one.
        let is_full = self.applier.is_full(&self.wal_config);
        let log_end = self.wal.end();
        match self.append_record(height, |out| entry::write_blocks(blocks, out)) {
            Ok(Some((record, offsets))) => {
                let log_bytes = self.wal.end().saturating_sub(log_end);
                // Before the call, because a reader that learns of the blocks waits for an apply.
                self.applier.add(blocks, log_bytes);
                self.newest = blocks.last().cloned();
                on_durable(WalBlock::of_record(&record, offsets));
                if is_full {
                    self.applier.apply_pending()?;
                }
            }
            Ok(None) => {
                // A commit of its own, so that snapshots include the durable blocks even if the
                // checkpoint fails.
                self.applier.apply_pending()?;
                let view = self.applier.latest_view()?;
                let state = self.next_log_state();
                self.applier
                    .database()?
                    .extend(&view, CommitKind::Checkpoint(state), blocks)?;
                self.restart_log(state);
                self.newest = blocks.last().cloned();
                on_durable(Vec::new());
            }
            Err(error @ StoreError::DiskFull(_)) => return Err(error),
            Err(error) => {
                // Snapshots must include durable blocks even if nothing can be written any more.
                // The error of the log takes precedence over one of this attempt.
                let _ = self.applier.apply_pending();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Applies all durable blocks to the database, as [`StoreApplier::apply`] does. Also waits for
    /// those that another thread is applying.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`StoreApplier::apply`].
    pub fn apply(&self) -> Result<(), StoreError> {
        self.applier.check_usable()?;
        self.applier.poison_on_error(self.applier.apply_pending())
    }

    /// Returns the height of the newest applied block, or 0 before genesis.
    pub fn applied_height(&self) -> u64 {
        self.applier.applied_height()
    }

    /// Returns the number of durable transactions that are not applied, including the block
    /// metadata and block epilogue transactions.
    pub fn unapplied_transactions(&self) -> usize {
        self.applier.unapplied_transactions()
    }

    /// Returns the state of the log after the next checkpoint.
    pub(super) fn next_log_state(&self) -> LogState {
        LogState {
            generation: self.wal.generation() + 1,
            is_open: true,
        }
    }

    /// Restarts the log after a checkpoint that has stored `state`.
    pub(super) fn restart_log(&mut self, state: LogState) {
        self.wal.restart(state.generation);
        self.is_log_open = state.is_open;
        self.pruned_bytes = 0;
        if let Some(disk) = &mut self.disk {
            disk.discard_measurement();
        }
        if state.is_open {
            let view = self.applier.views().get();
            self.usage
                .on_checkpoint(view.as_deref(), self.wal.file_bytes());
        }
    }

    /// Returns whether the next write is a record of the log, unless it is too large, and not a
    /// checkpoint.
    pub(super) fn is_log_next(&self) -> bool {
        self.is_log_open && self.wal.end() < self.wal_config.checkpoint_after_bytes
    }

    /// Appends a record to the write-ahead log and syncs it.
    ///
    /// `height` is the height of the newest block before the record. `write_content` writes the
    /// content of the record. Returns the record and the result of `write_content`, or `None` if
    /// the log is closed or its capacity is exhausted; the caller must then write a checkpoint.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::DiskFull`] if the disk has no space for the record,
    /// [`StoreError::Database`] if it fails in another way, [`StoreError::FileMoved`] if a file of
    /// the store is no longer at its path, or the error of `write_content`.
    pub(super) fn append_record<T>(
        &mut self,
        height: u64,
        write_content: impl FnOnce(&mut RecordWriter<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<(Record, T)>, StoreError> {
        if self.is_log_next() {
            let bytes_max = self.wal_config.bytes_max;
            let appended = self.wal.append(bytes_max, height, write_content)?;
            // After the sync: only a record that the next start finds may be acknowledged.
            if self.watch.may_have_moved() {
                self.files.check()?;
            }
            Ok(appended)
        } else {
            Ok(None)
        }
    }

    /// Commits the genesis block to an empty database.
    ///
    /// `write_extra` writes further rows in the same transaction.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Inconsistent`] if the parts of `block` contradict each other,
    /// [`StoreError::Poisoned`] if an earlier write failed, and [`StoreError::Database`] if the
    /// database fails.
    pub(crate) fn commit_genesis(
        &mut self,
        chain_id: u8,
        block: &ExecutedBlock,
        write_extra: impl FnOnce(&WriteTransaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.applier.check_usable()?;
        check_consistent(block)?;
        let head = PersistedHead {
            chain_id,
            tip: block.tip.clone(),
            oldest_version: block.first_version,
            oldest_block_height: block.height(),
        };
        self.poison_on_error(|writer| {
            let state = writer.next_log_state();
            let kind = CommitKind::Checkpoint(state);
            let mut database = writer.applier.database()?;
            database.commit_blocks(None, kind, head, &[block], write_extra)?;
            drop(database);
            writer.restart_log(state);
            Ok(())
        })
    }

    /// Runs a write, and poisons the store if it fails, except with [`StoreError::DiskFull`].
    ///
    /// # Errors
    ///
    /// Returns the error of `write`.
    pub(crate) fn poison_on_error<T>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let result = write(self);
        self.applier.poison_on_error(result)
    }

    /// Applies all durable blocks, writes a final checkpoint and truncates the write-ahead log.
    ///
    /// A close takes several syncs, and space for a checkpoint. If the syncs are slow or the disk
    /// is full, the files stay as they are after a kill, and nothing is lost: the next start
    /// replays the log.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::FileMoved`] without writing anything if a file of the store is no
    /// longer at its path, and [`StoreError::Database`] if the disk fails. After a failed
    /// checkpoint, the log still holds the blocks that are not in the database.
    fn close(&mut self) -> Result<(), StoreError> {
        let timer = self.sync_timer();
        if !timer.is_slow() {
            self.wal.probe_sync()?;
        }
        if timer.is_slow() {
            return self.leave_open("syncs of the disk are slow");
        }
        self.files.check()?;
        self.applier.check_usable()?;
        if let Err(error) = self.check_space(0, 0) {
            return self.leave_open(&error.to_string());
        }
        let state = LogState {
            is_open: false,
            ..self.next_log_state()
        };
        self.poison_on_error(|writer| writer.checkpoint(state))?;
        self.wal.truncate()
    }

    /// Ends all writes, so that the files stay as they are after a kill.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Poisoned`] if a thread panicked during a commit.
    fn leave_open(&self, reason: &str) -> Result<(), StoreError> {
        tracing::info!(
            reason,
            "the ledger is not closed, and the next start replays the write-ahead log"
        );
        self.applier.database()?.disk_status.end_writes();
        Ok(())
    }

    /// Applies all durable blocks and writes a checkpoint, after which the usage is measured.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Poisoned`] if an earlier write failed. Returns
    /// [`StoreError::DiskFull`] without writing anything if the disk has no space for the
    /// checkpoint. Returns [`StoreError::Database`] if the disk fails, which poisons the writer.
    pub fn write_checkpoint(&mut self) -> Result<(), StoreError> {
        self.applier.check_usable()?;
        self.check_space(0, 0)?;
        let state = self.next_log_state();
        self.poison_on_error(|writer| writer.checkpoint(state))
    }

    /// Applies all durable blocks and writes a checkpoint, after which the log restarts in `state`.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the disk fails. The log then still holds the blocks that
    /// are not in the database.
    pub(super) fn checkpoint(&mut self, state: LogState) -> Result<(), StoreError> {
        self.applier.apply_pending()?;
        let database = self.applier.database()?;
        let transaction = database.begin_checkpoint()?;
        database.commit_checkpoint(transaction, state)?;
        drop(database);
        self.restart_log(state);
        Ok(())
    }
}

impl Drop for StoreWriter {
    fn drop(&mut self) {
        // After a failure the files are not changed: the next start recovers from the log.
        let has_failed = self.applier.check_usable().is_err() || std::thread::panicking();
        if self.is_log_open
            && !has_failed
            && let Err(error) = self.close()
        {
            tracing::warn!(
                %error,
                "the ledger was not closed; the next start replays the write-ahead log"
            );
        }
        self.applier.views().end(StoreError::Closed);
    }
}
