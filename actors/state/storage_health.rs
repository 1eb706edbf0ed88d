//! Health of the storage.

use crate::error::{FaultKind, StorageFault, StorageUnavailable};
use arc_swap::ArcSwapOption;
use std::sync::Arc;

/// A state in which the ledger is not written.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Unhealthy {
    /// The disk has little space left. Ends when it has space again.
    LowDiskSpace(Arc<str>),
    /// A write or a sync failed. Lasts until the next start.
    WriteFailed(StorageFault),
    /// A read failed for good. Lasts until the next start.
    ReadFailed {
        cause: Arc<str>,
        /// The fault that came first: this one, or a failed write before it.
        first: StorageFault,
    },
}

impl Unhealthy {
    /// Returns the state after a fault.
    fn after_fault(before: Option<&Self>, fault: &StorageFault) -> Option<Self> {
        match (fault.kind, before) {
            (_, Some(Self::ReadFailed { .. })) | (FaultKind::Write, Some(Self::WriteFailed(_))) => {
                before.cloned()
            }
            (FaultKind::Write, None | Some(Self::LowDiskSpace(_))) => {
                Some(Self::WriteFailed(fault.clone()))
            }
            (FaultKind::Read, _) => Some(Self::ReadFailed {
                cause: Arc::clone(&fault.cause),
                first: match before {
                    Some(Self::WriteFailed(first)) => first.clone(),
                    _ => fault.clone(),
                },
            }),
        }
    }

    /// Returns the state after a measurement of the disk space. Space does not repair a fault.
    fn after_disk_space(before: Option<&Self>, shortage: Option<&Arc<str>>) -> Option<Self> {
        match before {
            None | Some(Self::LowDiskSpace(_)) => shortage.cloned().map(Self::LowDiskSpace),
            Some(Self::WriteFailed(_) | Self::ReadFailed { .. }) => before.cloned(),
        }
    }

    fn unavailable(&self) -> StorageUnavailable {
        match self {
            Self::LowDiskSpace(cause) => StorageUnavailable::LowDiskSpace(Arc::clone(cause)),
            Self::WriteFailed(fault) => StorageUnavailable::WriteFailed(Arc::clone(&fault.cause)),
            Self::ReadFailed { cause, .. } => StorageUnavailable::ReadFailed(Arc::clone(cause)),
        }
    }

    fn fault(&self) -> Option<&StorageFault> {
        match self {
            Self::LowDiskSpace(_) => None,
            Self::WriteFailed(fault) | Self::ReadFailed { first: fault, .. } => Some(fault),
        }
    }
}

/// The published health of the storage. Cheap to clone; all clones show the same state.
///
/// It is empty while the storage is healthy, so that the check of every submission takes no lock.
#[derive(Clone, Debug, Default)]
pub(crate) struct StorageHealth(Arc<ArcSwapOption<Unhealthy>>);

impl StorageHealth {
    /// Returns why the ledger is not written, if so.
    pub(crate) fn unavailable(&self) -> Option<StorageUnavailable> {
        self.0.load().as_ref().map(|state| state.unavailable())
    }

    /// Returns why nothing becomes durable until the next start, if a fault is the reason.
    pub(crate) fn failed(&self) -> Option<StorageUnavailable> {
        let state = self.0.load();
        let state = state.as_ref().filter(|state| state.fault().is_some())?;
        Some(state.unavailable())
    }

    /// Returns the first fault, if there was one.
    pub(crate) fn fault(&self) -> Option<StorageFault> {
        self.0.load().as_ref()?.fault().cloned()
    }
}

/// The writing side of [`StorageHealth`], which only the code of the storage has.
///
/// Several threads may meet a fault at the same time, so a change is a compare-and-swap.
#[derive(Clone, Debug, Default)]
pub(crate) struct StorageHealthPublisher(StorageHealth);

impl StorageHealthPublisher {
    /// Returns the reading side.
    pub(crate) fn health(&self) -> &StorageHealth {
        &self.0
    }

    /// Publishes a fault. Returns whether it is the first of its kind: the first failed write unless
    /// a read has failed before, or the first failed read.
    pub(crate) fn publish_fault(&self, fault: &StorageFault) -> bool {
        let Change { before, after } = self.change(|before| Unhealthy::after_fault(before, fault));
        before != after
    }

    /// Publishes whether the disk has little space, with the cause in words. Returns whether the
    /// health changes between healthy and not.
    pub(crate) fn publish_disk_space(&self, shortage: Option<&Arc<str>>) -> bool {
        let Change { before, after } =
            self.change(|before| Unhealthy::after_disk_space(before, shortage));
        before.is_some() != after.is_some()
    }

    /// Replaces the state by its successor, computed again if another thread was faster.
    fn change(&self, next: impl Fn(Option<&Unhealthy>) -> Option<Unhealthy>) -> Change {
        let cell = &self.0.0;
        let mut before = cell.load_full();
        loop {
            let after = next(before.as_deref()).map(Arc::new);
            if after == before {
                return Change { before, after };
            }
            let found = cell.compare_and_swap(&before, after.clone());
            let is_replaced = match (&before, &*found) {
                (Some(before), Some(found)) => Arc::ptr_eq(before, found),
                (None, None) => true,
                _ => false,
            };
            if is_replaced {
                return Change { before, after };
            }
            before.clone_from(&found);
        }
    }
}

/// The state before and after a change.
struct Change {
    before: Option<Arc<Unhealthy>>,
    after: Option<Arc<Unhealthy>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(kind: FaultKind, cause: &str) -> StorageFault {
        StorageFault {
            thread: "test",
            kind,
            cause: cause.into(),
        }
    }

    #[test]
    fn a_failed_write_lasts_and_the_first_one_is_reported() {
        let publisher = StorageHealthPublisher::default();
        let health = publisher.health();
        assert_eq!(health.unavailable(), None);
        assert!(publisher.publish_fault(&fault(FaultKind::Write, "first")));
        assert!(!publisher.publish_fault(&fault(FaultKind::Write, "second")));
        let unavailable = Some(StorageUnavailable::WriteFailed("first".into()));
        assert_eq!(health.unavailable(), unavailable);
        assert_eq!(health.failed(), unavailable);
        publisher.publish_disk_space(Some(&"7 bytes are left".into()));
        publisher.publish_disk_space(None);
        assert_eq!(
            health.unavailable(),
            unavailable,
            "space does not repair it"
        );
    }

    #[test]
    fn a_failed_read_outranks_a_failed_write_and_keeps_it_as_the_first_fault() {
        for has_write_failed in [false, true] {
            let publisher = StorageHealthPublisher::default();
            let health = publisher.health();
            let mut first = fault(FaultKind::Read, "read");
            if has_write_failed {
                first = fault(FaultKind::Write, "write");
                assert!(publisher.publish_fault(&first));
            }
            assert!(publisher.publish_fault(&fault(FaultKind::Read, "read")));
            assert!(!publisher.publish_fault(&fault(FaultKind::Read, "again")));
            assert!(!publisher.publish_fault(&fault(FaultKind::Write, "late")));
            let unavailable = health.failed().unwrap();
            assert_eq!(unavailable, StorageUnavailable::ReadFailed("read".into()));
            assert!(
                !unavailable.to_string().contains("can be read"),
                "{unavailable}"
            );
            assert_eq!(health.unavailable(), Some(unavailable));
            assert_eq!(health.fault(), Some(first));
        }
    }

    #[test]
    fn low_disk_space_ends_when_there_is_space_and_does_not_hide_a_fault() {
        let publisher = StorageHealthPublisher::default();
        let health = publisher.health();
        assert!(publisher.publish_disk_space(Some(&"7 bytes are left".into())));
        assert!(!publisher.publish_disk_space(Some(&"6 bytes are left".into())));
        let unavailable = health.unavailable().unwrap();
        assert!(matches!(unavailable, StorageUnavailable::LowDiskSpace(_)));
        assert!(unavailable.to_string().contains("6 bytes"));
        assert_eq!((health.failed(), health.fault()), (None, None));
        assert!(publisher.publish_disk_space(None));
        assert_eq!(health.unavailable(), None);
        assert!(publisher.publish_disk_space(Some(&"5 bytes are left".into())));
        assert!(publisher.publish_fault(&fault(FaultKind::Write, "full")));
        assert!(matches!(
            health.unavailable(),
            Some(StorageUnavailable::WriteFailed(_))
        ));
    }
}
