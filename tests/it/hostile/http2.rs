//! HTTP/2 connections that break or stretch the rules of the protocol.

use super::{GROWTH_BYTES_MAX, counted, frames::*, until_counted, until_open};
use ledger_test_support::{http::TestCertificate, node::TestNode};

/// The start of a response head with status 200, an entry of the static table of HPACK.
const STATUS_200: &[u8] = &[0x88];
/// The start of a response head with status 431, a Huffman-coded literal with the name of entry 8.
const STATUS_431: &[u8] = &[0x48, 0x83, 0x69, 0x90, 0xff];

/// Returns the head of the connection's first response.
async fn first_response_head(frames: &mut Frames) -> Vec<u8> {
    loop {
        let frame = frames.read().await.expect("a response");
        if frame.kind == HEADERS {
            return frame.payload;
        }
    }
}

/// Checks that an honest client gets a response.
async fn check_serves_honest_client(node: &TestNode, certificate: &TestCertificate) {
    let response = certificate
        .connect_http2(node.authority())
        .await
        .get("/v1")
        .await;
    assert_eq!(response.status, 200, "{}", response.json);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closes_a_connection_that_resets_streams_without_end() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &["api.max_streams_per_connection=10"]);
    let cancel = 8_u32.to_be_bytes();
    // With each reset in one write with its request, and in a write of its own.
    for pause in [false, true] {
        let mut frames = Frames::connect(&node, &certificate, 65_535).await;
        for stream in streams(5_000) {
            let request = get(stream, "/v1");
            let reset = frame(RST_STREAM, 0, stream, &cancel);
            let sent = if pause {
                frames.send(&request).await && frames.send(&reset).await
            } else {
                frames.send(&[request, reset].concat()).await
            };
            if !sent {
                break;
            }
        }
        check_serves_honest_client(&node, &certificate).await;
        assert!(frames.read_to_close().await);
    }
    until_counted(&node, "cut_misbehaving", 2).await;
    until_open(&node, 0).await;
}

/// Each request is being served when it is reset. h2 counts only resets of streams that were not
/// accepted, so it does not close the connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closes_a_connection_that_resets_requests_while_they_are_served() {
    const STREAMS: u32 = 1_000;
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &["wait.timeout_ms=600000"]);
    let hash = super::streams::submit_parked(&node, &certificate).await;
    let request = format!("/v1/transactions/wait_by_hash/{hash}");
    let mut frames = Frames::connect(&node, &certificate, 65_535).await;
    let mut resets = 0;
    for stream in streams(STREAMS) {
        frames.send(&get(stream, &request)).await;
        if !frames.until_processed().await {
            break;
        }
        frames
            .send(&frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes()))
            .await;
        resets += 1;
    }
    assert!(resets < STREAMS, "the connection stays open");
    until_counted(&node, "cut_misbehaving", 1).await;
    check_serves_honest_client(&node, &certificate).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closes_a_connection_with_a_head_without_end() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    let before = node.resident_bytes();
    let mut frames = Frames::connect(&node, &certificate, 65_535).await;
    assert!(frames.send(&frame(HEADERS, 0, 1, &get_head("/v1"))).await);
    // A header that is not added to the table: a name of one letter, a value of 16,000.
    let mut header = vec![0x10, 1, b'x', 0x7f, 0x81, 0x7c];
    header.extend([b'y'; 16_000]);
    let continued = frame(CONTINUATION, 0, 1, &header);
    let mut sent = 0;
    while frames.send(&continued).await {
        sent += 1;
        assert!(sent < 10_000, "160 MB of head were accepted");
    }
    check_serves_honest_client(&node, &certificate).await;
    assert!(node.resident_bytes() < before + GROWTH_BYTES_MAX);
    until_open(&node, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closes_a_connection_with_a_head_that_decodes_to_a_much_longer_one() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &["api.keep_alive_secs=1"]);
    let mut frames = Frames::connect(&node, &certificate, 65_535).await;
    // The head decodes to 40 MB, of which the node decodes only a part.
    let request = frame(HEADERS, END_STREAM | END_HEADERS, 1, &repeated_head(10_000));
    assert!(frames.send(&request).await);
    assert!(frames.read_to_close().await);
    check_serves_honest_client(&node, &certificate).await;
    until_counted(&node, "cut_misbehaving", 1).await;
    until_open(&node, 0).await;
}

/// Encodes the head of a GET with `times` times a header of 4,000 bytes, by reference to the
/// dynamic table.
fn repeated_head(times: usize) -> Vec<u8> {
    let mut head = get_head("/v1");
    head.extend([0x40, 1, b'x', 0x7f, 0xa1, 0x1e]);
    head.extend([b'y'; 4_000]);
    head.extend(vec![0xbe; times - 1]);
    head
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn responds_with_431_to_headers_of_more_than_8_kib() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    for (times, status) in [(1, STATUS_200), (3, STATUS_431)] {
        let mut frames = Frames::connect(&node, &certificate, 65_535).await;
        let head = repeated_head(times);
        let request = frame(HEADERS, END_STREAM | END_HEADERS, 1, &head);
        assert!(frames.send(&request).await);
        let response = first_response_head(&mut frames).await;
        assert!(response.starts_with(status), "{response:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn discards_the_body_of_a_request_whose_handler_reads_none() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &["wait.timeout_ms=600000"]);
    let hash = super::streams::submit_parked(&node, &certificate).await;
    let path = format!("/v1/transactions/wait_by_hash/{hash}");
    let mut frames = Frames::connect(&node, &certificate, 65_535).await;
    let request = frame(HEADERS, END_HEADERS, 1, &get_head(&path));
    let honest = frame(HEADERS, END_STREAM | END_HEADERS, 3, &get_head("/v1"));
    assert!(frames.send(&request).await);
    // The node's windows apply once the client has acknowledged its settings.
    while frames.read().await.expect("a window update").kind != WINDOW_UPDATE {}
    assert!(frames.send(&frame(SETTINGS, ACK, 0, &[])).await);
    assert!(frames.send(&honest).await);
    // The whole window of the connection. The node extends it only if it has consumed the bytes.
    for _ in 0..16 {
        assert!(frames.send(&frame(DATA, 0, 1, &[0; 16_000])).await);
    }
    loop {
        let frame = frames.read().await.expect("an open connection");
        if frame.kind == WINDOW_UPDATE {
            break;
        }
        assert_ne!(frame.kind, GOAWAY, "{:?}", frame.payload);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closes_a_connection_with_an_incomplete_head() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(
        &certificate,
        &["api.client_request_timeout_ms=100", "api.keep_alive_secs=1"],
    );
    let mut first = Frames::connect(&node, &certificate, 65_535).await;
    first
        .send(&frame(HEADERS, END_STREAM, 1, &get_head("/v1")))
        .await;
    let mut later = Frames::connect(&node, &certificate, 65_535).await;
    later.send(&get(1, "/v1")).await;
    later
        .send(&frame(HEADERS, END_STREAM, 3, &get_head("/v1")))
        .await;
    check_serves_honest_client(&node, &certificate).await;
    // The reads end when the node closes the connections.
    while first.read().await.is_some() {}
    while later.read().await.is_some() {}
    until_open(&node, 0).await;
    assert_eq!(counted(&node, "cut_unread").await, 0);
}
