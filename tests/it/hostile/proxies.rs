//! Clients behind a trusted proxy, and clients that pretend to be behind one.

use super::{address, connect_from, until_counted};
use futures::future::join_all;
use ledger_test_support::{
    http::RawConnection,
    node::{TestNode, until},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// Address of the trusted proxy.
const PROXY: &str = "127.0.0.1";
/// Address of a peer that is no trusted proxy.
const STRANGER: &str = "127.0.0.2";
/// The interim response to a request whose body will be read.
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// Returns the status of the response to a request with these header lines, over a connection from
/// the address `peer`.
async fn status(node: &TestNode, peer: &str, headers: &[&str]) -> u16 {
    let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    let request = format!("GET /v1 HTTP/1.1\r\nhost: node\r\n{lines}\r\n");
    let connection = &mut RawConnection::over(connect_from(node, peer).await);
    let response = connection.exchange(request.as_bytes()).await;
    response.expect("a response").status
}

/// Opens a request through the proxy that holds its permits until the connection is closed. Returns
/// when the node asks for its body, which it does once the request has its permits.
async fn open_request(node: &TestNode, header: &str) -> TcpStream {
    let mut stream = connect_from(node, PROXY).await;
    let head = format!(
        "POST /v1/view HTTP/1.1\r\nhost: node\r\n{header}\r\ncontent-type: application/json\r\n\
         content-length: 99\r\nexpect: 100-continue\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut interim = [0; CONTINUE.len()];
    stream.read_exact(&mut interim).await.unwrap();
    assert_eq!(interim, *CONTINUE);
    stream
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_each_client_of_a_trusted_proxy_by_itself() {
    let node = TestNode::start(&[
        "api.trusted_proxies=127.0.0.1",
        "api.max_in_flight_per_address=1",
        "log.level=info,http=debug",
    ]);
    let forwarded = "forwarded: for=\"203.0.113.1:80\";proto=https";
    let busy = open_request(&node, forwarded).await;
    let convention = "x-forwarded-for: 203.0.113.1";
    let forged = "x-forwarded-for: 203.0.113.9, 203.0.113.1";
    for headers in [
        &[forwarded][..],
        &[convention],
        &[forged],
        &[convention, forwarded],
    ] {
        assert_eq!(status(&node, PROXY, headers).await, 503, "{headers:?}");
    }
    let other = "x-forwarded-for: 203.0.113.1, 203.0.113.2";
    for headers in [&[other][..], &[], &[other, forwarded]] {
        // The permit of the last request may be held until shortly after its response.
        until(&format!("a response to {headers:?}"), || async {
            (status(&node, PROXY, headers).await == 200).then_some(())
        })
        .await;
    }
    node.logged("address=\"203.0.113.2\"").await;

    assert_eq!(status(&node, STRANGER, &[convention]).await, 200);
    node.logged("address=\"127.0.0.2\"").await;
    drop(busy);
    until("the permit to be released", || async {
        (status(&node, PROXY, &[convention]).await == 200).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_no_connections_of_a_trusted_proxy() {
    const COUNT: usize = 20;
    let node = TestNode::start(&[
        "api.trusted_proxies=127.0.0.1",
        "api.max_connections_per_address=2",
    ]);
    let proxy = join_all((0..COUNT).map(|_| connect_from(&node, PROXY))).await;
    until_counted(&node, "open", COUNT as u64).await;
    // A rejected connection may be closed before the client has seen it open.
    let from_stranger = (0..COUNT).map(|_| async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket
            .bind(format!("{STRANGER}:0").parse().unwrap())
            .unwrap();
        socket.connect(address(&node)).await
    });
    let stranger = join_all(from_stranger).await;
    until_counted(&node, "refused_of_address", COUNT as u64 - 2).await;
    drop((proxy, stranger));
}
