//! HTTP/2 streams that are very many, or whose responses are not read.

use super::{
    GROWTH_BYTES_MAX, LARGE, counted,
    frames::{DATA, Frames, HEADERS, RST_STREAM, WINDOW_MAX, get, streams},
    until_counted, until_open,
};
use ledger_crypto::HashValue;
use ledger_test_support::{
    TestAccount, development_chain,
    http::{TestCertificate, submission_media_type},
    node::{TestNode, until},
};
use reqwest::Method;
use tokio::sync::Mutex;

/// Returns the status of the response to an honest client.
async fn status(node: &TestNode, certificate: &TestCertificate) -> u16 {
    certificate
        .connect_http2(node.authority())
        .await
        .get("/v1")
        .await
        .status
}

/// Takes all `permits` of a node with these streams. The probe briefly holds a permit, for lack of
/// which one of the streams may be rejected. Then one more is sent.
async fn take_permits(
    frames: &mut Frames,
    (node, certificate): (&TestNode, &TestCertificate),
    (path, streams): (&str, impl Iterator<Item = u32>),
    permits: u32,
) {
    for (sent, stream) in (1..).zip(streams) {
        assert!(frames.send(&get(stream, path)).await);
        if sent >= permits && status(node, certificate).await == 503 {
            return;
        }
    }
    panic!("the permits are never exhausted");
}

/// Submits a transaction that waits for an earlier one, which is never sent. Returns its hash.
pub async fn submit_parked(node: &TestNode, certificate: &TestCertificate) -> HashValue {
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    let chain = development_chain();
    let transaction = account.transfer(&chain, 1, account.address, 1);
    let media_type = submission_media_type(chain.vendor());
    let body = bcs::to_bytes(&transaction).unwrap();
    let connection = certificate.connect_http2(node.authority()).await;
    let stream = connection
        .begin(Method::POST, "/v1/transactions", &media_type, &body)
        .await;
    assert_eq!(stream.response().await.status, 202);
    transaction.hash(chain.vendor())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves_only_the_maximum_number_of_a_thousand_concurrent_streams() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(
        &certificate,
        &[
            "api.max_streams_per_connection=50",
            "api.max_in_flight=60",
            "api.client_send_timeout_ms=500",
        ],
    );
    let mut frames = Frames::connect(&node, &certificate, 0).await;
    let flood: Vec<u8> = streams(1_000)
        .flat_map(|stream| get(stream, LARGE))
        .collect();
    assert!(frames.send(&flood).await);
    assert_eq!(status(&node, &certificate).await, 200);
    let (mut served, mut refused) = (0, 0);
    while served < 50 || refused < 950 {
        let frame = frames.read().await.expect("an open connection");
        // The reason REFUSED_STREAM is 7. Unread streams are reset later, with another reason.
        match frame.kind {
            HEADERS => served += 1,
            RST_STREAM if frame.payload == [0, 0, 0, 7] => refused += 1,
            _ => {}
        }
    }
    assert_eq!((served, refused), (50, 950));
    until_counted(&node, "reset_unread_streams", 50).await;
    drop(frames);
    until_open(&node, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn resets_streams_without_a_window_and_releases_their_permits() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(
        &certificate,
        &["api.max_in_flight=100", "api.client_send_timeout_ms=5000"],
    );
    let mut frames = Frames::connect(&node, &certificate, 0).await;
    take_permits(
        &mut frames,
        (&node, &certificate),
        (LARGE, streams(120)),
        100,
    )
    .await;
    until("free permits", || async {
        (status(&node, &certificate).await == 200).then_some(())
    })
    .await;
    until_counted(&node, "reset_unread_streams", 100).await;
    assert!(
        frames.send(&get(201, "/v1")).await,
        "the connection was closed"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn resets_a_stream_whose_window_opens_byte_by_byte() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &["api.client_send_timeout_ms=300"]);
    let mut frames = Frames::connect(&node, &certificate, 0).await;
    assert!(frames.send(&get(1, LARGE)).await);
    let frames = Mutex::new(frames);
    // The client reads a few hundred bytes per second.
    until("the stream to be reset", || async {
        assert!(frames.lock().await.open_window(1, 1).await);
        (counted(&node, "reset_unread_streams").await == 1).then_some(())
    })
    .await;
    let mut frames = frames.into_inner();
    let mut bytes = 0;
    loop {
        let frame = frames.read().await.expect("an open connection");
        match frame.kind {
            RST_STREAM => break,
            DATA => bytes += frame.payload.len(),
            _ => {}
        }
    }
    assert!((1..100_000).contains(&bytes), "{bytes} bytes were sent");
    assert_eq!(status(&node, &certificate).await, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disconnects_many_clients_that_never_read_within_bounded_memory() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(
        &certificate,
        &["api.client_send_timeout_ms=1500", "api.keep_alive_secs=1"],
    );
    assert_eq!(status(&node, &certificate).await, 200);
    let before = node.resident_bytes();
    let mut unread = Vec::new();
    for _ in 0..20 {
        let mut frames = Frames::connect(&node, &certificate, WINDOW_MAX).await;
        for stream in streams(120) {
            frames.send(&get(stream, LARGE)).await;
        }
        unread.push(frames);
    }
    assert_eq!(status(&node, &certificate).await, 200);
    let grown = node.resident_bytes().saturating_sub(before);
    assert!(
        grown < GROWTH_BYTES_MAX,
        "{grown} bytes for 2,400 responses that are not read"
    );
    until_counted(&node, "cut_unread", 20).await;
    until_open(&node, 0).await;
}

/// A small response is passed to the connection immediately, but is not sent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn holds_the_permits_of_responses_behind_a_full_socket() {
    const LARGE_RESPONSES: u32 = 20;
    const PERMITS: u32 = 60;
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[&format!("api.max_in_flight={PERMITS}")]);
    let mut frames = Frames::connect(&node, &certificate, WINDOW_MAX).await;
    for stream in streams(LARGE_RESPONSES) {
        assert!(frames.send(&get(stream, LARGE)).await);
    }
    let small = streams(120).skip(LARGE_RESPONSES as usize);
    take_permits(
        &mut frames,
        (&node, &certificate),
        ("/v1", small),
        PERMITS - LARGE_RESPONSES,
    )
    .await;
    drop(frames);
    until("free permits", || async {
        (status(&node, &certificate).await == 200).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancels_long_polls_when_their_connection_is_closed() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(
        &certificate,
        &["wait.timeout_ms=600000", "api.max_in_flight=20"],
    );
    let hash = submit_parked(&node, &certificate).await;
    let path = format!("/v1/transactions/wait_by_hash/{hash}");
    let mut frames = Frames::connect(&node, &certificate, WINDOW_MAX).await;
    take_permits(
        &mut frames,
        (&node, &certificate),
        (&path, streams(120)),
        20,
    )
    .await;
    drop(frames);
    until("free permits", || async {
        (status(&node, &certificate).await == 200).then_some(())
    })
    .await;
}
