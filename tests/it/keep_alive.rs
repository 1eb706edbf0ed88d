//! How long connections stay, and how many: each setting of the listener does what it says.

use crate::{
    hostile::counted,
    kit::{Account, TestNode, until},
};
use std::io::ErrorKind;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

const GET: &[u8] = b"GET /v1 HTTP/1.1\r\nhost: node\r\n\r\n";

async fn connect(node: &TestNode) -> TcpStream {
    let authority = node.api.strip_prefix("http://").unwrap();
    TcpStream::connect(authority).await.unwrap()
}

/// Sends a GET and reads its answer, whose length its head tells.
async fn ask(stream: &mut TcpStream) -> String {
    stream.write_all(GET).await.unwrap();
    answer(stream).await
}

async fn answer(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        let length = stream.read(&mut buffer).await.unwrap();
        assert!(length > 0, "the connection ended after {text:?}");
        text += std::str::from_utf8(&buffer[..length]).unwrap();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        let length = lines.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        if length.unwrap().1.parse() == Ok(body.len()) {
            return text;
        }
    }
}

/// Reads until the node ends the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut rest = Vec::new();
    // It may be reset instead of closed.
    let _ = stream.read_to_end(&mut rest).await;
    String::from_utf8(rest).unwrap()
}

#[tokio::test]
async fn a_connection_serves_many_requests_and_ends_when_it_was_idle_for_so_long() {
    let node = TestNode::start(&["api.keep_alive_secs=1"]);
    let mut stream = connect(&node).await;
    for _ in 0..3 {
        assert!(ask(&mut stream).await.starts_with("HTTP/1.1 200"));
    }
    // Comes back only when the node ends the connection.
    assert_eq!(rest(&mut stream).await, "");
    assert_eq!(counted(&node, "cut_slow_heads").await, 0, "it was not cut");
}

#[tokio::test]
async fn a_head_that_comes_too_slowly_is_408() {
    let node = TestNode::start(&["api.client_request_timeout_ms=50"]);
    for begun in ["", "GET /v1 HTTP/1.1\r\nhost: no"] {
        let mut stream = connect(&node).await;
        stream.write_all(begun.as_bytes()).await.unwrap();
        let answer = rest(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 408"), "{begun:?}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_beyond_the_limit_wait_for_one_to_end() {
    let node = TestNode::start(&["api.max_connections=2", "api.workers=1"]);
    let mut first = connect(&node).await;
    let mut second = connect(&node).await;
    for stream in [&mut first, &mut second] {
        assert!(ask(stream).await.starts_with("HTTP/1.1 200"));
    }
    let mut third = connect(&node).await;
    third.write_all(GET).await.unwrap();
    for _ in 0..50 {
        assert!(ask(&mut first).await.starts_with("HTTP/1.1 200"));
        let early = third.try_read(&mut [0; 64]);
        assert_eq!(early.map_err(|error| error.kind()), Err(ErrorKind::WouldBlock));
    }
    drop(second);
    assert!(answer(&mut third).await.starts_with("HTTP/1.1 200"));
    assert!(
        ask(&mut first).await.starts_with("HTTP/1.1 200"),
        "the first was not ended for it"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_closes_its_side_while_it_waits_has_gone() {
    let node = TestNode::start(&["wait.timeout_ms=600000", "api.max_in_flight=1"]);
    let account = Account::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    let chain = node.chain().await;
    let parked = account.transfer(&chain, 1, account.address, 1);
    let hash = node.submit(&parked).await;

    let mut stream = connect(&node).await;
    let request = format!("GET /v1/transactions/wait_by_hash/{hash} HTTP/1.1\r\nhost: node\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    // Not after the ten minutes that it would wait.
    assert_eq!(rest(&mut stream).await, "");
    until("its place to be free", || async {
        let answer = ask(&mut connect(&node).await).await;
        answer.starts_with("HTTP/1.1 200").then_some(())
    })
    .await;
}
