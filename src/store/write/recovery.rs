//! Recovery: applies the records of the write-ahead log that the database does not contain.

use super::{
    CommitKind,
    validate::{check_consistent, check_follows},
    writer::StoreWriter,
};
use crate::{
    StoreError,
    directory::error::damaged,
    wal::{entry::WalEntry, failed, reader::WalReadError, torn::TornRecord},
};
use ledger_types::ExecutedBlock;
use std::{path::Path, sync::Arc};

/// Size of log records from which a group is committed, in bytes.
///
/// Large enough for few commits, small enough to bound the memory.
const GROUP_BYTES: usize = 4 * 1024 * 1024;

/// Recovered blocks that are committed together.
#[derive(Default)]
struct RecoveredGroup {
    blocks: Vec<Arc<ExecutedBlock>>,
    /// Size of the blocks' log records, in bytes.
    log_bytes: usize,
}

/// The replay of the write-ahead log when a store was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogReplay {
    /// Number of complete records of the log.
    pub records: u64,
    /// Height of the newest block after the replay.
    pub height: u64,
    /// Number of blocks that the replay added to the database.
    pub blocks: u64,
    /// The incomplete record after the last complete one, which was dropped.
    pub dropped: Option<TornRecord>,
}

impl LogReplay {
    /// Logs the end of the log, and a warning if a record was dropped.
    fn log(&self) {
        let Self {
            records,
            height,
            blocks,
            dropped,
        } = *self;
        let last_record = records.checked_sub(1);
        tracing::info!(
            records,
            last_record,
            height,
            blocks,
            "the write-ahead log was replayed"
        );
        if let Some(TornRecord {
            number: record,
            offset,
            bytes,
            defect,
        }) = dropped
        {
            tracing::warn!(
                bytes,
                record,
                offset,
                last_record,
                height,
                %defect,
                "dropped an incomplete record at the end of the write-ahead log; a crash or power \
                 failure leaves one that no client was notified of, otherwise the file was damaged \
                 and the blocks of the record are lost"
            );
        }
    }
}

impl StoreWriter {
    /// Applies the records of the log to the database, and restarts the log with a checkpoint.
    ///
    /// Logs the last record and block, and the incomplete record that follows, if any.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Damaged`] if the log is damaged, and [`StoreError::Database`] if the
    /// disk fails.
    pub(super) fn recover(&mut self, directory: &Path) -> Result<LogReplay, StoreError> {
        let height = self.applier.latest_view()?.head.tip.height;
        // A poisoned writer does not close the log, so its records remain for another attempt.
        let replayed = self.poison_on_error(|writer| writer.recover_records(height));
        let (records, dropped) = replayed.map_err(|error| match error {
            StoreError::Gap(reason) | StoreError::Inconsistent(reason) => {
                damaged(directory, format!("the write-ahead log: {reason}"))
            }
            other => other,
        })?;
        let recovered = self.applier.latest_view()?.head.tip.height;
        let replay = LogReplay {
            records,
            height: recovered,
            blocks: recovered - height,
            dropped,
        };
        replay.log();
        Ok(replay)
    }

    /// Applies the records of the log. Returns their number, and the incomplete record after them.
    ///
    /// `height` is the height of the newest block in the database. Records of blocks up to this
    /// height occur if the database was closed without a checkpoint.
    fn recover_records(&mut self, height: u64) -> Result<(u64, Option<TornRecord>), StoreError> {
        let mut reader = self
            .wal
            .reader()
            .map_err(|error| failed("reading", &error))?;
        let (mut group, mut records) = (RecoveredGroup::default(), 0);
        while let Some((_, content)) = reader.next().map_err(|error| match error {
            WalReadError::Unreadable(error) => failed("reading", &error),
            WalReadError::Damaged(reason) => StoreError::Inconsistent(reason),
        })? {
            records += 1;
            match WalEntry::decode(&content)? {
                WalEntry::Commit(blocks) => {
                    let new = blocks.into_iter().filter(|block| block.height() > height);
                    group.blocks.extend(new.map(Arc::new));
                    group.log_bytes += content.len();
                    if group.log_bytes >= GROUP_BYTES {
                        self.recover_blocks(&std::mem::take(&mut group), CommitKind::Apply)?;
                    }
                }
                WalEntry::Prune(oldest_version) => {
                    self.recover_blocks(&std::mem::take(&mut group), CommitKind::Apply)?;
                    let view = self.applier.latest_view()?;
                    self.applier
                        .database()?
                        .recover_prune(&view, oldest_version)?;
                }
            }
        }
        let dropped = reader
            .torn_record()
            .map_err(|error| failed("reading", &error))?;
        if records > 0 {
            let state = self.next_log_state();
            self.recover_blocks(&group, CommitKind::Checkpoint(state))?;
            self.restart_log(state);
        }
        Ok((records, dropped))
    }

    fn recover_blocks(&self, group: &RecoveredGroup, kind: CommitKind) -> Result<(), StoreError> {
        let view = self.applier.latest_view()?;
        check_follows(&view.head.tip, &group.blocks)?;
        for block in &group.blocks {
            check_consistent(block)?;
        }
        self.applier.database()?.extend(&view, kind, &group.blocks)
    }
}
