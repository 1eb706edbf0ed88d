//! The check of disk space before a write.

use super::{disk_space::SpaceNeed, writer::StoreWriter};
use crate::StoreError;

impl StoreWriter {
    /// Checks that the disk has space for a write of `content_bytes` and for the checkpoint after
    /// it, which writes everything since the last one. `record_bytes` is the size of its log
    /// record.
    ///
    /// Measures the space if the last measurement does not show that there is enough, or if the
    /// next write is a checkpoint, whose failure would end writing.
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
        if self.is_log_next() && self.is_known_to_fit(content_bytes, record_bytes) {
            return Ok(());
        }
        let checked = self.check_space(content_bytes, record_bytes);
        if checked.is_ok() || self.wal.end() == 0 || self.check_space(0, 0).is_err() {
            return checked;
        }
        let state = self.next_log_state();
        self.poison_on_error(|writer| writer.checkpoint(state))?;
        self.check_space(content_bytes, record_bytes)
    }

    /// Measures and checks the space as [`Self::ensure_space`] does, without writing anything.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::DiskFull`] if the disk has not enough space.
    pub(super) fn check_space(
        &mut self,
        content_bytes: u64,
        record_bytes: u64,
    ) -> Result<(), StoreError> {
        let need = self.space_need(content_bytes, record_bytes);
        match &mut self.disk {
            Some(disk) => disk.check(need, self.wal.file_bytes()),
            None => Ok(()),
        }
    }

    /// Returns whether the last measurement shows that the disk has enough space.
    fn is_known_to_fit(&mut self, content_bytes: u64, record_bytes: u64) -> bool {
        let need = self.space_need(content_bytes, record_bytes);
        let log_bytes = self.wal.file_bytes();
        let disk = self.disk.as_mut();
        disk.is_none_or(|disk| disk.is_known_to_have(need, log_bytes))
    }

    fn space_need(&self, content_bytes: u64, record_bytes: u64) -> SpaceNeed {
        let since_checkpoint = self.wal.end().saturating_add(self.pruned_bytes);
        SpaceNeed {
            content_bytes: since_checkpoint.saturating_add(content_bytes),
            log_growth_bytes: self.wal.growth(record_bytes),
        }
    }
}
