//! Submissions in JSON.
//!
//! Checks that the JSON view of an accepted transaction is a submission of the same transaction.

use super::chain;
use ledger_api::{submission_from_json, submission_json};
use ledger_types::decode_signed_transaction;

/// Checks the body of a submission in JSON.
///
/// # Panics
///
/// Panics if the JSON view or the BCS form is that of another transaction.
pub fn run(input: &[u8]) {
    let Ok(transaction) = submission_from_json(chain(), input) else {
        return;
    };
    let view = submission_json(chain(), &transaction);
    let parsed = submission_from_json(chain(), view.as_bytes());
    let parsed =
        parsed.unwrap_or_else(|problem| panic!("{problem}: the view is not a submission: {view}"));
    assert_eq!(parsed, transaction, "the view is {view}");
    let bytes = bcs::to_bytes(&transaction).expect("a transaction has a BCS form");
    // The BCS decoder may reject the transaction: its limits are not those of the JSON parser.
    if let Ok(decoded) = decode_signed_transaction(&bytes) {
        assert_eq!(decoded, transaction);
    }
}
