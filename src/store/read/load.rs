//! The first view of a store: manifest and bloom filters are read, memtables made from rows.

use super::view::{ReadView, empty_memtables};
use crate::{
    StoreError,
    index::{BloomFilters, Kind, Manifest, batch::IndexBatch, bloom_set::BLOOM_BYTES_MAX},
    tables::{
        codec::{decode, decode_write},
        digest::DigestKey,
        rows::TransactionRow,
        schema::{META, META_HEAD, META_MANIFEST, PersistedHead, Tables},
    },
};
use ledger_types::ContractEvent;
use redb::ReadTransaction;
use std::sync::Arc;

/// Loads the view of a database, or returns `None` before genesis.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`] if a row is damaged, and [`StoreError::Database`] if the
/// database fails.
pub(crate) fn load_view(
    transaction: &ReadTransaction,
    digest_key: DigestKey,
) -> Result<Option<ReadView>, StoreError> {
    let meta = transaction.open_table(META)?;
    let Some(head) = meta.get(META_HEAD)? else {
        return Ok(None);
    };
    let head: PersistedHead = decode(head.value(), "the head")?;
    let manifest = match meta.get(META_MANIFEST)? {
        Some(manifest) => decode(manifest.value(), "the manifest of runs")?,
        None => Manifest::default(),
    };
    let tables = Tables::open(transaction)?;
    let filters = BloomFilters::default().for_manifest(&manifest, &tables.runs, BLOOM_BYTES_MAX)?;
    let mut view = ReadView {
        head,
        tables,
        manifest: Arc::new(manifest),
        filters,
        memtables: empty_memtables(),
        digest_key,
    };
    let entries = unflushed_entries(&view)?;
    for (memtable, entries) in view.memtables.iter_mut().zip(entries) {
        memtable.push(entries);
    }
    Ok(Some(view))
}

/// Returns the index entries that are in no run, made from the rows that they name.
fn unflushed_entries(view: &ReadView) -> Result<[Vec<u8>; 4], StoreError> {
    let from = |kind| {
        view.manifest
            .runs(kind)
            .unflushed_from
            .max(view.head.oldest_version)
    };
    let mut batch = IndexBatch::new(view.digest_key);
    for row in view
        .tables
        .transactions
        .range(from(Kind::Hash).min(from(Kind::Account))..)?
    {
        let (version, row) = row?;
        let version = version.value();
        let row = TransactionRow::decode(row.value(), version)?;
        batch.add_transaction(version, &row.info.v0().transaction_hash, &row.transaction);
    }
    for row in view.tables.events.range((from(Kind::Stream), 0)..)? {
        let (position, row) = row?;
        let position = position.value();
        let event: ContractEvent = decode(row.value(), format_args!("event {position:?}"))?;
        if let Some((key, sequence_number)) = event.stream_position() {
            batch.add_event(&key, sequence_number, position);
        }
    }
    for row in view.tables.writes.range((from(Kind::State), 0)..)? {
        let (position, row) = row?;
        let position = position.value();
        let (key, _) = decode_write(row.value(), format_args!("write {position:?}"))?;
        batch.add_write(&key, position);
    }
    // A row of a transaction has entries of two kinds, and one kind may be flushed further.
    let mut entries_by_kind = batch.into_sorted();
    for (kind, entries) in Kind::OF_ROWS.into_iter().zip(&mut entries_by_kind) {
        let is_unflushed = |entry: &&[u8]| {
            kind.version(entry)
                .is_some_and(|version| version >= from(kind))
        };
        let unflushed = entries.chunks_exact(kind.width()).filter(is_unflushed);
        *entries = unflushed.flatten().copied().collect();
    }
    Ok(entries_by_kind)
}
