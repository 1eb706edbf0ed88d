//! One bounded step of moving the window's lower end up.
//!
//! Rows are deleted by range. What keys hold there moves to the `PrunedState` index first, so that every
//! version inside the window still has its whole state. Readers that hold an older snapshot keep
//! its pages until they drop it.

use crate::{
    StoreError, StoreWriter,
    index::{
        Kind, Manifest,
        compaction::{CompactionContext, compact, start_jobs, write_run},
    },
    read::view::ReadView,
    tables::schema::{BLOCKS, EVENTS, PersistedHead, RUNS, TRANSACTIONS, WRITES},
    wal::entry,
    write::{
        pruned_state::{end_within, entries_of},
        writer::CommitKind,
    },
};
use redb::WriteTransaction;
use std::sync::Arc;

/// What a step of pruning left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pruned {
    /// The oldest version that can be read now; the first of a block.
    pub oldest_version: u64,
    /// The height of that block.
    pub oldest_block_height: u64,
    /// Whether nothing is left to do for the bound that was given.
    pub done: bool,
}

impl StoreWriter {
    /// One bounded step of removing what lies below `below_version`: whole blocks of about
    /// `versions_max` versions together, fewer where their writes are large, at least one block.
    /// The block of `below_version` and the newest block stay.
    ///
    /// # Errors
    /// When the database fails; the writer is poisoned then.
    pub fn prune(&mut self, below_version: u64, versions_max: u64) -> Result<Pruned, StoreError> {
        self.prune_with(below_version, versions_max, |_| ())
    }

    /// As [`StoreWriter::prune`]; `tell` hears of what it left when that is durable and readers still
    /// have the moment before it. Who answers from elsewhere can so be ahead of the snapshots, and no
    /// client sees the window's lower end go down.
    ///
    /// # Errors
    /// As [`StoreWriter::prune`].
    pub fn prune_with(
        &mut self,
        below_version: u64,
        versions_max: u64,
        tell: impl FnOnce(&Pruned),
    ) -> Result<Pruned, StoreError> {
        self.check_usable()?;
        self.apply()?;
        let view = self.latest_view()?;
        self.poison_on_error(|writer| writer.prune_step(&view, below_version, versions_max, tell))
    }

    fn prune_step(
        &mut self,
        view: &ReadView,
        below_version: u64,
        versions_max: u64,
        tell: impl FnOnce(&Pruned),
    ) -> Result<Pruned, StoreError> {
        let target = block_start(view, below_version)?;
        let step = next_start(
            view,
            target.0,
            versions_max,
            self.compaction.config.prune_bytes_max,
        )?;
        let pruned = Pruned {
            oldest_version: step.0,
            oldest_block_height: step.1,
            done: step.0 >= target.0,
        };
        if step.0 <= view.head.oldest_version {
            return Ok(pruned);
        }
        let record =
            self.append_record(view.head.tip.height, |out| entry::write_prune(step.0, out))?;
        let durable = match record {
            Some(_) => CommitKind::Apply,
            None => CommitKind::Checkpoint,
        };
        let view = self.prune_to(view, step, durable)?;
        self.disk_status.check()?;
        tell(&pruned);
        self.latest_view.set(view);
        Ok(pruned)
    }

    /// Makes a version the oldest that is the first of the block of that height; gives the new moment.
    fn prune_to(
        &mut self,
        view: &ReadView,
        start: (u64, u64),
        durable: CommitKind,
    ) -> Result<ReadView, StoreError> {
        let old = &view.head;
        let head = PersistedHead {
            oldest_version: start.0,
            oldest_block_height: start.1,
            ..old.clone()
        };
        let transaction = self.begin_write(durable)?;
        let manifest = self.move_pruned_state(view, &head, &transaction)?;
        delete_rows(&transaction, old, &head)?;
        let transaction = (transaction, durable);
        self.commit_view(
            transaction,
            head,
            (Arc::new(manifest), true),
            view.memtables.clone(),
        )
    }

    /// Does a step again that the log tells of, unless the database has it.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] when no step can have ended at that version; else when the database fails.
    pub(crate) fn recover_prune(
        &mut self,
        view: &ReadView,
        oldest_version: u64,
    ) -> Result<(), StoreError> {
        if oldest_version <= view.head.oldest_version {
            return Ok(());
        }
        let start = block_start(view, oldest_version)?;
        if start.0 != oldest_version {
            let reason = format!("version {oldest_version} was pruned to, and begins no block");
            return Err(StoreError::Inconsistent(reason));
        }
        let view = self.prune_to(view, start, CommitKind::Apply)?;
        self.latest_view.set(view);
        Ok(())
    }

    /// Moves into the base what is kept of the versions that go, and drops runs that go with them.
    fn move_pruned_state(
        &mut self,
        view: &ReadView,
        head: &PersistedHead,
        transaction: &WriteTransaction,
    ) -> Result<Manifest, StoreError> {
        let mut manifest = Manifest::clone(&view.manifest);
        let versions = view.head.oldest_version..head.oldest_version;
        let last_version = versions.end - 1;
        let rows = (&view.tables.writes, &view.tables.events);
        let entries = entries_of(rows, versions.clone(), &self.digest_key)?;
        let mut table = transaction.open_table(RUNS)?;
        let mut place = CompactionContext {
            sources: &view.tables.runs,
            table: &mut table,
            oldest_version: head.oldest_version,
        };
        // Every step adds a run, however few keys it has, so every step merges some.
        let arrivals = entries.len().max(self.compaction.config.step_entries_min);
        compact(
            &mut manifest,
            Kind::PrunedState,
            &mut self.compaction,
            arrivals,
            &mut place,
        )?;
        write_run(
            &mut manifest,
            Kind::PrunedState,
            entries.iter(),
            (versions.start, last_version),
            &mut table,
        )?;
        start_jobs(&mut manifest, Kind::PrunedState, &self.compaction.config);
        for kind in Kind::OF_ROWS {
            manifest.drop_below(kind, head.oldest_version);
        }
        Ok(manifest)
    }
}

/// First version and height of the newest block that is not above `version`, nor below the window.
fn block_start(view: &ReadView, version: u64) -> Result<(u64, u64), StoreError> {
    let head = &view.head;
    if version <= head.oldest_version {
        return Ok((head.oldest_version, head.oldest_block_height));
    }
    let version = version.min(head.tip.version);
    match view.block_of_version(version)? {
        Some(block) => Ok((block.first_version, block.header.height)),
        None => Err(StoreError::Inconsistent(format!(
            "version {version} has no block"
        ))),
    }
}

/// Where a step of about `versions_max` versions with up to `bytes_max` of writes towards `target`
/// ends: at a block's start, at least one block on.
fn next_start(
    view: &ReadView,
    target: u64,
    versions_max: u64,
    bytes_max: usize,
) -> Result<(u64, u64), StoreError> {
    let head = &view.head;
    let reach = head.oldest_version.saturating_add(versions_max).min(target);
    let reach = end_within(&view.tables.writes, head.oldest_version..reach, bytes_max)?;
    let start = block_start(view, reach)?;
    if start.0 > head.oldest_version || target <= head.oldest_version {
        return Ok(start);
    }
    match view.block(head.oldest_block_height)? {
        Some(block) => block_start(view, block.last_version.saturating_add(1).min(target)),
        None => Err(StoreError::Inconsistent(format!(
            "block {} is missing",
            head.oldest_block_height
        ))),
    }
}

fn delete_rows(
    transaction: &WriteTransaction,
    old: &PersistedHead,
    new: &PersistedHead,
) -> Result<(), StoreError> {
    let versions = old.oldest_version..new.oldest_version;
    let positions = (versions.start, 0u32)..(versions.end, 0u32);
    transaction
        .open_table(TRANSACTIONS)?
        .retain_in(versions, |_, _| false)?;
    transaction
        .open_table(EVENTS)?
        .retain_in(positions.clone(), |_, _| false)?;
    transaction
        .open_table(WRITES)?
        .retain_in(positions, |_, _| false)?;
    let heights = old.oldest_block_height..new.oldest_block_height;
    transaction
        .open_table(BLOCKS)?
        .retain_in(heights, |_, _| false)?;
    Ok(())
}
