//! Signed transactions in BCS.
//!
//! Checks that an accepted transaction has only one BCS form, and that its methods do not panic.

use super::chain;
use ledger_api::submission_json;
use ledger_types::{SignedTransaction, decode_signed_transaction};

/// Checks the body of a submission in BCS.
///
/// # Panics
///
/// Panics if the transaction has a second BCS form, or if the results of its signature checks are
/// inconsistent.
pub fn run(input: &[u8]) {
    if chain()
        .parameters()
        .check_transaction_size(input.len())
        .is_err()
    {
        return;
    }
    let Ok(transaction) = decode_signed_transaction(input) else {
        return;
    };
    let encoded = bcs::to_bytes(&transaction).expect("a decoded transaction has a BCS form");
    assert_eq!(encoded, input, "the transaction has two BCS forms");
    assert_eq!(transaction.size_bytes(), input.len());
    check_methods(&transaction);
}

/// Calls the methods of a transaction. Their results are not checked, except those of the
/// signatures.
fn check_methods(transaction: &SignedTransaction) {
    let (chain, vendor) = (chain(), chain().vendor());
    transaction.hash(vendor);
    transaction.gas_payer();
    transaction.raw.signing_message(vendor);
    transaction.raw.replay_protector();
    transaction.raw.entry_function();
    let authenticator = &transaction.authenticator;
    let others = authenticator.secondary_signers().iter();
    let others = others.chain(authenticator.fee_payer().map(|(_, signer)| signer));
    let unknown = others.filter(|signer| signer.authentication_key().is_err());
    let are_keys_known = unknown.count() == 0 && authenticator.sender_authentication_key().is_ok();
    let cost = authenticator.check_cost();
    let is_valid = transaction
        .check(chain.vendor(), chain.parameters())
        .is_ok();
    assert!(
        !is_valid || are_keys_known,
        "the check accepted a signer without an authentication key"
    );
    assert!(
        !is_valid || cost > 0,
        "the check of a valid signature has no cost"
    );
    submission_json(chain, transaction);
}
