//! The submission filter and the switches of the API: from the configuration, after a restart, and
//! changed on the admin listener while the node runs.

use ledger_test_support::{
    TestAccount,
    http::HttpResponse,
    node::{TestNode, binary},
};
use ledger_types::SignedTransaction;
use reqwest::Method;
use serde_json::{Value, json};

/// Funds of an account, in the coin's smallest unit.
const FUNDS: u64 = 1_000_000_000;

/// Replaces the rules of the filter.
async fn put_rules(node: &TestNode, rules: &[&str]) -> HttpResponse {
    let url = format!("{}/filter", node.admin);
    let body = json!({ "rules": rules });
    node.http.send_json(Method::PUT, &url, &body).await
}

/// Submits a transaction. Returns status, `error_code` and message of the response.
async fn submit(node: &TestNode, transaction: &SignedTransaction) -> (u16, Value, String) {
    let response = node.try_submit(transaction).await.unwrap();
    let message = response.json["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    (
        response.status,
        response.json["error_code"].clone(),
        message,
    )
}

/// Checks that the filter rejects a transaction by this rule.
async fn check_rejected(node: &TestNode, transaction: &SignedTransaction, rule: &str) {
    let (status, error_code, message) = submit(node, transaction).await;
    assert_eq!(
        (status, error_code),
        (403, json!("rejected_by_filter")),
        "{message}"
    );
    assert!(message.ends_with(rule), "{message}");
}

#[tokio::test]
async fn applies_configured_rules_and_changes_them_while_running() {
    let [alice, bob] = [1, 2].map(TestAccount::from_seed);
    let rule = format!("deny sender {}", alice.address);
    let node = TestNode::start(&[&format!("filter.rules= {rule} ,allow   all")]);
    let url = format!("{}/filter", node.admin);
    let configured = node.http.get(&url).await;
    assert_eq!(
        (configured.status, configured.json),
        (200, json!({ "rules": [rule, "allow all"], "hits": [0, 0] }))
    );
    let chain = node.chain().await;
    node.fund(&alice, FUNDS).await;
    node.fund(&bob, FUNDS).await;
    check_rejected(
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
        (200, &json!({ "rules": only_alice, "hits": [0, 0] }))
    );
    assert_eq!(node.http.get(&url).await.json, changed.json);
    check_rejected(
        &node,
        &bob.transfer(&chain, 1, bob.address, 1),
        "rule 2: deny all",
    )
    .await;
    node.submit_and_wait(&alice.transfer(&chain, 0, bob.address, 1))
        .await;
    // Transactions of the node itself pass no filter.
    node.fund(&bob, 1).await;

    assert_eq!(put_rules(&node, &[]).await.status, 200);
    node.submit_and_wait(&bob.transfer(&chain, 1, bob.address, 1))
        .await;
    node.logged("setting=\"filter.rules\"").await;
}

#[tokio::test]
async fn keeps_pending_transactions_after_a_change_and_a_restart_with_other_rules() {
    let mut node = TestNode::start(&[]);
    let chain = node.chain().await;
    let alice = TestAccount::from_seed(1);
    node.fund(&alice, FUNDS).await;
    // This transaction waits for its predecessor.
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
    check_rejected(&node, &first, "deny all").await;
    assert_eq!(put_rules(&node, &[]).await.status, 200);
    node.submit(&first).await;
    assert_eq!(node.try_wait(&parked).await.unwrap()["success"], true);
}

/// The admin listener accepts the maximum number of rules of maximum length, and names the limit
/// for one more.
#[tokio::test]
async fn replaces_the_filter_by_the_maximum_number_of_the_longest_rules() {
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
    let rejected = put_rules(&node, &rules).await;
    assert_eq!(rejected.status, 400, "{}", rejected.text);
    assert!(
        rejected.text.contains("at most 10000 rules"),
        "{}",
        rejected.text
    );
}

#[tokio::test]
async fn forgets_a_change_at_the_next_start() {
    let mut node = TestNode::start(&[
        "filter.rules=deny sender 0x1",
        "api.simulation_enabled=false",
    ]);
    assert_eq!(put_rules(&node, &["deny all"]).await.status, 200);
    let switches = format!("{}/switches", node.admin);
    let change = json!({ "simulation_enabled": true, "submission_enabled": false });
    let changed = node.http.send_json(Method::PATCH, &switches, &change).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
    let node = node.restart();
    let rules = node.http.get(&format!("{}/filter", node.admin)).await.json;
    assert_eq!(rules, json!({ "rules": ["deny sender 0x1"], "hits": [0] }));
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
async fn rejects_an_invalid_filter_without_a_change() {
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
        let response = node.http.send_json(Method::PUT, &url, &body).await;
        assert_eq!(response.status, status, "{words}: {}", response.text);
        assert!(response.text.contains(words), "{words}: {}", response.text);
        assert!(response.json["error_code"].is_string(), "{}", response.text);
    }
    let unchanged = node.http.get(&url).await.json;
    assert_eq!(
        unchanged,
        json!({ "rules": ["deny sender 0x1"], "hits": [0] })
    );
    let response = node.http.send_json(Method::PATCH, &url, &json!({})).await;
    assert_eq!(
        (response.status, &response.headers["allow"]),
        (405, &"GET, PUT".parse().unwrap())
    );
}

#[tokio::test]
async fn applies_configured_switches_and_changes_them_while_running() {
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
    let (status, error_code, message) = submit(&node, &transfer).await;
    assert_eq!((status, error_code), (403, json!("api_disabled")));
    assert!(message.contains("api.submission_enabled"), "{message}");

    let change = json!({ "submission_enabled": true, "encode_submission_enabled": false });
    let changed = node.http.send_json(Method::PATCH, &url, &change).await;
    assert_eq!(changed.json["submission_enabled"], true, "{}", changed.text);
    assert_eq!(changed.json["encode_submission_enabled"], false);
    assert_eq!(
        changed.json["bcs_output_enabled"], false,
        "a switch that the request does not name has changed"
    );
    node.submit_and_wait(&transfer).await;
    node.logged("setting=\"api.encode_submission_enabled\"")
        .await;

    for invalid in [
        json!({ "submission": false }),
        json!({ "submission_enabled": "no" }),
        json!([1]),
    ] {
        let response = node.http.send_json(Method::PATCH, &url, &invalid).await;
        assert_eq!(response.status, 400, "{invalid}: {}", response.text);
    }
    assert_eq!(node.http.get(&url).await.json, changed.json);
    let response = node.http.send_json(Method::PUT, &url, &json!({})).await;
    assert_eq!(
        (response.status, &response.headers["allow"]),
        (405, &"GET, PATCH".parse().unwrap())
    );
}

#[test]
fn rejects_invalid_rules_at_the_start_with_key_and_cause() {
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
