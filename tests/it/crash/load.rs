//! Clients that transfer one after the other, each when the one before is committed, until the node is gone.

use super::told::{Committed, Told, number};
use crate::kit::{HttpResponse, NodeClient, TestAccount};
use ledger_vm::Chain;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// How many clients transfer at once.
pub const CLIENTS: u64 = 16;

/// How many transfers of one account a pool holds, and so how many may be there that a client does not know of.
const UNKNOWN_MAX: u32 = 100;

/// The account of a client.
pub fn payer(number: u64) -> TestAccount {
    TestAccount::from_seed(number)
}

/// Transfers until the node answers no more, or says that it stops.
async fn transfer(node: NodeClient, chain: Chain, number: u64, told: Arc<Told>) {
    let account = payer(number);
    let to = payer((number + 1) % CLIENTS).address;
    let url = format!("{}/v1/accounts/{}", node.api, account.address);
    let first = node.http.request(reqwest::Method::GET, &url);
    let Some(first) = node.http.try_send(first).await else {
        return;
    };
    // After a restart the pool may hold the last transfer of before; then the numbers meet, and it is taken
    // for the same or refused.
    let mut unknown = 0;
    for sequence_number in self::number(&first.json["sequence_number"]).. {
        let transaction = account.transfer(&chain, sequence_number, to, 1);
        let hash = transaction.hash(chain.vendor());
        let Some(answer) = node.try_submit(&transaction).await else {
            return;
        };
        told.note_ends(&answer);
        match answer.status {
            202 => told.note_accepted(hash),
            400 if is_unknown(&answer) => {
                unknown += 1;
                assert!(
                    unknown <= UNKNOWN_MAX,
                    "no number is right: {}",
                    answer.text
                );
                continue;
            }
            503 => return,
            _ => panic!("{}", answer.text),
        }
        let Some(answer) = node.try_wait_until_known(&hash).await else {
            return;
        };
        told.note_ends(&answer);
        if answer.status == 410 {
            // Pruned before it was asked for.
            continue;
        }
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(answer.json["success"], true, "{}", answer.text);
        let version = self::number(&answer.json["version"]);
        told.note_committed(Committed { hash, version });
    }
}

/// Whether the number belongs to a transfer that this client did not send.
fn is_unknown(answer: &HttpResponse) -> bool {
    let code = answer.json["error_code"].as_str().unwrap_or_default();
    ["sequence_number_too_old", "invalid_transaction_update"].contains(&code)
}

/// Begins the load of all clients.
pub async fn begin(node: &NodeClient, told: &Arc<Told>) -> Vec<JoinHandle<()>> {
    let chain = node.chain().await;
    (0..CLIENTS)
        .map(|number| {
            tokio::spawn(transfer(
                node.clone(),
                chain.clone(),
                number,
                Arc::clone(told),
            ))
        })
        .collect()
}
