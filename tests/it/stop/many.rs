//! A stop while very many clients wait.

#![allow(clippy::print_stdout, reason = "prints the times of a long run")]

use super::{
    BCS, H2, Http2Connection, Method, ParkedNode, RawConnection, TestCertificate, TestNode,
    join_all, until_parked, within_patience,
};
use std::{
    env,
    time::{Duration, Instant},
};

/// Number of clients, unless `STOP_CLIENTS` sets another one for a long run.
const CLIENTS: usize = 300;

/// Number of streams of a connection, below the default of `api.max_streams_per_connection`.
const STREAMS: usize = 100;

/// Maximum time that the clients may add to a stop of a long run.
const ADDED_MAX: Duration = Duration::from_secs(1);

/// Stops the node. Returns the time until its process has ended.
async fn stop(node: &mut TestNode) -> Duration {
    let begun = Instant::now();
    node.signal("TERM");
    let status = node.ended_within_patience().await;
    assert_eq!(status.code(), Some(0), "{}", node.log());
    begun.elapsed()
}

/// Returns the number of clients, and whether this is a long run.
fn clients() -> (usize, bool) {
    match env::var("STOP_CLIENTS") {
        Ok(count) => (count.parse().expect("a number"), true),
        Err(_) => (CLIENTS, false),
    }
}

/// Prints the times of a stop with and without waits, and asserts the difference in a long run.
fn report(protocol: &str, without: Duration, with: Duration) {
    let (count, is_long_run) = clients();
    println!("{protocol}: a stop took {without:?}, and with {count} waiting clients {with:?}");
    assert!(!is_long_run || with <= without + ADDED_MAX);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_very_many_waits_at_a_stop() {
    let (count, _) = clients();
    let mut without_waits = ParkedNode::new(TestNode::start(&[]), None).await;
    let without = stop(&mut without_waits.node).await;

    let mut parked = ParkedNode::new(TestNode::start(&[]), None).await;
    let requests = parked.requests();
    let mut connections = Vec::new();
    for request in requests.iter().cycle().take(count) {
        let mut connection = RawConnection::connect(parked.node.authority()).await;
        connection.send(&request.bytes(BCS)).await;
        connections.push(connection);
    }
    until_parked(&parked.node, count).await;
    // One task for all of them would take most of the second.
    let responses = join_all(connections.into_iter().map(|mut connection| {
        tokio::spawn(async move { Some(connection.response().await?.status) })
    }));
    let with = stop(&mut parked.node).await;
    let responses = within_patience("the responses", responses).await;
    for (request, status) in requests.iter().cycle().zip(responses) {
        assert_eq!(status.unwrap(), Some(request.status), "{}", request.path);
    }
    report("HTTP/1.1", without, with);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_very_many_waits_over_http2_at_a_stop() {
    let (count, _) = clients();
    let certificate = TestCertificate::new();
    let start = || TestNode::start_tls(&certificate, &[]);
    let mut without_waits = ParkedNode::new(start(), Some(&certificate)).await;
    let without = stop(&mut without_waits.node).await;

    let mut parked = ParkedNode::new(start(), Some(&certificate)).await;
    let requests = parked.requests();
    let (mut connections, mut streams) = (Vec::new(), Vec::new());
    for (index, request) in requests.iter().cycle().take(count).enumerate() {
        if index % STREAMS == 0 {
            let stream = certificate.connect(parked.node.authority(), &[H2]).await;
            connections.push(Http2Connection::over(stream).await);
        }
        let (method, media_type, body) = match &request.body {
            None => (Method::GET, "", &[][..]),
            Some((media_type, body)) => (Method::POST, &media_type[..], &body[..]),
        };
        let connection = connections.last().unwrap();
        streams.push(
            connection
                .begin(method, &request.path, media_type, body)
                .await,
        );
    }
    until_parked(&parked.node, count).await;
    let responses = tokio::spawn(join_all(
        streams
            .into_iter()
            .map(async |stream| stream.response().await.status),
    ));
    let with = stop(&mut parked.node).await;
    let responses = within_patience("the responses", responses).await.unwrap();
    for (request, status) in requests.iter().cycle().zip(responses) {
        assert_eq!(status, request.status, "{}", request.path);
    }
    for connection in connections {
        connection.ended().await.unwrap();
    }
    report("HTTP/2", without, with);
}
