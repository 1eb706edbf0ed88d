//! Many connections: from one address, idle ones, and incomplete TLS handshakes.

use super::{
    address, connect, connect_from, counted, get_status, until_counted, until_honest, until_open,
};
use futures::future::join_all;
use ledger_test_support::{
    http::{H2, TestCertificate},
    node::TestNode,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// Number of connections of a flood.
const FLOOD: usize = 300;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves_other_addresses_during_a_flood_from_one() {
    let node = TestNode::start(&[
        "api.max_connections=50",
        "api.max_connections_per_address=40",
    ]);
    // A rejected connection may be closed before the client has seen it open.
    let flood = join_all((0..FLOOD).map(|_| TcpStream::connect(address(&node)))).await;
    until_counted(&node, "refused_of_address", (FLOOD - 40) as u64).await;
    assert_eq!(counted(&node, "open").await, 40);
    assert_eq!(
        get_status(connect_from(&node, "127.0.0.2").await).await,
        200
    );
    drop(flood);
    until_honest(&node).await;
    until_open(&node, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closes_silent_connections_so_that_others_are_served() {
    let node = TestNode::start(&[
        "api.max_connections=20",
        "api.keep_alive_secs=1",
        "api.workers=1",
    ]);
    let _flood = join_all((0..100).map(|_| connect(&node))).await;
    // This connection is accepted after the silent ones have been closed.
    assert_eq!(get_status(connect(&node).await).await, 200);
    until_open(&node, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ends_incomplete_handshakes_so_that_others_are_served() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(
        &certificate,
        &[
            "api.max_connections=20",
            "api.client_request_timeout_ms=200",
            "api.keep_alive_secs=2",
            "api.workers=1",
        ],
    );
    let _flood: Vec<_> = join_all((0..100).map(|_| TcpStream::connect(address(&node)))).await;
    let honest = certificate.connect_http2(node.authority()).await;
    assert_eq!(honest.get("/v1").await.status, 200);
    until_counted(&node, "failed_handshakes", 100).await;
    drop(honest);
    // A client that negotiates HTTP/2 and then sends nothing.
    let _silent = certificate.connect(node.authority(), &[H2]).await;
    until_open(&node, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves_other_addresses_and_the_health_check_at_the_limit_of_one() {
    let node = TestNode::start(&["api.max_in_flight=12", "api.max_in_flight_per_address=8"]);
    let mut unfinished = Vec::new();
    for from in ["127.0.0.1", "127.0.0.2"] {
        // The probe briefly holds a permit, for lack of which one of the next two requests may be
        // rejected. Then two more are sent.
        for rounds in 1.. {
            assert!(
                rounds < 100,
                "the permits of the address are never exhausted"
            );
            for _ in 0..2 {
                let mut stream = connect_from(&node, from).await;
                let head = "POST /v1/view HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
                            content-length: 99\r\n\r\n{";
                stream.write_all(head.as_bytes()).await.unwrap();
                unfinished.push(stream);
            }
            if get_status(connect_from(&node, from).await).await == 503 {
                break;
            }
        }
        let other = get_status(connect_from(&node, "127.0.0.3").await).await;
        assert_eq!(other, if from == "127.0.0.1" { 200 } else { 503 });
    }
    let mut health = connect_from(&node, "127.0.0.1").await;
    health
        .write_all(b"GET /v1/-/healthy HTTP/1.1\r\nhost: node\r\n\r\n")
        .await
        .unwrap();
    let mut head = [0; 12];
    health.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
}
