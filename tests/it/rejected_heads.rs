//! Requests that the HTTP server rejects, before a route gets them or in their body: each listener
//! responds with its error body, and the client can read it.

use crate::hostile::frames::{DATA, END_HEADERS, END_STREAM, Frames, HEADERS, frame, get_head};
use ledger_test_support::{
    http::{RawConnection, TestCertificate},
    node::TestNode,
};
use serde_json::Value;

/// A request with what its rejection must have.
struct Rejected {
    head: String,
    status: u16,
    /// A part of the message.
    message: &'static str,
}

fn rejected(head: impl Into<String>, status: u16, message: &'static str) -> Rejected {
    Rejected {
        head: head.into(),
        status,
        message,
    }
}

/// Returns a request with this target.
fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nhost: node\r\n\r\n")
}

/// Returns a POST with these header lines.
fn post(lines: &str) -> String {
    format!("POST /v1/view HTTP/1.1\r\n{lines}\r\n\r\n")
}

fn rejected_requests() -> Vec<Rejected> {
    let target = |bytes: usize| get(&format!("/{}", "a".repeat(bytes - 1)));
    let resource = "/v1/accounts/0x1/resource/0x1::coin::CoinStore<0x1::coin::Coin>";
    vec![
        rejected(get(resource), 400, "'<'"),
        rejected(get("/v1/view?type=a>"), 400, "'>'"),
        rejected(get("/v1/a`"), 400, "'`'"),
        rejected(get("/v1/\u{e9}"), 400, "'\u{e9}'"),
        rejected(get("/v1/a b"), 400, "space"),
        rejected("GET /v1 HTTP/1.1\r\n\r\n", 400, "Host"),
        rejected(
            "GET /v1 HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
            400,
            "Host",
        ),
        rejected(
            post("host: a\r\ncontent-length: 2\r\ntransfer-encoding: chunked"),
            400,
            "Content-Length",
        ),
        rejected(
            post("host: a\r\ncontent-length: 2\r\ncontent-length: 2"),
            400,
            "Content-Length",
        ),
        rejected(post("host: a\r\ncontent-length: -2"), 400, "Content-Length"),
        rejected(post("host: a\r\ntransfer-encoding: gzip"), 400, "header"),
        rejected(post("host: a\r\nx y: 2"), 400, "header"),
        rejected("GET /v1 HTTP/3.0\r\nhost: a\r\n\r\n", 400, "HTTP/1.1"),
        rejected("hello\r\n\r\n", 400, "HTTP/1.1"),
        rejected(
            format!(
                "GET /v1 HTTP/1.1\r\nhost: a\r\n{}\r\n",
                "x: y\r\n".repeat(97)
            ),
            431,
            "head",
        ),
        rejected(
            format!(
                "GET /v1 HTTP/1.1\r\nhost: a\r\nx: {}\r\n\r\n",
                "y".repeat(200_000)
            ),
            431,
            "head",
        ),
        rejected(target(65_535), 414, "path and query"),
        rejected(target(66_000), 414, "path and query"),
        rejected(target(200_000), 414, "path and query"),
    ]
}

/// Starts a node with all listeners, and returns the authority of each with its `error_code`.
fn start() -> (TestNode, Vec<(String, &'static str)>) {
    let node = TestNode::start(&["graphql.listen=127.0.0.1:0"]);
    let authority = |url: &str| url.strip_prefix("http://").unwrap().to_owned();
    let listeners = vec![
        (node.authority().to_owned(), "web_framework_error"),
        (authority(&node.admin), "web_framework_error"),
        (
            authority(node.graphql.as_ref().unwrap()),
            "web_framework_error",
        ),
        (
            authority(node.faucet.as_ref().unwrap()),
            "WebFrameworkError",
        ),
    ];
    (node, listeners)
}

/// Checks that a body is the error body of a listener.
fn assert_error_body(body: &Value, error_code: &str, message: &str) {
    assert_eq!(body["error_code"], error_code, "{body}");
    let text = body["message"].as_str().unwrap();
    assert!(text.contains(message), "{body} has no {message}");
}

#[tokio::test]
async fn each_listener_responds_with_its_error_body_to_a_malformed_head() {
    let (_node, listeners) = start();
    for (authority, error_code) in &listeners {
        for Rejected {
            head,
            status,
            message,
        } in rejected_requests()
        {
            let mut connection = RawConnection::connect(authority).await;
            // The client sends more than the node reads.
            let request = head.clone() + &"z".repeat(100_000);
            let response = connection.exchange(request.as_bytes()).await;
            let head = &head[..head.len().min(100)];
            let response = response.unwrap_or_else(|| panic!("{authority}: no response to {head}"));
            assert_eq!(response.status, status, "{authority}: {head}");
            assert_error_body(&response.json(), error_code, message);
            assert_eq!(response.headers["connection"], "close");
            assert!(response.headers.contains_key("date"));
            assert_eq!(connection.read_to_close().await.unwrap(), "", "{head}");
        }
    }
}

#[tokio::test]
async fn each_listener_names_a_malformed_chunk_and_closes_the_connection() {
    let (_node, listeners) = start();
    let routes = [
        ("POST /v1/view", "web_framework_error"),
        ("PATCH /actors/mempool", "web_framework_error"),
        ("POST /v1/graphql", "web_framework_error"),
        ("POST /fund", "InvalidRequest"),
    ];
    for ((authority, _), (route, error_code)) in listeners.iter().zip(routes) {
        for chunks in ["zz\r\n", "2\r\n{}??"] {
            let mut connection = RawConnection::connect(authority).await;
            let head = format!(
                "{route} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                 transfer-encoding: chunked\r\n\r\n"
            );
            connection.send(head.as_bytes()).await;
            let response = connection.exchange(chunks.as_bytes()).await.unwrap();
            assert_eq!(response.status, 400, "{route}: {}", response.text());
            assert_error_body(&response.json(), error_code, "a chunk is malformed");
            assert_eq!(response.headers["connection"], "close", "{route}");
            assert_eq!(connection.read_to_close().await.unwrap(), "", "{route}");
        }
    }
}

#[tokio::test]
async fn responds_to_a_malformed_head_in_any_pieces() {
    let (node, _) = start();
    let head = get("/v1/a<b");
    for split in 1..head.len() {
        let mut connection = RawConnection::connect(node.authority()).await;
        let (first, second) = head.split_at(split);
        connection.send(first.as_bytes()).await;
        let response = connection.exchange(second.as_bytes()).await.unwrap();
        assert_eq!(response.status, 400);
        assert_error_body(&response.json(), "web_framework_error", "'<'");
    }
}

#[tokio::test]
async fn responds_to_a_malformed_head_after_the_requests_before_it() {
    let (node, _) = start();
    for is_pipelined in [true, false] {
        let mut connection = RawConnection::connect(node.authority()).await;
        let (first, last) = (get("/v1"), get("/v1/a<b"));
        let mut requests = first.repeat(3);
        if is_pipelined {
            requests += &last;
        }
        connection.send(requests.as_bytes()).await;
        for _ in 0..3 {
            let response = connection.response().await.unwrap();
            assert_eq!(response.status, 200, "{}", response.text());
        }
        if !is_pipelined {
            connection.send(last.as_bytes()).await;
        }
        let response = connection.response().await.unwrap();
        assert_eq!(response.status, 400);
        assert_error_body(&response.json(), "web_framework_error", "'<'");
        assert_eq!(connection.read_to_close().await.unwrap(), "");
    }
}

#[tokio::test]
async fn responds_without_a_body_to_a_malformed_head_request() {
    let (node, _) = start();
    let mut connection = RawConnection::connect(node.authority()).await;
    let head = "HEAD /v1/a<b HTTP/1.1\r\nhost: a\r\n\r\n";
    connection.send(head.as_bytes()).await;
    let response = connection.read_to_close().await.unwrap();
    assert!(
        response.starts_with("HTTP/1.1 400 Bad Request\r\n"),
        "{response}"
    );
    assert!(response.ends_with("\r\n\r\n"), "{response}");
    assert!(!response.contains("content-length: 0"), "{response}");
}

#[tokio::test]
async fn responds_with_the_error_body_to_a_late_head() {
    let node = TestNode::start(&["api.client_request_timeout_ms=100"]);
    let mut connection = RawConnection::connect(node.authority()).await;
    let response = connection
        .exchange(b"GET /v1 HTTP/1.1\r\nho")
        .await
        .unwrap();
    assert_eq!(response.status, 408);
    assert_error_body(&response.json(), "web_framework_error", "in time");
    assert_eq!(connection.read_to_close().await.unwrap(), "");
}

#[tokio::test]
async fn http_2_responds_with_the_error_body_to_headers_above_the_limit() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    let mut frames = Frames::connect(&node, &certificate, 65_535).await;
    // A literal header with a value of 9,000 bytes.
    let mut head = get_head("/v1");
    head.extend([0x00, 1, b'x', 0x7f, 0xa9, 0x45]);
    head.extend([b'y'; 9_000]);
    let request = frame(HEADERS, END_STREAM | END_HEADERS, 1, &head);
    assert!(frames.send(&request).await);
    let body = loop {
        let frame = frames.read().await.expect("a response with a body");
        if frame.kind == DATA {
            break frame.payload;
        }
    };
    let body = serde_json::from_slice(&body).unwrap();
    assert_error_body(&body, "web_framework_error", "8192 bytes");
}

#[tokio::test]
async fn http_2_responds_with_the_error_body_to_a_path_that_is_not_ascii() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    let connection = certificate.connect_http2(node.authority()).await;
    let response = connection.get("/v1/\u{e9}").await;
    assert_eq!(response.status, 400, "{}", response.text);
    assert_error_body(&response.json, "web_framework_error", "percent-encoded");
}
