//! Commits to the database: rows, index entries, and the head, in this order.

use super::{CommitKind, database::DatabaseWriter};
use crate::{
    StoreError,
    index::{
        Kind, Manifest, Memtable,
        batch::IndexBatch,
        bloom_set::BLOOM_BYTES_MAX,
        compaction::{CompactionContext, compact, flush, start_jobs},
        run::block::RunTableMut,
    },
    read::view::{ReadView, empty_memtables},
    tables::{
        codec::{encode, encode_row},
        rows::{encode_block, encode_transaction},
        schema::{
            BLOCKS, EVENTS, LogState, META, META_HEAD, META_LOG, META_MANIFEST, PersistedHead,
            RUNS, TRANSACTIONS, Tables, WRITES,
        },
    },
};
use ledger_types::ExecutedBlock;
use redb::{Durability, ReadableDatabase, Table, WriteTransaction};
use std::{borrow::Borrow, ops::Bound, sync::Arc};

/// The state of the indices after a write.
pub(super) struct IndexUpdate {
    pub(super) manifest: Arc<Manifest>,
    /// Whether the manifest differs from the stored one.
    pub(super) is_manifest_new: bool,
    /// Memtables of the indices, in the order of [`Kind::OF_ROWS`].
    pub(super) memtables: [Memtable; 4],
}

impl DatabaseWriter {
    /// Commits blocks that extend `view` and publishes the new view.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::commit_blocks`].
    pub(super) fn extend<B: Borrow<ExecutedBlock>>(
        &mut self,
        view: &ReadView,
        kind: CommitKind,
        blocks: &[B],
    ) -> Result<(), StoreError> {
        self.commit_blocks(Some(view), kind, view.head.clone(), blocks, |_| Ok(()))
    }

    /// Commits blocks to the database and publishes the new view.
    ///
    /// `view` is the view that the blocks extend, or `None` for genesis. `head` is its head; the
    /// tip is replaced by that of the last block. `write_extra` writes further rows in the same
    /// transaction.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, [`StoreError::Inconsistent`] if a
    /// row is damaged or cannot be encoded, or the error of `write_extra`. The new view is not
    /// published then, but the commit may be complete, so the caller must poison the writer.
    pub(super) fn commit_blocks<B: Borrow<ExecutedBlock>>(
        &mut self,
        view: Option<&ReadView>,
        kind: CommitKind,
        mut head: PersistedHead,
        blocks: &[B],
        write_extra: impl FnOnce(&WriteTransaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let transaction = self.begin_write(kind)?;
        write_extra(&transaction)?;
        let mut batch = IndexBatch::new(self.digest_key);
        append_rows(&transaction, blocks, &mut batch)?;
        if let Some(block) = blocks.last() {
            head.tip = block.borrow().tip.clone();
        }
        let version_count = blocks
            .iter()
            .map(|block| block.borrow().transactions.len())
            .sum();
        let indices = self.update_indices(&transaction, view, &head, batch, version_count)?;
        let view = self.commit_view(transaction, kind, head, indices)?;
        self.latest_view.set(view);
        Ok(())
    }

    /// Adds entries to the memtables, compacts runs, and flushes the memtables that are full.
    ///
    /// `view` is the view before the entries, or `None` for genesis. `version_count` is the number
    /// of versions that the entries belong to.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a block of a run is damaged.
    fn update_indices(
        &mut self,
        transaction: &WriteTransaction,
        view: Option<&ReadView>,
        head: &PersistedHead,
        batch: IndexBatch,
        version_count: usize,
    ) -> Result<IndexUpdate, StoreError> {
        let (old_manifest, mut memtables) = match view {
            Some(view) => (view.manifest.clone(), view.memtables.clone()),
            None => (Arc::new(Manifest::default()), empty_memtables()),
        };
        let mut manifest = Manifest::clone(&old_manifest);
        let mut table = transaction.open_table(RUNS)?;
        let indices = Kind::OF_ROWS.into_iter().zip(&mut memtables);
        for ((kind, memtable), entries) in indices.zip(batch.into_sorted()) {
            // At least the number of versions: the memtable is also flushed after a number of
            // versions, and flushes cause merges.
            let arrivals = (entries.len() / kind.width()).max(version_count);
            memtable.push(entries);
            if let Some(view) = view {
                let mut context = compaction_context(view, head, &mut table);
                compact(
                    &mut manifest,
                    kind,
                    &mut self.compaction,
                    arrivals,
                    &mut context,
                )?;
            }
            let unflushed_from = manifest.runs(kind).unflushed_from;
            let unflushed = (head.tip.version + 1).saturating_sub(unflushed_from);
            let flush_after = self.compaction.config.flush_after;
            if memtable.len() >= flush_after || unflushed >= flush_after as u64 {
                let entries = memtable.take();
                flush(&mut manifest, kind, &entries, head.tip.version, &mut table)?;
                start_jobs(&mut manifest, kind, &self.compaction.config);
            }
        }
        let is_changed = manifest != *old_manifest;
        Ok(IndexUpdate {
            is_manifest_new: is_changed || view.is_none(),
            manifest: if is_changed {
                Arc::new(manifest)
            } else {
                old_manifest
            },
            memtables,
        })
    }

    /// Begins a write transaction for a commit of the given kind.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub(super) fn begin_write(&self, kind: CommitKind) -> Result<WriteTransaction, StoreError> {
        match kind {
            CommitKind::Apply => {
                let mut transaction = self.database.begin_write()?;
                transaction.set_durability(Durability::None)?;
                Ok(transaction)
            }
            CommitKind::Checkpoint(_) => self.begin_checkpoint(),
        }
    }

    /// Begins a write transaction for a durable commit.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub(crate) fn begin_checkpoint(&self) -> Result<WriteTransaction, StoreError> {
        let mut transaction = self.database.begin_write()?;
        // Quick repair stores the state of the page allocator with the data, so that opening the
        // database after a crash does not read the whole file.
        transaction.set_quick_repair(true);
        Ok(transaction)
    }

    /// Commits a transaction durably.
    ///
    /// Fault isolation hides disk failures from the database, so this checks for them after the
    /// commit. The caller must not acknowledge or publish the content before this returns.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database or an earlier write to the disk failed. The
    /// content may then not be durable. Returns [`StoreError::FileMoved`] if a file of the store is
    /// no longer at its path. The content is then durable in a file that the next start does not
    /// find.
    pub(crate) fn commit_durably(&self, transaction: WriteTransaction) -> Result<(), StoreError> {
        transaction.commit()?;
        self.disk_status.check()?;
        self.files.check()
    }

    /// Writes the head, commits the transaction, and returns the new view without publishing it.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a row is damaged or cannot be encoded. The commit may be complete, so the caller must poison
    /// the writer.
    pub(super) fn commit_view(
        &mut self,
        transaction: WriteTransaction,
        kind: CommitKind,
        head: PersistedHead,
        indices: IndexUpdate,
    ) -> Result<ReadView, StoreError> {
        let IndexUpdate {
            manifest,
            is_manifest_new,
            memtables,
        } = indices;
        {
            let mut meta = transaction.open_table(META)?;
            meta.insert(META_HEAD, encode(&head)?.as_slice())?;
            if is_manifest_new {
                meta.insert(META_MANIFEST, encode(&*manifest)?.as_slice())?;
            }
        }
        match kind {
            // The write-ahead log holds the content, so the view may be published even if the disk
            // fails now.
            CommitKind::Apply => transaction.commit()?,
            CommitKind::Checkpoint(state) => self.commit_checkpoint(transaction, state)?,
        }
        let tables = Tables::open(&self.database.begin_read()?)?;
        let old_view = self.latest_view.get();
        let old_filters = old_view
            .map(|view| view.filters.clone())
            .unwrap_or_default();
        let filters = old_filters.for_manifest(&manifest, &tables.runs, BLOOM_BYTES_MAX)?;
        Ok(ReadView {
            head,
            tables,
            manifest,
            filters,
            memtables,
            digest_key: self.digest_key,
        })
    }

    /// Commits a transaction as a checkpoint, with the state of the write-ahead log after it. The
    /// caller then restarts the log.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::commit_durably`].
    pub(super) fn commit_checkpoint(
        &self,
        transaction: WriteTransaction,
        state: LogState,
    ) -> Result<(), StoreError> {
        transaction
            .open_table(META)?
            .insert(META_LOG, encode(&state)?.as_slice())?;
        self.commit_durably(transaction)
    }
}

/// Returns the context of compaction in a commit.
///
/// `view` is the view before the commit and `head` the head after it. `table` is the table of runs
/// of the commit.
pub(super) fn compaction_context<'a, 't>(
    view: &'a ReadView,
    head: &PersistedHead,
    table: &'a mut RunTableMut<'t>,
) -> CompactionContext<'a, 't> {
    CompactionContext {
        sources: &view.tables.runs,
        table,
        oldest_version: head.oldest_version,
    }
}

/// Appends the rows of `blocks` to their tables, and their index entries to `batch`.
///
/// # Errors
///
/// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if a
/// row cannot be encoded. The caller must drop the transaction.
fn append_rows<B: Borrow<ExecutedBlock>>(
    transaction: &WriteTransaction,
    blocks: &[B],
    batch: &mut IndexBatch,
) -> Result<(), StoreError> {
    let blocks = || blocks.iter().map(Borrow::borrow);
    let mut row = Vec::new();
    append_sorted(&mut transaction.open_table(BLOCKS)?, |push| {
        blocks().try_for_each(|block| push(block.height(), &encode_block(block)?))
    })?;
    append_sorted(&mut transaction.open_table(TRANSACTIONS)?, |push| {
        for block in blocks() {
            for (version, executed) in block.versioned() {
                batch.add(version, executed);
                encode_transaction(&mut row, block.height(), executed)?;
                push(version, &row)?;
            }
        }
        Ok(())
    })?;
    append_sorted(&mut transaction.open_table(EVENTS)?, |push| {
        for (version, executed) in blocks().flat_map(ExecutedBlock::versioned) {
            for (number, event) in (0..).zip(&executed.events) {
                encode_row(&mut row, event)?;
                push((version, number), &row)?;
            }
        }
        Ok(())
    })?;
    append_sorted(&mut transaction.open_table(WRITES)?, |push| {
        for (version, executed) in blocks().flat_map(ExecutedBlock::versioned) {
            for (number, write) in (0..).zip(executed.writes.iter()) {
                encode_row(&mut row, write)?;
                push((version, number), &row)?;
            }
        }
        Ok(())
    })
}

/// Appends rows in ascending key order to the end of a table.
///
/// `write_rows` calls its argument with the key and the encoded form of each row. A cursor takes a
/// quarter of the time of separate inserts.
///
/// # Errors
///
/// Returns [`StoreError::Database`] if the database fails, or the error of `write_rows`.
fn append_sorted<K>(
    table: &mut Table<'_, K, &'static [u8]>,
    write_rows: impl FnOnce(
        &mut dyn FnMut(K, &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>,
) -> Result<(), StoreError>
where
    K: for<'k> redb::Key<SelfType<'k> = K> + 'static,
{
    let mut cursor = table.upper_bound_mut(Bound::<K>::Unbounded)?;
    write_rows(&mut |key, row| Ok(cursor.insert_before(key, row)?))?;
    Ok(cursor.close()?)
}
