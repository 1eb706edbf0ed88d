//! The snapshots of actors, threads and queues on the admin listener: their JSON, their history,
//! their stream, and the stage that they name under load.

mod loads;
mod top;

use crate::metrics::{Scrape, node_at_work};
use ledger_test_support::{
    TestAccount, TransactionBuilder,
    http::{RawConnection, number},
    node::{TestNode, until},
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Maximum number of streams of `/events`.
const STREAMS_MAX: usize = 16;

/// Returns the newest snapshot.
async fn snapshot(node: &TestNode) -> Value {
    let response = node.http.get(&format!("{}/snapshot", node.admin)).await;
    assert_eq!(response.status, 200, "{}", response.text);
    assert_eq!(response.headers["content-type"], "application/json");
    response.json
}

/// Returns a snapshot whose number is at least `sequence`.
async fn snapshot_from(node: &TestNode, sequence: u64) -> Value {
    until("a later snapshot", || async {
        let snapshot = snapshot(node).await;
        (snapshot["sequence"].as_u64().unwrap() >= sequence).then_some(snapshot)
    })
    .await
}

/// Returns the names of the elements of an array.
fn names(array: &Value) -> BTreeSet<&str> {
    let all = array.as_array().unwrap().iter();
    all.map(|of| of["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn shows_each_stage_and_each_thread_of_a_node() {
    let (node, ..) = node_at_work(&[]).await;
    let snapshot = snapshot_from(&node, 3).await;
    let stages = names(&snapshot["stages"]);
    let expected = [
        "http",
        "signature-check",
        "mempool",
        "pool",
        "sequencer",
        "executor",
        "store-writer",
        "committer",
        "waits",
        "storage",
        "point-reader",
        "store-reader",
        "renderer",
        "store-applier",
        "pruner",
    ];
    assert_eq!(stages, expected.into(), "{snapshot:#}");
    for edge in snapshot["edges"].as_array().unwrap() {
        for end in ["from", "to"] {
            let stage = edge[end].as_str().unwrap();
            assert!(stages.contains(stage) || stage == "clients", "{edge}");
        }
    }
    assert_eq!(number(&node.get("/v1").await.json["block_height"]), 2);
    assert_eq!(snapshot["height"], 2);
    let metrics = Scrape::of(&node).await;
    let latencies = metrics.sum("ledger_pool_commit_seconds_count", &[]);
    assert_eq!(latencies, 2.0, "of the faucet's transfer and the other one");
    #[cfg(target_os = "linux")]
    {
        let threads = names(&snapshot["threads"]);
        for stage in snapshot["stages"].as_array().unwrap() {
            let Some(thread) = stage["thread"].as_str() else {
                continue;
            };
            assert!(threads.contains(thread), "{thread} of {threads:?}");
            assert!(stage["busy_permille"].is_u64(), "{stage:#}");
        }
        assert!(threads.contains("http-admin"), "{threads:?}");
    }
}

#[tokio::test]
async fn serves_the_history_in_as_many_points_as_requested() {
    let node = TestNode::start(&[]);
    let newest = snapshot_from(&node, 4).await;
    let get = async |query: &str| {
        let url = format!("{}/history{query}", node.admin);
        node.http.get(&url).await
    };
    let history = get("?points=2").await.json;
    assert_eq!(history["uptime_ms"].as_array().unwrap().len(), 2);
    assert_eq!(names(&history["series"]), names(&newest["series"]));
    assert_eq!(names(&history["stages"]), names(&newest["stages"]));
    for series in history["series"].as_array().unwrap() {
        assert_eq!(series["mean"].as_array().unwrap().len(), 2, "{series}");
        assert_eq!(series["max"].as_array().unwrap().len(), 2, "{series}");
    }
    let series = get("?points=2&stages=false").await.json;
    assert_eq!(series["stages"], json!([]));
    assert_eq!(names(&series["series"]), names(&history["series"]));
    let last_ms = newest["uptime_ms"].as_u64().unwrap();
    let later = get(&format!("?since_ms={last_ms}")).await.json;
    let times = later["uptime_ms"].as_array().unwrap();
    assert!(times.iter().all(|time| time.as_u64().unwrap() > last_ms));
    for query in [
        "?points=0",
        "?points=901",
        "?points=x",
        "?since_ms=-1",
        "?until_ms=1",
    ] {
        assert_eq!(get(query).await.status, 400, "{query}");
    }
}

#[tokio::test]
async fn shows_pending_transactions_by_age_and_by_gas_price() {
    let node = TestNode::start(&[]);
    let chain = node.chain().await;
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000_000).await;
    let price = chain.parameters().gas_unit_price_min + 1_000;
    // Parked until the transaction before it arrives.
    let parked = account.transfer(&chain, 1, account.address, 1).raw;
    let parked = TransactionBuilder::from_raw(&chain, parked).gas_unit_price(price);
    node.submit(&parked.sign(&account)).await;
    let shown = async |expected: [(&str, f64); 2]| {
        until("the series show the transaction", || async {
            let snapshot = snapshot(&node).await;
            let series = snapshot["series"].as_array().unwrap();
            let value = |name: &str| {
                let mut named = series.iter().filter(|of| of["name"] == name);
                named.next().unwrap()["value"].as_f64()
            };
            let is_shown = |(name, count): &(&str, f64)| value(name) == Some(*count);
            expected.iter().all(is_shown).then_some(())
        })
        .await;
    };
    shown([("price_1000", 1.0), ("age_0", 1.0)]).await;
    shown([("price_1000", 1.0), ("age_2", 1.0)]).await;
    node.submit(&account.transfer(&chain, 0, account.address, 1))
        .await;
    shown([("price_1000", 0.0), ("age_2", 0.0)]).await;
}

/// Opens a stream. Returns the connection and what it has received up to the end of the head.
async fn stream(node: &TestNode) -> (RawConnection, String) {
    let authority = node.admin.strip_prefix("http://").unwrap();
    let mut connection = RawConnection::connect(authority).await;
    let request = format!("GET /events HTTP/1.1\r\nhost: {authority}\r\n\r\n");
    connection.send(request.as_bytes()).await;
    let received = connection.received_until("\r\n\r\n").await;
    let (head, _) = received.split_once("\r\n\r\n").unwrap();
    connection.bytes(head.len() + "\r\n\r\n".len()).await;
    (connection, head.to_owned())
}

/// Receives the next part of a stream, which ends with an empty line, and removes it.
async fn next_part(connection: &mut RawConnection) -> String {
    let received = connection.received_until("\n\n\r\n").await;
    let end = received.find("\n\n\r\n").unwrap() + "\n\n\r\n".len();
    connection.bytes(end).await;
    // The first line is the length of the chunk.
    let (_, part) = received[..end].split_once("\r\n").unwrap();
    part.trim_end().to_owned()
}

/// Returns the next snapshot of a stream.
async fn next_event(connection: &mut RawConnection) -> Value {
    let part = next_part(connection).await;
    let data = part.strip_prefix("event: snapshot\ndata: ");
    serde_json::from_str(data.unwrap_or_else(|| panic!("{part}"))).unwrap()
}

#[tokio::test]
async fn streams_each_snapshot_until_the_node_stops() {
    let mut node = TestNode::start(&[]);
    let (mut connection, head) = stream(&node).await;
    let head = head.to_lowercase();
    for line in [
        "http/1.1 200",
        "content-type: text/event-stream",
        "cache-control: no-store",
        "transfer-encoding: chunked",
    ] {
        assert!(head.contains(line), "{head}");
    }
    assert!(!head.contains("content-encoding"), "{head}");
    assert_eq!(next_part(&mut connection).await, "retry: 2000");
    let first = next_event(&mut connection).await;
    let second = next_event(&mut connection).await;
    let sequence = |of: &Value| of["sequence"].as_u64().unwrap();
    assert!(sequence(&second) > sequence(&first));
    assert_eq!(names(&first["stages"]), names(&second["stages"]));
    assert!(node.stop("TERM").success());
    // The last chunk, of length 0, is the regular end of the response.
    let rest = connection.rest().await;
    assert!(rest.ends_with("0\r\n\r\n"), "{rest}");
}

#[tokio::test]
async fn rejects_streams_beyond_the_limit() {
    let node = TestNode::start(&[]);
    let mut streams = Vec::new();
    for _ in 0..STREAMS_MAX {
        let (connection, head) = stream(&node).await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        streams.push(connection);
    }
    let (_, head) = stream(&node).await;
    assert!(head.starts_with("HTTP/1.1 503"), "{head}");
    assert!(head.to_lowercase().contains("retry-after: "), "{head}");
    let rejection = until("the counted rejection", || async {
        let rejections = snapshot(&node).await["rejections"].take();
        let mut all = rejections.as_array().unwrap().iter();
        all.find(|of| of["limit"] == "event streams").cloned()
    })
    .await;
    assert_eq!(rejection["value"], STREAMS_MAX);
    drop(streams);
    until("a free stream", || async {
        let (_, head) = stream(&node).await;
        head.starts_with("HTTP/1.1 200").then_some(())
    })
    .await;
}
