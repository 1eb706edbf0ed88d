//! One durable moment of the ledger: a read transaction with the index entries in memory that
//! belong to it. The writer opens the transaction right after its commit, when nobody else can
//! have committed, so the two always match.

use crate::{
    StoreError,
    index::{
        BloomFilters, IndexReader, Kind, Manifest, Memtable,
        key::{position, state_entry},
        reader::EntryRange,
    },
    tables::{
        codec::{self, decode},
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
};

/// One durable moment.
pub(crate) struct ReadView {
    pub head: PersistedHead,
    pub tables: Tables,
    pub manifest: Arc<Manifest>,
    /// Of the runs that the catalog lists.
    pub filters: BloomFilters,
    /// Entries in memory, in the order of [`Kind::OF_ROWS`].
    pub memtables: [Memtable; 4],
    pub digests: DigestKey,
}

impl std::fmt::Debug for ReadView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View")
            .field("head", &self.head)
            .finish_non_exhaustive()
    }
}

/// No entries in memory.
pub(crate) fn empty_memtables() -> [Memtable; 4] {
    Kind::OF_ROWS.map(|kind| Memtable::new(kind.width()))
}

/// Where the writer puts the newest moment and readers take it; the lock is held for the copy of a
/// pointer only.
#[derive(Clone, Debug, Default)]
pub(crate) struct LatestView(Arc<SharedView>);

#[derive(Debug, Default)]
struct SharedView {
    newest: Mutex<ViewState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct ViewState {
    view: Option<Arc<ReadView>>,
    /// Why no newer one will come, once that is so.
    end: Option<StoreError>,
}

impl ViewState {
    /// What who waits for a moment gets, unless a newer one is to come.
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
    /// The newest moment, or `None` before genesis.
    pub(crate) fn get(&self) -> Option<Arc<ReadView>> {
        self.lock().view.clone()
    }

    /// The newest moment as soon as `is_reached` by it. For what is durable already: the writer is about to show it.
    ///
    /// # Errors
    /// [`StoreError::Empty`] before genesis; why the writer shows no newer one, where that is so.
    pub(crate) fn wait(
        &self,
        is_reached: impl Fn(&ReadView) -> bool,
    ) -> Result<Arc<ReadView>, StoreError> {
        let mut newest = self.lock();
        loop {
            if let Some(outcome) = newest.reached(&is_reached) {
                return outcome;
            }
            newest = self
                .0
                .changed
                .wait(newest)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether [`Self::wait`] would wait now.
    pub(crate) fn would_wait(&self, is_reached: impl Fn(&ReadView) -> bool) -> bool {
        self.lock().reached(is_reached).is_none()
    }

    /// Makes `view` the newest moment.
    pub(crate) fn set(&self, view: ReadView) {
        let before = self.lock().view.replace(Arc::new(view));
        self.0.changed.notify_all();
        // Outside the lock: the last user of a moment releases its pages.
        drop(before);
    }

    /// No newer moment will come.
    pub(crate) fn end(&self, cause: StoreError) {
        self.lock().end.get_or_insert(cause);
        self.0.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, ViewState> {
        self.0.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReadView {
    /// An index of rows at this moment.
    pub(crate) fn index(&self, kind: Kind) -> IndexReader<'_> {
        IndexReader {
            kind,
            memtable: self.memtables.get(kind as usize),
            runs: self.manifest.runs(kind),
            filters: &self.filters,
            table: &self.tables.runs,
        }
    }

    /// A transaction's row.
    pub(crate) fn transaction_row(
        &self,
        version: u64,
    ) -> Result<Option<TransactionRow>, StoreError> {
        let row = self.tables.transactions.get(version)?;
        row.map(|row| TransactionRow::decode(row.value(), version))
            .transpose()
    }

    /// A block's row.
    pub(crate) fn block(&self, height: u64) -> Result<Option<BlockInfo>, StoreError> {
        let row = self.tables.blocks.get(height)?;
        row.map(|row| decode(row.value(), format_args!("block {height}")))
            .transpose()
    }

    /// The block of a version that the ledger has.
    pub(crate) fn block_of_version(&self, version: u64) -> Result<Option<BlockInfo>, StoreError> {
        let Some(row) = self.tables.transactions.get(version)? else {
            return Ok(None);
        };
        let height = TransactionRow::height_of(row.value(), version)?;
        self.block(height)
    }

    /// A write's row.
    fn write(&self, place: Position) -> Result<(StateKey, WriteOp), StoreError> {
        match self.tables.writes.get(place)? {
            Some(row) => codec::decode_write(row.value(), format_args!("write {place:?}")),
            None => Err(StoreError::Inconsistent(format!(
                "write {place:?} is missing"
            ))),
        }
    }

    /// The number after a stream's last pruned event; `None` when none was pruned since this is
    /// recorded.
    pub(crate) fn pruned_events_end(&self, stream: &EventKey) -> Result<Option<u64>, StoreError> {
        let digest = self.digests.stream_end(stream);
        let Some(payload) = self.index(Kind::PrunedState).newest_payload(&digest)? else {
            return Ok(None);
        };
        let (found, end) = codec::decode_stream_end(&payload)?;
        Ok((found == *stream).then_some(end))
    }

    /// The value of `key` after `version`, which is inside the window.
    pub(crate) fn state_value(
        &self,
        key: &StateKey,
        version: u64,
    ) -> Result<Option<Bytes>, StoreError> {
        match self.last_write(&self.digests.state_key(key), version)? {
            Some((found, _)) if found != *key => Err(StoreError::Inconsistent(format!(
                "the state keys {key:?} and {found:?} have one digest"
            ))),
            Some((_, WriteOp::Put(value))) => Ok(Some(value)),
            Some((_, WriteOp::Delete)) | None => Ok(None),
        }
    }

    /// The last write until `version`, which is inside the window, of the state key with a digest.
    pub(crate) fn last_write(
        &self,
        digest: &StateDigest,
        version: u64,
    ) -> Result<Option<(StateKey, WriteOp)>, StoreError> {
        let oldest = self.head.oldest_version;
        let span = EntryRange {
            low: &state_entry(digest, (oldest, 0)),
            high: &state_entry(digest, (version, u32::MAX)),
            versions: oldest..=version,
        };
        let index = self.index(Kind::State);
        let place = index.newest_first(&span, |entry| {
            ControlFlow::Break(position(Kind::State, entry))
        })?;
        match place.flatten() {
            Some(place) => self.write(place).map(Some),
            None if oldest == 0 => Ok(None),
            None => {
                let payload = self.index(Kind::PrunedState).newest_payload(digest)?;
                let found = payload.as_deref().map(codec::decode_payload).transpose()?;
                Ok(found.flatten())
            }
        }
    }
}
