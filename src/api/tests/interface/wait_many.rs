//! docs/use/interface.md#wait-for-many: `POST /transactions/wait` waits for many transactions.

use crate::kit::number;
use crate::{
    interface::{
        chain::{Pruned, parked},
        rows::row,
    },
    kit::{RawResponse, Settings, TestApi, Transfer, ledger_headers},
};
use actix_web::rt::time::timeout;
use ledger_crypto::HashValue;
use ledger_store::{Store, StoreOptions};
use ledger_test_support::{HookedDisk, http::post_bytes};
use ledger_types::SignedTransaction;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

const PATH: &str = "/v1/transactions/wait";

/// The path of a request for the longest wait.
const LONG: &str = "/v1/transactions/wait?timeout_ms=600000";

/// Maximum time of a response that must not wait, on a busy machine.
const SOON: Duration = Duration::from_secs(120);

/// A frame of the response in BCS.
#[derive(Debug, PartialEq, Deserialize)]
enum Frame {
    Outcome {
        hash: HashValue,
        status: Status,
    },
    Summary {
        ledger_version: u64,
        ledger_timestamp_usec: u64,
        counts: [u64; 5],
    },
}

#[derive(Debug, PartialEq, Deserialize)]
enum Status {
    Committed {
        version: u64,
        success: bool,
        vm_status: String,
    },
    Removed {
        message: String,
    },
    Pruned,
    Unknown,
    Pending,
}

/// Returns settings with waits that do not time out during a test, and the largest bodies.
fn with_long_waits() -> Settings {
    let mut settings = Settings::with_long_waits();
    settings.api.max_body_bytes = 8 << 20;
    settings
}

fn hash_of(api: &TestApi, signed: &SignedTransaction) -> HashValue {
    signed.hash(api.chain.vendor())
}

/// Returns the hash of no transaction.
fn unknown(number: u64) -> HashValue {
    HashValue::sha3_of(&[b"unknown", &number.to_le_bytes()])
}

/// Submits a transaction and returns its hash.
async fn submit(api: &TestApi, signed: &SignedTransaction) -> HashValue {
    assert_eq!(api.client.submit_bcs(signed).await.status, 202);
    hash_of(api, signed)
}

/// Returns the lines of the response to a request with these hashes: the outcomes, and the summary.
async fn wait(api: &TestApi, path: &str, hashes: &[HashValue]) -> (Vec<Value>, Value) {
    let response = row("POST /transactions/wait", 200, "-")
        .post(api, path, &json!({ "hashes": hashes_in_json(hashes) }))
        .await;
    outcomes(&response)
}

fn hashes_in_json(hashes: &[HashValue]) -> Vec<String> {
    hashes.iter().map(HashValue::to_string).collect()
}

/// Returns the outcomes of a complete response, and its summary, which must count them.
fn outcomes(response: &RawResponse) -> (Vec<Value>, Value) {
    let mut lines = response.json_lines();
    let summary = lines.pop().unwrap();
    assert_eq!(summary["type"], "summary", "{summary}");
    for status in ["committed", "removed", "pruned", "unknown", "pending"] {
        let with_status = lines.iter().filter(|line| line["status"] == status);
        assert_eq!(summary[status], with_status.count(), "{summary}");
    }
    let committed: Vec<_> = lines
        .iter()
        .filter(|line| line["status"] == "committed")
        .map(|line| number(&line["version"]))
        .collect();
    assert!(committed.is_sorted(), "{committed:?}");
    assert!(lines.iter().all(|line| line["type"] == "outcome"));
    let newest = number(&summary["ledger_version"]);
    assert!(committed.iter().all(|version| *version <= newest));
    (lines, summary)
}

/// Sends a request whose response does not end yet, and returns the connection when `count` hashes
/// wait.
async fn begin_wait(
    api: &TestApi,
    hashes: &[HashValue],
    count: usize,
) -> ledger_test_support::http::RawConnection {
    let mut connection = api.client.connect().await;
    let body = json!({ "hashes": hashes_in_json(hashes) }).to_string();
    let request = post_bytes(LONG, "application/json", body.as_bytes());
    connection.send(&request).await;
    // The head follows the outcomes that are known at the begin.
    connection.received_until("HTTP/1.1 200").await;
    let waiting = api.handle().meters().waits.waiting;
    assert_eq!(
        waiting, count,
        "hashes with a known outcome hold permits, or others hold none"
    );
    connection
}

#[actix_web::test]
async fn reports_the_outcome_of_each_hash_once() {
    let api = TestApi::start(with_long_waits()).await;
    let committed = api.commit(&Transfer::new(0, 0)).await;
    let more_than_it_has = Transfer {
        amount: u64::MAX,
        ..Transfer::new(0, 1)
    };
    let failed = api.commit(&more_than_it_has).await;
    let replaced = Transfer::new(1, 1);
    let better = Transfer {
        gas_unit_price: 200,
        ..replaced.clone()
    };
    let replaced = submit(&api, &replaced.sign(&api.chain)).await;
    let better = submit(&api, &better.sign(&api.chain)).await;
    let pending = submit(&api, &parked(&api)).await;
    let text = |value: &Value| value["hash"].as_str().unwrap().parse().unwrap();
    let (first, second): (HashValue, HashValue) = (text(&committed), text(&failed));
    // Hashes may be repeated, and be written without a prefix.
    let all = [second, pending, unknown(0), first, replaced, better, first];
    let mut in_json = hashes_in_json(&all);
    in_json.push(first.to_string().trim_start_matches("0x").to_owned());
    for query in ["?timeout_ms=0", "?timeout_ms=10"] {
        let body = json!({ "hashes": in_json });
        let response = row("POST /transactions/wait", 200, "-")
            .post(&api, &format!("{PATH}{query}"), &body)
            .await;
        let (lines, summary) = outcomes(&response);
        let by_hash: HashMap<_, _> = lines.iter().map(|line| (text(line), line)).collect();
        assert_eq!((lines.len(), by_hash.len()), (6, 6), "{lines:?}");
        for (transaction, hash) in [(&committed, first), (&failed, second)] {
            let line = by_hash[&hash];
            for member in ["version", "success", "vm_status"] {
                assert_eq!(line[member], transaction[member], "{line}");
            }
        }
        assert_eq!(by_hash[&second]["success"], false);
        let message = by_hash[&replaced]["message"].as_str().unwrap();
        assert_eq!(message, format!("replaced by {better}"));
        for (hash, status) in [
            (replaced, "removed"),
            (unknown(0), "unknown"),
            (pending, "pending"),
            (better, "pending"),
        ] {
            assert_eq!(by_hash[&hash]["status"], status, "{lines:?}");
        }
        let [_, version, _, timestamp, ..] = ledger_headers(&response, "node");
        assert_eq!(number(&summary["ledger_version"]), version);
        assert_eq!(number(&summary["ledger_timestamp_usec"]), timestamp);
    }
    let waits = api.handle().meters().waits;
    assert_eq!((waits.waiting, waits.timed_out), (0, 4));
    api.stop().await;
}

#[actix_web::test]
async fn responds_with_the_summary_to_a_request_without_hashes() {
    let api = TestApi::start(with_long_waits()).await;
    let (lines, summary) = timeout(SOON, wait(&api, LONG, &[])).await.unwrap();
    assert!(lines.is_empty() && summary["committed"] == 0);
    api.stop().await;
}

#[actix_web::test]
async fn reports_a_pruned_transaction() {
    let pruned = Pruned::start().await;
    let hash = |index: usize| pruned.transfers[index]["hash"].as_str().unwrap();
    let hashes = [hash(5), hash(7)].map(|hash| hash.parse().unwrap());
    let (lines, summary) = wait(&pruned.api, LONG, &hashes).await;
    assert_eq!(
        (&summary["pruned"], &summary["committed"]),
        (&json!(1), &json!(1))
    );
    let line = lines.iter().find(|line| line["status"] == "pruned");
    assert_eq!(line.unwrap()["hash"], hash(5));
    pruned.api.stop().await;
}

/// The first line arrives while other transactions are pending.
#[actix_web::test]
async fn sends_each_outcome_as_it_becomes_known() {
    const WAITING: u64 = 20;
    let api = TestApi::start(with_long_waits()).await;
    let earlier = api.commit(&Transfer::new(4, 0)).await;
    let mut hashes = vec![earlier["hash"].as_str().unwrap().parse().unwrap()];
    for from in [0, 1] {
        for number in (1..=WAITING / 2).rev() {
            hashes.push(submit(&api, &Transfer::new(from, number).sign(&api.chain)).await);
        }
    }
    let mut connection = begin_wait(&api, &hashes, hashes.len() - 1).await;
    let received = connection.received_until("\"committed\"").await;
    assert!(received.contains(&hashes[0].to_string()) && !received.contains("summary"));
    api.commit(&Transfer::new(0, 0)).await;
    connection.received_until(&hashes[1].to_string()).await;
    assert_eq!(api.handle().meters().waits.waiting as u64, WAITING / 2);
    api.commit(&Transfer::new(1, 0)).await;
    let (lines, summary) = outcomes(&connection.response().await.unwrap());
    assert_eq!(summary["committed"], WAITING + 1);
    assert_eq!(lines[0]["hash"], earlier["hash"]);
    // A repetition looks all of them up, and has the same order.
    assert_eq!(wait(&api, LONG, &hashes).await.0, lines);
    assert_eq!(api.handle().meters().waits.waiting, 0);
    api.stop().await;
}

#[actix_web::test]
async fn reports_a_removal_during_the_wait() {
    let api = TestApi::start(with_long_waits()).await;
    let transfer = Transfer::new(0, 1);
    let hash = submit(&api, &transfer.sign(&api.chain)).await;
    let mut connection = begin_wait(&api, &[hash], 1).await;
    let better = Transfer {
        gas_unit_price: 200,
        ..transfer
    };
    let better = submit(&api, &better.sign(&api.chain)).await;
    let (lines, _) = outcomes(&connection.response().await.unwrap());
    assert_eq!(lines[0]["status"], "removed");
    assert_eq!(lines[0]["message"], format!("replaced by {better}"));
    api.stop().await;
}

#[actix_web::test]
async fn reports_pending_transactions_at_the_deadline() {
    let mut settings = with_long_waits();
    settings.node.wait.timeout_ms = 10;
    let api = TestApi::start(settings).await;
    let hash = submit(&api, &parked(&api)).await;
    for path in [PATH, "/v1/transactions/wait?timeout_ms=20"] {
        let (lines, summary) = timeout(SOON, wait(&api, path, &[hash])).await.unwrap();
        assert_eq!(lines[0]["status"], "pending");
        assert_eq!(summary["pending"], 1);
    }
    assert_eq!(api.handle().meters().waits.timed_out, 2);
    api.stop().await;
}

#[actix_web::test]
async fn bounds_the_wait_by_the_configured_maximum() {
    let mut settings = with_long_waits();
    settings.node.wait.timeout_max_ms = 1;
    let api = TestApi::start(settings).await;
    let hash = submit(&api, &parked(&api)).await;
    let (lines, _) = timeout(SOON, wait(&api, LONG, &[hash])).await.unwrap();
    assert_eq!(lines[0]["status"], "pending");
    api.stop().await;
}

/// Returns the frames of a response in BCS.
fn frames(mut body: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    while let Some((length, rest)) = body.split_first_chunk() {
        let (value, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        frames.push(bcs::from_bytes(value).unwrap());
        body = rest;
    }
    assert!(body.is_empty());
    frames
}

#[actix_web::test]
async fn responds_in_frames_of_bcs() {
    let api = TestApi::start(with_long_waits()).await;
    let committed = api.commit(&Transfer::new(0, 0)).await;
    let version = number(&committed["version"]);
    let replaced = Transfer::new(1, 1);
    let better = Transfer {
        gas_unit_price: 200,
        ..replaced.clone()
    };
    let replaced = submit(&api, &replaced.sign(&api.chain)).await;
    let better = submit(&api, &better.sign(&api.chain)).await;
    let committed: HashValue = committed["hash"].as_str().unwrap().parse().unwrap();
    let hashes = vec![committed, replaced, better, unknown(0)];
    let body = bcs::to_bytes(&hashes).unwrap();
    let bcs = "application/x-bcs";
    let headers = [("content-type", bcs), ("accept", bcs)];
    let path = "/v1/transactions/wait?timeout_ms=0";
    let response = row("POST /transactions/wait", 200, "-")
        .send(&api, path, &headers, Some(&body))
        .await;
    assert_eq!(response.headers["content-type"], bcs);
    let mut frames = frames(&response.body);
    let [_, ledger_version, _, ledger_timestamp_usec, ..] = ledger_headers(&response, "node");
    let summary = Frame::Summary {
        ledger_version,
        ledger_timestamp_usec,
        counts: [1, 1, 0, 1, 1],
    };
    assert_eq!(frames.pop(), Some(summary));
    for (hash, status) in [
        (
            committed,
            Status::Committed {
                version,
                success: true,
                vm_status: "Executed successfully".to_owned(),
            },
        ),
        (
            replaced,
            Status::Removed {
                message: format!("replaced by {better}"),
            },
        ),
        (better, Status::Pending),
        (unknown(0), Status::Unknown),
    ] {
        let frame = Frame::Outcome { hash, status };
        assert!(frames.contains(&frame), "{frame:?}: {frames:?}");
    }
    assert_eq!(frames.len(), hashes.len());
    // The index of the variant without fields.
    assert_eq!(bcs::from_bytes::<Status>(&[2]).unwrap(), Status::Pruned);
    api.stop().await;
}

#[actix_web::test]
async fn rejects_more_hashes_than_the_limit() {
    let api = TestApi::start(with_long_waits()).await;
    let mut hashes: Vec<_> = (0..10_000).map(unknown).collect();
    // A repeated hash does not count.
    hashes.push(hashes[0]);
    let (lines, summary) = wait(&api, LONG, &hashes).await;
    assert_eq!((lines.len(), &summary["unknown"]), (10_000, &json!(10_000)));
    hashes.push(unknown(10_000));
    let response = row("POST /transactions/wait", 400, "invalid_input")
        .post(&api, LONG, &json!({ "hashes": hashes_in_json(&hashes) }))
        .await;
    let message = response.json()["message"].to_string();
    assert!(
        message.contains("10001") && message.contains("wait.hashes_max"),
        "{message}"
    );
    api.stop().await;
}

#[actix_web::test]
async fn rejects_bytes_that_are_no_hashes() {
    let api = TestApi::start(with_long_waits()).await;
    let headers = [("content-type", "application/x-bcs")];
    for body in [&[][..], &[1], &[1; 32], &[0, 0]] {
        row("POST /transactions/wait", 400, "invalid_input")
            .send(&api, PATH, &headers, Some(body))
            .await;
    }
    for body in [
        json!({ "hashes": ["0x12"] }),
        json!({ "hashes": [7] }),
        json!({ "hashes": unknown(0).to_string() }),
        json!([unknown(0).to_string()]),
    ] {
        row("POST /transactions/wait", 400, "web_framework_error")
            .post(&api, PATH, &body)
            .await;
    }
    api.stop().await;
}

/// The wait ends as at its deadline, and a further one is rejected with the cause.
#[actix_web::test]
async fn ends_the_wait_after_a_fault_of_the_disk() {
    let is_broken = Arc::new(AtomicBool::new(false));
    let disk = || {
        let is_broken = Arc::clone(&is_broken);
        HookedDisk::new(move || match is_broken.load(SeqCst) {
            true => Err(io::Error::other("the disk is gone")),
            false => Ok(()),
        })
    };
    // The page cache has no capacity, so that a read of an old row reaches the disk.
    let options = StoreOptions { cache_bytes: 0 };
    let store = Store::open_backend(disk(), disk(), &options).unwrap();
    let mut settings = with_long_waits();
    settings.store = Some(store);
    let api = TestApi::start(settings).await;
    let committed = api.commit(&Transfer::new(0, 0)).await;
    let committed = committed["hash"].as_str().unwrap().parse().unwrap();
    let pending = submit(&api, &parked(&api)).await;
    let mut connection = begin_wait(&api, &[committed, pending], 1).await;
    is_broken.store(true, SeqCst);
    let failed = api.client.get("/v1/transactions/by_version/0").await;
    assert_eq!(failed.status, 500, "{}", failed.text());
    let response = timeout(SOON, connection.response()).await.unwrap();
    let (lines, summary) = outcomes(&response.unwrap());
    assert_eq!(lines[0]["status"], "committed");
    assert_eq!(
        (&lines[1]["status"], &summary["pending"]),
        (&json!("pending"), &json!(1))
    );
    let body = json!({ "hashes": hashes_in_json(&[committed, pending]) });
    let response = row("POST /transactions/wait", 503, "internal_error")
        .post(&api, LONG, &body)
        .await;
    assert!(response.headers.contains_key("retry-after"));
    // The Head has the transaction, so the response does not depend on the disk.
    let (lines, _) = wait(&api, LONG, &[committed]).await;
    assert_eq!(lines[0]["status"], "committed");
    let meters = api.handle().meters();
    assert_eq!(meters.waits.disconnected, 0, "the clients were connected");
    // The node cannot be stopped without an error.
    drop(api);
}
