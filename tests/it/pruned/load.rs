//! The transfers of one payer, each of which is known exactly.

use super::{known::Transfer, watch::Watch};
use ledger_test_support::{
    TestAccount,
    http::{NodeClient, number},
    node::TestNode,
};
use serde_json::Value;
use std::sync::Arc;

/// Funds of the payer, enough for the fees of the longest run.
const PAYER_FUNDS: u64 = 1_000_000_000_000;

/// Funds a payer and a payee on a new ledger, and creates the shared state of its readers.
pub async fn start_watch(node: &TestNode, window: u64) -> Arc<Watch> {
    let (payer, payee) = (TestAccount::from_seed(1), TestAccount::from_seed(2));
    node.fund(&payer, PAYER_FUNDS).await;
    node.fund(&payee, 1).await;
    let payee_start = node.balance(&payee.address).await;
    Arc::new(Watch::new(payer, payee, payee_start, window))
}

/// Pays one coin after the other, each after the previous one is committed, until the watch is
/// finished or the node ends.
pub async fn pay(node: NodeClient, watch: Arc<Watch>) {
    let chain = node.chain().await;
    for next in node.sequence_number(&watch.payer.address).await.. {
        if watch.is_finished() {
            return;
        }
        let transaction = watch.payer.transfer(&chain, next, watch.payee.address, 1);
        let hash = transaction.hash(chain.vendor());
        match node.try_submit(&transaction).await {
            Some(response) if response.status == 202 => {}
            Some(response) if response.status < 500 => panic!("{}", response.text),
            _ => return,
        }
        let Some(response) = node.try_wait_until_known(&hash).await else {
            return;
        };
        let version = match response.status {
            // The transaction was pruned before it was looked up. The response names its version.
            410 => pruned_version(&response.json),
            _ => {
                assert_eq!(response.json["success"], true, "{}", response.text);
                number(&response.json["version"])
            }
        };
        watch
            .known()
            .record_transfer(next, Transfer { version, hash });
    }
}

/// Parses the version in `Ledger version(N) has been pruned`.
fn pruned_version(error: &Value) -> u64 {
    assert_eq!(error["error_code"], "version_pruned", "{error}");
    let message = error["message"].as_str().unwrap();
    let digits = message.split(['(', ')']).nth(1).unwrap();
    digits.parse().unwrap()
}
