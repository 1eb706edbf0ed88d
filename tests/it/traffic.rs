//! The heaviest clients, senders and functions: named under a flood, denied, and allowed again.

use crate::metrics::Scrape;
use ledger_test_support::{
    TestAccount,
    http::{HttpClient, HttpResponse},
    node::{TestNode, until},
    transfer_call,
};
use ledger_vm::Chain;
use reqwest::Method;
use serde_json::{Value, json};
use std::{array, net::IpAddr};
use tokio::task::JoinSet;

/// Address of the client that floods the node.
const FLOODER: &str = "127.0.0.2";

/// The other clients, each of which waits for its response before its next request, too.
const OTHERS: [&str; 4] = ["127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"];

/// Number of requests that the flood has in flight, for one of each other client.
const FLOOD: usize = 16;

/// Share of the work of a flood, at least, in thousandths.
const MOST_PERMILLE: u64 = 600;

fn client(address: &str) -> HttpClient {
    HttpClient::from_address(address.parse::<IpAddr>().unwrap())
}

/// Requests `request` in `flood` tasks for the flooder, and in one for each other client, until the
/// set is dropped. The argument is the number of the client, 0 for the flooder.
fn flood<F, R>(request: F) -> JoinSet<()>
where
    F: Fn(usize, HttpClient) -> R + Clone + Send + 'static,
    R: Future<Output = ()> + Send,
{
    let mut tasks = JoinSet::new();
    let flooders = (0..FLOOD).map(|_| (0, FLOODER));
    for (number, address) in flooders.chain((1..).zip(OTHERS)) {
        let (request, client) = (request.clone(), client(address));
        tasks.spawn(async move {
            loop {
                request(number, client.clone()).await;
            }
        });
    }
    tasks
}

async fn traffic(node: &TestNode) -> Value {
    let response = node.http.get(&format!("{}/traffic", node.admin)).await;
    assert_eq!(response.status, 200, "{}", response.text);
    assert_eq!(response.headers["cache-control"], "no-store");
    response.json
}

/// Waits until the heaviest of a kind is `name`, with most of the work, among others with these
/// names. Returns its row.
async fn until_heaviest<O: AsRef<str>>(
    node: &TestNode,
    kind: &str,
    name: &str,
    others: &[O],
) -> Value {
    until(&format!("{name} to be the heaviest of {kind}"), || async {
        let traffic = traffic(node).await;
        let heaviest = traffic[kind]["rows"][0].clone();
        let is_most = heaviest["share_permille"].as_u64()? >= MOST_PERMILLE;
        let mut others = others.iter();
        let are_others_listed = others.all(|name| row(&traffic, kind, name.as_ref()).is_some());
        (heaviest["name"] == name && is_most && are_others_listed).then_some(heaviest)
    })
    .await
}

/// Posts a body below `/traffic`.
async fn post(node: &TestNode, path: &str, body: &Value) -> HttpResponse {
    let url = format!("{}/traffic/{path}", node.admin);
    node.http.send_json(Method::POST, &url, body).await
}

async fn undo(node: &TestNode) {
    let url = format!("{}/settings/undo", node.admin);
    let request = node.http.request(Method::POST, &url);
    let response = node.http.try_send(request).await.unwrap();
    assert_eq!(response.status, 200, "{}", response.text);
}

/// Returns the row with this name, if the kind has one.
fn row<'a>(traffic: &'a Value, kind: &str, name: &str) -> Option<&'a Value> {
    let rows = traffic[kind]["rows"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_the_address_of_a_flood_and_denies_it_until_an_undo() {
    let node = TestNode::start(&[]);
    let url = format!("{}/v1/accounts/0x1", node.api);
    let target = url.clone();
    let _flood = flood(move |_, client| {
        let url = target.clone();
        async move { drop(client.get(&url).await) }
    });
    let row_of_flooder = until_heaviest(&node, "addresses", FLOODER, &OTHERS).await;
    assert_eq!(row_of_flooder["is_denied"], false, "{row_of_flooder}");

    let denial = json!({ "address": FLOODER, "reason": "a <b>flood</b>" });
    let denied = post(&node, "deny", &denial).await;
    assert_eq!(denied.status, 200, "{}", denied.text);
    assert_eq!(denied.json["denied_addresses"], json!(["127.0.0.2/32"]));
    assert_eq!(
        row(&denied.json, "addresses", FLOODER).unwrap()["is_denied"],
        true
    );
    node.logged("reason=\"a <b>flood</b>\"").await;
    let rejected = client(FLOODER).get(&url).await;
    assert_eq!(rejected.status, 403, "{}", rejected.text);
    assert_eq!(rejected.json["error_code"], "api_disabled");
    let message = rejected.json["message"].as_str().unwrap();
    assert!(message.contains("api.denied_addresses"), "{message}");
    assert_eq!(client(OTHERS[0]).get(&url).await.status, 200);
    assert!(Scrape::of(&node).await.sum("ledger_http_denied_total", &[]) > 0.0);
    // All requests of the flood are rejected now.
    until("the flood to be rejected", || async {
        let traffic = traffic(&node).await;
        let row = row(&traffic, "addresses", FLOODER)?;
        let (requests, rejected) = (&row["requests_per_s"], &row["rejected_per_s"]);
        (rejected.as_f64()? > 0.5 * requests.as_f64()?).then_some(())
    })
    .await;

    undo(&node).await;
    assert_eq!(client(FLOODER).get(&url).await.status, 200);
    assert_eq!(traffic(&node).await["denied_addresses"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_sender_and_function_of_a_flood_and_denies_the_sender() {
    let node = TestNode::start(&[]);
    let chain = node.chain().await;
    let senders: [TestAccount; 5] = array::from_fn(|number| TestAccount::from_seed(number as u64));
    let flooder = senders[0].address.to_string();
    let others = senders[1..]
        .iter()
        .map(|account| account.address.to_string());
    let others: Vec<_> = others.collect();
    let transfers = senders.each_ref().map(|account| {
        let signed = account.transfer(&chain, 0, account.address, 1);
        bcs::to_bytes(&signed).unwrap()
    });
    let media_type = ledger_test_support::http::submission_media_type(chain.vendor());
    let url = format!("{}/v1/transactions", node.api);
    let view = format!("{}/v1/view", node.api);
    let call = json!({
        "function": "0x1::chain_id::get", "type_arguments": [], "arguments": [],
    });
    // The accounts have no funds, so that each submission is rejected after all checks.
    let _flood = flood(move |number, client| {
        let submission = client.request(Method::POST, &url);
        let submission = submission.header("content-type", &media_type);
        let submission = submission.body(transfers[number].clone());
        let (view, call) = (view.clone(), call.clone());
        async move {
            if number > 0 {
                client.send_json(Method::POST, &view, &call).await;
            }
            drop(client.try_send(submission).await);
        }
    });
    let row_of_flooder = until_heaviest(&node, "senders", &flooder, &others).await;
    assert!(
        row_of_flooder["rejected_per_s"].as_f64().unwrap() > 0.0,
        "{row_of_flooder}"
    );
    let transfer = name_of_transfer(&chain);
    until_heaviest(&node, "functions", &transfer, &["0x1::chain_id::get"]).await;

    let denied = post(&node, "deny", &json!({ "sender": flooder })).await;
    assert_eq!(denied.status, 200, "{}", denied.text);
    assert_eq!(
        row(&denied.json, "senders", &flooder).unwrap()["is_denied"],
        true
    );
    let transfer = senders[0].transfer(&chain, 0, senders[1].address, 1);
    let rejected = node.try_submit(&transfer).await.unwrap();
    assert_eq!(
        rejected.json["error_code"], "rejected_by_filter",
        "{}",
        rejected.text
    );
    let others = senders[1].transfer(&chain, 0, senders[1].address, 1);
    let other = node.try_submit(&others).await.unwrap();
    assert_eq!(other.json["error_code"], "vm_error", "{}", other.text);

    let allowed = post(&node, "allow", &json!({ "sender": flooder })).await;
    assert_eq!(allowed.status, 200, "{}", allowed.text);
    let accepted = node.try_submit(&transfer).await.unwrap();
    assert_eq!(accepted.json["error_code"], "vm_error", "{}", accepted.text);
}

/// Returns the function that transfers coins.
fn name_of_transfer(chain: &Chain) -> String {
    let call = transfer_call(chain.vendor(), TestAccount::from_seed(0).address, 1);
    format!("{}::{}", call.module, call.function)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_the_function_of_a_flood_of_views_and_denies_its_submissions() {
    let node = TestNode::start(&["filter.rules=deny sender 0x123"]);
    let chain = node.chain().await;
    let url = format!("{}/v1/view", node.api);
    let flooding = json!({
        "function": "0x1::chain_id::get", "type_arguments": [], "arguments": [],
    });
    let others = json!({
        "function": "0x1::account::exists_at", "type_arguments": [], "arguments": ["0x1"],
    });
    let _flood = flood(move |number, client| {
        let body = if number == 0 { &flooding } else { &others };
        let (url, body) = (url.clone(), body.clone());
        async move { drop(client.send_json(Method::POST, &url, &body).await) }
    });
    let others = ["0x1::account::exists_at"];
    until_heaviest(&node, "functions", "0x1::chain_id::get", &others).await;

    let transfer = name_of_transfer(&chain);
    let denied = post(&node, "deny", &json!({ "function": transfer })).await;
    assert_eq!(denied.status, 200, "{}", denied.text);
    let filter = format!("{}/filter", node.admin);
    let rule = format!("deny function {transfer}");
    let expected = json!({ "rules": [rule, "deny sender 0x123"], "hits": [0, 0] });
    assert_eq!(node.http.get(&filter).await.json, expected);
    let account = TestAccount::from_seed(1);
    let submission = account.transfer(&chain, 0, account.address, 1);
    let rejected = node.try_submit(&submission).await.unwrap();
    assert_eq!(rejected.status, 403, "{}", rejected.text);
    // A further rule before it leaves its hits.
    assert_eq!(
        post(&node, "deny", &json!({ "sender": "0x7" }))
            .await
            .status,
        200
    );
    let expected = json!({
        "rules": ["deny sender 0x7", rule, "deny sender 0x123"],
        "hits": [0, 1, 0],
    });
    assert_eq!(node.http.get(&filter).await.json, expected);
    assert_eq!(
        Scrape::of(&node)
            .await
            .sum("ledger_filter_denied_total", &[]),
        1.0
    );
    let removed = post(&node, "allow", &json!({ "rule": "deny sender 0x123" })).await;
    assert_eq!(removed.status, 200, "{}", removed.text);
    let rules = node.http.get(&filter).await.json["rules"].clone();
    assert_eq!(rules, json!(["deny sender 0x7", rule]));
}

#[tokio::test]
async fn shows_the_executor_time_of_a_sender_without_requests() {
    let node = TestNode::start(&[]);
    // The faucet sends its transactions to the mempool, not to the interface.
    node.fund(&TestAccount::from_seed(1), 1_000).await;
    let row = until("the faucet to be a sender", || async {
        let traffic = traffic(&node).await;
        let rows = traffic["senders"]["rows"].as_array().unwrap();
        rows.first().cloned()
    })
    .await;
    assert_eq!(row["requests_per_s"], 0.0, "{row}");
    assert!(row["share_permille"].as_u64().unwrap() > 900, "{row}");
    let function = traffic(&node).await["functions"]["rows"][0].clone();
    assert_eq!(function["requests_per_s"], 0.0, "{function}");
}

#[tokio::test]
async fn a_denial_on_trial_is_shown_with_its_reason_and_excludes_another_one() {
    let node = TestNode::start(&[]);
    let trial = json!({
        "sender": "0x7", "revert_after_secs": 3600, "reason": "<script>alert(1)</script>",
    });
    assert_eq!(post(&node, "deny", &trial).await.status, 200);
    let settings = node
        .http
        .get(&format!("{}/settings", node.admin))
        .await
        .json;
    assert_eq!(settings["pending"]["reason"], "<script>alert(1)</script>");
    assert_eq!(
        settings["changes"][0]["reason"],
        "<script>alert(1)</script>"
    );
    for path in [
        "/",
        "/console/traffic",
        "/console/settings",
        "/console/health",
    ] {
        let page = node.http.get(&format!("{}{path}", node.admin)).await.text;
        assert!(page.contains("On trial: "), "{path}: {page}");
        assert!(page.contains("&lt;script&gt;alert(1)"), "{path}: {page}");
        assert!(!page.contains("<script>alert"), "{path}: {page}");
    }
    let excluded = post(&node, "deny", &json!({ "sender": "0x8" })).await;
    assert_eq!(excluded.status, 409, "{}", excluded.text);
    undo(&node).await;
    assert_eq!(
        post(&node, "deny", &json!({ "sender": "0x8" }))
            .await
            .status,
        200
    );

    let switch = json!({ "set": { "api.simulation_enabled": false }, "reason": "too slow" });
    let url = format!("{}/settings", node.admin);
    let changed = node.http.send_json(Method::PATCH, &url, &switch).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    let page = node.http.get(&format!("{}/", node.admin)).await.text;
    assert!(
        page.contains("<code>api.simulation_enabled</code> is off since"),
        "{page}"
    );
    assert!(page.contains("<q>too slow</q>"), "{page}");
}

#[tokio::test]
async fn rejects_malformed_denials_without_a_change() {
    let networks: Vec<_> = (0..64).map(|number| format!("10.0.0.{number}")).collect();
    let node = TestNode::start(&[&format!("api.denied_addresses={}", networks.join(","))]);
    let long = "x".repeat(201);
    for (path, body, status, words) in [
        ("deny", json!({}), 400, "the body must be"),
        (
            "deny",
            json!({ "sender": "0x1", "address": "::1" }),
            400,
            "the body must be",
        ),
        (
            "deny",
            json!({ "sender": "0x1", "more": 1 }),
            400,
            "the body must be",
        ),
        ("deny", json!({ "sender": "0x1 0x2" }), 400, "one operand"),
        ("deny", json!({ "sender": "<b>" }), 400, "invalid address"),
        (
            "deny",
            json!({ "function": "0x1::m" }),
            400,
            "expected a module ADDRESS::NAME",
        ),
        (
            "deny",
            json!({ "address": "10.0.0.0/8,::1" }),
            400,
            "an address or a network",
        ),
        (
            "deny",
            json!({ "address": "::1" }),
            400,
            "up to 64 networks",
        ),
        (
            "deny",
            json!({ "sender": "0x1", "reason": long }),
            400,
            "200 characters",
        ),
        (
            "deny",
            json!({ "sender": "0x1", "reason": "a\nb" }),
            400,
            "in one line",
        ),
        (
            "deny",
            json!({ "sender": "0x1", "revert_after_secs": 1 }),
            400,
            "from 10 to 3600",
        ),
        (
            "allow",
            json!({ "sender": "0x1" }),
            409,
            "there is no deny sender 0x1",
        ),
        (
            "allow",
            json!({ "address": "::1" }),
            409,
            "there is no ::1/128",
        ),
    ] {
        let response = post(&node, path, &body).await;
        assert_eq!(response.status, status, "{body}: {}", response.text);
        assert!(response.text.contains(words), "{body}: {}", response.text);
    }
    let filter = node.http.get(&format!("{}/filter", node.admin)).await.json;
    assert_eq!(filter, json!({ "rules": [], "hits": [] }));
    let traffic = traffic(&node).await;
    assert_eq!(traffic["denied_addresses"].as_array().unwrap().len(), 64);
    assert_eq!(traffic["senders"]["rows"], json!([]));
}
