//! Tests of framework upgrades: an operator activates a framework version of an existing chain at a
//! height.

use ledger_test_support::{TestAccount, function_call, node::TestNode, now_secs};
use ledger_vm::Chain;
use reqwest::Method;
use serde_json::{Value, json};
use std::fs;

/// Type of the native coin.
const COIN: &str = "0x1::node_coin::NodeCoin";
/// Amount of each escrow, in the smallest unit of the native coin.
const AMOUNT: u64 = 7;

/// Returns the setting for a list of `VERSION@HEIGHT`.
fn upgrades_setting(list: &str) -> String {
    format!("chain.framework_upgrades={list}")
}

/// Submits a transaction that opens an escrow, and returns the committed transaction. The function
/// exists from framework version 2.
async fn open_escrow(
    node: &TestNode,
    chain: &Chain,
    payer: &TestAccount,
    sequence_number: u64,
) -> Value {
    let args = vec![
        bcs::to_bytes(&payer.address).unwrap(),
        bcs::to_bytes(&AMOUNT).unwrap(),
        bcs::to_bytes(&(now_secs() + 3_600)).unwrap(),
    ];
    let call = function_call("0x1::escrow::open", &[COIN], args);
    node.submit_and_wait(&payer.call(chain, sequence_number, call))
        .await
}

/// Returns the status of a request for the escrow module, and status and body of a call of its view
/// function `locked`.
async fn module_and_view(node: &TestNode, payer: &TestAccount) -> (u16, u16, Value) {
    let module = node.get("/v1/accounts/0x1/module/escrow").await;
    let url = format!("{}/v1/view", node.api);
    let body = json!({
        "function": "0x1::escrow::locked",
        "type_arguments": [COIN],
        "arguments": [payer.address.to_string()],
    });
    let view = node.http.send_json(Method::POST, &url, &body).await;
    (module.status, view.status, view.json)
}

/// Returns the height of the newest block.
async fn height(node: &TestNode) -> u64 {
    node.get("/v1").await.json["block_height"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap()
}

/// Checks that a node on the data directory of `stopped` ends with exit code 2 and an error message
/// that contains all of `parts`.
fn check_rejected(stopped: &TestNode, settings: &[String], parts: &[&str]) {
    let output = TestNode::command(stopped.directory(), settings)
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    for part in parts {
        assert!(
            message.contains(part),
            "the error message has no {part:?}: {message:?}"
        );
    }
}

#[tokio::test]
async fn activates_a_framework_version_at_its_height() {
    let mut node = TestNode::start(&[&upgrades_setting("1@0")]);
    let payer = TestAccount::from_seed(1);
    node.fund(&payer, 10_000_000_000).await;
    let chain = node.chain().await;
    let too_early = open_escrow(&node, &chain, &payer, 0).await;
    assert_eq!(
        (&too_early["success"], &too_early["vm_status"]),
        (&json!(false), &json!("LINKER_ERROR"))
    );
    let (module, view, _) = module_and_view(&node, &payer).await;
    assert_eq!((module, view), (404, 400));
    let newest = height(&node).await;
    node.stop("TERM");

    let too_late = upgrades_setting(&format!("1@0,2@{newest}"));
    check_rejected(
        &node,
        &[too_late],
        &[
            "the framework upgrade 2@",
            "newest block",
            &newest.to_string(),
        ],
    );
    check_rejected(
        &node,
        &[upgrades_setting("1@0,999@123456")],
        &["version 999", "height 123456"],
    );
    check_rejected(&node, &[upgrades_setting("2@123456")], &["1@0"]);

    let activation_height = newest + 3;
    let mut node = node.restart_with(&[&upgrades_setting(&format!("1@0,2@{activation_height}"))]);
    let mut active_count = 0;
    let mut sequence_number = 1;
    while active_count < 2 {
        let transaction = open_escrow(&node, &chain, &payer, sequence_number).await;
        // The newest block is that of the transaction, because an idle node commits no blocks.
        let is_active = height(&node).await >= activation_height;
        assert_eq!(transaction["success"], is_active, "{transaction}");
        active_count += u64::from(is_active);
        sequence_number += 1;
    }
    assert!(
        sequence_number > 3,
        "no transaction was executed below the activation height"
    );
    let locked = |count: u64| json!([(count * AMOUNT).to_string()]);
    assert_eq!(module_and_view(&node, &payer).await, (200, 200, locked(2)));

    // The ledger stores the upgrade: the node needs no setting for it, and a list without it is
    // rejected.
    node.stop("TERM");
    let mut node = node.restart_with(&[]);
    assert_eq!(module_and_view(&node, &payer).await, (200, 200, locked(2)));
    let transaction = open_escrow(&node, &chain, &payer, sequence_number).await;
    assert_eq!(transaction["success"], true, "{transaction}");
    assert_eq!(module_and_view(&node, &payer).await, (200, 200, locked(3)));
    node.stop("TERM");
    check_rejected(
        &node,
        &[upgrades_setting("1@0")],
        &[&format!("2@{activation_height}")],
    );
}

#[test]
fn accepts_upgrades_as_the_only_change_of_a_genesis_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("genesis.toml");
    let start = "chain_id = 77\n[[accounts]]\naddress = \"0xabc\"\nbalance = 42\n";
    let upgrade = "[[parameters.framework_upgrades]]\nversion = 2\nheight = 150000\n";
    fs::write(&file, start).unwrap();
    let setting = format!("chain.genesis={}", file.display());
    let mut node = TestNode::start(&[&setting]);
    node.stop("TERM");

    fs::write(&file, format!("{start}{upgrade}").replace("42", "43")).unwrap();
    check_rejected(
        &node,
        std::slice::from_ref(&setting),
        &["another genesis", "accounts"],
    );
    fs::write(&file, format!("{start}{upgrade}")).unwrap();
    let mut node = node.restart();
    assert!(node.log().contains("framework upgrades"), "{}", node.log());
    node.stop("TERM");
    fs::write(&file, start).unwrap();
    check_rejected(&node, std::slice::from_ref(&setting), &["2@150000"]);
}
