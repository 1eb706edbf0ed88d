//! What happens to the ledger while it is read: transfers by `bench`, and those of one payer, each of which
//! is known exactly.

use super::{known::Transfer, number, watch::Watch};
use crate::kit::{NodeClient, TestAccount, TestNode, binary};
use serde_json::Value;
use std::{
    process::{Child, Stdio},
    sync::Arc,
};

/// What the faucet pays the payer: enough for the fees of the longest run.
const PAYER_FUNDS: u64 = 1_000_000_000_000;

/// Starts `bench` against a node, with its report in JSON.
pub fn bench(node: &NodeClient, arguments: &[&str]) -> Child {
    binary()
        .args(["bench", "--output", "json", "--url", &node.api])
        .args(["--faucet", node.faucet.as_ref().unwrap()])
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for the report of a bench that must not fail.
pub async fn report(bench: Child) -> Value {
    let waiting = tokio::task::spawn_blocking(|| bench.wait_with_output().unwrap());
    let output = waiting.await.unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A payer and a payee on a fresh ledger, and what watches them.
pub async fn watch(node: &TestNode, window: u64) -> Arc<Watch> {
    let (payer, payee) = (TestAccount::from_seed(1), TestAccount::from_seed(2));
    node.fund(&payer, PAYER_FUNDS).await;
    node.fund(&payee, 1).await;
    let resources = node
        .get(&format!("/v1/accounts/{}/resources", payer.address))
        .await;
    let coin_store = resources
        .json
        .as_array()
        .unwrap()
        .iter()
        .find_map(|resource| {
            let name = resource["type"].as_str()?;
            name.starts_with("0x1::coin::CoinStore<")
                .then(|| name.to_owned())
        });
    let payee_start = node.balance(&payee.address).await;
    Arc::new(Watch::new(
        payer,
        payee,
        payee_start,
        coin_store.unwrap(),
        window,
    ))
}

/// Pays one coin after the other, each when the one before is committed, until the watch is over or the
/// node gone.
pub async fn pay(node: NodeClient, watch: Arc<Watch>) {
    let chain = node.chain().await;
    for next in node.sequence_number(&watch.payer.address).await.. {
        if watch.is_over() {
            return;
        }
        let transaction = watch.payer.transfer(&chain, next, watch.payee.address, 1);
        let hash = transaction.hash(chain.vendor());
        match node.try_submit(&transaction).await {
            Some(answer) if answer.status == 202 => {}
            Some(answer) if answer.status < 500 => panic!("{}", answer.text),
            _ => return,
        }
        let Some(answer) = node.try_wait_until_known(&hash).await else {
            return;
        };
        let version = match answer.status {
            // Pruned before it was asked for; the answer names its version.
            410 => pruned_version(&answer.json),
            _ => {
                assert_eq!(answer.json["success"], true, "{}", answer.text);
                number(&answer.json["version"])
            }
        };
        watch
            .known()
            .learn_transfer(next, Transfer { version, hash });
    }
}

/// The version in `Ledger version(N) has been pruned`.
fn pruned_version(error: &Value) -> u64 {
    assert_eq!(error["error_code"], "version_pruned", "{error}");
    let message = error["message"].as_str().unwrap();
    let digits = message.split(['(', ')']).nth(1).unwrap();
    digits.parse().unwrap()
}
