//! Rows of the store.
//!
//! An input is one byte with the number of a kind of row, then the row.

use ledger_store::fuzzing::check_row;

/// Checks a row of the store. Ignores an empty input.
///
/// # Panics
///
/// Panics if the decoder accepts the row, and encoding the result yields other bytes.
pub fn run(input: &[u8]) {
    if let Some((kind, row)) = input.split_first() {
        check_row(*kind, row);
    }
}
