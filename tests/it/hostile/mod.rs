//! Hostile clients.
//!
//! Whatever they send over their connections, honest clients are served, memory stays bounded, and
//! every permit is released afterwards.
//!
//! A wait ends by a setting with a small value, not by a timeout of a test.

mod connections;
mod event_streams;
pub mod frames;
mod http1;
mod http2;
mod proxies;
mod streams;
mod waits;

use ledger_test_support::{
    http::RawConnection,
    node::{TestNode, until},
};
use std::{
    fs,
    io::{self, ErrorKind},
    net::SocketAddr,
};
use tokio::net::{TcpSocket, TcpStream};

/// The request of an honest client.
const GET: &[u8] = b"GET /v1 HTTP/1.1\r\nhost: node\r\n\r\n";

/// A route with a large response of about 200 KB.
const LARGE: &str = "/v1/spec.json";

/// Maximum growth of the node's memory under an attack, in bytes. An unbounded node grows several
/// times as much.
const GROWTH_BYTES_MAX: usize = 100 * 1024 * 1024;

/// Maximum memory of one HTTP/1.1 connection, in bytes.
const CONNECTION_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Returns the address of the API listener.
fn address(node: &TestNode) -> SocketAddr {
    node.authority().parse().unwrap()
}

/// Connects to the API listener.
async fn connect(node: &TestNode) -> TcpStream {
    TcpStream::connect(address(node)).await.unwrap()
}

/// Connects from another address of the loopback network.
async fn connect_from(node: &TestNode, from: &str) -> TcpStream {
    connect_to(address(node), from).await.unwrap()
}

/// Connects to `address` from another address of the loopback network.
async fn connect_to(address: SocketAddr, from: &str) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4().unwrap();
    socket
        .bind(SocketAddr::new(from.parse().unwrap(), 0))
        .unwrap();
    socket.connect(address).await
}

/// Connects with a small receive buffer.
async fn connect_narrow(node: &TestNode) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(address(node)).await.unwrap()
}

/// Returns the status of the response to a request of an honest client over this connection, or 0
/// if the connection ends instead.
async fn get_status(stream: TcpStream) -> u16 {
    let response = RawConnection::over(stream).exchange(GET).await;
    response.map_or(0, |response| response.status)
}

/// Waits until an honest client gets a response.
async fn until_honest(node: &TestNode) {
    until("a response to an honest client", || async {
        (get_status(connect(node).await).await == 200).then_some(())
    })
    .await;
}

/// Returns a counter of the public listener.
pub(crate) async fn counted(node: &TestNode, name: &str) -> u64 {
    // A node with a short timeout for requests may reject this one on a busy machine.
    let listeners = until("the counters", || async {
        let response = node.http.get(&format!("{}/connections", node.admin)).await;
        response.json.as_array().cloned()
    })
    .await;
    let mut api = listeners
        .iter()
        .filter(|listener| listener["listener"] == "api");
    api.next().unwrap()[name].as_u64().unwrap()
}

/// Waits until a counter of the public listener reaches `at_least`.
pub(crate) async fn until_counted(node: &TestNode, name: &str, at_least: u64) {
    until(name, || async {
        (counted(node, name).await >= at_least).then_some(())
    })
    .await;
}

/// Waits until the node has at most `count` open connections.
pub(crate) async fn until_open(node: &TestNode, count: u64) {
    until("the connections to end", || async {
        (counted(node, "open").await <= count).then_some(())
    })
    .await;
}

/// Writes until the node reads no more for now. Returns whether the connection is still open.
fn write_some(stream: &TcpStream, bytes: &[u8]) -> bool {
    loop {
        match stream.try_write(bytes) {
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}

/// Returns the processor time of the node, in the system's ticks of 10 ms.
fn processor_ticks(node: &TestNode) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", node.process_id())).unwrap();
    // The fields follow the name, which may contain spaces.
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let fields: Vec<_> = fields.split_whitespace().collect();
    let ticks = |field: usize| fields[field].parse::<u64>().unwrap();
    ticks(11) + ticks(12)
}
