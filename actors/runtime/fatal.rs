//! How the end of the node's work is told: a failing disk, a broken invariant, a panic; and whether the
//! ledger is written at the moment.
//!
//! Two kinds of failure are kept apart ([`FailureKind`]). After a failed write the writer takes no more,
//! and all that was ever told as durable is known and can be read: the node serves on. After a failed read it
//! serves what is in memory. After anything else nobody knows what is still true, and the process ends.

use crate::{FailureKind, FatalError, StorageUnavailable};
use ledger_store::StoreError;
use std::{
    fmt::{self, Display},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
};
use tokio::sync::watch;

/// Where the first fatal error of each kind is told. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct FatalErrorReporter(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    told: watch::Sender<Told>,
    /// Whether there is anything in `told`, so that the healthy path, which every submission takes, costs one
    /// load and no lock. Written under the lock of `told`, in its order. Relaxed is enough: it guards no data,
    /// as who reads that something was told takes the lock to see what; and who reads a moment too early is as
    /// one who came before it was told, which nothing can tell apart.
    is_told: AtomicBool,
    /// Called when a failure of either kind was first recorded.
    on_failed: OnceLock<OnFailed>,
}

struct OnFailed(Box<dyn Fn() + Send + Sync>);

impl fmt::Debug for OnFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnFailed")
    }
}

/// What was told.
#[derive(Clone, Debug, Default)]
struct Told {
    broken: Option<FatalError>,
    disk: Option<FatalError>,
    /// Why the disk cannot be read either.
    unreadable: Option<Arc<str>>,
    /// Why the disk is taken for full, while it is.
    no_room: Option<Arc<str>>,
}

impl Told {
    fn first(&self) -> Option<&FatalError> {
        self.broken.as_ref().or(self.disk.as_ref())
    }

    fn is_empty(&self) -> bool {
        self.first().is_none() && self.unreadable.is_none() && self.no_room.is_none()
    }

    fn storage_unavailable(&self) -> Option<StorageUnavailable> {
        let unreadable = || self.unreadable.clone().map(StorageUnavailable::ReadFailed);
        let failed = || {
            self.first()
                .map(|error| StorageUnavailable::WriteFailed(error.cause.clone()))
        };
        unreadable()
            .or_else(failed)
            .or_else(|| self.no_room.clone().map(StorageUnavailable::LowDiskSpace))
    }

    fn failed(&self) -> Option<StorageUnavailable> {
        self.first().and_then(|_| self.storage_unavailable())
    }
}

impl FatalErrorReporter {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Shared {
            told: watch::Sender::new(Told::default()),
            is_told: AtomicBool::new(false),
            on_failed: OnceLock::new(),
        }))
    }

    /// Changes what is told, and gives whether that is news. Those who wait are woken by news only.
    fn change(&self, change: impl FnOnce(&mut Told) -> bool) -> bool {
        self.0.told.send_if_modified(|told| {
            let is_news = change(told);
            self.0.is_told.store(!told.is_empty(), Relaxed);
            is_news
        })
    }

    /// Tells of what must not be; the first one stays.
    pub(crate) fn report(&self, thread: &'static str, cause: &dyn Display) {
        tracing::error!(thread, %cause, "the node can do no more work");
        self.record(thread, cause, FailureKind::Broken);
    }

    /// Tells that the writer has ended by this error. A disk that did not take what was to be written
    /// leaves all readable that was durable before; any other error does not.
    pub(crate) fn report_write(&self, thread: &'static str, error: &StoreError) {
        if !error.is_failed_io() {
            return self.report(thread, error);
        }
        self.report_disk(thread, error);
    }

    /// Tells that a query ended by this error, if it was the disk's: the database then neither reads nor writes.
    /// Every later query ends so too; the log has the first.
    pub(crate) fn report_read(&self, thread: &'static str, error: &StoreError) {
        if !error.is_failed_io() {
            return;
        }
        let is_first = self.change(|told| {
            let is_first = told.unreadable.is_none();
            told.unreadable
                .get_or_insert_with(|| error.to_string().into());
            is_first
        });
        // Who waits for a block waits in vain.
        self.record(thread, error, FailureKind::Disk);
        if is_first {
            tracing::error!(
                thread,
                %error,
                "the ledger can be neither read nor written any more: requests are refused but for what is in \
                 memory; repair the disk, then restart the node"
            );
        }
    }

    fn report_disk(&self, thread: &'static str, error: &StoreError) {
        if self.record(thread, error, FailureKind::Disk) {
            tracing::error!(
                thread,
                %error,
                "the ledger cannot be written any more: what is committed is served, submissions are \
                 refused; make room or repair the disk, then restart the node"
            );
        }
    }

    /// Sets what is called when a failure was first recorded.
    pub(crate) fn set_on_failed(&self, on_failed: impl Fn() + Send + Sync + 'static) {
        let _ = self.0.on_failed.set(OnFailed(Box::new(on_failed)));
    }

    /// Notes an error if it is the first of its kind, and gives whether it is.
    fn record(&self, thread: &'static str, cause: &dyn Display, kind: FailureKind) -> bool {
        let error = FatalError {
            thread,
            cause: cause.to_string().into(),
            kind,
        };
        let is_first = self.change(|told| {
            let slot = match kind {
                FailureKind::Broken => &mut told.broken,
                FailureKind::Disk => &mut told.disk,
            };
            let is_first = slot.is_none();
            slot.get_or_insert(error);
            is_first
        });
        if is_first && let Some(OnFailed(on_failed)) = self.0.on_failed.get() {
            on_failed();
        }
        is_first
    }

    /// Says why the disk is taken for full, or that it is no longer; gives whether that is news.
    pub(crate) fn set_no_room(&self, cause: Option<Arc<str>>) -> bool {
        self.change(|told| {
            let is_news = told.no_room.is_some() != cause.is_some();
            told.no_room = cause;
            is_news
        })
    }

    /// Why nothing is written at the moment.
    pub(crate) fn storage_unavailable(&self) -> Option<StorageUnavailable> {
        self.look(Told::storage_unavailable)
    }

    fn look<T>(&self, find: impl Fn(&Told) -> Option<T>) -> Option<T> {
        if !self.0.is_told.load(Relaxed) {
            return None;
        }
        find(&self.0.told.borrow())
    }

    /// The error, if there was one; one that ends the process before another.
    pub(crate) fn get(&self) -> Option<FatalError> {
        self.0.told.borrow().first().cloned()
    }

    /// Ends when the process has to end.
    pub(crate) async fn wait_fatal(&self) -> FatalError {
        self.wait(|told| told.broken.clone()).await
    }

    /// Ends when no block on its way becomes durable any more.
    pub(crate) async fn wait_any(&self) -> FatalError {
        self.wait(|told| told.first().cloned()).await
    }

    /// Why nothing is written any more, if a write has failed for good.
    pub(crate) fn failed(&self) -> Option<StorageUnavailable> {
        self.look(Told::failed)
    }

    async fn wait<T>(&self, find: impl Fn(&Told) -> Option<T>) -> T {
        let mut changes = self.0.told.subscribe();
        loop {
            if let Some(found) = find(&changes.borrow_and_update()) {
                return found;
            }
            // The sender lives as long as `self`, so this ends only by a change.
            if changes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Starts a named thread. Should it panic, that is told, with the name.
    pub(crate) fn spawn(
        &self,
        name: &'static str,
        body: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<thread::JoinHandle<()>> {
        let failure = self.clone();
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            let _panic_guard = failure.panic_guard(name);
            body();
        })
    }

    /// Tells of a panic of this thread while the alarm lives, in the name of `who`. For builds that
    /// unwind: a release build aborts at a panic.
    pub(crate) fn panic_guard(&self, who: &'static str) -> PanicGuard<'_> {
        PanicGuard { failure: self, who }
    }
}

/// See [`FatalErrorReporter::panic_guard`].
pub(crate) struct PanicGuard<'a> {
    failure: &'a FatalErrorReporter,
    who: &'static str,
}

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.failure.report(self.who, &"it panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    fn disk_error() -> StoreError {
        redb::StorageError::from(io::Error::from(io::ErrorKind::StorageFull)).into()
    }

    #[actix::test]
    async fn a_panicking_thread_is_told_and_the_first_error_stays() {
        let failure = FatalErrorReporter::new();
        assert!(failure.get().is_none());
        let thread = failure
            .spawn("doomed", || panic!("as the test wants it"))
            .unwrap();
        assert_eq!(failure.wait_fatal().await.thread, "doomed");
        assert!(thread.join().is_err());
        failure.report("other", &"late");
        assert_eq!(failure.get().unwrap().thread, "doomed");
    }

    #[actix::test]
    async fn a_failed_write_is_no_reason_to_end_the_process_and_a_contradiction_is() {
        let failure = FatalErrorReporter::new();
        failure.report_write("writer", &disk_error());
        assert_eq!(failure.wait_any().await.kind, FailureKind::Disk);
        assert!(matches!(
            failure.storage_unavailable(),
            Some(StorageUnavailable::WriteFailed(_))
        ));
        assert!(failure.0.told.borrow().broken.is_none());
        failure.report_write(
            "writer",
            &StoreError::Gap("as the test wants it".to_owned()),
        );
        assert_eq!(failure.wait_fatal().await.kind, FailureKind::Broken);
        assert_eq!(
            failure.get().unwrap().kind,
            FailureKind::Broken,
            "it outranks the disk"
        );
    }

    #[actix::test]
    async fn a_read_that_fails_for_good_is_told_as_such_whatever_failed_before() {
        let gap = StoreError::Gap("as the test wants it".to_owned());
        for has_write_failed in [false, true] {
            let failure = FatalErrorReporter::new();
            failure.report_read("reader", &gap);
            assert_eq!(
                failure.storage_unavailable(),
                None,
                "it says nothing of the disk"
            );
            if has_write_failed {
                failure.report_write("writer", &disk_error());
                assert!(matches!(
                    failure.storage_unavailable(),
                    Some(StorageUnavailable::WriteFailed(_))
                ));
            }
            failure.report_read("reader", &disk_error());
            let unreadable = failure.failed().unwrap();
            assert!(
                matches!(unreadable, StorageUnavailable::ReadFailed(_)),
                "{unreadable}"
            );
            assert!(
                !unreadable.to_string().contains("can be read"),
                "{unreadable}"
            );
            assert_eq!(failure.storage_unavailable(), Some(unreadable));
            assert_eq!(failure.get().unwrap().kind, FailureKind::Disk);
        }
    }

    #[test]
    fn a_full_disk_is_over_when_there_is_room_and_a_failed_write_is_not() {
        let failure = FatalErrorReporter::new();
        assert!(failure.set_no_room(Some("7 bytes are left".into())));
        assert!(
            !failure.set_no_room(Some("6 bytes are left".into())),
            "no news"
        );
        let found = failure.storage_unavailable().unwrap();
        assert!(
            matches!(found, StorageUnavailable::LowDiskSpace(_))
                && found.to_string().contains("6 bytes")
        );
        assert!(failure.set_no_room(None));
        assert!(failure.storage_unavailable().is_none(), "it is over");
        assert!(failure.set_no_room(Some("5 bytes are left".into())));
        failure.report_write("writer", &disk_error());
        assert!(failure.set_no_room(None));
        assert!(matches!(
            failure.storage_unavailable(),
            Some(StorageUnavailable::WriteFailed(_))
        ));
    }
}
