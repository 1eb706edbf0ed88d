//! The one writer: appends blocks and prunes.
//!
//! A group of blocks is durable when it is in the block log ([`crate::wal`]); the database has it, and shows it, some
//! groups later, in one commit without a sync for all of them. What does not go into the log is a checkpoint: a durable
//! commit of all that the database has, after which the log begins anew.

use crate::{
    StoreError, SyncTimer,
    directory::lock::DirectoryLock,
    index::{
        Kind, Manifest, Memtable,
        batch::IndexBatch,
        bloom_set::BLOOM_BYTES_MAX,
        compaction::{
            CompactionConfig, CompactionContext, CompactionState, compact, flush, start_jobs,
        },
    },
    io::fault_isolation::DiskStatus,
    read::view::{LatestView, ReadView, empty_memtables},
    tables::{
        codec::{encode, encode_row},
        digest::DigestKey,
        rows::{encode_block, encode_transaction},
        schema::{
            BLOCKS, EVENTS, LogState, META, META_HEAD, META_LOG, META_MANIFEST, PersistedHead,
            RUNS, TRANSACTIONS, Tables, WRITES,
        },
    },
    wal::{Record, RecordWriter, Wal, block::WalBlock, entry},
    write::validate::{check_consistent, check_follows},
};
use ledger_types::ExecutedBlock;
use redb::{Database, Durability, ReadableDatabase, Table, WriteTransaction};
use std::{borrow::Borrow, ops::Bound, sync::Arc};

/// Blocks that are durable by the log, and that the database does not have.
#[derive(Debug, Default)]
struct UnappliedBlocks {
    blocks: Vec<Arc<ExecutedBlock>>,
    /// How long their records are.
    bytes: u64,
}

impl UnappliedBlocks {
    fn is_full(&self, config: &CompactionConfig) -> bool {
        self.blocks.len() >= config.unapplied_blocks_max || self.bytes >= config.unapplied_bytes_max
    }
}

/// Writes blocks; there is exactly one of a store.
#[derive(Debug)]
pub struct StoreWriter {
    pub(crate) database: Database,
    pub(crate) disk_status: DiskStatus,
    pub(crate) wal: Wal,
    /// Whether the newest checkpoint says that the log has to be read at the next start.
    is_wal_active: bool,
    /// They follow what is published.
    unapplied: UnappliedBlocks,
    pub(crate) latest_view: LatestView,
    pub(crate) digest_key: DigestKey,
    pub(crate) compaction: CompactionState,
    poison_cause: Option<String>,
    /// Behind the database, which is closed first.
    _lock: Option<DirectoryLock>,
}

/// By what a write is durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CommitKind {
    /// It is in the log already.
    Apply,
    /// It is a checkpoint.
    Checkpoint,
}

impl StoreWriter {
    pub(crate) fn new(
        (database, disk_status): (Database, DiskStatus),
        (wal, is_wal_active): (Wal, bool),
        lock: Option<DirectoryLock>,
        digest_key: DigestKey,
        latest_view: LatestView,
    ) -> Self {
        Self {
            database,
            disk_status,
            wal,
            is_wal_active,
            unapplied: UnappliedBlocks::default(),
            latest_view,
            digest_key,
            compaction: CompactionState::default(),
            poison_cause: None,
            _lock: lock,
        }
    }

    /// Returns the timer of all syncs since the store was opened.
    pub fn sync_timer(&self) -> SyncTimer {
        self.disk_status.sync_timer()
    }

    /// Commits consecutive blocks together; all of them are durable and visible to new snapshots
    /// when it returns, and not before they are durable.
    ///
    /// # Errors
    /// [`StoreError::Gap`] and [`StoreError::Inconsistent`] when the blocks do not follow the
    /// newest one or contradict themselves; nothing is written then. After any other error the
    /// blocks may or may not be there after a restart, all or none, and the writer is poisoned:
    /// every later call fails.
    pub fn commit(&mut self, blocks: &[Arc<ExecutedBlock>]) -> Result<(), StoreError> {
        self.append(blocks, |_| ())?;
        self.apply()
    }

    /// Makes consecutive blocks durable together, and tells as soon as they are: each as the log has it, or none where they
    /// are durable otherwise. Readers see them after [`Self::apply`],
    /// or after some more blocks. Who was told and wants to see them calls
    /// [`StoreReader::wait_applied`](crate::StoreReader::wait_shown), and has somebody call that.
    ///
    /// # Errors
    /// As [`Self::commit`]. Where it was told, the blocks are there after a restart; they are visible now
    /// unless the disk did not read.
    pub fn append(
        &mut self,
        blocks: &[Arc<ExecutedBlock>],
        on_durable: impl FnOnce(Vec<WalBlock>),
    ) -> Result<(), StoreError> {
        self.check_usable()?;
        if blocks.is_empty() {
            return Ok(());
        }
        let view = self.latest_view()?;
        let newest = self.unapplied.blocks.last();
        let tip = newest.map_or(&view.head.tip, |block| &block.tip);
        check_follows(tip, blocks)?;
        for block in blocks {
            check_consistent(block)?;
        }
        let height = tip.height;
        // Not what is told now: whoever waits for it is answered before its database is at work.
        let is_full = self.unapplied.is_full(&self.compaction.config);
        self.poison_on_error(|writer| {
            let log_end = writer.wal.end();
            match writer.append_record(height, |out| entry::write_blocks(blocks, out)) {
                Ok(Some((record, places))) => {
                    on_durable(WalBlock::of_record(&record, places));
                    writer.unapplied.blocks.extend_from_slice(blocks);
                    writer.unapplied.bytes += writer.wal.end().saturating_sub(log_end);
                    if is_full {
                        writer.apply_pending()?;
                    }
                }
                Ok(None) => {
                    // By itself before that, so that what was told is shown whatever becomes of the checkpoint.
                    writer.apply_pending()?;
                    let view = writer.latest_view()?;
                    let moment = (Some(&*view), CommitKind::Checkpoint);
                    writer.commit_blocks(moment, view.head.clone(), blocks, |_| Ok(()))?;
                    on_durable(Vec::new());
                }
                Err(error) => {
                    // What was told is shown, also when nothing more can be written, which is what counts here.
                    let _ = writer.apply_pending();
                    return Err(error);
                }
            }
            Ok(())
        })
    }

    /// Shows all that is durable to new snapshots.
    ///
    /// # Errors
    /// When the database fails; the blocks are there after a restart.
    pub fn apply(&mut self) -> Result<(), StoreError> {
        if self.unapplied.blocks.is_empty() {
            return Ok(());
        }
        self.check_usable()?;
        self.poison_on_error(Self::apply_pending)
    }

    /// How many transactions are durable and not shown, block boundaries among them.
    pub fn unapplied_transactions(&self) -> usize {
        let blocks = self.unapplied.blocks.iter();
        blocks.map(|block| block.transactions.len()).sum()
    }

    /// Brings what only the log has into the database.
    fn apply_pending(&mut self) -> Result<(), StoreError> {
        let UnappliedBlocks { blocks, .. } = std::mem::take(&mut self.unapplied);
        if blocks.is_empty() {
            return Ok(());
        }
        let view = self.latest_view()?;
        self.commit_blocks(
            (Some(&view), CommitKind::Apply),
            view.head.clone(),
            &blocks,
            |_| Ok(()),
        )?;
        self.disk_status.check()
    }

    /// The newest moment that is shown.
    pub(crate) fn latest_view(&self) -> Result<Arc<ReadView>, StoreError> {
        self.latest_view.get().ok_or(StoreError::Empty)
    }

    /// Writes a record to the log, behind the block of `height`, if it fits, and gives it with what `content` gave. Otherwise
    /// the write that it stands for has to be a checkpoint.
    pub(crate) fn append_record<T>(
        &mut self,
        height: u64,
        content: impl FnOnce(&mut RecordWriter<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<(Record, T)>, StoreError> {
        let config = self.compaction.config;
        if self.is_wal_active && self.wal.end() < config.checkpoint_after_bytes {
            self.wal.append(config.wal_bytes_max, height, content)
        } else {
            Ok(None)
        }
    }

    /// Commits the first block, and what `also` writes, on an empty database.
    pub(crate) fn commit_genesis(
        &mut self,
        chain_id: u8,
        block: &ExecutedBlock,
        also: impl FnOnce(&WriteTransaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.check_usable()?;
        check_consistent(block)?;
        let head = PersistedHead {
            chain_id,
            tip: block.tip.clone(),
            oldest_version: block.first_version,
            oldest_block_height: block.height(),
        };
        self.poison_on_error(|writer| {
            writer.commit_blocks((None, CommitKind::Checkpoint), head, &[block], also)
        })
    }

    pub(crate) fn check_usable(&self) -> Result<(), StoreError> {
        match &self.poison_cause {
            Some(cause) => Err(StoreError::Poisoned(cause.clone())),
            None => Ok(()),
        }
    }

    /// Runs a write; should it fail, no later one is tried.
    pub(crate) fn poison_on_error<T>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let result = write(self);
        if let Err(error) = &result {
            self.poison_cause = Some(error.to_string());
            self.latest_view.end(error.clone());
        }
        result
    }

    /// Appends blocks behind the moment `view`, of which `head` is the head.
    pub(crate) fn commit_blocks<B: Borrow<ExecutedBlock>>(
        &mut self,
        (view, durable): (Option<&ReadView>, CommitKind),
        mut head: PersistedHead,
        blocks: &[B],
        also: impl FnOnce(&WriteTransaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let transaction = self.begin_write(durable)?;
        also(&transaction)?;
        let mut batch = IndexBatch::new(self.digest_key);
        append_rows(&transaction, blocks, &mut batch)?;
        if let Some(block) = blocks.last() {
            head.tip = block.borrow().tip.clone();
        }

        let (before, mut memtables) = match view {
            Some(view) => (view.manifest.clone(), view.memtables.clone()),
            None => (Arc::new(Manifest::default()), empty_memtables()),
        };
        let mut manifest = Manifest::clone(&before);
        let versions = blocks
            .iter()
            .map(|block| block.borrow().transactions.len())
            .sum();
        {
            let mut table = transaction.open_table(RUNS)?;
            for ((kind, memtable), entries) in Kind::OF_ROWS
                .into_iter()
                .zip(&mut memtables)
                .zip(batch.into_sorted())
            {
                // Versions count where entries are few: they too bring flushes, which bring merges.
                let arrivals = (entries.len() / kind.width()).max(versions);
                memtable.push(entries);
                if let Some(view) = view {
                    let mut place = CompactionContext {
                        sources: &view.tables.runs,
                        table: &mut table,
                        oldest_version: head.oldest_version,
                    };
                    compact(
                        &mut manifest,
                        kind,
                        &mut self.compaction,
                        arrivals,
                        &mut place,
                    )?;
                }
                let unwritten =
                    (head.tip.version + 1).saturating_sub(manifest.runs(kind).unflushed_from);
                let flush_after = self.compaction.config.flush_after;
                if memtable.len() >= flush_after || unwritten >= flush_after as u64 {
                    flush(
                        &mut manifest,
                        kind,
                        &memtable.take(),
                        head.tip.version,
                        &mut table,
                    )?;
                    start_jobs(&mut manifest, kind, &self.compaction.config);
                }
            }
        }
        let manifest = if manifest == *before {
            before
        } else {
            Arc::new(manifest)
        };
        let is_same = view.is_some_and(|view| Arc::ptr_eq(&view.manifest, &manifest));
        let view = self.commit_view(
            (transaction, durable),
            head,
            (manifest, !is_same),
            memtables,
        )?;
        self.latest_view.set(view);
        Ok(())
    }

    /// Begins a write.
    pub(crate) fn begin_write(&self, durable: CommitKind) -> Result<WriteTransaction, StoreError> {
        let mut transaction = self.database.begin_write()?;
        match durable {
            CommitKind::Apply => transaction.set_durability(Durability::None)?,
            // Keeps the page allocator's state beside the data: a node that was killed opens at once,
            // instead of reading the whole file.
            CommitKind::Checkpoint => transaction.set_quick_repair(true),
        }
        Ok(transaction)
    }

    /// Ends a write of what is not durable yet. The database does not hear of a disk that failed, so it is asked about
    /// here, before anybody is told or shown anything.
    pub(crate) fn commit_durably(&self, transaction: WriteTransaction) -> Result<(), StoreError> {
        transaction.commit()?;
        self.disk_status.check()
    }

    /// Writes the head and commits; gives the new moment, which readers are to be shown.
    pub(crate) fn commit_view(
        &mut self,
        (transaction, durable): (WriteTransaction, CommitKind),
        head: PersistedHead,
        (manifest, is_manifest_new): (Arc<Manifest>, bool),
        memtables: [Memtable; 4],
    ) -> Result<ReadView, StoreError> {
        {
            let mut meta = transaction.open_table(META)?;
            meta.insert(META_HEAD, encode(&head)?.as_slice())?;
            if is_manifest_new {
                meta.insert(META_MANIFEST, encode(&*manifest)?.as_slice())?;
            }
        }
        match durable {
            // It is durable whatever becomes of the disk now, and may be shown.
            CommitKind::Apply => transaction.commit()?,
            CommitKind::Checkpoint => self.checkpoint(transaction, true)?,
        }
        let tables = Tables::open(&self.database.begin_read()?)?;
        let before = self.latest_view.get();
        let before = before.map(|view| view.filters.clone()).unwrap_or_default();
        let filters = before.of(&manifest, &tables.runs, BLOOM_BYTES_MAX)?;
        Ok(ReadView {
            head,
            tables,
            manifest,
            filters,
            memtables,
            digests: self.digest_key,
        })
    }
}

impl StoreWriter {
    /// Ends a write that is durable by itself, with all before it; the log begins anew.
    fn checkpoint(
        &mut self,
        transaction: WriteTransaction,
        is_wal_active: bool,
    ) -> Result<(), StoreError> {
        let state = LogState {
            generation: self.wal.generation() + 1,
            is_open: is_wal_active,
        };
        transaction
            .open_table(META)?
            .insert(META_LOG, encode(&state)?.as_slice())?;
        self.commit_durably(transaction)?;
        self.wal.restart(state.generation);
        self.is_wal_active = is_wal_active;
        Ok(())
    }

    /// Leaves everything in the database, and the log empty.
    fn close(&mut self) -> Result<(), StoreError> {
        let transaction = self.begin_write(CommitKind::Checkpoint)?;
        self.checkpoint(transaction, false)?;
        self.wal.truncate()
    }
}

impl Drop for StoreWriter {
    fn drop(&mut self) {
        let end = StoreError::Poisoned("the store is closed".to_owned());
        // After a failure what is on the disk stays as it is: the next start reads the log.
        if !self.is_wal_active || self.poison_cause.is_some() || std::thread::panicking() {
            self.latest_view.end(end);
            return;
        }
        if let Err(error) = self.apply().and_then(|()| self.close()) {
            tracing::warn!(%error, "the ledger is not closed: the next start reads the block log");
        }
        self.latest_view.end(end);
    }
}

/// Appends the rows of blocks and gathers their index entries.
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

/// Appends rows with ascending keys at the end of a table: a cursor costs a quarter of inserts.
fn append_sorted<K>(
    table: &mut Table<'_, K, &'static [u8]>,
    rows: impl FnOnce(&mut dyn FnMut(K, &[u8]) -> Result<(), StoreError>) -> Result<(), StoreError>,
) -> Result<(), StoreError>
where
    K: for<'k> redb::Key<SelfType<'k> = K> + 'static,
{
    let mut cursor = table.upper_bound_mut(Bound::<K>::Unbounded)?;
    rows(&mut |key, row| Ok(cursor.insert_before(key, row)?))?;
    Ok(cursor.close()?)
}
