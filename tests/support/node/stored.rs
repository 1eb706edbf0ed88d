//! Changes of the files of a stopped node.

use redb::{Database, Key, ReadableTable as _, TableDefinition};
use std::path::Path;

/// The table of written values: version and index to state key and value.
const WRITES: TableDefinition<(u64, u32), &[u8]> = TableDefinition::new("writes");

/// The table of blocks: height to block.
const BLOCKS: TableDefinition<u64, &[u8]> = TableDefinition::new("blocks");

/// Replaces bytes of all stored values of the state, with valid checksums of the file. Returns the
/// number of values with the bytes.
///
/// # Panics
///
/// Panics if the lengths differ, or the file cannot be used, for example because the node runs.
pub fn replace_in_ledger(file: &Path, from: &[u8], to: &[u8]) -> usize {
    replace(file, WRITES, from, to)
}

/// Replaces bytes of all rows of blocks, as [`replace_in_ledger`] does in values.
///
/// # Panics
///
/// Panics as [`replace_in_ledger`] does.
pub fn replace_in_blocks(file: &Path, from: &[u8], to: &[u8]) -> usize {
    replace(file, BLOCKS, from, to)
}

/// Replaces the first occurrence of bytes in each row of a table.
fn replace<K: for<'a> Key<SelfType<'a> = K> + 'static>(
    file: &Path,
    table: TableDefinition<K, &[u8]>,
    from: &[u8],
    to: &[u8],
) -> usize {
    assert_eq!(from.len(), to.len());
    let database = Database::open(file).expect("a ledger that no node has open");
    let transaction = database.begin_write().expect("a transaction");
    let mut table = transaction.open_table(table).expect("the table");
    let mut changed = Vec::new();
    for row in table.iter().expect("rows") {
        let (key, value) = row.expect("a row");
        let mut bytes = value.value().to_vec();
        let at = bytes.windows(from.len()).position(|part| part == from);
        if let Some(at) = at {
            bytes[at..at + to.len()].copy_from_slice(to);
            changed.push((key.value(), bytes));
        }
    }
    for (key, bytes) in &changed {
        table.insert(key, bytes.as_slice()).expect("an insertion");
    }
    drop(table);
    transaction.commit().expect("a commit");
    changed.len()
}
