//! The separate listener for GraphQL, at which clients of a local network expect an indexer.

use ledger_test_support::{TestAccount, http::HttpResponse, node::TestNode};
use reqwest::Method;
use serde_json::{Value, json};

/// The setting that opens the listener.
const LISTEN: &str = "graphql.listen=127.0.0.1:0";

/// A query of the progress of one processor of the indexer.
const PROGRESS: &str = "{ processor_status(where: { processor: { _eq: \"default_processor\" } }) \
                        { last_success_version } }";

/// Queries the progress.
async fn query_progress(node: &TestNode, base: &str) -> HttpResponse {
    let url = format!("{base}/v1/graphql");
    let body = json!({ "query": PROGRESS });
    node.http.send_json(Method::POST, &url, &body).await
}

/// Returns the version in a response.
fn version(response: &HttpResponse) -> u64 {
    assert_eq!(response.status, 200, "{}", response.text);
    assert_eq!(response.json.get("errors"), None, "{}", response.text);
    let statuses = response.json["data"]["processor_status"]
        .as_array()
        .unwrap();
    assert_eq!(statuses.len(), 1, "{}", response.text);
    statuses[0]["last_success_version"].as_u64().unwrap()
}

#[tokio::test]
async fn returns_the_committed_version() {
    let node = TestNode::start(&[LISTEN]);
    let base = node
        .graphql
        .as_deref()
        .expect("the ready line names the listener");
    assert_ne!(base, node.api);
    let before = version(&query_progress(&node, base).await);
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1).await;
    let after = version(&query_progress(&node, base).await);
    assert!(after > before, "{after} after {before}");
    assert_eq!(version(&query_progress(&node, &node.api).await), after);
}

#[tokio::test]
async fn waits_for_a_minimum_version() {
    let node = TestNode::start(&[LISTEN, "wait.timeout_ms=600000"]);
    let base = node.graphql.clone().expect("the listener");
    let newest = version(&query_progress(&node, &base).await);
    let url = format!("{base}/v1/graphql?min_ledger_version={}", newest + 1);
    let http = node.http.clone();
    let waiting = tokio::spawn(async move {
        let body = json!({ "query": PROGRESS });
        http.send_json(Method::POST, &url, &body).await
    });
    node.fund(&TestAccount::from_seed(1), 1).await;
    assert!(version(&waiting.await.unwrap()) > newest);
}

#[tokio::test]
async fn serves_no_other_route() {
    let node = TestNode::start(&[LISTEN]);
    let base = node
        .graphql
        .as_deref()
        .expect("the ready line names the listener");
    for path in [
        "/",
        "/v1",
        "/v1/",
        "/v1/transactions",
        "/v1/spec.json",
        "/graphql",
    ] {
        let response = node.http.get(&format!("{base}{path}")).await;
        assert_eq!(response.status, 404, "{path}: {}", response.text);
        assert_ne!(
            response.json["error_code"],
            Value::Null,
            "{path}: {}",
            response.text
        );
    }
    let response = node.http.get(&format!("{base}/v1/graphql")).await;
    assert_eq!(response.status, 405, "{}", response.text);
    assert_eq!(response.headers["allow"], "POST");
}

#[tokio::test]
async fn listens_only_if_it_is_configured() {
    let node = TestNode::start(&[]);
    assert_eq!(node.graphql, None);
    version(&query_progress(&node, &node.api).await);
}

#[tokio::test]
async fn rejects_an_address_in_use_and_names_the_setting() {
    let node = TestNode::start(&[LISTEN]);
    let taken = node
        .graphql
        .as_deref()
        .expect("the ready line names the listener");
    let taken = taken.strip_prefix("http://").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let settings = [format!("graphql.listen={taken}")];
    let output = TestNode::command(directory.path(), &settings)
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{message}");
    assert!(
        message.contains("graphql.listen") && message.contains(taken),
        "{message}"
    );
}
