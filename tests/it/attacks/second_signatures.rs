//! Pending transactions that are submitted again with another valid signature.

use super::{
    attacker::{ATTACKER_SEED, Attacker, Preparation},
    requests::prepared_requests,
};
use ledger_test_support::{
    TestAccount, TransactionBuilder,
    http::{batch_bytes, submission_bytes},
};
use ledger_types::SignedTransaction;
use std::sync::Arc;

/// Number of pending transactions, which is also the maximum length of a batch.
const PENDING: u64 = 10;
/// Second signatures per second, alone or in batches. Their checks take a few percent of a core.
const PER_SECOND: f64 = 500.0;

/// Pending transactions, each with two signatures.
struct Pending {
    /// The transactions as they were submitted.
    first: Vec<SignedTransaction>,
    /// The transactions with other signatures.
    second: Vec<SignedTransaction>,
}

/// Submits transactions that stay pending.
async fn submit_pending(attacker: &Attacker) -> Pending {
    let target = &attacker.target;
    let account = TestAccount::from_seed(ATTACKER_SEED + attacker.round);
    target.fund(&account, 1_000_000_000).await;
    let mut pending = Pending {
        first: Vec::new(),
        second: Vec::new(),
    };
    // The transactions wait for an earlier one, which is never submitted.
    for sequence_number in 1..=PENDING {
        let first = account.transfer(&attacker.chain, sequence_number, account.address, 1);
        target.submit(&first).await;
        let builder = TransactionBuilder::from_raw(&attacker.chain, first.raw.clone());
        pending.second.push(builder.sign_as_single_sender(&account));
        pending.first.push(first);
    }
    pending
}

/// Submits second signatures one by one.
pub fn alone(attacker: Arc<Attacker>) -> Preparation {
    prepared_requests(Arc::clone(&attacker), PER_SECOND, async move {
        let pending = submit_pending(&attacker).await;
        pending.second.iter().map(submission_bytes).collect()
    })
}

/// Submits second signatures in batches: alone, and after one of the first signatures, which the
/// node accepts.
pub fn in_batches(attacker: Arc<Attacker>) -> Preparation {
    let per_second = PER_SECOND / PENDING as f64;
    prepared_requests(Arc::clone(&attacker), per_second, async move {
        let pending = submit_pending(&attacker).await;
        vec![
            batch_bytes(&pending.second),
            batch_bytes(&[&pending.first[..1], &pending.second[1..]].concat()),
        ]
    })
}
