//! The admin listener: reading and tuning mailboxes while the node works.

use crate::metrics::Scrape;
use ledger_test_support::{
    TestAccount,
    http::{HttpClient, RawConnection, batch_bytes},
    node::{TestNode, until},
};
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    time::Instant,
};

/// Number of concurrent clients, more than a mailbox of capacity 1 can hold between two turns.
const CLIENTS: u64 = 64;

/// Minimum time between two messages that the node itself sends the mempool, in milliseconds.
const OWN_INTERVAL_MS: u64 = 250;

/// Returns the state of an actor's mailbox.
async fn actor(node: &TestNode, name: &str) -> Value {
    let response = node
        .http
        .get(&format!("{}/actors/{name}", node.admin))
        .await;
    assert_eq!(response.status, 200, "{}", response.text);
    response.json
}

/// Sets the capacity of a mailbox and returns its new state.
async fn set_capacity(node: &TestNode, name: &str, capacity: u64) -> Value {
    let url = format!("{}/actors/{name}", node.admin);
    let body = json!({ "mailbox_capacity": capacity });
    let response = node.http.send_json(Method::PATCH, &url, &body).await;
    assert_eq!(response.status, 200, "{}", response.text);
    response.json
}

/// The responses to the clients of a load so far.
#[derive(Default)]
struct Responses {
    rejected: AtomicU64,
    served: AtomicU64,
    /// Number of rejections of requests that were sent while none were expected.
    rejected_late: AtomicU64,
    expects_no_rejection: AtomicBool,
    is_over: AtomicBool,
}

/// Requests unknown transactions, for each of which the API sends a message to the mempool.
async fn request_unknown_transactions(url: String, responses: Arc<Responses>, client: u64) {
    let http = HttpClient::new();
    let mut number = client;
    while !responses.is_over.load(SeqCst) {
        number += CLIENTS;
        let is_late = responses.expects_no_rejection.load(SeqCst);
        let response = http
            .get(&format!("{url}/v1/transactions/by_hash/0x{number:064x}"))
            .await;
        match response.status {
            404 => responses.served.fetch_add(1, SeqCst),
            503 => {
                assert_eq!(response.headers["retry-after"], "1");
                assert!(response.text.contains("mempool"), "{}", response.text);
                if is_late {
                    responses.rejected_late.fetch_add(1, SeqCst);
                }
                responses.rejected.fetch_add(1, SeqCst)
            }
            status => panic!("{status}: {}", response.text),
        };
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejects_requests_only_while_the_mailbox_capacity_is_low() {
    let node = TestNode::start(&[]);
    let before = actor(&node, "mempool").await;
    let responses = Arc::new(Responses::default());
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            tokio::spawn(request_unknown_transactions(
                node.api.clone(),
                Arc::clone(&responses),
                client,
            ))
        })
        .collect();
    let at_least = |counter: fn(&Responses) -> &AtomicU64, count: u64| {
        let responses = Arc::clone(&responses);
        move || {
            let reached = counter(&responses).load(SeqCst) >= count;
            async move { reached.then_some(()) }
        }
    };

    until("the load", at_least(|responses| &responses.served, 1_000)).await;
    assert_eq!(
        responses.rejected.load(SeqCst),
        0,
        "rejected before the capacity was lowered"
    );

    let lowered_at = Instant::now();
    let lowered = set_capacity(&node, "mempool", 1).await;
    assert_eq!(lowered["capacity"], 1);
    until("rejections", at_least(|responses| &responses.rejected, 20)).await;
    // The thread of the mempool has time, so more requests may wait for it.
    let recommended = async || {
        let report = node
            .http
            .get(&format!("{}/settings", node.admin))
            .await
            .json;
        let mut settings = report["settings"].as_array().unwrap().iter();
        let capacity = settings.find(|it| it["key"] == "actors.mempool.mailbox_capacity");
        capacity.unwrap()["recommended"]["value"].clone()
    };
    until("a recommendation", || async {
        (recommended().await == 16_384).then_some(())
    })
    .await;
    let page = format!("{}/console/settings", node.admin);
    let page = node.http.get(&page).await.text;
    for part in ["Recommended: 16384", "data-fill=\"16384\""] {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }

    let raised = set_capacity(&node, "mempool", 10_000).await;
    let lowered_ms = lowered_at.elapsed().as_millis() as u64;
    assert_eq!(raised["capacity"], 10_000);
    // Rejections of the earlier capacity recommend nothing.
    assert_eq!(recommended().await, Value::Null);
    responses.expects_no_rejection.store(true, SeqCst);
    let served = responses.served.load(SeqCst);
    until(
        "the load after the raise",
        at_least(|responses| &responses.served, served + 2_000),
    )
    .await;
    assert_eq!(
        responses.rejected_late.load(SeqCst),
        0,
        "rejected after the capacity was raised"
    );

    responses.is_over.store(true, SeqCst);
    for client in clients {
        client.await.unwrap();
    }
    let after = actor(&node, "mempool").await;
    let counted = |name: &str| after[name].as_u64().unwrap() - before[name].as_u64().unwrap();
    // The node itself also requests the size of the mempool's file.
    let own = counted("refused").checked_sub(responses.rejected.load(SeqCst));
    let own_max = lowered_ms / OWN_INTERVAL_MS + 1;
    assert!(own.is_some_and(|own| own <= own_max), "{own:?}, {own_max}");
    let looked_up = |status: &Value| {
        status["handled_by_kind"]["get_pending"]
            .as_u64()
            .unwrap_or(0)
    };
    assert_eq!(
        looked_up(&after) - looked_up(&before),
        responses.served.load(SeqCst)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_the_high_water_anew_after_a_change_of_the_capacity() {
    // Each transaction of a batch is a request.
    const BATCH: u64 = 8;
    let node = TestNode::start(&[]);
    let (chain, account) = (node.chain().await, TestAccount::from_seed(1));
    node.fund(&account, 1_000_000_000).await;
    let batch: Vec<_> = (0..BATCH)
        .map(|number| account.transfer(&chain, number, account.address, 1))
        .collect();
    let mut connection = RawConnection::connect(node.authority()).await;
    let response = connection.exchange(&batch_bytes(&batch)).await.unwrap();
    assert_eq!(response.status, 202, "{}", response.text());
    let high_water = async || {
        let labels = [("actor", "mempool")];
        let scrape = Scrape::of(&node).await;
        scrape.sum("ledger_mailbox_high_water", &labels)
    };
    assert!(high_water().await >= BATCH as f64);
    let before = until("the capacity to be two seconds old", || async {
        let secs = actor(&node, "mempool").await["capacity_set_secs"].as_u64();
        secs.filter(|&secs| secs >= 2)
    })
    .await;

    let changed = set_capacity(&node, "mempool", 100).await;
    // The node itself sends single requests.
    assert!(changed["high_water"].as_u64().unwrap() < BATCH, "{changed}");
    assert!(
        changed["capacity_set_secs"].as_u64().unwrap() < before,
        "{changed}"
    );
    assert!(high_water().await < BATCH as f64);
}

/// Returns the actors with a mailbox setting, in the order of `config/node.toml`.
fn actors_with_settings() -> Vec<&'static str> {
    let lines = include_str!("../../config/node.toml").lines();
    let names = lines.filter_map(|line| line.strip_prefix("[actors.")?.strip_suffix(']'));
    names.collect()
}

#[tokio::test]
async fn lists_every_actor_and_rejects_invalid_changes() {
    let node = TestNode::start(&["actors.pruner.mailbox_capacity=3"]);
    let list = node.http.get(&format!("{}/actors", node.admin)).await;
    let names: Vec<_> = list
        .json
        .as_array()
        .unwrap()
        .iter()
        .map(|actor| actor["actor"].clone())
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
        let response = node.http.send_json(Method::PATCH, &url, &body).await;
        assert_eq!(response.status, status, "{body}: {}", response.text);
        assert!(response.json["message"].is_string(), "{}", response.text);
        assert!(response.json["error_code"].is_string(), "{}", response.text);
    }
    let url = format!("{}/actors/mempool", node.admin);
    let above = json!({ "mailbox_capacity": 10_000_001 });
    let response = node.http.send_json(Method::PATCH, &url, &above).await;
    assert!(
        response.text.contains("from 1 to 10000000"),
        "{}",
        response.text
    );
    let response = node.http.send_json(Method::DELETE, &url, &json!({})).await;
    assert_eq!(
        (response.status, &response.headers["allow"]),
        (405, &"GET, PATCH".parse().unwrap())
    );
    let response = node.http.get(&format!("{}/nothing", node.admin)).await;
    assert_eq!(response.status, 404);
    assert!(response.json["error_code"].is_string(), "{}", response.text);
    assert_eq!(
        node.http
            .get(&format!("{}/actors/nobody", node.admin))
            .await
            .status,
        404
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_and_changes_budgets_and_rejects_invalid_changes() {
    let node = TestNode::start(&["work.read_budget_ms=250"]);
    let url = format!("{}/budgets", node.admin);
    let capacities = async || {
        let response = node.http.get(&url).await;
        assert_eq!(response.status, 200, "{}", response.text);
        let budgets = response.json.as_array().unwrap().clone();
        let row = |budget: &Value| {
            let name = budget["name"].as_str().unwrap().to_owned();
            (name, budget["capacity_ms"].as_u64().unwrap())
        };
        budgets.iter().map(row).collect::<Vec<_>>()
    };
    let with_reads = |reads| {
        [
            ("point_reads", 100),
            ("reads", reads),
            ("renderings", 1_000),
        ]
        .map(|(name, capacity_ms)| (name.to_owned(), capacity_ms))
    };
    assert_eq!(capacities().await, with_reads(250));
    for (path, body, status) in [
        ("/reads", json!({ "capacity_ms": 500 }), 200),
        ("/reads", json!({ "capacity_ms": 0 }), 400),
        ("/reads", json!({ "capacity_ms": 600_001 }), 400),
        ("/reads", json!({ "capacity": 1 }), 400),
        ("/none", json!({ "capacity_ms": 500 }), 404),
    ] {
        let url = format!("{url}{path}");
        let response = node.http.send_json(Method::PATCH, &url, &body).await;
        assert_eq!(response.status, status, "{path} {body}: {}", response.text);
    }
    assert_eq!(capacities().await, with_reads(500));
    let metrics = node.http.get(&format!("{}/metrics", node.admin)).await;
    let line = "ledger_budget_capacity_seconds{budget=\"reads\"} 0.5";
    assert!(metrics.text.contains(line), "{}", metrics.text);
}
