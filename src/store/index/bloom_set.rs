//! The bloom filters of all runs of a view.

use super::{
    bloom::{BloomFilter, bloom_id},
    key::Kind,
    manifest::{Manifest, Run},
    run::block::{blocks, first_entry},
};
use crate::{StoreError, tables::schema::RunTable};
use std::{collections::HashMap, sync::Arc};

/// Maximum size of all filters in memory, in bytes.
///
/// At ten bits per entry that covers 51 million entries, those of ten million transfers. Runs
/// beyond the limit are searched without a filter.
pub const BLOOM_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The filters of all runs of a view, by run id. A run without a filter has `None`. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct BloomFilters(Arc<HashMap<u64, Option<Arc<BloomFilter>>>>);

impl BloomFilters {
    /// Returns the size of all filters, in bytes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        bytes_of(&self.0)
    }

    /// Returns whether a run may contain entries of `key`. `false` is certain.
    pub(crate) fn may_contain(&self, run: u64, key: &[u8]) -> bool {
        match self.0.get(&run) {
            Some(Some(filter)) => filter.may_contain(key),
            _ => true,
        }
    }

    /// Returns the filters of the runs in `manifest`, with at most `bytes_max` bytes.
    ///
    /// Reads the filters that `self` does not contain from `table`.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a filter is damaged.
    pub(crate) fn for_manifest(
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
        let (loaded, new): (Vec<&Run>, Vec<&Run>) = runs
            .into_iter()
            .partition(|run| self.0.contains_key(&run.id));
        let mut filters: HashMap<_, _> = loaded
            .iter()
            .map(|run| (run.id, self.0[&run.id].clone()))
            .collect();
        let mut available_bytes = bytes_max.saturating_sub(bytes_of(&filters));
        // The newest runs of each kind come first, because they are the smallest and most numerous.
        for run in new.into_iter().rev() {
            let filter = read_filter(table, run, available_bytes)?;
            available_bytes -= filter.as_ref().map_or(0, |filter| filter.bytes());
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
/// Returns `None` if the run has no filter, if the filter is larger than `bytes_max`, or if it does
/// not cover all entries: a program without filters may have written a part of the run.
fn read_filter(
    table: &RunTable,
    run: &Run,
    bytes_max: u64,
) -> Result<Option<Arc<BloomFilter>>, StoreError> {
    let mut filter = BloomFilter::default();
    for segment in blocks(table, bloom_id(run.id))? {
        let (key, row) = segment?;
        filter.push(first_entry(key.value()), row.value())?;
        if filter.bytes() > bytes_max {
            return Ok(None);
        }
    }
    Ok((filter.entries() == run.entries && run.entries > 0).then(|| Arc::new(filter)))
}
