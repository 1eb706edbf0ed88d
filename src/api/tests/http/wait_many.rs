//! Limits of `POST /transactions/wait`, and the release of what a wait holds.

use crate::{
    http::signature_lanes::wait_until,
    kit::{Settings, TestApi, Transfer, handled},
};
use actix_web::{
    App,
    body::{BodySize, MessageBody as _, to_bytes},
    http::StatusCode,
    test::{TestRequest, call_service, init_service},
};
use futures::poll;
use ledger_api::configure;
use ledger_crypto::HashValue;
use ledger_test_support::http::{RawConnection, post_bytes};
use serde_json::{Value, json};
use std::{future::poll_fn, pin::Pin};

/// The path of a request for the longest wait.
const LONG: &str = "/v1/transactions/wait?timeout_ms=600000";

/// Returns settings with waits that do not time out during a test, and the largest bodies.
fn with_long_waits() -> Settings {
    let mut settings = Settings::with_long_waits();
    settings.api.max_body_bytes = 8 << 20;
    settings
}

/// Returns the hash of no transaction.
fn unknown(number: u64) -> HashValue {
    HashValue::sha3_of(&[b"unknown", &number.to_le_bytes()])
}

/// Submits a transaction that stays pending, because its predecessor is missing, and returns its
/// hash.
async fn submit_parked(api: &TestApi, number: u64) -> HashValue {
    let parked = Transfer::new(2, number).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&parked).await.status, 202);
    parked.hash(api.chain.vendor())
}

fn body(hashes: &[HashValue]) -> Vec<u8> {
    bcs::to_bytes(hashes).unwrap()
}

/// Sends a request with these hashes in BCS.
async fn send(api: &TestApi, hashes: &[HashValue]) -> RawConnection {
    let mut connection = api.client.connect().await;
    let request = post_bytes(LONG, "application/x-bcs", &body(hashes));
    connection.send(&request).await;
    connection
}

/// Sends a request that waits for a pending transaction and has this number of further hashes.
/// Returns the connection once the outcomes of those are known.
async fn begin_wait(api: &TestApi, pending: HashValue, further: u64) -> RawConnection {
    let hashes: Vec<_> = (0..further).map(unknown).chain([pending]).collect();
    let mut connection = send(api, &hashes).await;
    connection.received_until("HTTP/1.1 200").await;
    assert_waiting(api, 1);
    connection
}

/// Asserts that this number of hashes hold a permit. The head of a response follows the outcomes
/// that are known at its begin, and each line follows the release of its permit.
fn assert_waiting(api: &TestApi, count: usize) {
    let waiting = api.handle().meters().waits.waiting;
    assert_eq!(
        waiting, count,
        "hashes with a known outcome hold permits, or others hold none"
    );
}

/// Waits until the node has ended `count` waits whose clients have disconnected, and asserts that
/// no hash holds a permit.
async fn until_ended(api: &TestApi, count: u64) {
    // Otherwise the committer would keep the hashes of a wait until their commits.
    wait_until(|| handled(api, "committer", "unsubscribe") == count).await;
    // The thread of the listener has dropped the waits when it serves another request.
    api.client.get("/v1").await;
    assert_waiting(api, 0);
}

/// Asserts that the response to a request with these hashes is 503 because of this limit.
async fn assert_rejected(api: &TestApi, hashes: &[HashValue], limit: &str) {
    let response = send(api, hashes).await.response().await.unwrap();
    assert_eq!(response.status, 503, "{}", response.text());
    assert_eq!(response.json()["message"], format!("overloaded: {limit}"));
    assert_eq!(response.headers["retry-after"], "1");
}

#[actix_web::test]
async fn each_hash_counts_against_the_capacity_of_waits() {
    let mut settings = with_long_waits();
    // Of which a client may hold seven.
    settings.node.wait.capacity = 8;
    let api = TestApi::start(settings).await;
    let mut hashes = Vec::new();
    for number in 1..=8 {
        hashes.push(submit_parked(&api, number).await);
    }
    assert_rejected(&api, &hashes, "wait.capacity = 8").await;
    let mut waiting = send(&api, &hashes[..7]).await;
    waiting.received_until("HTTP/1.1 200").await;
    assert_waiting(&api, 7);
    assert_rejected(&api, &hashes[7..], "wait.capacity = 8").await;
    assert_eq!(api.handle().meters().waits.refused, 2);
    waiting.reset();
    until_ended(&api, 1).await;
    // Hashes whose outcome is known hold no permit.
    let waiting = begin_wait(&api, hashes[0], 6).await;
    let mut another = send(&api, &hashes[1..7]).await;
    another.received_until("HTTP/1.1 200").await;
    assert_waiting(&api, 7);
    drop((waiting, another));
    api.stop().await;
}

#[actix_web::test]
async fn releases_the_permit_of_each_hash_before_it_sends_the_outcome() {
    let api = TestApi::start(with_long_waits()).await;
    let mut hashes = vec![unknown(0)];
    for number in 1..=3 {
        hashes.push(submit_parked(&api, number).await);
    }
    // No event ends the wait for this one.
    let parked = Transfer::new(3, 1).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&parked).await.status, 202);
    hashes.push(parked.hash(api.chain.vendor()));
    let mut connection = send(&api, &hashes).await;
    connection.received_until("\"unknown\"").await;
    assert_waiting(&api, 4);
    api.commit(&Transfer::new(2, 0)).await;
    for hash in &hashes[1..4] {
        connection.received_until(&hash.to_string()).await;
    }
    assert_waiting(&api, 1);
    api.commit(&Transfer::new(3, 0)).await;
    let response = connection.response().await.unwrap();
    assert_eq!(response.json_lines().len(), hashes.len() + 1);
    assert_waiting(&api, 0);
    api.stop().await;
}

#[actix_web::test]
async fn each_thousand_hashes_take_a_permit_of_requests_in_flight() {
    let mut settings = with_long_waits();
    settings.api.max_in_flight = 3;
    let api = TestApi::start(settings).await;
    let pending = submit_parked(&api, 1).await;
    let hashes: Vec<_> = (0..3_001).map(unknown).collect();
    assert_rejected(&api, &hashes, "api.max_in_flight = 3").await;
    let waiting = begin_wait(&api, pending, 2_999).await;
    let rejected = api.client.get("/v1").await;
    assert_eq!(rejected.status, 503, "{}", rejected.text());
    waiting.reset();
    until_ended(&api, 1).await;
    let waiting = begin_wait(&api, pending, 1_000).await;
    assert_eq!(api.client.get("/v1").await.status, 200);
    waiting.reset();
    api.stop().await;
}

#[actix_web::test]
async fn holds_the_memory_of_its_hashes_until_it_ends() {
    const HASHES: u64 = 2_000;
    let mut settings = with_long_waits();
    // A client may hold as much as is free: not the hashes of both requests.
    settings.api.bodies_bytes_max = 100 * 1024;
    let api = TestApi::start(settings).await;
    let pending = submit_parked(&api, 1).await;
    let waiting = begin_wait(&api, pending, HASHES).await;
    let hashes: Vec<_> = (0..HASHES / 4).map(unknown).collect();
    assert_rejected(&api, &hashes, "api.bodies_bytes_max = 102400").await;
    waiting.reset();
    until_ended(&api, 1).await;
    let response = send(&api, &hashes).await.response().await.unwrap();
    assert_eq!(response.status, 200, "{}", response.text());
    api.stop().await;
}

#[actix_web::test]
async fn a_client_that_disconnects_ends_its_wait() {
    let api = TestApi::start(with_long_waits()).await;
    let pending = submit_parked(&api, 1).await;
    for number in 1..=3 {
        let waiting = begin_wait(&api, pending, 0).await;
        waiting.reset();
        until_ended(&api, number).await;
        assert_eq!(api.handle().meters().waits.disconnected, number);
    }
    // This client may still read the response.
    let mut waiting = begin_wait(&api, pending, 0).await;
    waiting.shutdown().await;
    wait_until(|| api.handle().meters().waits.timed_out == 1).await;
    assert_eq!(api.handle().meters().waits.disconnected, 3);
    // A commit finds no wait that has ended.
    api.commit(&Transfer::new(2, 0)).await;
    assert_eq!(api.client.wait(&pending).await["success"], true);
    api.stop().await;
}

/// The client of a wait does not read its response while the transaction is evicted, submitted
/// again, and committed, and another one after it.
#[actix_web::test]
async fn reports_a_removed_transaction_as_committed_if_it_was_submitted_again() {
    let mut settings = with_long_waits();
    settings.node.wait.timeout_ms = 600_000;
    settings.node.mempool.capacity_per_account = 2;
    let api = TestApi::start(settings).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    submit_parked(&api, 1).await;
    let hash = submit_parked(&api, 2).await;
    let later = Transfer::new(3, 1).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&later).await.status, 202);
    let hashes = [later.hash(api.chain.vendor()), hash];
    let request = TestRequest::post()
        .uri(LONG)
        .insert_header(("content-type", "application/x-bcs"))
        .insert_header(("content-length", body(&hashes).len()))
        .set_payload(body(&hashes));
    let many = call_service(&app, request.to_request()).await;
    assert_eq!(many.status(), StatusCode::OK);
    let path = format!("/v1/transactions/wait_by_hash/{hash}");
    let request = TestRequest::get().uri(&path).to_request();
    let mut one = Box::pin(call_service(&app, request));
    assert!(poll!(&mut one).is_pending());
    assert_waiting(&api, 3);
    // Fills the gap, for which the last parked transaction is evicted.
    api.commit(&Transfer::new(2, 0)).await;
    let removed = api
        .client
        .get(&format!("/v1/transactions/by_hash/{hash}"))
        .await;
    assert!(removed.text().contains("evicted"), "{}", removed.text());
    let committed = api.commit(&Transfer::new(2, 2)).await;
    assert_eq!(committed["hash"], hash.to_string());
    api.commit(&Transfer::new(3, 0)).await;
    let later = api.client.wait(&hashes[0]).await;
    let lines = to_bytes(many.into_body()).await.unwrap();
    let lines = str::from_utf8(&lines).unwrap().lines();
    let outcomes: Vec<Value> = lines.map(|line| line.parse().unwrap()).collect();
    // The last line is the summary.
    assert_eq!(outcomes.len(), 3, "{outcomes:?}");
    for (outcome, committed) in outcomes.iter().zip([&committed, &later]) {
        assert_eq!(
            (&outcome["status"], &outcome["version"]),
            (&json!("committed"), &committed["version"])
        );
    }
    let one = one.await;
    assert_eq!(one.status(), StatusCode::OK);
    api.stop().await;
}

/// The body yields pieces of bounded size, and holds the permits of the request until its end.
#[actix_web::test]
async fn makes_the_response_while_its_client_reads_it() {
    const PIECE_BYTES_MAX: usize = 17 * 1024;
    let mut settings = with_long_waits();
    settings.api.max_in_flight = 3;
    let api = TestApi::start(settings).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let hashes: Vec<_> = (0..3_000).map(unknown).collect();
    let request = || {
        TestRequest::post()
            .uri(LONG)
            .insert_header(("content-type", "application/x-bcs"))
            .insert_header(("content-length", body(&hashes).len()))
            .set_payload(body(&hashes))
            .to_request()
    };
    let response = call_service(&app, request()).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.response().body().size(), BodySize::Stream);
    let rejected = call_service(&app, request()).await;
    assert_eq!(rejected.status(), StatusCode::SERVICE_UNAVAILABLE);
    let mut unread = response.into_body();
    let mut sizes = Vec::new();
    while let Some(piece) = poll_fn(|context| Pin::new(&mut unread).poll_next(context)).await {
        sizes.push(piece.unwrap().len());
    }
    assert!(
        sizes.len() > 10 && sizes.iter().all(|size| *size < PIECE_BYTES_MAX),
        "{sizes:?}"
    );
    drop(unread);
    let read = call_service(&app, request()).await;
    assert_eq!(read.status(), StatusCode::OK);
    to_bytes(read.into_body()).await.unwrap();
    api.stop().await;
}
