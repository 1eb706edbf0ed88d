//! The part of a verification that is done, for its reports.

use ledger_store::ScrubControl;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The part of a verification that is done.
#[derive(Debug, Default)]
pub struct Progress {
    page_bytes: AtomicU64,
    first_version: AtomicU64,
    next_version: AtomicU64,
    /// 0 while pages are compared.
    end_version: AtomicU64,
}

impl Progress {
    /// Begins the check of versions from `first` to `last`.
    pub(super) fn begin_versions(&self, first: u64, last: u64) {
        self.first_version.store(first, Relaxed);
        self.next_version.store(first, Relaxed);
        self.end_version.store(last + 1, Relaxed);
    }

    /// Records that all rows up to those of `version` are checked.
    pub(super) fn finish_version(&self, version: u64) {
        self.next_version.store(version + 1, Relaxed);
    }

    /// Returns the number of bytes that were read to compare pages.
    pub fn page_bytes(&self) -> u64 {
        self.page_bytes.load(Relaxed)
    }

    /// Returns the part that is done, in words.
    pub fn words(&self) -> String {
        let load = |number: &AtomicU64| number.load(Relaxed);
        let first = load(&self.first_version);
        match load(&self.end_version) {
            0 => format!("{} bytes of pages are compared", self.page_bytes()),
            end => format!(
                "{} of {} versions are checked",
                load(&self.next_version) - first,
                end - first
            ),
        }
    }
}

impl ScrubControl for Progress {
    fn on_read(&self, bytes: u64) -> bool {
        self.page_bytes.fetch_add(bytes, Relaxed);
        true
    }
}
