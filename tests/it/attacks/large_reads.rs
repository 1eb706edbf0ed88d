//! Large responses, which are rendered and compressed on other threads than the HTTP workers.

use super::{
    attacker::{ATTACKER_SEED, Attacker, Preparation},
    requests::prepared_requests,
};
use crate::threads::COMPRESSED;
use ledger_test_support::{TestAccount, function_call};
use std::sync::Arc;

/// Number of large transactions. A page with all of them is larger than 256 KiB, and so is rendered
/// on another thread.
const LARGE_TRANSACTIONS: u64 = 8;
/// Size of their argument in bytes, less than a transaction may have.
const ARGUMENT_BYTES: usize = 60_000;
/// Number of transactions of a page with all large ones, if each has a block of its own with the
/// block's two transactions.
const PAGE: u64 = 3 * LARGE_TRANSACTIONS;
/// Large GETs per second, each of which takes the node some milliseconds.
const PER_SECOND: f64 = 20.0;

/// Commits large transactions and returns the version of the first one.
async fn commit_large_transactions(attacker: &Attacker) -> u64 {
    let target = &attacker.target;
    let account = TestAccount::from_seed(ATTACKER_SEED + attacker.round);
    target.fund(&account, 1_000_000_000_000_000).await;
    let mut hashes = Vec::new();
    for sequence_number in 0..LARGE_TRANSACTIONS {
        // No function takes these arguments. The call fails, but the transaction is committed.
        let call = function_call("0x1::coin::transfer", &[], vec![vec![1; ARGUMENT_BYTES]]);
        hashes.push(
            target
                .submit(&account.call(&attacker.chain, sequence_number, call))
                .await,
        );
    }
    let mut versions = Vec::new();
    for hash in &hashes {
        let committed = target.try_wait(hash).await.unwrap();
        versions.push(committed["version"].as_str().unwrap().parse().unwrap());
    }
    versions[0]
}

/// GETs of large responses, uncompressed and compressed.
pub fn large_reads(attacker: Arc<Attacker>) -> Preparation {
    prepared_requests(Arc::clone(&attacker), PER_SECOND, async move {
        let first = commit_large_transactions(&attacker).await;
        let page = format!("/v1/transactions?start={first}&limit={PAGE}");
        let get = |path, coding| {
            format!("GET {path} HTTP/1.1\r\nhost: node\r\naccept-encoding: {coding}\r\n\r\n")
                .into_bytes()
        };
        vec![
            get(&page[..], "identity"),
            get(&page, "zstd"),
            get(COMPRESSED, "zstd"),
        ]
    })
}
