//! Connections that are held open: idle ones, slow heads, and more than the limit on open files
//! allows.

use super::attacker::{Attacker, Preparation, prepared};
use ledger_test_support::node::OpenLoop;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::{sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// Number of idle connections: a quarter of the default limit per address.
const IDLE: usize = 5_000;
/// Number of connections with a slow head.
const SLOW: usize = 1_000;
/// Number of connections above the limit on open files: three times the limit.
const ABOVE_LIMIT: usize = 1_000;
/// New connections per second. [`IDLE`] are open after the warm-up of the bench and one second of
/// its measurement.
const OPENED_PER_SECOND: f64 = 2_500.0;
/// Pause between two bytes of a slow head: ten bytes before the node closes the connection after 5
/// s, and 2,000 bytes per second in all.
const BYTE_PAUSE: Duration = Duration::from_millis(500);
/// Requests to the admin listener per second.
const ADMIN_REQUESTS_PER_SECOND: f64 = 10.0;
/// Open files of the test process for other purposes than held connections.
const SPARE_FILES: u64 = 200;

/// Raises this process's limit on open files and returns how many connections it can hold, at most
/// `wanted`.
fn allowed_connections(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    // An error means a missing right: then fewer connections are held.
    let _ = setrlimit(Resource::Nofile, raised);
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    wanted.min(files.saturating_sub(SPARE_FILES).try_into().unwrap())
}

/// Holds connections open until the attack ends, and opens new ones for those that end.
///
/// `hold_one` holds a connection until the node closes it, and returns the response.
async fn hold(attacker: Arc<Attacker>, count: usize, hold_one: impl AsyncFn(TcpStream) -> String) {
    let authority = attacker.target.authority();
    let open = async |_| match TcpStream::connect(authority).await {
        Ok(stream) => Some(hold_one(stream).await),
        Err(error) => Some(format!("not connected: {}", error.kind())),
    };
    let count = allowed_connections(count);
    attacker.flood(count, OPENED_PER_SECOND, open).await;
}

/// Waits until the node sends something or closes the connection.
async fn response(stream: &mut TcpStream) -> String {
    let mut head = [0; 12];
    match stream.read(&mut head).await {
        Ok(0) => "closed".to_owned(),
        Ok(length) => String::from_utf8_lossy(&head[9.min(length)..length]).into_owned(),
        Err(error) => error.kind().to_string(),
    }
}

/// Holds a connection without sending anything.
async fn hold_idle(mut stream: TcpStream) -> String {
    response(&mut stream).await
}

/// Holds a connection by sending a head byte by byte.
async fn hold_slow(mut stream: TcpStream) -> String {
    let head = b"GET /v1 HTTP/1.1\r\nhost: node\r\nx: ".iter();
    for &byte in head.chain(std::iter::repeat(&b'y')) {
        // An error means that the node has closed the connection, which the response reports.
        let _ = stream.write_all(&[byte]).await;
        if let Ok(response) = timeout(BYTE_PAUSE, response(&mut stream)).await {
            return response;
        }
    }
    unreachable!("the head has no end")
}

/// Connections that send nothing.
pub fn idle(attacker: Arc<Attacker>) -> Preparation {
    prepared(hold(attacker, IDLE, hold_idle))
}

/// Connections that send the head of a request byte by byte.
pub fn slow_heads(attacker: Arc<Attacker>) -> Preparation {
    prepared(hold(attacker, SLOW, hold_slow))
}

/// More connections than the node can accept, with requests to the admin listener meanwhile.
pub fn above_limit(attacker: Arc<Attacker>) -> Preparation {
    prepared(async move {
        let held = hold(Arc::clone(&attacker), ABOVE_LIMIT, hold_idle);
        let requests = attacker.until_ended(request_admin(&attacker));
        tokio::join!(held, requests);
    })
}

/// Sends requests to the admin listener.
async fn request_admin(attacker: &Attacker) {
    let url = format!("{}/connections", attacker.target.admin);
    let turns = OpenLoop::new(ADMIN_REQUESTS_PER_SECOND);
    loop {
        turns.next().await;
        let response = attacker.target.http.get(&url).await;
        attacker.count(format!("admin {}", response.status));
    }
}
