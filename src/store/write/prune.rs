//! Pruning: one bounded step that raises the lower end of the window.
//!
//! Rows are deleted by range. The last values of their keys move to the index
//! [`Kind::PrunedState`] first, so that the state is complete at every version in the window.
//! redb keeps the pages of older snapshots until they are dropped.

use super::{
    CommitKind,
    commit::{IndexUpdate, compaction_context},
    database::DatabaseWriter,
    disk_space::pruned_content_bytes,
    prune_bound::PruneBound,
    pruned_state::{PrunedStateBatch, StepWrites, end_within},
    writer::StoreWriter,
};
use crate::{
    StoreError,
    index::{
        Kind, Manifest,
        compaction::{compact, start_jobs, write_run},
    },
    read::view::ReadView,
    tables::schema::{BLOCKS, EVENTS, PersistedHead, RUNS, TRANSACTIONS, WRITES},
    wal::{PAGE_BYTES, entry},
};
use redb::WriteTransaction;
use std::sync::Arc;

/// The result of a step of pruning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pruned {
    /// The oldest readable version, which is the first of a block.
    pub oldest_version: u64,
    /// The height of that block.
    pub oldest_block_height: u64,
    /// Whether the bound of the call is reached.
    pub done: bool,
    /// Number of versions in whole blocks below the bound that remain.
    pub remaining_versions: u64,
}

/// The first version of a block, and its height.
#[derive(Clone, Copy)]
struct BlockStart {
    version: u64,
    height: u64,
}

/// The end of a step of pruning.
struct StepEnd {
    /// The oldest block after the step.
    start: BlockStart,
    /// Maximum size of the writes that the step moves, in bytes.
    write_bytes: usize,
}

impl StoreWriter {
    /// Prunes some of the blocks below `below_version`.
    ///
    /// A step prunes whole blocks, at least one: about `versions_max` versions in all, or fewer if
    /// their writes are large. The block that contains `below_version` and the newest block remain.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Empty`] before genesis, and [`StoreError::Poisoned`] if an earlier
    /// write failed. Returns [`StoreError::DiskFull`] if the disk has no space for the step; the
    /// step is not begun then, and can be repeated. Returns [`StoreError::Database`] if the
    /// database fails, and [`StoreError::Inconsistent`] if a row is missing or damaged; both poison
    /// the writer.
    pub fn prune(&mut self, below_version: u64, versions_max: u64) -> Result<Pruned, StoreError> {
        self.prune_with(PruneBound::below(below_version), versions_max, |_| ())
    }

    /// Prunes the blocks below `bound` as [`Self::prune`] does, and calls `on_durable` before the
    /// new view is published.
    ///
    /// The step is durable at the call, and readers still have the view before it. A publisher of
    /// the oldest version can so be ahead of the snapshots, and no client sees the lower end of
    /// the window go down.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::prune`].
    pub fn prune_with(
        &mut self,
        bound: PruneBound,
        versions_max: u64,
        on_durable: impl FnOnce(&Pruned),
    ) -> Result<Pruned, StoreError> {
        self.apply()?;
        let view = self.applier.latest_view()?;
        self.poison_on_error(|writer| writer.prune_step(&view, bound, versions_max, on_durable))
    }

    /// Returns the time of the block that contains `version`, in microseconds since the Unix epoch,
    /// or `None` if the database has no such block.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Empty`] before genesis, [`StoreError::Database`] if the database
    /// fails, and [`StoreError::Inconsistent`] if a row is damaged.
    pub fn block_time_usecs(&self, version: u64) -> Result<Option<u64>, StoreError> {
        let view = self.applier.latest_view()?;
        if version < view.head.oldest_version {
            return Ok(None);
        }
        let block = view.block_of_version(version)?;
        Ok(block.map(|block| block.header.timestamp_usecs))
    }

    fn prune_step(
        &mut self,
        view: &ReadView,
        bound: PruneBound,
        versions_max: u64,
        on_durable: impl FnOnce(&Pruned),
    ) -> Result<Pruned, StoreError> {
        let target = block_start(view, bound.version(view)?)?;
        let bytes_max = self.applier.database()?.compaction.config.prune_bytes_max;
        let StepEnd { start, write_bytes } =
            next_start(view, target.version, versions_max, bytes_max)?;
        let pruned = Pruned {
            oldest_version: start.version,
            oldest_block_height: start.height,
            done: start.version >= target.version,
            remaining_versions: target.version.saturating_sub(start.version),
        };
        if start.version <= view.head.oldest_version {
            return Ok(pruned);
        }
        let content_bytes = pruned_content_bytes(write_bytes);
        self.ensure_space(content_bytes, PAGE_BYTES)?;
        let record = self.append_record(view.head.tip.height, |out| {
            entry::write_prune(start.version, out)
        })?;
        let state = self.next_log_state();
        let kind = match record {
            Some(_) => CommitKind::Apply,
            None => CommitKind::Checkpoint(state),
        };
        self.pruned_bytes = self.pruned_bytes.saturating_add(content_bytes);
        let mut database = self.applier.database()?;
        let view = database.prune_to(view, start, kind)?;
        database.disk_status.check()?;
        on_durable(&pruned);
        database.latest_view.set(view);
        drop(database);
        if record.is_none() {
            self.restart_log(state);
        }
        Ok(pruned)
    }
}

impl DatabaseWriter {
    /// Makes the block at `start` the oldest one, and returns the new view without publishing it.
    fn prune_to(
        &mut self,
        view: &ReadView,
        start: BlockStart,
        kind: CommitKind,
    ) -> Result<ReadView, StoreError> {
        let old = &view.head;
        let head = PersistedHead {
            oldest_version: start.version,
            oldest_block_height: start.height,
            ..old.clone()
        };
        let transaction = self.begin_write(kind)?;
        let manifest = self.move_pruned_state(view, &head, &transaction)?;
        delete_rows(&transaction, old, &head)?;
        let indices = IndexUpdate {
            manifest: Arc::new(manifest),
            is_manifest_new: true,
            memtables: view.memtables.clone(),
        };
        self.commit_view(transaction, kind, head, indices)
    }

    /// Repeats a step of pruning from the write-ahead log, unless the database contains it.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Inconsistent`] if no block begins at `oldest_version`, and
    /// [`StoreError::Database`] if the database fails.
    pub(super) fn recover_prune(
        &mut self,
        view: &ReadView,
        oldest_version: u64,
    ) -> Result<(), StoreError> {
        if oldest_version <= view.head.oldest_version {
            return Ok(());
        }
        let start = block_start(view, oldest_version)?;
        if start.version != oldest_version {
            let reason = format!("the oldest version, {oldest_version}, does not begin a block");
            return Err(StoreError::Inconsistent(reason));
        }
        let view = self.prune_to(view, start, CommitKind::Apply)?;
        self.latest_view.set(view);
        Ok(())
    }

    /// Writes a run of the pruned state, and discards runs below the window.
    fn move_pruned_state(
        &mut self,
        view: &ReadView,
        head: &PersistedHead,
        transaction: &WriteTransaction,
    ) -> Result<Manifest, StoreError> {
        let kind = Kind::PrunedState;
        let mut manifest = Manifest::clone(&view.manifest);
        let versions = view.head.oldest_version..head.oldest_version;
        let last_version = versions.end - 1;
        let batch = PrunedStateBatch::read(&view.tables, versions.clone(), &self.digest_key)?;
        let mut table = transaction.open_table(RUNS)?;
        let mut context = compaction_context(view, head, &mut table);
        // Every step adds a run, however few keys it has, so every step merges some.
        let arrivals = batch.len().max(self.compaction.config.step_entries_min);
        compact(
            &mut manifest,
            kind,
            &mut self.compaction,
            arrivals,
            &mut context,
        )?;
        write_run(
            &mut manifest,
            kind,
            batch.iter(),
            versions.start..=last_version,
            &mut table,
        )?;
        start_jobs(&mut manifest, kind, &self.compaction.config);
        for kind in Kind::OF_ROWS {
            manifest.drop_below(kind, head.oldest_version);
        }
        Ok(manifest)
    }
}

/// Returns the start of the block that contains `version`, or of the nearest block in the window.
fn block_start(view: &ReadView, version: u64) -> Result<BlockStart, StoreError> {
    let head = &view.head;
    if version <= head.oldest_version {
        return Ok(BlockStart {
            version: head.oldest_version,
            height: head.oldest_block_height,
        });
    }
    let version = version.min(head.tip.version);
    match view.block_of_version(version)? {
        Some(block) => Ok(BlockStart {
            version: block.first_version,
            height: block.header.height,
        }),
        None => Err(StoreError::Inconsistent(format!(
            "version {version} has no block"
        ))),
    }
}

/// Returns the end of a step towards the version `target`.
///
/// The step prunes about `versions_max` versions with at most `bytes_max` bytes of writes, and at
/// least one block.
fn next_start(
    view: &ReadView,
    target: u64,
    versions_max: u64,
    bytes_max: usize,
) -> Result<StepEnd, StoreError> {
    let head = &view.head;
    let end = head.oldest_version.saturating_add(versions_max).min(target);
    let StepWrites { end, write_bytes } =
        end_within(&view.tables.writes, head.oldest_version..end, bytes_max)?;
    let start = block_start(view, end)?;
    if start.version > head.oldest_version || target <= head.oldest_version {
        return Ok(StepEnd { start, write_bytes });
    }
    match view.block(head.oldest_block_height)? {
        Some(block) => {
            let end = block.last_version.saturating_add(1).min(target);
            let versions = head.oldest_version..end;
            let write_bytes = end_within(&view.tables.writes, versions, usize::MAX)?.write_bytes;
            let start = block_start(view, end)?;
            Ok(StepEnd { start, write_bytes })
        }
        None => Err(StoreError::Inconsistent(format!(
            "block {} is missing",
            head.oldest_block_height
        ))),
    }
}

/// Deletes the rows between the lower ends of two heads.
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
