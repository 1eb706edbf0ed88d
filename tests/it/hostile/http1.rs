//! HTTP/1.1 connections: heads and bodies that do not end, responses that are not read, pipelines.

use super::{
    CONNECTION_BYTES_MAX, GET, GROWTH_BYTES_MAX, LARGE, connect, connect_narrow, counted,
    get_status, processor_ticks, until_counted, until_honest, until_open, write_some,
};
use ledger_test_support::{
    TestAccount,
    http::{RawConnection, post_bytes},
    node::{TestNode, until},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// Reads once, and returns the received text.
async fn read_some(stream: &mut TcpStream) -> String {
    let mut buffer = [0; 4096];
    let length = stream.read(&mut buffer).await.unwrap();
    String::from_utf8_lossy(&buffer[..length]).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closes_a_connection_whose_later_head_is_slow() {
    let node = TestNode::start(&[
        "api.client_request_timeout_ms=1000",
        "api.keep_alive_secs=1",
    ]);
    let partial_head = b"GET /v1 HTTP/1.1\r\nhos";
    // The start of the head arrives after the response, or with the request before it.
    let mut after = connect(&node).await;
    after.write_all(GET).await.unwrap();
    assert!(read_some(&mut after).await.starts_with("HTTP/1.1 200"));
    after.write_all(partial_head).await.unwrap();
    let mut with = connect(&node).await;
    with.write_all(&[GET, partial_head].concat()).await.unwrap();
    assert!(read_some(&mut with).await.starts_with("HTTP/1.1 200"));
    assert_eq!(get_status(connect(&node).await).await, 200);
    until_counted(&node, "cut_slow_heads", 2).await;
    until_open(&node, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn releases_the_permit_of_an_incomplete_body_after_its_client_has_closed() {
    let node = TestNode::start(&["api.max_in_flight=4"]);
    let mut slow = Vec::new();
    // The probe briefly holds a permit, for lack of which one of these requests may be rejected.
    // Then one more is sent.
    while slow.is_empty() || get_status(connect(&node).await).await != 503 {
        assert!(slow.len() < 100, "the permits are never exhausted");
        let mut stream = connect(&node).await;
        let head = "POST /v1/view HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
                    content-length: 99\r\n\r\n{";
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    for stream in &mut slow {
        stream.shutdown().await.unwrap();
    }
    until_honest(&node).await;
    until_open(&node, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disconnects_a_client_that_does_not_read_and_releases_its_permit() {
    let node = TestNode::start(&["api.client_send_timeout_ms=300", "api.max_in_flight=3"]);
    let before = node.resident_bytes();
    let mut unread = Vec::new();
    for _ in 0..3 {
        let mut stream = connect_narrow(&node).await;
        let request = format!("GET {LARGE} HTTP/1.1\r\nhost: node\r\n\r\n");
        stream
            .write_all(request.repeat(100).as_bytes())
            .await
            .unwrap();
        unread.push(stream);
    }
    until_counted(&node, "cut_unread", 3).await;
    until_honest(&node).await;
    until_open(&node, 0).await;
    assert!(node.resident_bytes() < before + GROWTH_BYTES_MAX);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disconnects_a_client_that_reads_a_byte_now_and_then() {
    let node = TestNode::start(&["api.client_send_timeout_ms=300"]);
    let mut drip = connect_narrow(&node).await;
    let request = format!("GET {LARGE} HTTP/1.1\r\nhost: node\r\n\r\n");
    drip.write_all(request.repeat(100).as_bytes())
        .await
        .unwrap();
    until("the connection to be closed", || {
        let read = drip.try_read(&mut [0; 1]);
        async move {
            matches!(read, Err(error) if error.kind() != std::io::ErrorKind::WouldBlock)
                .then_some(())
        }
    })
    .await;
    until_counted(&node, "cut_unread", 1).await;
    assert_eq!(get_status(connect(&node).await).await, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves_ten_thousand_pipelined_requests_in_order_within_bounded_memory() {
    const REQUESTS: usize = 10_000;
    let node = TestNode::start(&[]);
    let before = node.resident_bytes();
    let (mut reader, mut writer) = connect(&node).await.into_split();
    let writing = tokio::spawn(async move {
        for version in 0..REQUESTS {
            let request = format!(
                "GET /v1/transactions/by_version/9{version} HTTP/1.1\r\nhost: node\r\n\r\n"
            );
            writer.write_all(request.as_bytes()).await.unwrap();
        }
        writer
    });
    let mut text = String::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut received = 0;
    while received < REQUESTS {
        let length = reader.read(&mut buffer).await.unwrap();
        assert!(length > 0, "the connection ended after {received}");
        text += std::str::from_utf8(&buffer[..length]).unwrap();
        while let Some((_, version)) = text.split_once("version(9") {
            let Some((version, _)) = version.split_once(')') else {
                break;
            };
            assert_eq!(version.parse(), Ok(received), "{text}");
            received += 1;
            let (_, rest) = text.split_once("version(9").unwrap();
            text = rest.to_owned();
        }
    }
    drop(writing.await.unwrap());
    assert!(node.resident_bytes() < before + GROWTH_BYTES_MAX);
    until_open(&node, 0).await;
}

/// Submits a transaction that waits for an earlier one, which is never sent. Returns the request of
/// a long poll for it.
async fn long_poll_request(node: &TestNode) -> String {
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    let parked = account.transfer(&node.chain().await, 1, account.address, 1);
    let hash = node.submit(&parked).await;
    format!("GET /v1/transactions/wait_by_hash/{hash} HTTP/1.1\r\nhost: node\r\n\r\n")
}

/// The dispatcher of actix-http alone uses a whole core for the duration of the poll.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uses_no_processor_time_for_a_pipeline_behind_a_long_poll() {
    let node = TestNode::start(&["wait.timeout_ms=2000", "api.keep_alive_secs=1"]);
    let mut stream = connect(&node).await;
    let poll = long_poll_request(&node).await;
    stream.write_all(poll.as_bytes()).await.unwrap();
    let before = processor_ticks(&node);
    until("the node to stop reading requests", || async {
        let written = stream.try_write(&GET.repeat(1_000));
        written.is_err().then_some(())
    })
    .await;
    assert!(write_some(&stream, GET));
    let response = read_some(&mut stream).await;
    assert!(response.contains("pending_transaction"), "{response}");
    let ticks = processor_ticks(&node) - before;
    assert!(ticks < 100, "{ticks} ticks of 10 ms within two seconds");
    drop(stream);
    until_open(&node, 0).await;
}

/// The node does not read the requests behind an unfinished one beyond its read-ahead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bounds_the_memory_of_heads_behind_a_long_poll() {
    const CONNECTIONS: usize = 40;
    let node = TestNode::start(&["wait.timeout_ms=600000"]);
    let poll = long_poll_request(&node).await;
    let long = format!(
        "GET /v1 HTTP/1.1\r\nhost: node\r\nx: {}\r\n\r\n",
        "y".repeat(100_000)
    );
    let before = node.resident_bytes();
    let mut pipelines = Vec::new();
    for index in 0..CONNECTIONS {
        let mut stream = connect(&node).await;
        // Minimal heads, of which a buffer holds many, and maximal ones, which take a buffer each.
        let pipeline = match index % 2 {
            0 => b"GET /v1 HTTP/1.1\r\nhost:\r\n\r\n".repeat(100_000),
            _ => [&GET.repeat(100)[..], &long.repeat(40).into_bytes()].concat(),
        };
        stream.write_all(poll.as_bytes()).await.unwrap();
        let mut sent = 0;
        let mut failed_writes = 0;
        while sent < pipeline.len() && failed_writes < 20 {
            match stream.try_write(&pipeline[sent..]) {
                Ok(bytes) => sent += bytes,
                Err(_) => {
                    // The node gets a turn before it counts as having stopped reading.
                    assert_eq!(get_status(connect(&node).await).await, 200);
                    failed_writes += 1;
                }
            }
        }
        pipelines.push(stream);
    }
    let grown = node.resident_bytes().saturating_sub(before);
    assert!(
        grown < CONNECTIONS * CONNECTION_BYTES_MAX,
        "{grown} bytes for {CONNECTIONS} connections"
    );
    drop(pipelines);
    until_honest(&node).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves_no_request_after_one_that_closes_the_connection() {
    let node = TestNode::start(&[]);
    let mut stream = connect(&node).await;
    let last = format!("GET {LARGE} HTTP/1.1\r\nhost: node\r\nconnection: close\r\n\r\n");
    let requests = [GET, GET, last.as_bytes(), &GET.repeat(1_000)].concat();
    stream.write_all(&requests).await.unwrap();
    let mut responses = Vec::new();
    stream.read_to_end(&mut responses).await.unwrap();
    let responses = String::from_utf8(responses).unwrap();
    assert_eq!(responses.matches("HTTP/1.1 200 OK").count(), 3);
    assert_eq!(responses.matches("connection: close").count(), 1);
    assert!(
        responses.trim_end().ends_with('}'),
        "the last response is incomplete"
    );
    // The node closes although the client does not, and before the idle timeout.
    until_open(&node, 0).await;
    assert_eq!(counted(&node, "cut_slow_heads").await, 0);
    drop(stream);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ignores_an_upgrade_and_states_that_it_closes_the_connection() {
    let node = TestNode::start(&[]);
    let mut stream = connect(&node).await;
    let request = "GET /v1 HTTP/1.1\r\nhost: node\r\nconnection: Upgrade, HTTP2-Settings\r\n\
                upgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    let response = String::from_utf8(response).unwrap();
    assert!(response.starts_with("HTTP/1.1 200 OK"), "{response}");
    assert!(
        response.contains("connection: close") && !response.contains("upgrade"),
        "{response}"
    );
}

/// actix-http would encode the response for the newest request that it has decoded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_a_response_that_is_held_while_the_next_head_arrives() {
    let node = TestNode::start(&["wait.timeout_ms=300"]);
    let poll = long_poll_request(&node).await;
    let mut hashes = poll.split(['/', ' ']).filter(|part| part.starts_with("0x"));
    let body = format!("{{\"hashes\":[\"{}\"]}}", hashes.next_back().unwrap());
    let many = post_bytes("/v1/transactions/wait", "application/json", body.as_bytes());
    for held in [poll.into_bytes(), many] {
        for next in [
            "HEAD /v1 HTTP/1.1\r\nhost: node\r\nconnection: close\r\n\r\n",
            "GET /v1 HTTP/1.0\r\n\r\n",
            "POST /v1/view HTTP/1.1\r\nhost: node\r\nconnection: close\r\n\
             transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        ] {
            let mut connection = RawConnection::over(connect(&node).await);
            connection.send(&held).await;
            connection.send(next.as_bytes()).await;
            let response = connection.response().await.expect("a body");
            assert_eq!(response.status_line(), "HTTP/1.1 200", "{next}");
            assert!(response.text().contains("pending"), "{}", response.text());
            assert_eq!(response.headers.get("connection"), None, "{next}");
            let rest = connection.rest().await;
            let version = if next.contains("HTTP/1.0") {
                "1.0"
            } else {
                "1.1"
            };
            assert!(rest.starts_with(&format!("HTTP/{version} ")), "{rest}");
            assert_eq!(rest.matches("\r\n\r\n").count(), 1, "{rest}");
            assert_eq!(
                rest.ends_with("\r\n\r\n"),
                next.starts_with("HEAD"),
                "{rest}"
            );
        }
    }
}

/// The read-ahead of a body does not count the head before it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_a_body_after_a_head_of_any_size() {
    let node = TestNode::start(&[]);
    let body = r#"{"function":"0x1::chain_id::get","type_arguments":[],"arguments":[]}"#;
    for head_length in [4_095, 4_096, 4_097, 8_192] {
        let head = |padding| {
            format!(
                "POST /v1/view HTTP/1.1\r\nhost: node\r\ncontent-type: application/json\r\n\
                 content-length: {}\r\nx: {}\r\n\r\n",
                body.len(),
                "y".repeat(padding)
            )
        };
        let head = head(head_length - head(0).len());
        assert_eq!(head.len(), head_length);
        let mut connection = RawConnection::over(connect(&node).await);
        let response = connection.exchange((head + body).as_bytes()).await.unwrap();
        assert_eq!(response.status, 200, "{head_length}: {}", response.text());
    }
}
