//! Clients that want to hurt: whatever they do over their connections, honest ones are answered meanwhile,
//! memory stays bounded, and all that was taken is free again afterwards.
//!
//! Waiting has its end in a setting with a small number, never in this test.

mod connections;
pub mod frames;
mod http1;
mod http2;
mod streams;

use crate::kit::{RawConnection, TestNode, until};
use std::{fs, io::ErrorKind, net::SocketAddr};
use tokio::net::{TcpSocket, TcpStream};

const GET: &[u8] = b"GET /v1 HTTP/1.1\r\nhost: node\r\n\r\n";

/// A route with a large answer: some 200 KB.
const LARGE: &str = "/v1/spec.json";

/// What a bounded node may take more under an attack, in bytes. Without bounds it takes several times as much.
const GROWTH_BYTES_MAX: usize = 100 * 1024 * 1024;

/// What one connection of HTTP/1.1 may take, whatever comes over it, in bytes.
const CONNECTION_BYTES_MAX: usize = 2 * 1024 * 1024;

fn address(node: &TestNode) -> SocketAddr {
    node.authority().parse().unwrap()
}

async fn connect(node: &TestNode) -> TcpStream {
    TcpStream::connect(address(node)).await.unwrap()
}

/// Connects as another machine would, from this address.
async fn connect_from(node: &TestNode, from: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket
        .bind(SocketAddr::new(from.parse().unwrap(), 0))
        .unwrap();
    socket.connect(address(node)).await.unwrap()
}

/// Connects with little room for what is not read.
async fn connect_narrow(node: &TestNode) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(address(node)).await.unwrap()
}

/// Returns the status of the response to a request of an honest client over this connection, or 0
/// if the connection ends instead.
async fn ask(stream: TcpStream) -> u16 {
    let response = RawConnection::over(stream).exchange(GET).await;
    response.map_or(0, |response| response.status)
}

/// Waits until an honest client is answered.
async fn until_honest(node: &TestNode) {
    until("an honest client to be answered", || async {
        (ask(connect(node).await).await == 200).then_some(())
    })
    .await;
}

/// One of the public listener's counters.
pub(crate) async fn counted(node: &TestNode, name: &str) -> u64 {
    // A node that waits for a request no longer than the test wants may refuse this one on a busy machine.
    let listeners = until("the counters", || async {
        let answer = node.http.get(&format!("{}/connections", node.admin)).await;
        answer.json.as_array().cloned()
    })
    .await;
    let mut api = listeners
        .iter()
        .filter(|listener| listener["listener"] == "api");
    api.next().unwrap()[name].as_u64().unwrap()
}

pub(crate) async fn until_counted(node: &TestNode, name: &str, at_least: u64) {
    until(name, || async {
        (counted(node, name).await >= at_least).then_some(())
    })
    .await;
}

/// Waits until the node has no connections but these.
pub(crate) async fn until_open(node: &TestNode, count: u64) {
    until("the connections to end", || async {
        (counted(node, "open").await <= count).then_some(())
    })
    .await;
}

/// Writes until the node takes no more for now; `false` where the connection has ended.
fn write_some(stream: &TcpStream, bytes: &[u8]) -> bool {
    loop {
        match stream.try_write(bytes) {
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}

/// Processor time that the node has used, in the system's ticks of 10 ms.
fn processor_ticks(node: &TestNode) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", node.process_id())).unwrap();
    // Behind the name, which may hold spaces.
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let fields: Vec<_> = fields.split_whitespace().collect();
    let ticks = |field: usize| fields[field].parse::<u64>().unwrap();
    ticks(11) + ticks(12)
}
