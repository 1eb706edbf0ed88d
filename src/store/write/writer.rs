//! The single writer of a store: appends blocks to the write-ahead log and applies them.
//!
//! A group of blocks is durable once its record is in the write-ahead log ([`crate::wal`]). The
//! writer applies several groups to the database later, in one commit without a sync. New snapshots
//! include a block once it is applied.
//!
//! A group that the log has no capacity for is written as a *checkpoint*: a durable commit of the
//! database. It also persists every commit applied before it, so the log restarts empty.

use super::{
    CommitKind,
    validate::{check_consistent, check_follows},
};
use crate::{
    StoreError, SyncTimer,
    directory::lock::DirectoryLock,
    index::compaction::CompactionState,
    io::fault_isolation::DiskStatus,
    read::view::{LatestView, ReadView},
    tables::{digest::DigestKey, schema::PersistedHead},
    wal::{Record, RecordWriter, Wal, WalConfig, block::WalBlock, entry},
};
use ledger_types::ExecutedBlock;
use redb::{Database, WriteTransaction};
use std::sync::Arc;

/// Blocks that are durable in the write-ahead log but not yet applied to the database.
#[derive(Debug, Default)]
struct UnappliedBlocks {
    /// Blocks in order of height. The first one follows the latest view.
    blocks: Vec<Arc<ExecutedBlock>>,
    /// Total size of the blocks' log records, in bytes.
    log_bytes: u64,
}

impl UnappliedBlocks {
    /// Returns whether the number of blocks or the size of their records has reached its limit.
    fn is_full(&self, config: &WalConfig) -> bool {
        self.blocks.len() >= config.unapplied_blocks_max
            || self.log_bytes >= config.unapplied_bytes_max
    }
}

/// The writer of a store. Each store has exactly one.
///
/// The first write that fails poisons the writer: later writes return [`StoreError::Poisoned`].
#[derive(Debug)]
pub struct StoreWriter {
    pub(crate) database: Database,
    pub(crate) disk_status: DiskStatus,
    pub(crate) wal: Wal,
    pub(crate) wal_config: WalConfig,
    /// Whether the newest checkpoint activated the log. Recovery ignores an inactive log, so the
    /// writer appends only to an active one.
    pub(super) is_wal_active: bool,
    unapplied: UnappliedBlocks,
    pub(crate) latest_view: LatestView,
    pub(crate) digest_key: DigestKey,
    pub(crate) compaction: CompactionState,
    /// The error of the write that poisoned the writer.
    poison_cause: Option<String>,
    /// Declared last, so that the database is closed before the directory is unlocked.
    _lock: Option<DirectoryLock>,
}

impl StoreWriter {
    /// Creates the writer of an open database.
    ///
    /// `latest_view` is empty before genesis. `lock` is the lock of the data directory, or `None`
    /// for a store that is not in a directory.
    pub(super) fn new(
        database: Database,
        disk_status: DiskStatus,
        wal: Wal,
        is_wal_active: bool,
        lock: Option<DirectoryLock>,
        digest_key: DigestKey,
        latest_view: LatestView,
    ) -> Self {
        Self {
            database,
            disk_status,
            wal,
            wal_config: WalConfig::default(),
            is_wal_active,
            unapplied: UnappliedBlocks::default(),
            latest_view,
            digest_key,
            compaction: CompactionState::default(),
            poison_cause: None,
            _lock: lock,
        }
    }

    /// Returns the timer of all syncs since the store was opened.
    pub fn sync_timer(&self) -> SyncTimer {
        self.disk_status.sync_timer()
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
    /// [`StoreReader::wait_applied`](crate::StoreReader::wait_applied) while the writer's thread
    /// calls [`Self::apply`].
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Gap`], [`StoreError::Inconsistent`], [`StoreError::Empty`], or
    /// [`StoreError::Poisoned`] as [`Self::commit`] does, without writing anything. Any other
    /// failure poisons the writer. If `on_durable` was called before it, the blocks are durable,
    /// and new snapshots include them unless the disk cannot be read.
    pub fn append(
        &mut self,
        blocks: &[Arc<ExecutedBlock>],
        on_durable: impl FnOnce(Vec<WalBlock>),
    ) -> Result<(), StoreError> {
        self.check_usable()?;
        if blocks.is_empty() {
            return Ok(());
        }
        let view = self.latest_view()?;
        let newest = self.unapplied.blocks.last();
        let tip = newest.map_or(&view.head.tip, |block| &block.tip);
        check_follows(tip, blocks)?;
        for block in blocks {
            check_consistent(block)?;
        }
        let height = tip.height;
        // Excludes this group, so that its clients are notified before the database is busy with
        // it: a group that reaches the limit is applied together with the next one.
        let is_full = self.unapplied.is_full(&self.wal_config);
        self.poison_on_error(|writer| {
            let log_end = writer.wal.end();
            match writer.append_record(height, |out| entry::write_blocks(blocks, out)) {
                Ok(Some((record, offsets))) => {
                    on_durable(WalBlock::of_record(&record, offsets));
                    writer.unapplied.blocks.extend_from_slice(blocks);
                    writer.unapplied.log_bytes += writer.wal.end().saturating_sub(log_end);
                    if is_full {
                        writer.apply_pending()?;
                    }
                }
                Ok(None) => {
                    // A commit of its own, so that snapshots include the durable blocks even if
                    // the checkpoint fails.
                    writer.apply_pending()?;
                    let view = writer.latest_view()?;
                    writer.extend(&view, CommitKind::Checkpoint, blocks)?;
                    on_durable(Vec::new());
                }
                Err(error) => {
                    // Snapshots must include durable blocks even if nothing can be written any
                    // more. The error of the log takes precedence over one of this attempt.
                    let _ = writer.apply_pending();
                    return Err(error);
                }
            }
            Ok(())
        })
    }

    /// Applies all durable blocks to the database, so that new snapshots include them.
    ///
    /// Does nothing if no block is unapplied.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Poisoned`] if an earlier write failed, and [`StoreError::Database`] if
    /// the database fails. The blocks stay durable: the next start recovers them from the log.
    pub fn apply(&mut self) -> Result<(), StoreError> {
        if self.unapplied.blocks.is_empty() {
            return Ok(());
        }
        self.check_usable()?;
        self.poison_on_error(Self::apply_pending)
    }

    /// Returns the number of durable transactions that are not applied, including the block
    /// metadata and block epilogue transactions.
    pub fn unapplied_transactions(&self) -> usize {
        let blocks = self.unapplied.blocks.iter();
        blocks.map(|block| block.transactions.len()).sum()
    }

    /// Applies the unapplied blocks in one commit, without the checks of [`Self::apply`].
    fn apply_pending(&mut self) -> Result<(), StoreError> {
        let UnappliedBlocks { blocks, .. } = std::mem::take(&mut self.unapplied);
        if blocks.is_empty() {
            return Ok(());
        }
        let view = self.latest_view()?;
        self.extend(&view, CommitKind::Apply, &blocks)?;
        self.disk_status.check()
    }

    /// Returns the latest view of the database.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Empty`] before genesis.
    pub(super) fn latest_view(&self) -> Result<Arc<ReadView>, StoreError> {
        self.latest_view.get().ok_or(StoreError::Empty)
    }

    /// Appends a record to the write-ahead log and syncs it.
    ///
    /// `height` is the height of the newest block before the record. `write_content` writes the
    /// content of the record. Returns the record and the result of `write_content`, or `None` if
    /// the log is inactive or its capacity is exhausted; the caller must then write a checkpoint.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the disk fails, or the error of `write_content`.
    pub(super) fn append_record<T>(
        &mut self,
        height: u64,
        write_content: impl FnOnce(&mut RecordWriter<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<(Record, T)>, StoreError> {
        let config = &self.wal_config;
        if self.is_wal_active && self.wal.end() < config.checkpoint_after_bytes {
            self.wal.append(config.bytes_max, height, write_content)
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
        self.check_usable()?;
        check_consistent(block)?;
        let head = PersistedHead {
            chain_id,
            tip: block.tip.clone(),
            oldest_version: block.first_version,
            oldest_block_height: block.height(),
        };
        self.poison_on_error(|writer| {
            writer.commit_blocks(None, CommitKind::Checkpoint, head, &[block], write_extra)
        })
    }

    /// Checks that no earlier write has failed.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Poisoned`] if one has.
    pub(super) fn check_usable(&self) -> Result<(), StoreError> {
        match &self.poison_cause {
            Some(cause) => Err(StoreError::Poisoned(cause.clone())),
            None => Ok(()),
        }
    }

    /// Runs a write, and poisons the writer if it fails.
    ///
    /// Readers that wait for a newer view then receive the same error.
    ///
    /// # Errors
    ///
    /// Returns the error of `write`.
    pub(crate) fn poison_on_error<T>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let result = write(self);
        if let Err(error) = &result {
            self.poison_cause = Some(error.to_string());
            self.latest_view.end(error.clone());
        }
        result
    }
}

impl Drop for StoreWriter {
    fn drop(&mut self) {
        let closed = StoreError::Poisoned("the store is closed".to_owned());
        // After a failure the files are not changed: the next start recovers from the log.
        if !self.is_wal_active || self.poison_cause.is_some() || std::thread::panicking() {
            self.latest_view.end(closed);
            return;
        }
        if let Err(error) = self.apply().and_then(|()| self.close()) {
            tracing::warn!(%error, "the ledger is not closed: the next start reads the block log");
        }
        self.latest_view.end(closed);
    }
}
