//! An account that submits to a node on a disk that fills.

use ledger_crypto::HashValue;
use ledger_test_support::{TestAccount, function_call, node::TestNode};
use ledger_types::SignedTransaction;
use ledger_vm::Chain;

/// Size of the argument of a large transaction, near the maximum size of a transaction.
const ARGUMENT_BYTES: usize = 60_000;

/// An account that submits transactions, and its next sequence number.
pub(super) struct Sender {
    pub(super) account: TestAccount,
    pub(super) sequence_number: u64,
}

impl Sender {
    /// Returns the next transaction: a transfer, or one that fails with a large argument.
    fn next(&self, chain: &Chain, is_large: bool) -> SignedTransaction {
        if is_large {
            let arguments = vec![vec![0; ARGUMENT_BYTES]];
            let call = function_call("0x1::coin::transfer", &[], arguments);
            return self.account.call(chain, self.sequence_number, call);
        }
        let to = TestAccount::from_seed(100).address;
        self.account.transfer(chain, self.sequence_number, to, 1)
    }

    /// Submits transactions until one is rejected, at most one per element of `are_large`. Returns
    /// the hashes of the accepted ones.
    pub(super) async fn submit(
        &mut self,
        node: &TestNode,
        chain: &Chain,
        are_large: Vec<bool>,
    ) -> Vec<HashValue> {
        let mut accepted = Vec::new();
        for is_large in are_large {
            let transaction = self.next(chain, is_large);
            let response = node.try_submit(&transaction).await.unwrap();
            if response.status != 202 {
                assert_eq!(response.status, 503, "{}", response.text);
                break;
            }
            self.sequence_number += 1;
            accepted.push(transaction.hash(chain.vendor()));
        }
        accepted
    }
}
