//! Clients that transfer until the node ends, each after its previous transfer is committed.

use super::acknowledged::{Acknowledged, Committed};
use ledger_test_support::{
    TestAccount,
    http::{HttpResponse, NodeClient, number},
};
use ledger_vm::Chain;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// Number of concurrent clients.
pub const CLIENTS: u64 = 16;

/// Maximum number of pending transfers per account, and so of transfers that a client does not know
/// of.
const UNKNOWN_MAX: u32 = 100;

/// Returns the account of a client.
pub fn payer(number: u64) -> TestAccount {
    TestAccount::from_seed(number)
}

/// Transfers until the node stops responding or responds that it is stopping.
async fn transfer(node: NodeClient, chain: Chain, client: u64, acknowledged: Arc<Acknowledged>) {
    let account = payer(client);
    let to = payer((client + 1) % CLIENTS).address;
    let url = format!("{}/v1/accounts/{}", node.api, account.address);
    let first = node.http.request(reqwest::Method::GET, &url);
    let Some(first) = node.http.try_send(first).await else {
        return;
    };
    // After a restart the mempool may hold the last transfer from before it. A transfer with the
    // same sequence number is accepted as the same one or rejected.
    let mut unknown = 0;
    for sequence_number in number(&first.json["sequence_number"]).. {
        let transaction = account.transfer(&chain, sequence_number, to, 1);
        let hash = transaction.hash(chain.vendor());
        let Some(response) = node.try_submit(&transaction).await else {
            return;
        };
        acknowledged.record_bounds(&response);
        match response.status {
            202 => acknowledged.record_accepted(hash),
            400 if is_unknown(&response) => {
                unknown += 1;
                assert!(
                    unknown <= UNKNOWN_MAX,
                    "every sequence number is rejected: {}",
                    response.text
                );
                continue;
            }
            503 => return,
            _ => panic!("{}", response.text),
        }
        let Some(response) = node.try_wait_until_known(&hash).await else {
            return;
        };
        acknowledged.record_bounds(&response);
        if response.status == 410 {
            // The transaction was pruned before it was looked up.
            continue;
        }
        assert_eq!(response.status, 200, "{}", response.text);
        assert_eq!(response.json["success"], true, "{}", response.text);
        let version = number(&response.json["version"]);
        acknowledged.record_committed(Committed { hash, version });
    }
}

/// Returns whether the sequence number belongs to a transfer that this client does not know of.
pub fn is_unknown(response: &HttpResponse) -> bool {
    let code = response.json["error_code"].as_str().unwrap_or_default();
    ["sequence_number_too_old", "invalid_transaction_update"].contains(&code)
}

/// Starts the load of all clients.
pub async fn start(node: &NodeClient, acknowledged: &Arc<Acknowledged>) -> Vec<JoinHandle<()>> {
    let chain = node.chain().await;
    (0..CLIENTS)
        .map(|number| {
            tokio::spawn(transfer(
                node.clone(),
                chain.clone(),
                number,
                Arc::clone(acknowledged),
            ))
        })
        .collect()
}
