//! The check of disk space before a write.

use super::writer::StoreWriter;
use crate::StoreError;

impl StoreWriter {
    /// Checks that the disk has space for a write of `content_bytes` and for the checkpoint after
    /// it, which writes everything since the last one. `record_bytes` is the size of its log
    /// record.
    ///
    /// If the space suffices only for the checkpoint of what is in the log, writes that first: the
    /// next one then writes less.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::DiskFull`] if the disk has not enough space, and the errors of
    /// [`Self::checkpoint`], which poison the store.
    pub(super) fn ensure_space(
        &mut self,
        content_bytes: u64,
        record_bytes: u64,
    ) -> Result<(), StoreError> {
        let checked = self.check_space(content_bytes, record_bytes);
        if checked.is_ok() || self.wal.end() == 0 || self.check_space(0, 0).is_err() {
            return checked;
        }
        let state = self.next_log_state();
        self.poison_on_error(|writer| writer.checkpoint(state))?;
        self.check_space(content_bytes, record_bytes)
    }

    /// Checks the space as [`Self::ensure_space`] does, without writing anything.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::DiskFull`] if the disk has not enough space.
    pub(super) fn check_space(
        &self,
        content_bytes: u64,
        record_bytes: u64,
    ) -> Result<(), StoreError> {
        let Some(disk) = &self.disk else {
            return Ok(());
        };
        let since_checkpoint = self.wal.end().saturating_add(self.pruned_bytes);
        let growth = self.wal.growth(record_bytes);
        disk.check(since_checkpoint.saturating_add(content_bytes), growth)
    }
}
