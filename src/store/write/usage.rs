//! Measurement of the space that the content of a store takes, at checkpoints.
//!
//! The database file does not become smaller when rows are deleted: redb reuses the free pages. So
//! the length of the file does not show whether pruning has freed enough. The measurement counts
//! the allocated pages instead ([`allocated_pages`]). It reads the state of the page allocator that
//! the checkpoint has just written, about two bits per page.

use crate::{
    io::page_count::{PAGE_BYTES, allocated_pages},
    read::{usage::UsageMeter, view::ReadView},
};
use redb::StorageBackend;
use std::sync::Arc;

/// Length of the database file for which every checkpoint is measured, in bytes. Of a file that is
/// n times as long, one in n checkpoints is measured. So a measurement reads at most about 1 MiB
/// for each checkpoint of 4 MiB.
const MEASURED_FILE_BYTES: u64 = 16 * 1024 * 1024 * 1024;

/// The measurement of a writer.
#[derive(Debug)]
pub(crate) struct UsageProbe {
    /// The database file.
    disk: Arc<dyn StorageBackend>,
    meter: UsageMeter,
    is_enabled: bool,
    /// Number of checkpoints until the next one that is measured.
    skipped_left: u64,
}

impl UsageProbe {
    pub(crate) fn new(disk: Arc<dyn StorageBackend>) -> Self {
        Self {
            disk,
            meter: UsageMeter::default(),
            is_enabled: false,
            skipped_left: 0,
        }
    }

    /// Measures the newest checkpoint now, and others at [`Self::on_checkpoint`] from now on.
    pub(super) fn enable(&mut self, view: Option<&ReadView>, log_bytes: u64) {
        self.is_enabled = true;
        self.measure(view, log_bytes);
    }

    /// Returns the meter, to which a scrubber reports what it retains.
    pub(crate) fn meter(&self) -> UsageMeter {
        self.meter.clone()
    }

    /// Measures after a checkpoint, unless it is skipped.
    pub(super) fn on_checkpoint(&mut self, view: Option<&ReadView>, log_bytes: u64) {
        if !self.is_enabled {
            return;
        }
        if let Some(left) = self.skipped_left.checked_sub(1) {
            self.skipped_left = left;
            return;
        }
        self.measure(view, log_bytes);
    }

    /// Measures the newest checkpoint. An unreadable state leaves the last measurement as it is,
    /// because a fault of the disk is reported by the writes.
    fn measure(&mut self, view: Option<&ReadView>, log_bytes: u64) {
        let measured = allocated_pages(&*self.disk);
        let file_bytes = self.disk.len().unwrap_or_default();
        self.skipped_left = file_bytes / MEASURED_FILE_BYTES;
        if let (Ok(Some(pages)), Some(view)) = (measured, view) {
            self.meter
                .set(view, pages.saturating_mul(PAGE_BYTES), log_bytes);
        }
    }
}
