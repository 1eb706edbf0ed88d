//! Submissions in JSON: the JSON form of a decoded transaction decodes to the same transaction.

use super::chain;
use ledger_api::{submission_from_json, submission_json};
use ledger_types::decode_signed_transaction;

pub fn run(input: &[u8]) {
    let Ok(transaction) = submission_from_json(chain(), input) else {
        return;
    };
    let json = submission_json(chain(), &transaction);
    let again = submission_from_json(chain(), json.as_bytes());
    let again = again.unwrap_or_else(|problem| panic!("{problem}: cannot decode {json}"));
    assert_eq!(again, transaction, "encoded as {json}");
    let bytes = bcs::to_bytes(&transaction).expect("a transaction has a BCS form");
    if let Ok(decoded) = decode_signed_transaction(&bytes) {
        assert_eq!(decoded, transaction);
    }
}
