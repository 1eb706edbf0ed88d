//! Signed transactions in BCS: a decoded transaction has one form, and none of its methods panics.

use super::chain;
use ledger_api::submission_json;
use ledger_types::{SignedTransaction, decode_signed_transaction};

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
    assert_eq!(encoded, input, "a transaction has two BCS forms");
    assert_eq!(transaction.size_bytes(), input.len());
    call_all_methods(&transaction);
}

/// Calls the methods of a transaction. Their results are ignored; none may panic.
fn call_all_methods(transaction: &SignedTransaction) {
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
    let keys_are_known = unknown.count() == 0 && authenticator.sender_authentication_key().is_ok();
    let cost = authenticator.check_cost();
    let held = transaction
        .check(chain.vendor(), chain.parameters())
        .is_ok();
    assert!(
        !held || keys_are_known,
        "signatures of unknown keys were accepted"
    );
    assert!(!held || cost > 0, "checking a signature costs nothing");
    submission_json(chain, transaction);
}
