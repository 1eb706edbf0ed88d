//! Very many connections to the event stream of the admin listener.

use super::{connect_to, until};
use crate::metrics::Scrape;
use ledger_test_support::{
    TestAccount,
    node::{TestNode, within_patience},
};
use ledger_types::AccountAddress;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::Semaphore,
    task::JoinSet,
};

/// Number of connections that the client opens.
const CONNECTIONS: usize = 10_000;

/// Maximum number of event streams of a node (`EVENT_STREAMS_MAX`).
const STREAMS_MAX: usize = 16;

/// Maximum number of connections of an address to the admin listener.
const OF_ADDRESS_MAX: usize = 512;

/// Number of attempts at a time, below the number of connections that the kernel queues.
const ATTEMPTS: usize = 64;

/// Address of the client. The operator's is another one.
const CLIENT: &str = "127.0.0.2";

/// Connects and requests the stream. Returns the connection with its status, or `None` if the node
/// closes it without a response.
async fn attempt(node: &TestNode) -> Option<(u16, TcpStream)> {
    let authority = node.admin.strip_prefix("http://").unwrap();
    let connected = connect_to(authority.parse().unwrap(), CLIENT).await;
    let mut stream = connected.ok()?;
    let request = format!("GET /events HTTP/1.1\r\nhost: {authority}\r\n\r\n");
    // The node may close the connection before it has read the request.
    let _ = stream.write_all(request.as_bytes()).await;
    let mut received = Vec::new();
    while !received.windows(4).any(|end| end == b"\r\n\r\n") {
        if stream.read_buf(&mut received).await.ok()? == 0 {
            return None;
        }
    }
    let head = String::from_utf8(received).unwrap();
    let status = head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().unwrap();
    Some((status, stream))
}

/// Reads metrics and commits transfers until `is_over`. Returns the number of commits, and the
/// largest number of connections that were open meanwhile.
async fn operate(node: &TestNode, is_over: &AtomicBool) -> (u64, f64) {
    let (chain, account) = (node.chain().await, TestAccount::from_seed(1));
    let (mut commits, mut open_max) = (0, 0.0_f64);
    while !is_over.load(Ordering::Relaxed) {
        let transfer = account.transfer(&chain, commits, AccountAddress::from_low_u64(0xb0b), 1);
        within_patience("a commit", node.submit_and_wait(&transfer)).await;
        let scrape = within_patience("the metrics", Scrape::of(node)).await;
        let open = scrape.sum("ledger_connections_open", &[("listener", "admin")]);
        open_max = open_max.max(open);
        commits += 1;
    }
    (commits, open_max)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_event_streams_are_bounded_and_counted() {
    let node = Arc::new(TestNode::start(&[]));
    node.fund(&TestAccount::from_seed(1), 1_000_000_000).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let operator = tokio::spawn({
        let (node, is_over) = (Arc::clone(&node), Arc::clone(&is_over));
        async move { operate(&node, &is_over).await }
    });

    let attempts = Arc::new(Semaphore::new(ATTEMPTS));
    let mut clients = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let permit = Arc::clone(&attempts).acquire_owned().await.unwrap();
        let node = Arc::clone(&node);
        clients.spawn(async move {
            let connection = attempt(&node).await;
            drop(permit);
            connection
        });
    }
    let connections = clients.join_all().await;
    is_over.store(true, Ordering::Relaxed);
    let (commits, open_max) = operator.await.unwrap();
    assert!(commits > 0);
    // The connections of the operator are of another address.
    assert!(open_max <= (OF_ADDRESS_MAX + 16) as f64, "{open_max}");

    let count = |status| {
        let open = connections.iter().flatten();
        open.filter(|(of, _)| *of == status).count()
    };
    let closed = connections.iter().filter(|of| of.is_none()).count();
    assert_eq!(count(200), STREAMS_MAX);
    assert_eq!(count(503) + STREAMS_MAX + closed, CONNECTIONS);
    let scrape = Scrape::of(&node).await;
    let refused = scrape.sum("ledger_connections_refused_total", &[("listener", "admin")]);
    assert_eq!(refused, closed as f64);
    let rejected = until("the counted rejections", || async {
        let url = format!("{}/snapshot", node.admin);
        let mut snapshot = node.http.get(&url).await.json;
        let rejections = snapshot["rejections"].take();
        let mut all = rejections.as_array().unwrap().iter();
        let streams = all.find(|of| of["limit"] == "event streams")?["total"].as_u64();
        streams.filter(|total| *total >= count(503) as u64)
    })
    .await;
    assert_eq!(rejected, count(503) as u64);

    drop(connections);
    until("a free stream", || async {
        let (status, _) = attempt(&node).await?;
        (status == 200).then_some(())
    })
    .await;
}
