//! Calls with more arguments than any function has, submitted and simulated.

use super::{
    attacker::{ATTACKER_SEED, Attacker, Preparation, prepared},
    requests::{SMALL_PER_SECOND, send_in_turns},
};
use ledger_test_support::{TestAccount, function_call, http::post_bytes};
use ledger_types::SignedTransaction;
use std::sync::Arc;

/// Number of arguments, one more than a call may have.
const ARGUMENTS: usize = 129;
/// Media type of a signed transaction in BCS.
const MEDIA_TYPE: &str = "application/x.node.signed_transaction+bcs";

/// Submissions and simulations of the call.
pub fn too_many(attacker: Arc<Attacker>) -> Preparation {
    let call = function_call("0x1::coin::transfer", &[], vec![Vec::new(); ARGUMENTS]);
    let signed = TestAccount::from_seed(ATTACKER_SEED).call(&attacker.chain, 0, call);
    // A transaction with a valid signature is not simulated.
    let mut unsigned = signed.clone();
    unsigned.raw.sequence_number += 1;
    let post = |path, transaction: &SignedTransaction| {
        post_bytes(path, MEDIA_TYPE, &bcs::to_bytes(transaction).unwrap())
    };
    let requests = vec![
        post("/v1/transactions", &signed),
        post("/v1/transactions/simulate", &unsigned),
    ];
    prepared(send_in_turns(attacker, SMALL_PER_SECOND, requests))
}
