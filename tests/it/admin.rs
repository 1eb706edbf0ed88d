//! The operator's listener: reading and tuning mailboxes while the node works.

use crate::kit::{HttpClient, TestNode, until};
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
};

/// How many clients ask at once; more than a mailbox of capacity 1 can hold between two turns.
const CLIENTS: u64 = 64;

async fn actor(node: &TestNode, name: &str) -> Value {
    let answer = node
        .http
        .get(&format!("{}/actors/{name}", node.admin))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json
}

async fn set_capacity(node: &TestNode, name: &str, capacity: u64) -> Value {
    let url = format!("{}/actors/{name}", node.admin);
    let body = json!({ "mailbox_capacity": capacity });
    let answer = node.http.send_json(Method::PATCH, &url, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json
}

/// What the clients of a load have seen so far.
#[derive(Default)]
struct Seen {
    refused: AtomicU64,
    served: AtomicU64,
    /// Refusals of requests that began after the load was told that there are to be none.
    refused_late: AtomicU64,
    none_expected: AtomicBool,
    over: AtomicBool,
}

/// Asks for transactions that nobody knows, which the mempool is asked first for.
async fn ask(url: String, seen: Arc<Seen>, client: u64) {
    let http = HttpClient::new();
    let mut number = client;
    while !seen.over.load(SeqCst) {
        number += CLIENTS;
        let late = seen.none_expected.load(SeqCst);
        let answer = http
            .get(&format!("{url}/v1/transactions/by_hash/0x{number:064x}"))
            .await;
        match answer.status {
            404 => seen.served.fetch_add(1, SeqCst),
            503 => {
                assert_eq!(answer.headers["retry-after"], "1");
                assert!(answer.text.contains("mempool"), "{}", answer.text);
                if late {
                    seen.refused_late.fetch_add(1, SeqCst);
                }
                seen.refused.fetch_add(1, SeqCst)
            }
            status => panic!("{status}: {}", answer.text),
        };
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_one_load_a_lower_capacity_begins_refusals_and_a_higher_one_ends_them() {
    let node = TestNode::start(&[]);
    let before = actor(&node, "mempool").await;
    let seen = Arc::new(Seen::default());
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| tokio::spawn(ask(node.api.clone(), Arc::clone(&seen), client)))
        .collect();
    let at_least = |counter: fn(&Seen) -> &AtomicU64, count: u64| {
        let seen = Arc::clone(&seen);
        move || {
            let reached = counter(&seen).load(SeqCst) >= count;
            async move { reached.then_some(()) }
        }
    };

    until("the load", at_least(|seen| &seen.served, 1_000)).await;
    assert_eq!(
        seen.refused.load(SeqCst),
        0,
        "refused before the capacity was lowered"
    );

    let lowered = set_capacity(&node, "mempool", 1).await;
    assert_eq!(lowered["capacity"], 1);
    until("refusals", at_least(|seen| &seen.refused, 20)).await;

    let raised = set_capacity(&node, "mempool", 10_000).await;
    assert_eq!(raised["capacity"], 10_000);
    seen.none_expected.store(true, SeqCst);
    let served = seen.served.load(SeqCst);
    until(
        "the load after the raise",
        at_least(|seen| &seen.served, served + 2_000),
    )
    .await;
    assert_eq!(
        seen.refused_late.load(SeqCst),
        0,
        "refused after the capacity was raised"
    );

    seen.over.store(true, SeqCst);
    for client in clients {
        client.await.unwrap();
    }
    let after = actor(&node, "mempool").await;
    let counted = |name: &str| after[name].as_u64().unwrap() - before[name].as_u64().unwrap();
    assert_eq!(counted("refused"), seen.refused.load(SeqCst));
    // The node itself asks the mempool too, how large its file would be.
    let looked_up = |status: &Value| {
        status["handled_by_kind"]["pending_by_hash"]
            .as_u64()
            .unwrap_or(0)
    };
    assert_eq!(
        looked_up(&after) - looked_up(&before),
        seen.served.load(SeqCst)
    );
}

/// Returns the actors with a mailbox setting, in the order of `config/node.toml`.
fn actors_with_settings() -> Vec<&'static str> {
    let lines = include_str!("../../config/node.toml").lines();
    let names = lines.filter_map(|line| line.strip_prefix("[actors.")?.strip_suffix(']'));
    names.collect()
}

#[tokio::test]
async fn every_actor_is_listed_and_bad_changes_are_refused() {
    let node = TestNode::start(&["actors.pruner.mailbox_capacity=3"]);
    let list = node.http.get(&format!("{}/actors", node.admin)).await;
    let names: Vec<_> = list
        .json
        .as_array()
        .unwrap()
        .iter()
        .map(|a| a["actor"].clone())
        .collect();
    assert_eq!(names, actors_with_settings());
    assert_eq!(actor(&node, "pruner").await["capacity"], 3);

    let cases = [
        ("mempool", json!({ "mailbox_capacity": 0 }), 400),
        ("mempool", json!({ "mailbox_capacity": -1 }), 400),
        ("mempool", json!({ "mailbox_capacity": 10_000_001 }), 400),
        ("mempool", json!({ "capacity": 5 }), 400),
        ("mempool", json!("x".repeat(5000)), 413),
        ("mempool", json!("x"), 400),
        ("nobody", json!({ "mailbox_capacity": 5 }), 404),
    ];
    for (name, body, status) in cases {
        let url = format!("{}/actors/{name}", node.admin);
        let answer = node.http.send_json(Method::PATCH, &url, &body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
        assert!(answer.json["message"].is_string(), "{}", answer.text);
        assert!(answer.json["error_code"].is_string(), "{}", answer.text);
    }
    let url = format!("{}/actors/mempool", node.admin);
    let above = json!({ "mailbox_capacity": 10_000_001 });
    let answer = node.http.send_json(Method::PATCH, &url, &above).await;
    assert!(
        answer.text.contains("from 1 to 10000000"),
        "{}",
        answer.text
    );
    let answer = node.http.send_json(Method::DELETE, &url, &json!({})).await;
    assert_eq!(
        (answer.status, &answer.headers["allow"]),
        (405, &"GET, PATCH".parse().unwrap())
    );
    let answer = node.http.get(&format!("{}/nothing", node.admin)).await;
    assert_eq!(answer.status, 404);
    assert!(answer.json["error_code"].is_string(), "{}", answer.text);
    assert_eq!(
        node.http
            .get(&format!("{}/actors/nobody", node.admin))
            .await
            .status,
        404
    );
}

#[tokio::test]
async fn a_page_from_elsewhere_may_not_ask() {
    let node = TestNode::start(&[]);
    let url = format!("{}/actors", node.admin);
    let with = async |name: &str, value: &str| {
        let request = node.http.request(Method::GET, &url).header(name, value);
        node.http.try_send(request).await.unwrap().status
    };
    assert_eq!(with("origin", &node.admin).await, 200);
    assert_eq!(
        with("origin", "http://127.0.0.1").await,
        403,
        "another port"
    );
    assert_eq!(with("origin", "https://example.org").await, 403);
    assert_eq!(with("origin", "null").await, 403);
    assert_eq!(with("host", "localhost").await, 200);
    assert_eq!(with("host", "example.org:9101").await, 403);
}
