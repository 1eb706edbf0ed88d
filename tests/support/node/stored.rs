//! Changes of the files of a stopped node.

use redb::{Database, ReadableTable as _, TableDefinition};
use std::path::Path;

/// The table of written values: version and index to state key and value.
const WRITES: TableDefinition<(u64, u32), &[u8]> = TableDefinition::new("writes");

/// Replaces bytes of all stored values of the state, with valid checksums of the file. Returns the
/// number of values with the bytes.
///
/// # Panics
///
/// Panics if the lengths differ, or the file cannot be used, for example because the node runs.
pub fn replace_in_ledger(file: &Path, from: &[u8], to: &[u8]) -> usize {
    assert_eq!(from.len(), to.len());
    let database = Database::open(file).expect("a ledger that no node has open");
    let transaction = database.begin_write().expect("a transaction");
    let mut table = transaction.open_table(WRITES).expect("the table");
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
