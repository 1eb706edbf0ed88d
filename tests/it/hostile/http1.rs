//! Connections of HTTP/1.1: heads and bodies that do not end, answers that are not read, pipelines.

use super::{
    CONNECTION_BYTES_MAX, GET, GROWTH_BYTES_MAX, LARGE, ask, connect, connect_narrow, counted,
    processor_ticks, until_counted, until_honest, until_open, write_some,
};
use crate::kit::{TestAccount, TestNode, until};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// Reads until something of the answers is there.
async fn read_some(stream: &mut TcpStream) -> String {
    let mut buffer = [0; 4096];
    let length = stream.read(&mut buffer).await.unwrap();
    String::from_utf8_lossy(&buffer[..length]).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn later_heads_have_their_deadline_too() {
    let node = TestNode::start(&[
        "api.client_request_timeout_ms=1000",
        "api.keep_alive_secs=1",
    ]);
    let begun = b"GET /v1 HTTP/1.1\r\nhos";
    // What is begun comes after the answer, or with the request before it.
    let mut after = connect(&node).await;
    after.write_all(GET).await.unwrap();
    assert!(read_some(&mut after).await.starts_with("HTTP/1.1 200"));
    after.write_all(begun).await.unwrap();
    let mut with = connect(&node).await;
    with.write_all(&[GET, begun].concat()).await.unwrap();
    assert!(read_some(&mut with).await.starts_with("HTTP/1.1 200"));
    assert_eq!(ask(connect(&node).await).await, 200);
    // What is begun with the request before it may count as nothing: then its connection ends as an idle one.
    until_counted(&node, "cut_slow_heads", 1).await;
    until_open(&node, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_does_not_end_has_no_place_after_its_client_closed_its_side() {
    let node = TestNode::start(&["api.max_in_flight=4"]);
    let mut slow = Vec::new();
    // Who asks has a place too for a moment, which one of these may miss: then there is one more.
    while slow.is_empty() || ask(connect(&node).await).await != 503 {
        assert!(slow.len() < 100, "the places are never all taken");
        let mut stream = connect(&node).await;
        let head = "POST /v1/view HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{";
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
async fn who_does_not_read_is_cut_and_loses_its_place() {
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
async fn who_reads_a_byte_now_and_then_is_cut_too() {
    let node = TestNode::start(&["api.client_send_timeout_ms=300"]);
    let mut drip = connect_narrow(&node).await;
    let request = format!("GET {LARGE} HTTP/1.1\r\nhost: node\r\n\r\n");
    drip.write_all(request.repeat(100).as_bytes())
        .await
        .unwrap();
    until("the connection to be cut", || {
        let read = drip.try_read(&mut [0; 1]);
        async move {
            matches!(read, Err(error) if error.kind() != std::io::ErrorKind::WouldBlock)
                .then_some(())
        }
    })
    .await;
    until_counted(&node, "cut_unread", 1).await;
    assert_eq!(ask(connect(&node).await).await, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_requests_in_a_pipeline_are_answered_in_order_within_bounded_memory() {
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
    let mut answered = 0;
    while answered < REQUESTS {
        let length = reader.read(&mut buffer).await.unwrap();
        assert!(length > 0, "the connection ended after {answered}");
        text += std::str::from_utf8(&buffer[..length]).unwrap();
        while let Some((_, version)) = text.split_once("version(9") {
            let Some((version, _)) = version.split_once(')') else {
                break;
            };
            assert_eq!(version.parse(), Ok(answered), "{text}");
            answered += 1;
            let (_, rest) = text.split_once("version(9").unwrap();
            text = rest.to_owned();
        }
    }
    drop(writing.await.unwrap());
    assert!(node.resident_bytes() < before + GROWTH_BYTES_MAX);
    until_open(&node, 0).await;
}

/// A transaction that waits for one before it, which never comes: the request of a long poll for it.
async fn long_poll(node: &TestNode) -> String {
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    let parked = account.transfer(&node.chain().await, 1, account.address, 1);
    let hash = node.submit(&parked).await;
    format!("GET /v1/transactions/wait_by_hash/{hash} HTTP/1.1\r\nhost: node\r\n\r\n")
}

/// The library's dispatcher alone takes a whole core for as long as the poll takes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pipeline_behind_a_long_poll_takes_no_processor_time() {
    let node = TestNode::start(&["wait.timeout_ms=2000", "api.keep_alive_secs=1"]);
    let mut stream = connect(&node).await;
    let poll = long_poll(&node).await;
    stream.write_all(poll.as_bytes()).await.unwrap();
    let before = processor_ticks(&node);
    until("the node to take no more requests", || async {
        let took = stream.try_write(&GET.repeat(1_000));
        took.is_err().then_some(())
    })
    .await;
    assert!(write_some(&stream, GET));
    let answer = read_some(&mut stream).await;
    assert!(answer.contains("pending_transaction"), "{answer}");
    let ticks = processor_ticks(&node) - before;
    assert!(ticks < 100, "{ticks} ticks of 10 ms within two seconds");
    drop(stream);
    until_open(&node, 0).await;
}

/// What comes behind a request that is not answered yet is left where it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heads_behind_a_long_poll_take_bounded_memory() {
    const CONNECTIONS: usize = 40;
    let node = TestNode::start(&["wait.timeout_ms=600000"]);
    let poll = long_poll(&node).await;
    let long = format!(
        "GET /v1 HTTP/1.1\r\nhost: node\r\nx: {}\r\n\r\n",
        "y".repeat(100_000)
    );
    let before = node.resident_bytes();
    let mut pipelines = Vec::new();
    for index in 0..CONNECTIONS {
        let mut stream = connect(&node).await;
        // The shortest heads, which come many in a buffer, and the longest, which keep a buffer each.
        let behind = match index % 2 {
            0 => b"GET /v1 HTTP/1.1\r\nhost:\r\n\r\n".repeat(100_000),
            _ => [&GET.repeat(100)[..], &long.repeat(40).into_bytes()].concat(),
        };
        stream.write_all(poll.as_bytes()).await.unwrap();
        let mut sent = 0;
        let mut vain = 0;
        while sent < behind.len() && vain < 20 {
            match stream.try_write(&behind[sent..]) {
                Ok(bytes) => sent += bytes,
                Err(_) => {
                    // The node has its turn before it counts as taking no more.
                    assert_eq!(ask(connect(&node).await).await, 200);
                    vain += 1;
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
async fn nothing_is_served_after_a_request_that_closes_the_connection() {
    let node = TestNode::start(&[]);
    let mut stream = connect(&node).await;
    let last = format!("GET {LARGE} HTTP/1.1\r\nhost: node\r\nconnection: close\r\n\r\n");
    let requests = [GET, GET, last.as_bytes(), &GET.repeat(1_000)].concat();
    stream.write_all(&requests).await.unwrap();
    let mut answers = Vec::new();
    stream.read_to_end(&mut answers).await.unwrap();
    let answers = String::from_utf8(answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 3);
    assert_eq!(answers.matches("connection: close").count(), 1);
    assert!(
        answers.trim_end().ends_with('}'),
        "the last answer is whole"
    );
    // Although its client does not close its side, and not because it was idle for too long.
    until_open(&node, 0).await;
    assert_eq!(counted(&node, "cut_slow_heads").await, 0);
    drop(stream);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wish_for_another_protocol_is_not_granted_and_its_answer_says_what_follows() {
    let node = TestNode::start(&[]);
    let mut stream = connect(&node).await;
    let wish = "GET /v1 HTTP/1.1\r\nhost: node\r\nconnection: Upgrade, HTTP2-Settings\r\n\
                upgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n\r\n";
    stream.write_all(wish.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(
        answer.contains("connection: close") && !answer.contains("upgrade"),
        "{answer}"
    );
}
