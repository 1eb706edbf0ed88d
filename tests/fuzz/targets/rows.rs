//! Rows of the store. An input is the number of a kind of row, then the row.

use ledger_store::fuzzing::check_row;

pub fn run(input: &[u8]) {
    if let Some((kind, row)) = input.split_first() {
        check_row(*kind, row);
    }
}
