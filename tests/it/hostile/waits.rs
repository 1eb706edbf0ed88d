//! Waits for many transactions whose responses are not read, or abandoned.

use super::{connect, connect_narrow, until_counted, until_open};
use ledger_crypto::HashValue;
use ledger_test_support::{
    http::{RawConnection, TestCertificate, post_bytes},
    node::{TestNode, until, until_parked},
};
use reqwest::Method;
use tokio::io::AsyncWriteExt as _;

const BCS: &str = "application/x-bcs";

/// The path of a request for the longest wait.
const LONG: &str = "/v1/transactions/wait?timeout_ms=600000";

/// Returns the hashes of no transactions, and `more`, as the body of a request in BCS.
fn body(unknown: u64, more: &[HashValue]) -> Vec<u8> {
    let unknown = (0..unknown).map(|number| HashValue::sha3_of(&[&number.to_le_bytes()]));
    let hashes: Vec<_> = unknown.chain(more.iter().copied()).collect();
    bcs::to_bytes(&hashes).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disconnects_a_client_that_does_not_read_its_outcomes() {
    let node = TestNode::start(&["api.client_send_timeout_ms=300", "api.max_in_flight=12"]);
    let mut unread = Vec::new();
    for _ in 0..2 {
        let mut stream = connect_narrow(&node).await;
        // A request with ten permits, and a response of more than a megabyte.
        let request = post_bytes(LONG, BCS, &body(10_000, &[]));
        stream.write_all(&request).await.unwrap();
        until_counted(&node, "cut_unread", unread.len() as u64 + 1).await;
        unread.push(stream);
    }
    until_open(&node, 0).await;
    let request = post_bytes(LONG, BCS, &body(10_000, &[]));
    let mut connection = RawConnection::over(connect(&node).await);
    let response = connection.exchange(&request).await.unwrap();
    assert_eq!(response.status, 200, "{}", response.text());
}

/// Over HTTP/2, the connection stays open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ends_the_wait_of_a_stream_that_is_reset() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(
        &certificate,
        &["wait.timeout_max_ms=600000", "wait.capacity=1"],
    );
    let hash = super::streams::submit_parked(&node, &certificate).await;
    let connection = certificate.connect_http2(node.authority()).await;
    let status = async |path| {
        let stream = connection
            .begin(Method::POST, path, BCS, &body(0, &[hash]))
            .await;
        stream.response().await.status
    };
    let short = "/v1/transactions/wait?timeout_ms=0";
    assert_eq!(status(short).await, 200);
    let waiting = connection
        .begin(Method::POST, LONG, BCS, &body(0, &[hash]))
        .await;
    until_parked(&node, 1).await;
    assert_eq!(status(short).await, 503);
    waiting.reset();
    until("the wait to end", || async {
        (status(short).await == 200).then_some(())
    })
    .await;
}
