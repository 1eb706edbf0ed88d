//! Connections of HTTP/2 that break its rules or bend them.

use super::{GROWTH_BYTES_MAX, counted, frames::*, until_counted, until_open};
use crate::kit::{TestCertificate, TestNode};

/// Statuses as a head in HPACK begins with them: 200 stands in the static table; 431 is written out, in its
/// Huffman code, under the name of entry 8.
const STATUS_200: &[u8] = &[0x88];
const STATUS_431: &[u8] = &[0x48, 0x83, 0x69, 0x90, 0xff];

/// The head of the first answer of a connection.
async fn first_answer(frames: &mut Frames) -> Vec<u8> {
    loop {
        let frame = frames.read().await.expect("an answer");
        if frame.kind == HEADERS {
            return frame.payload;
        }
    }
}

async fn honest(node: &TestNode, certificate: &TestCertificate) {
    let answer = certificate
        .connect_http2(node.authority())
        .await
        .get("/v1")
        .await;
    assert_eq!(answer.status, 200, "{}", answer.json);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_that_are_begun_and_taken_back_without_end_end_the_connection() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &["api.max_streams_per_connection=10"]);
    let cancel = 8_u32.to_be_bytes();
    // At once, and one after the other as fast as they are taken.
    for pause in [false, true] {
        let mut frames = Frames::connect(&node, &certificate, 65_535).await;
        for stream in streams(5_000) {
            let begun = get(stream, "/v1");
            let taken_back = frame(RST_STREAM, 0, stream, &cancel);
            let sent = if pause {
                frames.send(&begun).await && frames.send(&taken_back).await
            } else {
                frames.send(&[begun, taken_back].concat()).await
            };
            if !sent {
                break;
            }
        }
        honest(&node, &certificate).await;
        assert!(frames.is_sent_away().await);
    }
    until_counted(&node, "cut_misbehaving", 2).await;
    until_open(&node, 0).await;
}

/// Each is being served when it is taken back, so that the library, which counts those that are not yet, sees
/// nothing in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_are_taken_back_while_they_are_served_end_the_connection_too() {
    const STREAMS: u32 = 1_000;
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &["wait.timeout_ms=600000"]);
    let hash = super::streams::parked(&node, &certificate).await;
    let request = format!("/v1/transactions/wait_by_hash/{hash}");
    let mut frames = Frames::connect(&node, &certificate, 65_535).await;
    let mut taken_back = 0;
    for stream in streams(STREAMS) {
        frames.send(&get(stream, &request)).await;
        if !frames.is_taken().await {
            break;
        }
        frames
            .send(&frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes()))
            .await;
        taken_back += 1;
    }
    assert!(taken_back < STREAMS, "the connection goes on");
    until_counted(&node, "cut_misbehaving", 1).await;
    honest(&node, &certificate).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_without_an_end_ends_the_connection() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    let before = node.resident_bytes();
    let mut frames = Frames::connect(&node, &certificate, 65_535).await;
    assert!(frames.send(&frame(HEADERS, 0, 1, &get_head("/v1"))).await);
    // A header that is never in the table: a name of one letter, a value of 16,000.
    let mut header = vec![0x10, 1, b'x', 0x7f, 0x81, 0x7c];
    header.extend([b'y'; 16_000]);
    let continued = frame(CONTINUATION, 0, 1, &header);
    let mut sent = 0;
    while frames.send(&continued).await {
        sent += 1;
        assert!(sent < 10_000, "160 MB of head were taken");
    }
    honest(&node, &certificate).await;
    assert!(node.resident_bytes() < before + GROWTH_BYTES_MAX);
    until_open(&node, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_that_stands_for_a_much_longer_one_ends_the_connection() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &["api.keep_alive_secs=1"]);
    let mut frames = Frames::connect(&node, &certificate, 65_535).await;
    // 40 MB of head, which is not read to its end.
    let request = frame(HEADERS, END_STREAM | END_HEADERS, 1, &repeated_head(10_000));
    assert!(frames.send(&request).await);
    assert!(frames.is_sent_away().await);
    honest(&node, &certificate).await;
    until_counted(&node, "cut_misbehaving", 1).await;
    until_open(&node, 0).await;
}

/// The head of a GET with a header of 4,000 bytes, which goes to the table, so many times.
fn repeated_head(times: usize) -> Vec<u8> {
    let mut head = get_head("/v1");
    head.extend([0x40, 1, b'x', 0x7f, 0xa1, 0x1e]);
    head.extend([b'y'; 4_000]);
    head.extend(vec![0xbe; times - 1]);
    head
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_of_more_than_a_few_kilobytes_are_431() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    for (times, status) in [(1, STATUS_200), (3, STATUS_431)] {
        let mut frames = Frames::connect(&node, &certificate, 65_535).await;
        let head = repeated_head(times);
        let request = frame(HEADERS, END_STREAM | END_HEADERS, 1, &head);
        assert!(frames.send(&request).await);
        let answer = first_answer(&mut frames).await;
        assert!(answer.starts_with(status), "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_with_a_request_that_has_no_body_is_thrown_away() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &["wait.timeout_ms=600000"]);
    let hash = super::streams::parked(&node, &certificate).await;
    let path = format!("/v1/transactions/wait_by_hash/{hash}");
    let mut frames = Frames::connect(&node, &certificate, 65_535).await;
    let begun = frame(HEADERS, END_HEADERS, 1, &get_head(&path));
    let honest = frame(HEADERS, END_STREAM | END_HEADERS, 3, &get_head("/v1"));
    assert!(frames.send(&begun).await);
    // The windows are as large as the node says from when it has said so and its client has told that it knows.
    while frames.read().await.expect("its windows").kind != WINDOW_UPDATE {}
    assert!(frames.send(&frame(SETTINGS, ACK, 0, &[])).await);
    assert!(frames.send(&honest).await);
    // All of the window of the connection, which is given back only where the bytes are taken.
    for _ in 0..16 {
        assert!(frames.send(&frame(DATA, 0, 1, &[0; 16_000])).await);
    }
    loop {
        let frame = frames.read().await.expect("the connection goes on");
        if frame.kind == WINDOW_UPDATE {
            break;
        }
        assert_ne!(frame.kind, GOAWAY, "{:?}", frame.payload);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_that_does_not_come_whole_ends_the_connection() {
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
    honest(&node, &certificate).await;
    // Ends when the node closes the connections.
    while first.read().await.is_some() {}
    while later.read().await.is_some() {}
    until_open(&node, 0).await;
    assert_eq!(counted(&node, "cut_unread").await, 0);
}
