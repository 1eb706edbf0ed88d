//! The one writer: appends blocks and prunes.
//!
//! A group of blocks is durable when it is in the block log ([`crate::log`]); the database has it, and shows it, some
//! groups later, in one commit without a sync for all of them. What does not go into the log is a checkpoint: a durable
//! commit of all that the database has, after which the log begins anew.

use crate::{
    StoreError, SyncTimer,
    check::{check_consistent, check_follows},
    digest::DigestKey,
    index::{
        Catalog, Kind, Recent,
        entry::Gathered,
        filter::FILTER_BYTES_MAX,
        merge::{Pace, Upkeep, Workplace, flush, work},
    },
    lock::DirectoryLock,
    log::{BlockLog, Bounded, Record, logged::LoggedBlock, redo},
    schema::{
        BLOCKS, EVENTS, Head, LogState, META, META_CATALOG, META_HEAD, META_LOG, RUNS,
        TRANSACTIONS, Tables, WRITES, encode, encode_block, encode_row, encode_transaction,
    },
    shield::Disk,
    view::{Published, View, no_recent},
};
use ledger_types::ExecutedBlock;
use redb::{Database, Durability, ReadableDatabase, Table, WriteTransaction};
use std::{borrow::Borrow, ops::Bound, sync::Arc};

/// Blocks that are durable by the log, and that the database does not have.
#[derive(Debug, Default)]
struct Unshown {
    blocks: Vec<Arc<ExecutedBlock>>,
    /// How long their records are.
    bytes: u64,
}

impl Unshown {
    fn is_full(&self, pace: &Pace) -> bool {
        self.blocks.len() >= pace.unshown_blocks_max || self.bytes >= pace.unshown_bytes_max
    }
}

/// Writes blocks; there is exactly one of a store.
#[derive(Debug)]
pub struct StoreWriter {
    pub(crate) database: Database,
    pub(crate) disk: Disk,
    pub(crate) log: BlockLog,
    /// Whether the newest checkpoint says that the log has to be read at the next start.
    is_log_open: bool,
    /// They follow what is published.
    unshown: Unshown,
    pub(crate) published: Published,
    pub(crate) digests: DigestKey,
    pub(crate) upkeep: Upkeep,
    poisoned: Option<String>,
    /// Behind the database, which is closed first.
    _lock: Option<DirectoryLock>,
}

/// By what a write is durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Durable {
    /// It is in the log already.
    ByLog,
    /// It is a checkpoint.
    ByCheckpoint,
}

impl StoreWriter {
    pub(crate) fn new(
        (database, disk): (Database, Disk),
        (log, is_log_open): (BlockLog, bool),
        lock: Option<DirectoryLock>,
        digests: DigestKey,
        published: Published,
    ) -> Self {
        Self {
            database,
            disk,
            log,
            is_log_open,
            unshown: Unshown::default(),
            published,
            digests,
            upkeep: Upkeep::default(),
            poisoned: None,
            _lock: lock,
        }
    }

    /// Returns the timer of all syncs since the store was opened.
    pub fn sync_timer(&self) -> SyncTimer {
        self.disk.sync_timer()
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
        self.make_durable(blocks, |_| ())?;
        self.show()
    }

    /// Makes consecutive blocks durable together, and tells as soon as they are: each as the log has it, or none where they
    /// are durable otherwise. Readers see them after [`Self::show`],
    /// or after some more blocks. Who was told and wants to see them calls
    /// [`StoreReader::wait_shown`](crate::StoreReader::wait_shown), and has somebody call that.
    ///
    /// # Errors
    /// As [`Self::commit`]. Where it was told, the blocks are there after a restart; they are visible now
    /// unless the disk did not read.
    pub fn make_durable(
        &mut self,
        blocks: &[Arc<ExecutedBlock>],
        tell_durable: impl FnOnce(Vec<LoggedBlock>),
    ) -> Result<(), StoreError> {
        self.check_usable()?;
        if blocks.is_empty() {
            return Ok(());
        }
        let view = self.newest()?;
        let newest = self.unshown.blocks.last();
        let tip = newest.map_or(&view.head.tip, |block| &block.tip);
        check_follows(tip, blocks)?;
        for block in blocks {
            check_consistent(block)?;
        }
        let height = tip.height;
        // Not what is told now: whoever waits for it is answered before its database is at work.
        let is_full = self.unshown.is_full(&self.upkeep.pace);
        self.poison_on_error(|writer| {
            let log_end = writer.log.end();
            match writer.log_record(height, |out| redo::write_blocks(blocks, out)) {
                Ok(Some((record, places))) => {
                    tell_durable(LoggedBlock::of_record(&record, places));
                    writer.unshown.blocks.extend_from_slice(blocks);
                    writer.unshown.bytes += writer.log.end().saturating_sub(log_end);
                    if is_full {
                        writer.bring_in()?;
                    }
                }
                Ok(None) => {
                    // By itself before that, so that what was told is shown whatever becomes of the checkpoint.
                    writer.bring_in()?;
                    let view = writer.newest()?;
                    let moment = (Some(&*view), Durable::ByCheckpoint);
                    writer.append(moment, view.head.clone(), blocks, |_| Ok(()))?;
                    tell_durable(Vec::new());
                }
                Err(error) => {
                    // What was told is shown, also when nothing more can be written, which is what counts here.
                    let _ = writer.bring_in();
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
    pub fn show(&mut self) -> Result<(), StoreError> {
        if self.unshown.blocks.is_empty() {
            return Ok(());
        }
        self.check_usable()?;
        self.poison_on_error(Self::bring_in)
    }

    /// How many transactions are durable and not shown, block boundaries among them.
    pub fn unshown_transactions(&self) -> usize {
        let blocks = self.unshown.blocks.iter();
        blocks.map(|block| block.transactions.len()).sum()
    }

    /// Brings what only the log has into the database.
    fn bring_in(&mut self) -> Result<(), StoreError> {
        let Unshown { blocks, .. } = std::mem::take(&mut self.unshown);
        if blocks.is_empty() {
            return Ok(());
        }
        let view = self.newest()?;
        self.append(
            (Some(&view), Durable::ByLog),
            view.head.clone(),
            &blocks,
            |_| Ok(()),
        )?;
        self.disk.check()
    }

    /// The newest moment that is shown.
    pub(crate) fn newest(&self) -> Result<Arc<View>, StoreError> {
        self.published.get().ok_or(StoreError::Empty)
    }

    /// Writes a record to the log, behind the block of `height`, if it fits, and gives it with what `content` gave. Otherwise
    /// the write that it stands for has to be a checkpoint.
    pub(crate) fn log_record<T>(
        &mut self,
        height: u64,
        content: impl FnOnce(&mut Bounded<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<(Record, T)>, StoreError> {
        let pace = self.upkeep.pace;
        if self.is_log_open && self.log.end() < pace.checkpoint_after_bytes {
            self.log.append(pace.log_bytes_max, height, content)
        } else {
            Ok(None)
        }
    }

    /// Commits the first block, and what `also` writes, on an empty database.
    pub(crate) fn commit_first(
        &mut self,
        chain_id: u8,
        block: &ExecutedBlock,
        also: impl FnOnce(&WriteTransaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.check_usable()?;
        check_consistent(block)?;
        let head = Head {
            chain_id,
            tip: block.tip.clone(),
            oldest_version: block.first_version,
            oldest_block_height: block.height(),
        };
        self.poison_on_error(|writer| {
            writer.append((None, Durable::ByCheckpoint), head, &[block], also)
        })
    }

    pub(crate) fn check_usable(&self) -> Result<(), StoreError> {
        match &self.poisoned {
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
            self.poisoned = Some(error.to_string());
            self.published.end(error.clone());
        }
        result
    }

    /// Appends blocks behind the moment `view`, of which `head` is the head.
    pub(crate) fn append<B: Borrow<ExecutedBlock>>(
        &mut self,
        (view, durable): (Option<&View>, Durable),
        mut head: Head,
        blocks: &[B],
        also: impl FnOnce(&WriteTransaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let transaction = self.begin(durable)?;
        also(&transaction)?;
        let mut gathered = Gathered::new(self.digests);
        append_rows(&transaction, blocks, &mut gathered)?;
        if let Some(block) = blocks.last() {
            head.tip = block.borrow().tip.clone();
        }

        let (before, mut recent) = match view {
            Some(view) => (view.catalog.clone(), view.recent.clone()),
            None => (Arc::new(Catalog::default()), no_recent()),
        };
        let mut catalog = Catalog::clone(&before);
        let versions = blocks
            .iter()
            .map(|block| block.borrow().transactions.len())
            .sum();
        {
            let mut table = transaction.open_table(RUNS)?;
            for ((kind, recent), entries) in Kind::OF_ROWS
                .into_iter()
                .zip(&mut recent)
                .zip(gathered.packed())
            {
                // Versions count where entries are few: they too bring flushes, which bring merges.
                let arrivals = (entries.len() / kind.width()).max(versions);
                recent.push(entries);
                if let Some(view) = view {
                    let mut place = Workplace {
                        sources: &view.tables.runs,
                        table: &mut table,
                        oldest_version: head.oldest_version,
                    };
                    work(&mut catalog, kind, &mut self.upkeep, arrivals, &mut place)?;
                }
                let unwritten =
                    (head.tip.version + 1).saturating_sub(catalog.runs(kind).recent_from);
                let flush_after = self.upkeep.pace.flush_after;
                if recent.len() >= flush_after || unwritten >= flush_after as u64 {
                    flush(
                        &mut catalog,
                        kind,
                        &recent.take(),
                        head.tip.version,
                        &mut table,
                    )?;
                    catalog.start_jobs(kind, &self.upkeep.pace);
                }
            }
        }
        let catalog = if catalog == *before {
            before
        } else {
            Arc::new(catalog)
        };
        let is_same = view.is_some_and(|view| Arc::ptr_eq(&view.catalog, &catalog));
        let view = self.finish_moment((transaction, durable), head, (catalog, !is_same), recent)?;
        self.published.set(view);
        Ok(())
    }

    /// Begins a write.
    pub(crate) fn begin(&self, durable: Durable) -> Result<WriteTransaction, StoreError> {
        let mut transaction = self.database.begin_write()?;
        match durable {
            Durable::ByLog => transaction.set_durability(Durability::None)?,
            // Keeps the page allocator's state beside the data: a node that was killed opens at once,
            // instead of reading the whole file.
            Durable::ByCheckpoint => transaction.set_quick_repair(true),
        }
        Ok(transaction)
    }

    /// Ends a write of what is not durable yet. The database does not hear of a disk that failed, so it is asked about
    /// here, before anybody is told or shown anything.
    pub(crate) fn finish(&self, transaction: WriteTransaction) -> Result<(), StoreError> {
        transaction.commit()?;
        self.disk.check()
    }

    /// Writes the head and commits; gives the new moment, which readers are to be shown.
    pub(crate) fn finish_moment(
        &mut self,
        (transaction, durable): (WriteTransaction, Durable),
        head: Head,
        (catalog, is_catalog_new): (Arc<Catalog>, bool),
        recent: [Recent; 4],
    ) -> Result<View, StoreError> {
        {
            let mut meta = transaction.open_table(META)?;
            meta.insert(META_HEAD, encode(&head)?.as_slice())?;
            if is_catalog_new {
                meta.insert(META_CATALOG, encode(&*catalog)?.as_slice())?;
            }
        }
        match durable {
            // It is durable whatever becomes of the disk now, and may be shown.
            Durable::ByLog => transaction.commit()?,
            Durable::ByCheckpoint => self.checkpoint(transaction, true)?,
        }
        let tables = Tables::open(&self.database.begin_read()?)?;
        let before = self.published.get();
        let before = before.map(|view| view.filters.clone()).unwrap_or_default();
        let filters = before.of(&catalog, &tables.runs, FILTER_BYTES_MAX)?;
        Ok(View {
            head,
            tables,
            catalog,
            filters,
            recent,
            digests: self.digests,
        })
    }
}

impl StoreWriter {
    /// Ends a write that is durable by itself, with all before it; the log begins anew.
    fn checkpoint(
        &mut self,
        transaction: WriteTransaction,
        is_log_open: bool,
    ) -> Result<(), StoreError> {
        let state = LogState {
            generation: self.log.generation() + 1,
            is_open: is_log_open,
        };
        transaction
            .open_table(META)?
            .insert(META_LOG, encode(&state)?.as_slice())?;
        self.finish(transaction)?;
        self.log.restart(state.generation);
        self.is_log_open = is_log_open;
        Ok(())
    }

    /// Leaves everything in the database, and the log empty.
    fn close(&mut self) -> Result<(), StoreError> {
        let transaction = self.begin(Durable::ByCheckpoint)?;
        self.checkpoint(transaction, false)?;
        self.log.empty()
    }
}

impl Drop for StoreWriter {
    fn drop(&mut self) {
        let end = StoreError::Poisoned("the store is closed".to_owned());
        // After a failure what is on the disk stays as it is: the next start reads the log.
        if !self.is_log_open || self.poisoned.is_some() || std::thread::panicking() {
            self.published.end(end);
            return;
        }
        if let Err(error) = self.show().and_then(|()| self.close()) {
            tracing::warn!(%error, "the ledger is not closed: the next start reads the block log");
        }
        self.published.end(end);
    }
}

/// Appends the rows of blocks and gathers their index entries.
fn append_rows<B: Borrow<ExecutedBlock>>(
    transaction: &WriteTransaction,
    blocks: &[B],
    gathered: &mut Gathered,
) -> Result<(), StoreError> {
    let blocks = || blocks.iter().map(Borrow::borrow);
    let mut row = Vec::new();
    append(&mut transaction.open_table(BLOCKS)?, |push| {
        blocks().try_for_each(|block| push(block.height(), &encode_block(block)?))
    })?;
    append(&mut transaction.open_table(TRANSACTIONS)?, |push| {
        for block in blocks() {
            for (version, executed) in block.versioned() {
                gathered.add(version, executed);
                encode_transaction(&mut row, block.height(), executed)?;
                push(version, &row)?;
            }
        }
        Ok(())
    })?;
    append(&mut transaction.open_table(EVENTS)?, |push| {
        for (version, executed) in blocks().flat_map(ExecutedBlock::versioned) {
            for (number, event) in (0..).zip(&executed.events) {
                encode_row(&mut row, event)?;
                push((version, number), &row)?;
            }
        }
        Ok(())
    })?;
    append(&mut transaction.open_table(WRITES)?, |push| {
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
fn append<K>(
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
