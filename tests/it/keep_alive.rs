//! The lifetime and number of connections, as each setting of a listener bounds them.

use crate::hostile::{
    counted,
    frames::{Frames, WINDOW_MAX},
    until_counted,
};
use ledger_test_support::{
    TestAccount, development_chain,
    http::{
        H2, HTTP_11, Http2Connection, RawConnection, RawResponse, TestCertificate,
        submission_bytes, wait_bytes,
    },
    node::{TestNode, until, until_parked},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
};

/// A request of an HTTP/1.1 client.
const GET: &[u8] = b"GET /v1 HTTP/1.1\r\nhost: node\r\n\r\n";

/// Connects to the API listener.
async fn connect(node: &TestNode) -> RawConnection {
    RawConnection::connect(node.authority()).await
}

/// A plain or encrypted connection.
trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// Sends a GET and returns the version and status of the response.
async fn status_line(connection: &mut RawConnection<impl Stream>) -> String {
    exchange(connection, GET).await.status_line()
}

/// Sends a request and returns the response.
async fn exchange(connection: &mut RawConnection<impl Stream>, request: &[u8]) -> RawResponse {
    connection.exchange(request).await.unwrap()
}

/// Encodes a GET of this HTTP version with these header lines.
fn get(version: &str, header_lines: &str) -> Vec<u8> {
    format!("GET /v1 HTTP/{version}\r\nhost: node\r\n{header_lines}\r\n").into_bytes()
}

/// Checks that clients with persistent connections are served while other clients of the same
/// worker thread send HTTP/1.0 requests.
async fn check_serving_beside_http_1_0<S: Stream>(
    node: &TestNode,
    connect: impl AsyncFn() -> RawConnection<S>,
) {
    let chain = development_chain();
    let mut clients = Vec::new();
    for seed in 1..=4 {
        let account = TestAccount::from_seed(seed);
        node.fund(&account, 1_000_000_000).await;
        clients.push((account, connect().await));
    }
    let mut http_1_0 = connect().await;
    for round in 0..5 {
        let mut other = connect().await;
        other.send(&get("1.0", "")).await;
        let response = other.rest().await;
        assert!(response.starts_with("HTTP/1.0 200"), "{response}");
        let response = exchange(&mut http_1_0, &get("1.0", "connection: keep-alive\r\n")).await;
        assert_eq!(response.status_line(), "HTTP/1.0 200", "{response:?}");
        for (account, connection) in &mut clients {
            let transfer = account.transfer(&chain, round, account.address, 1);
            let response = exchange(connection, &submission_bytes(&transfer)).await;
            assert_eq!(response.status_line(), "HTTP/1.1 202", "{response:?}");
            assert_eq!(status_line(connection).await, "HTTP/1.1 200");
        }
    }
}

#[tokio::test]
async fn serves_keep_alive_clients_beside_http_1_0_requests() {
    let node = TestNode::start(&["api.workers=1"]);
    check_serving_beside_http_1_0(&node, || connect(&node)).await;
}

#[tokio::test]
async fn serves_keep_alive_clients_beside_http_1_0_requests_over_tls() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &["api.workers=1"]);
    check_serving_beside_http_1_0(&node, async || {
        RawConnection::over(certificate.connect(node.authority(), &[HTTP_11]).await)
    })
    .await;
}

#[tokio::test]
async fn keeps_or_closes_the_connection_as_each_response_states() {
    // HTTP version, header lines, whether the connection stays open, and the `Connection` header of
    // the response.
    let cases = [
        ("1.1", "", true, None),
        ("1.1", "connection: keep-alive\r\n", true, None),
        ("1.1", "connection: close\r\n", false, Some("close")),
        (
            "1.1",
            "connection: keep-alive, close\r\n",
            false,
            Some("close"),
        ),
        (
            "1.1",
            "connection: upgrade\r\nupgrade: h2c\r\n",
            false,
            Some("close"),
        ),
        ("1.0", "", false, None),
        (
            "1.0",
            "connection: keep-alive\r\n",
            true,
            Some("keep-alive"),
        ),
        (
            "1.0",
            "connection: Keep-Alive\r\n",
            true,
            Some("keep-alive"),
        ),
        ("1.0", "connection: close\r\n", false, None),
        ("1.0", "connection: keep-alive, close\r\n", false, None),
    ];
    let node = TestNode::start(&["api.workers=1"]);
    for version_before in ["1.1", "1.0"] {
        for (version, lines, is_open, connection) in cases {
            let mut other = connect(&node).await;
            other
                .send(&get(version_before, "connection: close\r\n"))
                .await;
            assert_ne!(other.rest().await, "");
            let case = format!("HTTP/{version} {lines:?} after HTTP/{version_before}");
            let mut stream = connect(&node).await;
            for _ in 0..3 {
                let response = exchange(&mut stream, &get(version, lines)).await;
                let status_line = format!("HTTP/{version} 200");
                assert_eq!(response.status_line(), status_line, "{case}: {response:?}");
                let header = response.headers.get("connection");
                assert_eq!(header.map(String::as_str), connection, "{case}");
                if !is_open {
                    assert_eq!(stream.rest().await, "", "{case}");
                    break;
                }
            }
        }
    }
}

#[tokio::test]
async fn closes_a_connection_that_was_idle_between_requests() {
    let node = TestNode::start(&["api.keep_alive_secs=1"]);
    let mut stream = connect(&node).await;
    for _ in 0..3 {
        assert_eq!(status_line(&mut stream).await, "HTTP/1.1 200");
    }
    // The read ends only when the node closes the connection.
    assert_eq!(stream.rest().await, "");
    assert_eq!(counted(&node, "closed_idle").await, 1);
    assert_eq!(counted(&node, "cut_slow_heads").await, 0);
}

#[tokio::test]
async fn closes_a_connection_that_was_idle_before_its_first_request() {
    let node = TestNode::start(&["api.keep_alive_secs=1"]);
    assert_eq!(connect(&node).await.rest().await, "");
    assert_eq!(counted(&node, "closed_idle").await, 1);
    assert_eq!(counted(&node, "cut_slow_heads").await, 0);
    let metrics = node.http.get(&format!("{}/metrics", node.admin)).await.text;
    let sample = "ledger_connections_closed_idle_total{listener=\"api\"} 1\n";
    assert!(metrics.contains(sample), "{metrics}");
}

#[tokio::test]
async fn closes_a_tls_connection_that_was_idle_before_its_first_request() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &["api.keep_alive_secs=1"]);
    let mut http1 = certificate.connect(node.authority(), &[HTTP_11]).await;
    let mut http2 = certificate.connect(node.authority(), &[H2]).await;
    let mut preface_only = Frames::connect(&node, &certificate, WINDOW_MAX).await;
    // TLS is closed too, so that the client knows that nothing was truncated.
    assert_eq!(http1.read(&mut [0; 16]).await.unwrap(), 0);
    assert_eq!(http2.read(&mut [0; 16]).await.unwrap(), 0);
    let reasons = preface_only.acknowledge_to_close().await.unwrap();
    assert!(!reasons.is_empty());
    assert!(reasons.iter().all(|reason| *reason == 0), "{reasons:?}");
    assert_eq!(counted(&node, "closed_idle").await, 3);
    assert_eq!(counted(&node, "cut_slow_heads").await, 0);
    assert_eq!(counted(&node, "failed_handshakes").await, 0);
}

/// Waits until the head of a request that begins now is too slow, on this connection.
async fn until_head_is_too_late(mut connection: RawConnection<impl Stream>) {
    connection.send(b"GET /v1 HTTP/1.1\r\nhost: no").await;
    let response = connection.rest().await;
    assert!(response.starts_with("HTTP/1.1 408"), "{response}");
}

#[tokio::test]
async fn waits_longer_for_the_first_request_than_for_its_head() {
    let node = TestNode::start(&["api.client_request_timeout_ms=50"]);
    let mut idle = connect(&node).await;
    until_head_is_too_late(connect(&node).await).await;
    assert_eq!(status_line(&mut idle).await, "HTTP/1.1 200");
}

#[tokio::test]
async fn waits_longer_for_the_first_request_over_tls_than_for_its_head() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &["api.client_request_timeout_ms=500"]);
    let http1 = certificate.connect(node.authority(), &[HTTP_11]).await;
    let mut http1 = RawConnection::over(http1);
    let http2 = certificate.connect(node.authority(), &[H2]).await;
    let preface_only = certificate.connect_http2(node.authority()).await;
    let late = certificate.connect(node.authority(), &[HTTP_11]).await;
    until_head_is_too_late(RawConnection::over(late)).await;
    assert_eq!(status_line(&mut http1).await, "HTTP/1.1 200");
    assert_eq!(
        Http2Connection::over(http2).await.get("/v1").await.status,
        200
    );
    assert_eq!(preface_only.get("/v1").await.status, 200);
}

#[tokio::test]
async fn responds_with_408_to_a_head_that_is_not_complete_in_time() {
    let node = TestNode::start(&["api.client_request_timeout_ms=50"]);
    for requests_before in 0..3 {
        let mut stream = connect(&node).await;
        for _ in 0..requests_before {
            assert_eq!(status_line(&mut stream).await, "HTTP/1.1 200");
        }
        until_head_is_too_late(stream).await;
        assert_eq!(counted(&node, "cut_slow_heads").await, requests_before + 1);
    }
    assert_eq!(counted(&node, "closed_idle").await, 0);
}

#[tokio::test]
async fn does_not_extend_the_deadline_of_a_head_that_arrives_byte_by_byte() {
    let node = TestNode::start(&[
        "api.client_request_timeout_ms=300",
        "api.keep_alive_secs=3600",
    ]);
    let mut stream = TcpStream::connect(node.authority()).await.unwrap();
    stream.write_all(b"GET /v1 HTTP/1.1\r\nx: ").await.unwrap();
    let mut response = [0; 12];
    until("a response", || {
        // An error means that the node has closed the connection.
        let _ = stream.try_write(b"y");
        let received = stream.try_read(&mut response);
        async move { received.is_ok().then_some(()) }
    })
    .await;
    assert_eq!(&response, b"HTTP/1.1 408");
    assert_eq!(counted(&node, "cut_slow_heads").await, 1);
}

#[tokio::test]
async fn closes_an_http_2_connection_whose_preface_is_not_complete_in_time() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &["api.client_request_timeout_ms=50"]);
    let mut stream = certificate.connect(node.authority(), &[H2]).await;
    stream.write_all(b"PRI * HTTP/2.0\r\n").await.unwrap();
    // The node sends its settings or nothing, and then closes the connection.
    let _ = stream.read_to_end(&mut Vec::new()).await;
    until_counted(&node, "cut_slow_heads", 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accepts_a_connection_above_the_limit_after_another_has_ended() {
    let node = TestNode::start(&["api.max_connections=2", "api.workers=1"]);
    let mut first = connect(&node).await;
    let mut second = connect(&node).await;
    for stream in [&mut first, &mut second] {
        assert_eq!(status_line(stream).await, "HTTP/1.1 200");
    }
    let mut third = connect(&node).await;
    third.send(GET).await;
    for _ in 0..50 {
        assert_eq!(status_line(&mut first).await, "HTTP/1.1 200");
        assert!(!third.is_answered());
    }
    drop(second);
    assert_eq!(
        third.response().await.unwrap().status_line(),
        "HTTP/1.1 200"
    );
    assert_eq!(
        status_line(&mut first).await,
        "HTTP/1.1 200",
        "the first connection was closed for the third"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancels_a_long_poll_whose_client_resets_the_connection() {
    let node = TestNode::start(&["wait.timeout_ms=600000", "api.max_in_flight=1"]);
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    let chain = node.chain().await;
    let parked = account.transfer(&chain, 1, account.address, 1);
    let hash = node.submit(&parked).await;

    let mut stream = connect(&node).await;
    stream.send(&wait_bytes(&hash)).await;
    until_parked(&node, 1).await;
    let line = status_line(&mut connect(&node).await).await;
    assert_eq!(line, "HTTP/1.1 503");
    // Long before the ten minutes of the wait.
    stream.reset();
    until("a free permit", || async {
        let line = status_line(&mut connect(&node).await).await;
        (line == "HTTP/1.1 200").then_some(())
    })
    .await;
}
