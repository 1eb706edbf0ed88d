//! Bloom filters of all runs of a view.

use crate::index::{
    bloom::{BloomFilter, bloom_id},
    key::Kind,
    manifest::{Manifest, Run},
    run,
};
use crate::{StoreError, tables::schema::RunTable};
use std::{collections::HashMap, sync::Arc};

/// The most bytes of filters in memory. At ten bits each that is 51 million entries, those of ten million transfers; the runs
/// that find no room are searched without.
pub const BLOOM_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The filters of all runs of a moment, by the number of the run; `None` for a run without one. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct BloomFilters(Arc<HashMap<u64, Option<Arc<BloomFilter>>>>);

impl BloomFilters {
    /// What they take in memory, in bytes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        bytes_of(&self.0)
    }

    /// Whether a run may hold entries of `key`; `false` is certain.
    pub(crate) fn may_contain(&self, run: u64, key: &[u8]) -> bool {
        match self.0.get(&run) {
            Some(Some(filter)) => filter.may_contain(key),
            _ => true,
        }
    }

    /// The filters of the runs that `manifest` lists, of which those that are not here yet are read from `table`; of
    /// `bytes_max` together.
    ///
    /// # Errors
    /// When the database fails or a filter is damaged.
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
        // Of each kind the newest first, which are the smallest and the most.
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

/// The filter of a run; `None` where it has none, one of more than `bytes_max`, or one that does not stand for all its
/// entries: a program that writes none may have written a part of the run.
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
