//! Submissions in JSON: what is read is shown, and what is shown reads back as the same transaction.

use super::chain;
use ledger_api::{submission_from_json, submission_json};
use ledger_types::decode_signed_transaction;

pub fn run(input: &[u8]) {
    let Ok(transaction) = submission_from_json(chain(), input) else {
        return;
    };
    let shown = submission_json(chain(), &transaction);
    let again = submission_from_json(chain(), shown.as_bytes());
    let again =
        again.unwrap_or_else(|problem| panic!("{problem}: what is shown cannot be read: {shown}"));
    assert_eq!(again, transaction, "shown as {shown}");
    let bytes = bcs::to_bytes(&transaction).expect("a transaction has a BCS form");
    if let Ok(decoded) = decode_signed_transaction(&bytes) {
        assert_eq!(decoded, transaction);
    }
}
