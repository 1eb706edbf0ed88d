//! The published health of the storage.

use crate::error::{FaultKind, NotWritable, StorageFault};
use arc_swap::ArcSwapOption;
use std::sync::Arc;

/// A part of the node that finds a shortage of disk space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShortageSource {
    /// The monitor of the free space: no block is started.
    Monitor,
    /// The monitor of the free space, if blocks of the pending transactions may need more of it.
    /// These blocks are started, because the shortage could not end without them.
    Pool,
    /// The writer, while blocks or a prune step wait for disk space.
    Writer,
}

/// Descriptions of a shortage of disk space, one from each source that reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shortages {
    monitor: Option<Arc<str>>,
    pool: Option<Arc<str>>,
    writer: Option<Arc<str>>,
}

impl Shortages {
    fn set(&mut self, source: ShortageSource, shortage: Option<Arc<str>>) {
        match source {
            ShortageSource::Monitor => self.monitor = shortage,
            ShortageSource::Pool => self.pool = shortage,
            ShortageSource::Writer => self.writer = shortage,
        }
    }

    /// Returns the description of the shortage, or `None` if no source reports one. That of the
    /// writer comes first, because blocks wait for its end, that of the pool last.
    fn cause(&self) -> Option<&Arc<str>> {
        self.pausing_cause().or(self.pool.as_ref())
    }

    /// Returns the description of the shortage that pauses writes, or `None` if none does.
    fn pausing_cause(&self) -> Option<&Arc<str>> {
        self.writer.as_ref().or(self.monitor.as_ref())
    }
}

/// A state of the storage in which the node accepts no submissions.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Unhealthy {
    /// Disk space is low. The state ends when no source reports a shortage any more.
    LowDiskSpace(Shortages),
    /// There was a fault. The state lasts until the next start.
    Failed {
        /// The worst fault.
        worst: StorageFault,
        /// The first fault.
        first: StorageFault,
    },
}

/// Returns the rank of a kind of fault, higher for one that leaves less of the node in use.
fn severity(kind: FaultKind) -> u8 {
    match kind {
        FaultKind::EngineStopped | FaultKind::Write | FaultKind::FileMoved => 0,
        FaultKind::Read => 1,
        FaultKind::Diverged => 2,
    }
}

impl Unhealthy {
    /// Returns the state after a fault in state `current`.
    ///
    /// A worse fault supersedes the published one. Any other fault after the first one has no
    /// effect.
    fn after_fault(current: Option<&Self>, fault: &StorageFault) -> Self {
        match current {
            Some(Self::Failed { worst, first }) => Self::Failed {
                worst: if severity(fault.kind) > severity(worst.kind) {
                    fault.clone()
                } else {
                    worst.clone()
                },
                first: first.clone(),
            },
            None | Some(Self::LowDiskSpace(_)) => Self::Failed {
                worst: fault.clone(),
                first: fault.clone(),
            },
        }
    }

    /// Returns the state after a report on the disk space in state `current`. Sufficient space
    /// neither ends a fault nor the shortage that another source reports.
    fn after_disk_space(
        current: Option<&Self>,
        source: ShortageSource,
        shortage: Option<&Arc<str>>,
    ) -> Option<Self> {
        let mut shortages = match current {
            None => Shortages::default(),
            Some(Self::LowDiskSpace(shortages)) => shortages.clone(),
            Some(Self::Failed { .. }) => return current.cloned(),
        };
        shortages.set(source, shortage.cloned());
        shortages
            .cause()
            .is_some()
            .then_some(Self::LowDiskSpace(shortages))
    }

    /// Returns whether no block and no prune step is started.
    fn is_paused(&self) -> bool {
        match self {
            Self::LowDiskSpace(shortages) => shortages.pausing_cause().is_some(),
            Self::Failed { .. } => true,
        }
    }

    /// Returns the reason why the node accepts no submissions.
    fn unavailable(&self) -> NotWritable {
        match self {
            Self::LowDiskSpace(shortages) => {
                NotWritable::LowDiskSpace(shortages.cause().cloned().unwrap_or_default())
            }
            Self::Failed { worst, .. } => {
                let cause = Arc::clone(&worst.cause);
                match worst.kind {
                    FaultKind::Write | FaultKind::FileMoved => NotWritable::WriteFailed(cause),
                    FaultKind::Read => NotWritable::ReadFailed(cause),
                    FaultKind::Diverged => NotWritable::Diverged(cause),
                    FaultKind::EngineStopped => NotWritable::EngineStopped(cause),
                }
            }
        }
    }

    /// Returns the first fault, or `None` if disk space is low without a fault.
    fn fault(&self) -> Option<&StorageFault> {
        match self {
            Self::LowDiskSpace(_) => None,
            Self::Failed { first, .. } => Some(first),
        }
    }
}

fn is_paused(state: Option<&Unhealthy>) -> bool {
    state.is_some_and(Unhealthy::is_paused)
}

/// The reading side of the published health. Clones are cheap and share the state.
///
/// Every submission checks it. The check takes no lock, and the cell is empty while the storage is
/// healthy.
#[derive(Clone, Debug, Default)]
pub(crate) struct StorageHealth(Arc<ArcSwapOption<Unhealthy>>);

impl StorageHealth {
    /// Returns the reason why the node accepts no submissions, or `None` if the storage is healthy.
    pub(crate) fn unavailable(&self) -> Option<NotWritable> {
        self.0.load().as_ref().map(|state| state.unavailable())
    }

    /// Returns the fault because of which nothing becomes durable until the next start, or `None`
    /// if there was none. It is the worst one.
    pub(crate) fn failed(&self) -> Option<NotWritable> {
        let state = self.0.load();
        let state = state.as_ref().filter(|state| state.fault().is_some())?;
        Some(state.unavailable())
    }

    /// Returns the difference from the ledger that the validators decided, because of which nothing
    /// is read either, or `None` if there is none.
    pub(crate) fn diverged(&self) -> Option<NotWritable> {
        self.failed()
            .filter(|failed| matches!(failed, NotWritable::Diverged(_)))
    }

    /// Returns whether no block and no prune step is started.
    pub(crate) fn is_paused(&self) -> bool {
        is_paused(self.0.load().as_deref())
    }

    /// Returns whether blocks or a prune step wait for disk space.
    pub(crate) fn is_write_waiting(&self) -> bool {
        let state = self.0.load();
        matches!(state.as_deref(), Some(Unhealthy::LowDiskSpace(shortages)) if shortages.writer.is_some())
    }

    /// Returns the first fault, or `None` if there was none.
    pub(crate) fn fault(&self) -> Option<StorageFault> {
        self.0.load().as_ref()?.fault().cloned()
    }
}

/// The writing side of [`StorageHealth`], which only the storage owns.
///
/// Several threads can publish concurrently, so a change is a compare-and-swap.
#[derive(Clone, Debug, Default)]
pub(crate) struct StorageHealthPublisher(StorageHealth);

impl StorageHealthPublisher {
    /// Returns the reading side.
    pub(crate) fn health(&self) -> &StorageHealth {
        &self.0
    }

    /// Publishes a fault, and returns its effect on the health.
    pub(crate) fn publish_fault(&self, fault: &StorageFault) -> FaultEffect {
        let Change { previous, next } =
            self.change(|current| Some(Unhealthy::after_fault(current, fault)));
        if previous == next {
            FaultEffect::Unchanged
        } else if previous.is_some_and(|state| state.fault().is_some()) {
            FaultEffect::WorseFault
        } else {
            FaultEffect::FirstFault
        }
    }

    /// Publishes whether disk space is low according to `source`, with a description of the
    /// shortage if so.
    ///
    /// Returns whether the start of blocks is thereby paused or resumed.
    pub(crate) fn publish_disk_space(
        &self,
        source: ShortageSource,
        shortage: Option<&Arc<str>>,
    ) -> bool {
        let Change { previous, next } =
            self.change(|current| Unhealthy::after_disk_space(current, source, shortage));
        is_paused(previous.as_deref()) != is_paused(next.as_deref())
    }

    /// Replaces the state with the result of `successor`, which is called again if another thread
    /// has changed the state meanwhile.
    fn change(&self, successor: impl Fn(Option<&Unhealthy>) -> Option<Unhealthy>) -> Change {
        let cell = &self.0.0;
        let mut previous = cell.load_full();
        loop {
            let next = successor(previous.as_deref()).map(Arc::new);
            if next == previous {
                return Change { previous, next };
            }
            let current = cell.compare_and_swap(&previous, next.clone());
            let is_replaced = match (&previous, &*current) {
                (Some(previous), Some(current)) => Arc::ptr_eq(previous, current),
                (None, None) => true,
                _ => false,
            };
            if is_replaced {
                return Change { previous, next };
            }
            previous.clone_from(&current);
        }
    }
}

/// The effect of a fault on the published health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultEffect {
    /// The fault is the first one. From now on nothing becomes durable.
    FirstFault,
    /// The fault is worse than the ones before it. From now on reads fail too.
    WorseFault,
    /// An earlier fault was the same or worse.
    Unchanged,
}

/// The states before and after a change.
struct Change {
    previous: Option<Arc<Unhealthy>>,
    next: Option<Arc<Unhealthy>>,
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
    fn reports_the_first_failed_write_or_moved_file_until_the_next_start() {
        for kinds in [
            [FaultKind::Write, FaultKind::FileMoved],
            [FaultKind::FileMoved, FaultKind::Write],
        ] {
            check_first_fault_lasts(kinds);
        }
    }

    /// Checks that the first of two faults stays the published one.
    fn check_first_fault_lasts([first, second]: [FaultKind; 2]) {
        let publisher = StorageHealthPublisher::default();
        let health = publisher.health();
        assert_eq!(health.unavailable(), None);
        let publish = |kind, cause| publisher.publish_fault(&fault(kind, cause));
        assert_eq!(publish(first, "first"), FaultEffect::FirstFault);
        assert_eq!(publish(second, "second"), FaultEffect::Unchanged);
        let unavailable = Some(NotWritable::WriteFailed("first".into()));
        assert_eq!(health.unavailable(), unavailable);
        assert_eq!(health.failed(), unavailable);
        for source in [ShortageSource::Monitor, ShortageSource::Writer] {
            publisher.publish_disk_space(source, Some(&"7 bytes are left".into()));
            publisher.publish_disk_space(source, None);
        }
        assert_eq!(
            health.unavailable(),
            unavailable,
            "sufficient space does not end the fault"
        );
    }

    #[test]
    fn failed_read_supersedes_a_failed_write_that_stays_the_first_fault() {
        for has_write_failed in [false, true] {
            let publisher = StorageHealthPublisher::default();
            let health = publisher.health();
            let publish = |kind, cause| publisher.publish_fault(&fault(kind, cause));
            let (first, effect) = if has_write_failed {
                assert_eq!(publish(FaultKind::Write, "write"), FaultEffect::FirstFault);
                (fault(FaultKind::Write, "write"), FaultEffect::WorseFault)
            } else {
                (fault(FaultKind::Read, "read"), FaultEffect::FirstFault)
            };
            assert_eq!(publish(FaultKind::Read, "read"), effect);
            assert_eq!(publish(FaultKind::Read, "again"), FaultEffect::Unchanged);
            assert_eq!(publish(FaultKind::Write, "late"), FaultEffect::Unchanged);
            let unavailable = health.failed().unwrap();
            assert_eq!(unavailable, NotWritable::ReadFailed("read".into()));
            assert!(
                !unavailable.to_string().contains("can be read"),
                "{unavailable}"
            );
            assert_eq!(health.unavailable(), Some(unavailable));
            assert_eq!(health.fault(), Some(first));
        }
    }

    #[test]
    fn difference_from_the_validators_supersedes_any_other_fault() {
        for before in [None, Some(FaultKind::Write), Some(FaultKind::Read)] {
            let publisher = StorageHealthPublisher::default();
            let health = publisher.health();
            let first = before.unwrap_or(FaultKind::Diverged);
            if let Some(kind) = before {
                publisher.publish_fault(&fault(kind, "before"));
            }
            assert_eq!(health.diverged(), None);
            publisher.publish_fault(&fault(FaultKind::Diverged, "diverged"));
            publisher.publish_fault(&fault(FaultKind::Read, "after"));
            let unavailable = Some(NotWritable::Diverged("diverged".into()));
            assert_eq!(health.diverged(), unavailable);
            assert_eq!(health.failed(), unavailable);
            assert_eq!(health.fault().map(|fault| fault.kind), Some(first));
            assert!(health.is_paused());
        }
    }

    #[test]
    fn low_disk_space_ends_with_sufficient_space_or_a_fault() {
        let publisher = StorageHealthPublisher::default();
        let health = publisher.health();
        let publish = |shortage: Option<&str>| {
            let shortage = shortage.map(Arc::from);
            publisher.publish_disk_space(ShortageSource::Monitor, shortage.as_ref())
        };
        assert!(publish(Some("7 bytes are left")));
        assert!(!publish(Some("6 bytes are left")));
        let unavailable = health.unavailable().unwrap();
        assert!(matches!(unavailable, NotWritable::LowDiskSpace(_)));
        assert!(unavailable.to_string().contains("6 bytes"));
        assert_eq!((health.failed(), health.fault()), (None, None));
        assert!(publish(None));
        assert_eq!(health.unavailable(), None);
        assert!(publish(Some("5 bytes are left")));
        assert_eq!(
            publisher.publish_fault(&fault(FaultKind::Write, "full")),
            FaultEffect::FirstFault
        );
        assert!(matches!(
            health.unavailable(),
            Some(NotWritable::WriteFailed(_))
        ));
    }

    #[test]
    fn low_disk_space_lasts_until_neither_source_reports_it() {
        use ShortageSource::{Monitor, Writer};
        for (first, second) in [(Monitor, Writer), (Writer, Monitor)] {
            let publisher = StorageHealthPublisher::default();
            let health = publisher.health();
            assert!(publisher.publish_disk_space(first, Some(&"first".into())));
            assert!(!publisher.publish_disk_space(second, Some(&"second".into())));
            assert!(!publisher.publish_disk_space(first, None));
            assert_eq!(
                health.unavailable(),
                Some(NotWritable::LowDiskSpace("second".into()))
            );
            assert!(publisher.publish_disk_space(second, None));
            assert_eq!(health.unavailable(), None);
        }
    }

    #[test]
    fn shortage_for_the_pool_pauses_nothing_and_is_reported_last() {
        use ShortageSource::{Monitor, Pool};
        let publisher = StorageHealthPublisher::default();
        let health = publisher.health();
        let low = |cause: &str| Some(NotWritable::LowDiskSpace(cause.into()));
        assert!(!publisher.publish_disk_space(Pool, Some(&"pool".into())));
        assert_eq!(
            (health.unavailable(), health.is_paused()),
            (low("pool"), false)
        );
        assert!(publisher.publish_disk_space(Monitor, Some(&"all".into())));
        assert_eq!(
            (health.unavailable(), health.is_paused()),
            (low("all"), true)
        );
        assert!(publisher.publish_disk_space(Monitor, None));
        assert_eq!(
            (health.unavailable(), health.is_paused()),
            (low("pool"), false)
        );
        assert!(!publisher.publish_disk_space(Pool, None));
        assert_eq!((health.unavailable(), health.is_paused()), (None, false));
    }
}
