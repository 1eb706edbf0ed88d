//! What a start makes of the block log: all that was acknowledged and is not in the database is brought into it.

use crate::{
    StoreError, StoreWriter,
    directory::error::damaged,
    wal::{WalReadError, entry::WalEntry, failed},
    write::{
        validate::{check_consistent, check_follows},
        writer::CommitKind,
    },
};
use ledger_types::ExecutedBlock;
use std::{path::Path, sync::Arc};

/// Blocks are brought into the database together until their records hold this many bytes: few commits, little
/// memory.
const GROUP_BYTES: usize = 4 * 1024 * 1024;

/// Blocks that are brought into the database together.
#[derive(Default)]
struct Group {
    blocks: Vec<Arc<ExecutedBlock>>,
    bytes: usize,
}

impl StoreWriter {
    /// Brings what the log holds beyond the database into it, and begins the log anew.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when the log is; else when the disk fails.
    pub(crate) fn recover(&mut self, directory: &Path) -> Result<(), StoreError> {
        let height = self.latest_view()?.head.tip.height;
        // Poisoned it is not closed: what the log has stays there, for another try.
        let records = self.poison_on_error(|writer| writer.recover_records(height));
        let records = records.map_err(|error| match error {
            StoreError::Gap(reason) | StoreError::Inconsistent(reason) => {
                damaged(directory, format!("the block log: {reason}"))
            }
            other => other,
        })?;
        if records > 0 {
            let found = self.latest_view()?.head.tip.height;
            tracing::info!(
                records,
                height = found,
                blocks = found - height,
                "the block log was read"
            );
        }
        Ok(())
    }

    /// Gives how many records there were. The database has the blocks up to `height`, of which a log has some when
    /// the database was closed without a checkpoint.
    fn recover_records(&mut self, height: u64) -> Result<usize, StoreError> {
        let mut scan = self
            .wal
            .reader()
            .map_err(|error| failed("reading", &error))?;
        let (mut group, mut records) = (Group::default(), 0);
        while let Some((_, content)) = scan.next().map_err(|stop| match stop {
            WalReadError::Unreadable(error) => failed("reading", &error),
            WalReadError::Damaged(reason) => StoreError::Inconsistent(reason),
        })? {
            records += 1;
            match WalEntry::read(&content)? {
                WalEntry::Commit(blocks) => {
                    let new = blocks.into_iter().filter(|block| block.height() > height);
                    group.blocks.extend(new.map(Arc::new));
                    group.bytes += content.len();
                    if group.bytes >= GROUP_BYTES {
                        self.recover_blocks(&std::mem::take(&mut group), CommitKind::Apply)?;
                    }
                }
                WalEntry::Prune(oldest_version) => {
                    self.recover_blocks(&std::mem::take(&mut group), CommitKind::Apply)?;
                    let view = self.latest_view()?;
                    self.recover_prune(&view, oldest_version)?;
                }
            }
        }
        if records > 0 {
            self.recover_blocks(&group, CommitKind::Checkpoint)?;
        }
        Ok(records)
    }

    fn recover_blocks(&mut self, group: &Group, durable: CommitKind) -> Result<(), StoreError> {
        let view = self.latest_view()?;
        check_follows(&view.head.tip, &group.blocks)?;
        for block in &group.blocks {
            check_consistent(block)?;
        }
        self.commit_blocks(
            (Some(&view), durable),
            view.head.clone(),
            &group.blocks,
            |_| Ok(()),
        )
    }
}
