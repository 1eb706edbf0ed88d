//! Versions of the framework that an operator switches on: on a chain that runs, at a height, over
//! restarts.

use crate::kit::{TestAccount, TestNode, function_call};
use ledger_vm::Chain;
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    fs,
    time::{SystemTime, UNIX_EPOCH},
};

const COIN: &str = "0x1::node_coin::NodeCoin";
/// What each escrow of these tests locks.
const AMOUNT: u64 = 7;

/// The setting that lists upgrades.
fn upgrades(list: &str) -> String {
    format!("chain.framework_upgrades={list}")
}

/// Opens an escrow, a function of version 2; gives the committed transaction.
async fn open(node: &TestNode, chain: &Chain, payer: &TestAccount, sequence_number: u64) -> Value {
    let now_secs = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let args = vec![
        bcs::to_bytes(&payer.address).unwrap(),
        bcs::to_bytes(&AMOUNT).unwrap(),
        bcs::to_bytes(&(now_secs + 3_600)).unwrap(),
    ];
    let call = function_call("0x1::escrow::open", &[COIN], args);
    node.submit_and_wait(&payer.call(chain, sequence_number, call))
        .await
}

/// The status of the module's page, and of a call of its view.
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

async fn height(node: &TestNode) -> u64 {
    node.get("/v1").await.json["block_height"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap()
}

/// A node on the directory of one that has stopped refuses to start; its words have all the parts.
fn refuses(stopped: &TestNode, settings: &[String], parts: &[&str]) {
    let output = TestNode::command(stopped.directory(), settings)
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
}

#[tokio::test]
async fn a_running_chain_switches_a_version_on_at_its_height() {
    let mut node = TestNode::start(&[&upgrades("1@0")]);
    let payer = TestAccount::from_seed(1);
    node.fund(&payer, 10_000_000_000).await;
    let chain = node.chain().await;
    let early = open(&node, &chain, &payer, 0).await;
    assert_eq!(
        (&early["success"], &early["vm_status"]),
        (&json!(false), &json!("LINKER_ERROR"))
    );
    let (module, view, _) = module_and_view(&node, &payer).await;
    assert_eq!((module, view), (404, 400));
    let newest = height(&node).await;
    node.stop("TERM");

    let late = upgrades(&format!("1@0,2@{newest}"));
    refuses(
        &node,
        &[late],
        &[
            "the framework upgrade 2@",
            "newest block",
            &newest.to_string(),
        ],
    );
    refuses(
        &node,
        &[upgrades("1@0,999@123456")],
        &["version 999", "height 123456"],
    );
    refuses(&node, &[upgrades("2@123456")], &["1@0"]);

    let switch = newest + 3;
    let mut node = node.restart_with(&[&upgrades(&format!("1@0,2@{switch}"))]);
    let mut opened = 0;
    let mut sequence_number = 1;
    while opened < 2 {
        let transaction = open(&node, &chain, &payer, sequence_number).await;
        // An idle node makes no other block.
        let is_on = height(&node).await >= switch;
        assert_eq!(transaction["success"], is_on, "{transaction}");
        opened += u64::from(is_on);
        sequence_number += 1;
    }
    assert!(sequence_number > 3, "one was refused below the height");
    let locked = |count: u64| json!([(count * AMOUNT).to_string()]);
    assert_eq!(module_and_view(&node, &payer).await, (200, 200, locked(2)));

    // It is in the ledger: no setting is needed any more, and none can take it away.
    node.stop("TERM");
    let mut node = node.restart_with(&[]);
    assert_eq!(module_and_view(&node, &payer).await, (200, 200, locked(2)));
    let transaction = open(&node, &chain, &payer, sequence_number).await;
    assert_eq!(transaction["success"], true, "{transaction}");
    assert_eq!(module_and_view(&node, &payer).await, (200, 200, locked(3)));
    node.stop("TERM");
    refuses(&node, &[upgrades("1@0")], &[&format!("2@{switch}")]);
}

#[test]
fn a_genesis_file_grows_by_upgrades_and_by_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("genesis.toml");
    let start = "chain_id = 77\n[[accounts]]\naddress = \"0xabc\"\nbalance = 42\n";
    let upgrade = "[[parameters.framework_upgrades]]\nversion = 2\nheight = 150000\n";
    fs::write(&file, start).unwrap();
    let setting = format!("chain.genesis={}", file.display());
    let mut node = TestNode::start(&[&setting]);
    node.stop("TERM");

    fs::write(&file, format!("{start}{upgrade}").replace("42", "43")).unwrap();
    refuses(
        &node,
        std::slice::from_ref(&setting),
        &["another genesis", "accounts"],
    );
    fs::write(&file, format!("{start}{upgrade}")).unwrap();
    let mut node = node.restart();
    assert!(node.log().contains("framework upgrades"), "{}", node.log());
    node.stop("TERM");
    fs::write(&file, start).unwrap();
    refuses(&node, std::slice::from_ref(&setting), &["2@150000"]);
}
