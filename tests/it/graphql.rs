//! The second listener for GraphQL: where clients of a local network look for an indexer.

use crate::kit::{HttpResponse, TestAccount, TestNode};
use reqwest::Method;
use serde_json::{Value, json};

const LISTEN: &str = "graphql.listen=127.0.0.1:0";

/// Asks how far one program of the indexer is.
async fn ask(node: &TestNode, base: &str) -> HttpResponse {
    let query = "{ processor_status(where: { processor: { _eq: \"default_processor\" } }) \
                 { last_success_version } }";
    let body = json!({ "query": query });
    let url = format!("{base}/v1/graphql");
    node.http.send_json(Method::POST, &url, &body).await
}

/// The version that is answered.
fn version(answer: &HttpResponse) -> u64 {
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.json.get("errors"), None, "{}", answer.text);
    let statuses = answer.json["data"]["processor_status"].as_array().unwrap();
    assert_eq!(statuses.len(), 1, "{}", answer.text);
    statuses[0]["last_success_version"].as_u64().unwrap()
}

#[tokio::test]
async fn the_query_is_answered_there_from_the_committed_version() {
    let node = TestNode::start(&[LISTEN]);
    let base = node.graphql.as_deref().expect("the ready line says where");
    assert_ne!(base, node.api);
    let before = version(&ask(&node, base).await);
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1).await;
    let after = version(&ask(&node, base).await);
    assert!(after > before, "{after} after {before}");
    assert_eq!(version(&ask(&node, &node.api).await), after);
}

#[tokio::test]
async fn nothing_else_is_served_there() {
    let node = TestNode::start(&[LISTEN]);
    let base = node.graphql.as_deref().expect("the ready line says where");
    for path in [
        "/",
        "/v1",
        "/v1/",
        "/v1/transactions",
        "/v1/spec.json",
        "/graphql",
    ] {
        let answer = node.http.get(&format!("{base}{path}")).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text);
        assert_ne!(
            answer.json["error_code"],
            Value::Null,
            "{path}: {}",
            answer.text
        );
    }
    let answer = node.http.get(&format!("{base}/v1/graphql")).await;
    assert_eq!(answer.status, 405, "{}", answer.text);
    assert_eq!(answer.headers["allow"], "POST");
}

#[tokio::test]
async fn it_listens_only_where_it_is_wanted() {
    let node = TestNode::start(&[]);
    assert_eq!(node.graphql, None);
    version(&ask(&node, &node.api).await);
}

#[tokio::test]
async fn an_address_that_is_taken_ends_the_start_and_names_the_setting() {
    let node = TestNode::start(&[LISTEN]);
    let taken = node.graphql.as_deref().expect("the ready line says where");
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
