//! Views of the database: a read transaction with the index entries in memory that match it.
//!
//! The writer opens the transaction directly after its commit, before any other commit, so the two
//! always match.

use crate::{
    StoreError,
    index::{
        BloomFilters, IndexReader, Kind, Manifest, Memtable,
        key::{position, state_entry},
        reader::EntryRange,
    },
    tables::{
        codec::{decode, decode_payload, decode_stream_end, decode_write},
        digest::{DigestKey, StateDigest},
        rows::TransactionRow,
        schema::{PersistedHead, Position, Tables},
    },
};
use bytes::Bytes;
use ledger_types::{BlockInfo, EventKey, StateKey, WriteOp};
use std::{
    ops::ControlFlow,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// The database as of one commit.
pub(crate) struct ReadView {
    pub head: PersistedHead,
    pub tables: Tables,
    pub manifest: Arc<Manifest>,
    /// Bloom filters of the runs in the manifest.
    pub filters: BloomFilters,
    /// Memtables in the order of [`Kind::OF_ROWS`].
    pub memtables: [Memtable; 4],
    pub digest_key: DigestKey,
}

impl std::fmt::Debug for ReadView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadView")
            .field("head", &self.head)
            .finish_non_exhaustive()
    }
}

/// Returns memtables without entries, in the order of [`Kind::OF_ROWS`].
pub(crate) fn empty_memtables() -> [Memtable; 4] {
    Kind::OF_ROWS.map(|kind| Memtable::new(kind.width()))
}

/// The cell in which the writer publishes the latest view. Clones share it.
///
/// Its lock is held only for a copy of a pointer.
#[derive(Clone, Debug, Default)]
pub(crate) struct LatestView(Arc<SharedView>);

/// The latest view, with the threads that wait for a newer one.
#[derive(Debug, Default)]
struct SharedView {
    state: Mutex<ViewState>,
    changed: Condvar,
}

/// The latest view, or the reason for the end of views.
#[derive(Debug, Default)]
struct ViewState {
    view: Option<Arc<ReadView>>,
    /// The reason why no newer view will be published, if that is so.
    end: Option<StoreError>,
}

impl ViewState {
    /// Returns the result of a wait, or `None` if a newer view can be published.
    fn reached(
        &self,
        is_reached: impl Fn(&ReadView) -> bool,
    ) -> Option<Result<Arc<ReadView>, StoreError>> {
        match (&self.view, &self.end) {
            (Some(view), _) if is_reached(view) => Some(Ok(Arc::clone(view))),
            (_, Some(end)) => Some(Err(end.clone())),
            (None, None) => Some(Err(StoreError::Empty)),
            (Some(_), None) => None,
        }
    }
}

impl LatestView {
    /// Returns the latest view, or `None` before genesis.
    pub(crate) fn get(&self) -> Option<Arc<ReadView>> {
        self.lock().view.clone()
    }

    /// Blocks until `is_reached` holds for the latest view, and returns that view. Returns `None`
    /// if `timeout` elapses before.
    ///
    /// The content must be durable already, so that a thread is about to publish such a view.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Empty`] before genesis, and the cause passed to [`Self::end`] if no
    /// newer view will be published.
    pub(crate) fn wait(
        &self,
        is_reached: impl Fn(&ReadView) -> bool,
        timeout: Option<Duration>,
    ) -> Result<Option<Arc<ReadView>>, StoreError> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut state = self.lock();
        loop {
            if let Some(outcome) = state.reached(&is_reached) {
                return outcome.map(Some);
            }
            let changed = &self.0.changed;
            state = match deadline {
                None => changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Ok(None);
                    }
                    let waited = changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Returns whether [`Self::wait`] would block.
    pub(crate) fn would_wait(&self, is_reached: impl Fn(&ReadView) -> bool) -> bool {
        self.lock().reached(is_reached).is_none()
    }

    /// Returns whether no newer view will be published.
    pub(crate) fn has_ended(&self) -> bool {
        self.lock().end.is_some()
    }

    /// Publishes `view`.
    pub(crate) fn set(&self, view: ReadView) {
        let before = self.lock().view.replace(Arc::new(view));
        self.0.changed.notify_all();
        // Outside the lock, because dropping the last reference to a view releases its pages.
        drop(before);
    }

    /// Ends all waits for a newer view with `cause`. Later causes are ignored.
    pub(crate) fn end(&self, cause: StoreError) {
        self.lock().end.get_or_insert(cause);
        self.0.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, ViewState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads of single rows.
///
/// All of them return [`StoreError::Database`] if the database fails, and
/// [`StoreError::Inconsistent`] if a row is damaged.
impl ReadView {
    /// Returns an index of this view.
    pub(crate) fn index(&self, kind: Kind) -> IndexReader<'_> {
        IndexReader {
            kind,
            memtable: self.memtables.get(kind as usize),
            runs: self.manifest.runs(kind),
            filters: &self.filters,
            table: &self.tables.runs,
        }
    }

    /// Returns the decoded row of a transaction.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// the row is damaged.
    pub(crate) fn transaction_row(
        &self,
        version: u64,
    ) -> Result<Option<TransactionRow>, StoreError> {
        let row = self.tables.transactions.get(version)?;
        row.map(|row| TransactionRow::decode(row.value(), version))
            .transpose()
    }

    /// Returns the block at a height.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// the row is damaged.
    pub(crate) fn block(&self, height: u64) -> Result<Option<BlockInfo>, StoreError> {
        let row = self.tables.blocks.get(height)?;
        row.map(|row| decode(row.value(), format_args!("block {height}")))
            .transpose()
    }

    /// Returns the block that contains a version.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a row is damaged.
    pub(crate) fn block_of_version(&self, version: u64) -> Result<Option<BlockInfo>, StoreError> {
        let Some(row) = self.tables.transactions.get(version)? else {
            return Ok(None);
        };
        let height = TransactionRow::height_of(row.value(), version)?;
        self.block(height)
    }

    fn write(&self, position: Position) -> Result<(StateKey, WriteOp), StoreError> {
        match self.tables.writes.get(position)? {
            Some(row) => decode_write(row.value(), format_args!("write {position:?}")),
            None => Err(StoreError::Inconsistent(format!(
                "write {position:?} is missing"
            ))),
        }
    }

    /// Returns the number after the last pruned event of a stream.
    ///
    /// Returns `None` if none of its events was pruned since pruning records this number.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// the entry is damaged.
    pub(crate) fn pruned_events_end(&self, stream: &EventKey) -> Result<Option<u64>, StoreError> {
        let digest = self.digest_key.stream_end(stream);
        let Some(payload) = self.index(Kind::PrunedState).newest_payload(&digest)? else {
            return Ok(None);
        };
        let (found, end) = decode_stream_end(&payload)?;
        Ok((found == *stream).then_some(end))
    }

    /// Returns the value of `key` after `version`, which must be in the window.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::last_write`], and [`StoreError::Inconsistent`] if another key
    /// has the same digest.
    pub(crate) fn state_value(
        &self,
        key: &StateKey,
        version: u64,
    ) -> Result<Option<Bytes>, StoreError> {
        match self.last_write(&self.digest_key.state_key(key), version)? {
            Some((found, _)) if found != *key => Err(StoreError::Inconsistent(format!(
                "the state keys {key:?} and {found:?} have one digest"
            ))),
            Some((_, write)) => Ok(write.into_value()),
            None => Ok(None),
        }
    }

    /// Returns the last write of the state key with this digest, up to and including `version`,
    /// which must be in the window.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// the row of the write is missing or damaged.
    pub(crate) fn last_write(
        &self,
        digest: &StateDigest,
        version: u64,
    ) -> Result<Option<(StateKey, WriteOp)>, StoreError> {
        let oldest = self.head.oldest_version;
        let range = EntryRange {
            low: &state_entry(digest, (oldest, 0)),
            high: &state_entry(digest, (version, u32::MAX)),
            versions: oldest..=version,
        };
        let index = self.index(Kind::State);
        let found = index.newest_first(&range, |entry| {
            ControlFlow::Break(position(Kind::State, entry))
        })?;
        match found.flatten() {
            Some(position) => self.write(position).map(Some),
            None if oldest == 0 => Ok(None),
            None => {
                let payload = self.index(Kind::PrunedState).newest_payload(digest)?;
                let found = payload.as_deref().map(decode_payload).transpose()?;
                Ok(found.flatten())
            }
        }
    }
}
