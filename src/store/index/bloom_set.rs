//! Bloom filters of all runs of a view.

use crate::index::{
    bloom::{BloomFilter, bloom_id},
    key::Kind,
    manifest::{Manifest, Run},
    run,
};
use crate::{StoreError, tables::schema::RunTable};
use std::{collections::HashMap, sync::Arc};

/// Maximum memory of the filters, in bytes.
///
/// At ten bits per entry this covers about 53 million entries, those of more than ten million
/// transfers. Further runs are searched without a filter.
pub const BLOOM_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Bloom filters of all runs of a view, by the id of the run. `None` marks a run without a filter.
///
/// Clones are cheap.
#[derive(Clone, Debug, Default)]
pub(crate) struct BloomFilters(Arc<HashMap<u64, Option<Arc<BloomFilter>>>>);

impl BloomFilters {
    /// Returns the memory of the filters, in bytes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        bytes_of(&self.0)
    }

    /// Returns whether a run may hold entries of `key`. `false` is certain.
    pub(crate) fn may_contain(&self, run: u64, key: &[u8]) -> bool {
        match self.0.get(&run) {
            Some(Some(filter)) => filter.may_contain(key),
            _ => true,
        }
    }

    /// Returns the filters of the runs that `manifest` lists.
    ///
    /// Reuses the filters of `self`, and reads the others from `table` as long as the total size
    /// does not exceed `bytes_max`.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, or [`StoreError::Inconsistent`] if
    /// a filter is damaged.
    pub(crate) fn of(
        &self,
        manifest: &Manifest,
        table: &RunTable,
        bytes_max: u64,
    ) -> Result<Self, StoreError> {
        let kinds = Kind::ALL
            .into_iter()
            .filter(|kind| kind.bloom_key_bytes().is_some());
        let runs: Vec<&Run> = kinds.flat_map(|kind| &manifest.runs(kind).list).collect();
        if runs.len() == self.0.len() && runs.iter().all(|run| self.0.contains_key(&run.id)) {
            return Ok(self.clone());
        }
        let (here, new): (Vec<&Run>, Vec<&Run>) = runs
            .into_iter()
            .partition(|run| self.0.contains_key(&run.id));
        let mut filters: HashMap<_, _> = here
            .iter()
            .map(|run| (run.id, self.0[&run.id].clone()))
            .collect();
        let mut room_bytes = bytes_max.saturating_sub(bytes_of(&filters));
        // The newest runs of each kind come first, because they are the smallest and most
        // numerous.
        for run in new.into_iter().rev() {
            let filter = read(table, run, room_bytes)?;
            room_bytes -= filter.as_ref().map_or(0, |filter| filter.bytes());
            filters.insert(run.id, filter);
        }
        Ok(Self(Arc::new(filters)))
    }
}

fn bytes_of(filters: &HashMap<u64, Option<Arc<BloomFilter>>>) -> u64 {
    filters
        .values()
        .flatten()
        .map(|filter| filter.bytes())
        .sum()
}

/// Reads the filter of a run.
///
/// Returns `None` if the run has no filter, or if the filter exceeds `bytes_max` or does not cover
/// all entries of the run. The last case occurs if a program that writes no filters wrote a part
/// of the run.
fn read(
    table: &RunTable,
    run: &Run,
    bytes_max: u64,
) -> Result<Option<Arc<BloomFilter>>, StoreError> {
    let mut filter = BloomFilter::default();
    for segment in run::block::blocks(table, bloom_id(run.id))? {
        let (key, row) = segment?;
        filter.push(run::block::first_entry(key.value()), row.value())?;
        if filter.bytes() > bytes_max {
            return Ok(None);
        }
    }
    Ok((filter.entries == run.entries && run.entries > 0).then(|| Arc::new(filter)))
}
