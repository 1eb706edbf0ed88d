//! The submission filter and the switches of the interface: from the configuration, over a restart, and live
//! on the operator's listener.

use crate::kit::{HttpResponse, TestAccount, TestNode, binary};
use ledger_types::SignedTransaction;
use reqwest::Method;
use serde_json::{Value, json};

const FUNDS: u64 = 1_000_000_000;

async fn put_rules(node: &TestNode, rules: &[&str]) -> HttpResponse {
    let url = format!("{}/filter", node.admin);
    let body = json!({ "rules": rules });
    node.http.send_json(Method::PUT, &url, &body).await
}

/// Status, `error_code` and message of a submission.
async fn submitted(node: &TestNode, transaction: &SignedTransaction) -> (u16, Value, String) {
    let answer = node.try_submit(transaction).await.unwrap();
    let message = answer.json["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    (answer.status, answer.json["error_code"].clone(), message)
}

async fn kept_out(node: &TestNode, transaction: &SignedTransaction, rule: &str) {
    let (status, error_code, message) = submitted(node, transaction).await;
    assert_eq!(
        (status, error_code),
        (403, json!("rejected_by_filter")),
        "{message}"
    );
    assert!(message.ends_with(rule), "{message}");
}

#[tokio::test]
async fn rules_come_from_the_configuration_and_are_changed_live() {
    let [alice, bob] = [1, 2].map(TestAccount::from_seed);
    let rule = format!("deny sender {}", alice.address);
    let node = TestNode::start(&[&format!("filter.rules= {rule} ,allow   all")]);
    let url = format!("{}/filter", node.admin);
    let shown = node.http.get(&url).await;
    assert_eq!(
        (shown.status, shown.json),
        (200, json!({ "rules": [rule, "allow all"] }))
    );
    let chain = node.chain().await;
    node.fund(&alice, FUNDS).await;
    node.fund(&bob, FUNDS).await;
    kept_out(
        &node,
        &alice.transfer(&chain, 0, bob.address, 1),
        &format!("rule 1: {rule}"),
    )
    .await;
    node.submit_and_wait(&bob.transfer(&chain, 0, bob.address, 1))
        .await;

    let only_alice = [
        format!("allow sender {}", alice.address),
        "deny all".to_owned(),
    ];
    let changed = put_rules(&node, &only_alice.each_ref().map(String::as_str)).await;
    assert_eq!(
        (changed.status, &changed.json),
        (200, &json!({ "rules": only_alice }))
    );
    assert_eq!(node.http.get(&url).await.json, changed.json);
    kept_out(
        &node,
        &bob.transfer(&chain, 1, bob.address, 1),
        "rule 2: deny all",
    )
    .await;
    node.submit_and_wait(&alice.transfer(&chain, 0, bob.address, 1))
        .await;
    // What the node itself sends is not asked.
    node.fund(&bob, 1).await;

    assert_eq!(put_rules(&node, &[]).await.status, 200);
    node.submit_and_wait(&bob.transfer(&chain, 1, bob.address, 1))
        .await;
    node.logged("submission filter changed").await;
}

#[tokio::test]
async fn what_the_pool_took_stays_over_a_change_and_over_a_restart_with_other_rules() {
    let mut node = TestNode::start(&[]);
    let chain = node.chain().await;
    let alice = TestAccount::from_seed(1);
    node.fund(&alice, FUNDS).await;
    // Waits for its predecessor.
    let parked = node
        .submit(&alice.transfer(&chain, 1, alice.address, 1))
        .await;
    assert_eq!(put_rules(&node, &["deny all"]).await.status, 200);
    let path = format!("/v1/transactions/by_hash/{parked}");
    assert_eq!(node.get(&path).await.json["type"], "pending_transaction");

    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
    let node = node.restart_with(&["filter.rules=deny all"]);
    assert_eq!(node.get(&path).await.json["type"], "pending_transaction");
    let first = alice.transfer(&chain, 0, alice.address, 1);
    kept_out(&node, &first, "deny all").await;
    assert_eq!(put_rules(&node, &[]).await.status, 200);
    node.submit(&first).await;
    assert_eq!(node.try_wait(&parked).await.unwrap()["success"], true);
}

/// The interface of the operator takes a full set of the longest rules, and names the limit for one more.
#[tokio::test]
async fn replaces_the_filter_by_as_many_of_the_longest_rules_as_it_may_have() {
    const RULES_MAX: usize = 10_000;
    let node = TestNode::start(&[]);
    let name = |number: usize| format!("{number:_>254}x");
    let rules: Vec<_> = (0..=RULES_MAX)
        .map(|number| {
            format!(
                "allow function 0x{}::m{}::{}",
                "f".repeat(64),
                &name(number)[1..],
                name(number)
            )
        })
        .collect();
    let rules: Vec<_> = rules.iter().map(String::as_str).collect();
    let changed = put_rules(&node, &rules[..RULES_MAX]).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert_eq!(changed.json["rules"].as_array().unwrap().len(), RULES_MAX);
    let refused = put_rules(&node, &rules).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(
        refused.text.contains("at most 10000 rules"),
        "{}",
        refused.text
    );
}

#[tokio::test]
async fn a_change_lasts_until_the_next_start() {
    let mut node = TestNode::start(&[
        "filter.rules=deny sender 0x1",
        "api.simulation_enabled=false",
    ]);
    assert_eq!(put_rules(&node, &["deny all"]).await.status, 200);
    let switches = format!("{}/switches", node.admin);
    let change = json!({ "simulation_enabled": true, "submission_enabled": false });
    let turned = node.http.send_json(Method::PATCH, &switches, &change).await;
    assert_eq!(turned.status, 200, "{}", turned.text);
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
    let node = node.restart();
    let rules = node.http.get(&format!("{}/filter", node.admin)).await.json;
    assert_eq!(rules, json!({ "rules": ["deny sender 0x1"] }));
    let switches = node
        .http
        .get(&format!("{}/switches", node.admin))
        .await
        .json;
    assert_eq!(
        (
            &switches["simulation_enabled"],
            &switches["submission_enabled"]
        ),
        (&json!(false), &json!(true))
    );
}

#[tokio::test]
async fn what_is_no_filter_changes_nothing() {
    let node = TestNode::start(&["filter.rules=deny sender 0x1"]);
    let url = format!("{}/filter", node.admin);
    let too_many = vec!["deny sender 0x2"; 10_001];
    let cases = [
        (
            json!({ "rules": ["allow all", "deny"] }),
            400,
            "rule 2, \\\"deny\\\"",
        ),
        (
            json!({ "rules": ["deny all", "allow all"] }),
            400,
            "rule 2 has no effect",
        ),
        (json!({ "rules": too_many }), 400, "at most 10000 rules"),
        (json!({ "rules": "deny all" }), 400, "the body must be"),
        (json!({ "rules": [], "more": 1 }), 400, "the body must be"),
        (json!(["deny all"]), 400, "the body must be"),
        (json!({ "rules": ["x".repeat(8 << 20)] }), 413, "at most"),
    ];
    for (body, status, words) in cases {
        let answer = node.http.send_json(Method::PUT, &url, &body).await;
        assert_eq!(answer.status, status, "{words}: {}", answer.text);
        assert!(answer.text.contains(words), "{words}: {}", answer.text);
        assert!(answer.json["error_code"].is_string(), "{}", answer.text);
    }
    let kept = node.http.get(&url).await.json;
    assert_eq!(kept, json!({ "rules": ["deny sender 0x1"] }));
    let answer = node.http.send_json(Method::PATCH, &url, &json!({})).await;
    assert_eq!(
        (answer.status, &answer.headers["allow"]),
        (405, &"GET, PUT".parse().unwrap())
    );
    // As many as there may be, each with a whole address, fit into one change.
    let rules: Vec<_> = (0..10_000)
        .map(|number| format!("deny sender 0xf{number:063x}"))
        .collect();
    let answer = put_rules(&node, &rules.iter().map(String::as_str).collect::<Vec<_>>()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

#[tokio::test]
async fn switches_come_from_the_configuration_and_are_turned_live() {
    let node = TestNode::start(&[
        "api.submission_enabled=false",
        "api.bcs_output_enabled=false",
    ]);
    let url = format!("{}/switches", node.admin);
    let expected = json!({
        "json_output_enabled": true,
        "bcs_output_enabled": false,
        "submission_enabled": false,
        "simulation_enabled": true,
        "encode_submission_enabled": true,
    });
    assert_eq!(node.http.get(&url).await.json, expected);
    let chain = node.chain().await;
    let alice = TestAccount::from_seed(1);
    node.fund(&alice, FUNDS).await;
    let transfer = alice.transfer(&chain, 0, alice.address, 1);
    let (status, error_code, message) = submitted(&node, &transfer).await;
    assert_eq!((status, error_code), (403, json!("api_disabled")));
    assert!(message.contains("api.submission_enabled"), "{message}");

    let change = json!({ "submission_enabled": true, "encode_submission_enabled": false });
    let turned = node.http.send_json(Method::PATCH, &url, &change).await;
    assert_eq!(turned.json["submission_enabled"], true, "{}", turned.text);
    assert_eq!(turned.json["encode_submission_enabled"], false);
    assert_eq!(
        turned.json["bcs_output_enabled"], false,
        "what is not named stays"
    );
    node.submit_and_wait(&transfer).await;
    node.logged("switches changed").await;

    for wrong in [
        json!({ "submission": false }),
        json!({ "submission_enabled": "no" }),
        json!([1]),
    ] {
        let answer = node.http.send_json(Method::PATCH, &url, &wrong).await;
        assert_eq!(answer.status, 400, "{wrong}: {}", answer.text);
    }
    assert_eq!(node.http.get(&url).await.json, turned.json);
    let answer = node.http.send_json(Method::PUT, &url, &json!({})).await;
    assert_eq!(
        (answer.status, &answer.headers["allow"]),
        (405, &"GET, PATCH".parse().unwrap())
    );
}

#[test]
fn rules_that_are_none_end_the_start_with_key_and_cause() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("rules.toml");
    std::fs::write(
        &file,
        "[filter]\nrules = \"\"\"\ndeny sender 0x1,\ndeny payer 0x2,\n\"\"\"\n",
    )
    .unwrap();
    let run = |arguments: &[&str], variable: &str| {
        let output = binary()
            .args(["run", "--data-dir"])
            .arg(directory.path().join("data"))
            .args(arguments)
            .env("LEDGER_NODE__FILTER__RULES", variable)
            .output()
            .unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        message
    };
    let cases = [
        (
            run(&["--config", file.to_str().unwrap()], "deny sender 0xg"),
            vec![
                "filter.rules",
                "rules.toml, line 2",
                "rule 2, \"deny payer 0x2\"",
                "sender, module, function or all",
            ],
        ),
        (
            run(&[], "deny sender 0xg"),
            vec![
                "filter.rules",
                "LEDGER_NODE__FILTER__RULES",
                "rule 1",
                "invalid address of the sender",
            ],
        ),
        (
            run(&["--set", "filter.rules=deny all,allow all"], ""),
            vec!["filter.rules", "--set", "rule 2 has no effect"],
        ),
    ];
    for (message, parts) in cases {
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message:?}");
        }
    }
}
