//! Short reads on the requesting thread, without a message to the storage actor.

use super::health::HealthReporter;
use crate::{
    Clock, NodeError,
    protocol::storage::{Answer, STORAGE},
    state::head::HeadReader,
};
use arc_swap::ArcSwapOption;
use ledger_store::{Query, Snapshot, StoreReader};
use ledger_types::LedgerInfo;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Duration above which a read is slow, in microseconds. A slow read has waited for the disk, or
/// its thread for a core.
const SLOW_USECS: u64 = 1_000;

/// Maximum pause of inline reads after a slow one, in microseconds.
const PAUSE_USECS_MAX: u64 = 1_000_000;

/// The store of an [`InlineReader`]. Clones share it.
///
/// It is empty after the storage actor revokes it. So the handle of a stopped node does not hold
/// the store open.
#[derive(Clone, Debug)]
pub(crate) struct InlineStore(Arc<ArcSwapOption<StoreReader>>);

impl InlineStore {
    pub(crate) fn new(store: StoreReader) -> Self {
        Self(Arc::new(ArcSwapOption::from_pointee(store)))
    }

    /// Creates one that is revoked.
    #[cfg(test)]
    pub(super) fn revoked() -> Self {
        Self(Arc::default())
    }

    /// Releases the store. All later queries run on reader threads.
    pub(super) fn revoke(&self) {
        self.0.store(None);
    }
}

/// A reader that runs short queries on the requesting thread, an HTTP worker.
///
/// A read of a few rows in memory takes microseconds, less than a round trip to a reader thread.
/// Together with a faster JSON serializer, inline reads reduced the node's CPU time for a balance
/// request from 19.9 us to 13.2 us. They bypass the storage actor, which revokes
/// the store when it stops.
///
/// An inline read can wait only for the disk. The caller must send the query to a reader thread if
/// one of these holds:
///
/// * The version is not applied to the database yet, and [`Self::read_unchanged`] finds no older
///   view that serves.
/// * A slow read has paused inline reads on all threads. The pause starts at the end of that read,
///   and is as long as the read took, but at most one second.
/// * The storage actor has ended and revoked the store.
///
/// The pause limits how long a slow disk delays the other requests of an HTTP worker. It is shorter
/// than the read if the read took more than a second. Each slow read sets the end of the pause
/// anew, so a concurrent read that ends later can also shorten it.
#[derive(Debug)]
pub(crate) struct InlineReader {
    head: HeadReader,
    store: InlineStore,
    health: HealthReporter,
    clock: Clock,
    /// End of the pause, in microseconds of the clock's elapsed time. Accesses are relaxed, because
    /// the value orders no other memory.
    pause_end_usecs: AtomicU64,
}

impl InlineReader {
    pub(crate) fn new(
        store: InlineStore,
        head: HeadReader,
        health: HealthReporter,
        clock: Clock,
    ) -> Self {
        Self {
            head,
            store,
            health,
            clock,
            pause_end_usecs: AtomicU64::new(0),
        }
    }

    /// Runs a query that looks up a few rows on a snapshot at the Head.
    ///
    /// # Errors
    ///
    /// Returns the query if the caller must send it to a reader thread. A failed read is not such
    /// an error: the returned [`Answer`] contains it.
    pub(crate) fn read<Q: Query>(&self, query: Q) -> Result<Answer<Q::Output>, Q> {
        self.read_at(query, |reader| {
            reader.snapshot_at(&self.head.ledger_info()).ok()
        })
    }

    /// Runs a query whose result no block from height `unchanged_from` up to `head` has changed.
    ///
    /// If the block of `head` is not applied yet, the query runs on the newest snapshot. That must
    /// include all blocks below `unchanged_from`, and must not be newer than `head`.
    ///
    /// # Errors
    ///
    /// Returns the query if the caller must send it to a reader thread. A failed read is not such
    /// an error: the returned [`Answer`] contains it.
    pub(crate) fn read_unchanged<Q: Query>(
        &self,
        query: Q,
        head: &LedgerInfo,
        unchanged_from: u64,
    ) -> Result<Answer<Q::Output>, Q> {
        self.read_at(query, |reader| {
            let open_unchanged = || {
                let newest = reader.snapshot().ok()?;
                let height = newest.ledger_info().block_height;
                (unchanged_from..=head.block_height + 1)
                    .contains(&(height + 1))
                    .then_some(newest)
            };
            reader.snapshot_at(head).ok().or_else(open_unchanged)
        })
    }

    /// Runs a query on the snapshot that `open` returns.
    ///
    /// # Errors
    ///
    /// Returns the query if inline reads are paused or revoked, or if `open` returns `None`.
    fn read_at<Q: Query>(
        &self,
        query: Q,
        open: impl FnOnce(&StoreReader) -> Option<Snapshot>,
    ) -> Result<Answer<Q::Output>, Q> {
        let start_usecs = self.clock.elapsed_usecs();
        if self.is_paused(start_usecs) {
            return Err(query);
        }
        let Some(snapshot) = self.store.0.load().as_deref().and_then(open) else {
            return Err(query);
        };
        let answer = query.run(&snapshot);
        self.pause_after_slow(start_usecs, self.clock.elapsed_usecs());
        if let Err(error) = &answer {
            self.health.report_read(STORAGE, error);
        }
        Ok(answer
            .map(|output| (*snapshot.ledger_info(), output))
            .map_err(NodeError::Store))
    }

    /// Returns whether inline reads are paused at this elapsed time of the clock.
    fn is_paused(&self, elapsed_usecs: u64) -> bool {
        elapsed_usecs < self.pause_end_usecs.load(Relaxed)
    }

    /// Starts a pause if the read between these elapsed times of the clock was slow.
    fn pause_after_slow(&self, start_usecs: u64, end_usecs: u64) {
        let duration_usecs = end_usecs.saturating_sub(start_usecs);
        if duration_usecs > SLOW_USECS {
            let pause_usecs = duration_usecs.min(PAUSE_USECS_MAX);
            let pause_end_usecs = end_usecs.saturating_add(pause_usecs);
            self.pause_end_usecs.store(pause_end_usecs, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        runtime::mailbox::Recipient,
        state::{head::HeadPublisher, storage_health::StorageHealthPublisher},
    };
    use ledger_store::{StoreError, StoreWriter};
    use ledger_test_support::store::open_store;
    use std::sync::Arc;

    /// An inline reader with a clock that the test advances.
    struct Fixture {
        inline_reader: InlineReader,
        elapsed_usecs: Arc<AtomicU64>,
        _writer: StoreWriter,
        _directory: tempfile::TempDir,
    }

    /// Creates an inline reader of a new ledger. The Head is `unapplied_count` versions ahead
    /// of the store.
    fn fixture(unapplied_count: u64) -> Fixture {
        let directory = tempfile::tempdir().unwrap();
        let (_, store) = open_store(directory.path());
        let (writer, reader) = store.split();
        let mut ledger_info = *reader.snapshot().unwrap().ledger_info();
        ledger_info.version += unapplied_count;
        let elapsed_usecs = Arc::new(AtomicU64::new(1));
        let clock = Arc::clone(&elapsed_usecs);
        let clock = Clock::new(move || clock.load(Relaxed));
        let head = HeadPublisher::unpruned(ledger_info).reader();
        let store = InlineStore::new(reader);
        let health = HealthReporter::new(
            StorageHealthPublisher::default(),
            Recipient::new(|_| ()),
            Recipient::new(|_| ()),
        );
        Fixture {
            inline_reader: InlineReader::new(store, head, health, clock),
            elapsed_usecs,
            _writer: writer,
            _directory: directory,
        }
    }

    impl Fixture {
        /// Runs a query that takes `duration_usecs`. Returns whether it ran inline.
        fn runs_inline(&self, duration_usecs: u64) -> bool {
            let elapsed_usecs = Arc::clone(&self.elapsed_usecs);
            let query = move |_: &Snapshot| {
                elapsed_usecs.fetch_add(duration_usecs, Relaxed);
                Ok(())
            };
            self.inline_reader.read(query).is_ok()
        }

        /// Advances the elapsed time of the clock.
        fn advance(&self, usecs: u64) {
            self.elapsed_usecs.fetch_add(usecs, Relaxed);
        }
    }

    #[test]
    fn pauses_after_a_slow_read_for_its_duration_but_at_most_a_second() {
        let fixture = fixture(0);
        assert!(fixture.runs_inline(SLOW_USECS) && fixture.runs_inline(SLOW_USECS + 1));
        assert!(!fixture.runs_inline(0));
        fixture.advance(SLOW_USECS);
        assert!(!fixture.runs_inline(0));
        fixture.advance(1);
        assert!(fixture.runs_inline(100 * PAUSE_USECS_MAX));
        fixture.advance(PAUSE_USECS_MAX - 1);
        assert!(!fixture.runs_inline(0));
        fixture.advance(1);
        assert!(fixture.runs_inline(0));
    }

    #[test]
    fn returns_the_query_if_the_head_is_not_applied() {
        assert!(!fixture(1).runs_inline(0));
    }

    #[test]
    fn reads_unchanged_results_at_the_head_or_at_an_earlier_snapshot() {
        let reader = fixture(1).inline_reader;
        let applied = *reader
            .store
            .0
            .load()
            .as_ref()
            .unwrap()
            .snapshot()
            .unwrap()
            .ledger_info();
        let with_height = |block_height, version| LedgerInfo {
            block_height,
            version,
            ..applied
        };
        let next = with_height(applied.block_height + 1, applied.version + 1);
        let is_read_inline = |head: &LedgerInfo, from| {
            reader
                .read_unchanged(|_: &Snapshot| Ok(()), head, from)
                .is_ok()
        };
        assert!(is_read_inline(&applied, 0) && is_read_inline(&applied, next.block_height));
        assert!(
            is_read_inline(&next, applied.block_height) && is_read_inline(&next, next.block_height)
        );
        assert!(
            !is_read_inline(&next, next.block_height + 1),
            "the result has changed since the newest snapshot"
        );
    }

    #[test]
    fn revoking_releases_the_store_and_stops_inline_reads() {
        let Fixture {
            inline_reader,
            _writer,
            _directory,
            ..
        } = fixture(0);
        inline_reader.store.revoke();
        let query = |_: &Snapshot| Ok(());
        assert!(inline_reader.read(query).is_err());
        drop(_writer);
        open_store(_directory.path());
    }

    #[test]
    fn answers_at_the_version_of_the_head_and_returns_a_failed_read_as_an_answer() {
        let fixture = fixture(0);
        let version = |snapshot: &Snapshot| Ok(snapshot.ledger_info().version);
        let Ok(Ok((ledger_info, version))) = fixture.inline_reader.read(version) else {
            panic!("the query did not run inline");
        };
        assert_eq!(
            &ledger_info,
            fixture.inline_reader.head.load().ledger_info()
        );
        assert_eq!(version, ledger_info.version);
        let fails = |_: &Snapshot| -> Result<(), StoreError> { Err(StoreError::Empty) };
        let Ok(answer) = fixture.inline_reader.read(fails) else {
            panic!("the query did not run inline");
        };
        assert!(matches!(answer, Err(NodeError::Store(StoreError::Empty))));
    }
}
