//! The log, which clients cannot write to.

use ledger_crypto::HashValue;
use ledger_test_support::{
    http::{H2, RawConnection, TestCertificate, post_bytes},
    node::TestNode,
};

/// Number of misbehaving connections of each kind, each of which might log a line.
const CONNECTIONS: usize = 5;

/// Encodes a request for `/` from the static table of HPACK (RFC 7541), and the reset of its
/// stream.
fn request_and_reset(stream: u32) -> Vec<u8> {
    let number = stream.to_be_bytes();
    let head = [&[0, 0, 3, 1, 5][..], &number, &[0x82, 0x87, 0x84]].concat();
    let reset = [&[0, 0, 4, 3, 0][..], &number, &8_u32.to_be_bytes()].concat();
    [head, reset].concat()
}

/// Resets streams rapidly until the node closes the connection.
async fn reset_rapidly(node: &TestNode, certificate: &TestCertificate) {
    let stream = certificate.connect(node.authority(), &[H2]).await;
    let mut connection = RawConnection::over(stream);
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
    bytes.extend((0..2_000).flat_map(|index| request_and_reset(2 * index + 1)));
    connection.send(&bytes).await;
    connection.rest().await;
}

/// Sends bytes that are not HTTP until the node closes the connection.
async fn send_invalid_http(node: &TestNode) {
    let plain = node.admin.strip_prefix("http://").unwrap();
    for (address, bytes) in [
        (plain, &b"NO HTTP\r\n\r\n"[..]),
        (plain, b"GET / HTTP/1.1\r\ncontent-length: x\r\n\r\n"),
        (node.authority(), b"GET / HTTP/1.1\r\n\r\n"),
    ] {
        let mut connection = RawConnection::connect(address).await;
        connection.send(bytes).await;
        connection.rest().await;
    }
}

#[tokio::test]
async fn clients_cannot_fill_the_log() {
    let certificate = TestCertificate::new();
    let mut node = TestNode::start_tls(&certificate, &[]);
    let before = node.log();
    for _ in 0..CONNECTIONS {
        reset_rapidly(&node, &certificate).await;
        send_invalid_http(&node).await;
    }
    assert_eq!(
        node.http
            .get(&format!("{}/actors", node.admin))
            .await
            .status,
        200
    );
    assert!(node.stop("TERM").success());
    let log = node.log();
    let (new_lines, _) = log
        .strip_prefix(&before)
        .unwrap()
        .split_once("stopping")
        .unwrap();
    assert_eq!(
        new_lines.lines().count(),
        1,
        "lines of clients before that of the stop: {new_lines}"
    );
}

/// Number of requests that a limit rejects.
const REJECTED: usize = 200;

#[tokio::test]
async fn an_overload_logs_one_line_and_another_at_its_end() {
    let mut node = TestNode::start(&["wait.capacity=1", "log.format=json"]);
    let hashes = [0, 1].map(|byte| HashValue::sha3_of(&[&[byte]]).to_string());
    let body = serde_json::json!({ "hashes": hashes }).to_string();
    let request = post_bytes("/v1/transactions/wait", "application/json", body.as_bytes());
    let mut connection = RawConnection::connect(node.authority()).await;
    for _ in 0..REJECTED {
        let response = connection.exchange(&request).await.unwrap();
        assert_eq!(response.status, 503, "{}", response.text());
    }
    let log = node
        .logged("requests are no longer rejected by the limit")
        .await;
    let lines: Vec<serde_json::Value> = log
        .lines()
        .filter(|line| line.contains("wait.capacity"))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (last, before) = lines.split_last().unwrap();
    assert_eq!(last["fields"]["rejected"], REJECTED);
    // The requests may take longer than the time between two lines.
    let rejected = before.iter().map(|line| {
        assert_eq!(line["level"], "WARN", "{line}");
        assert_eq!(line["fields"]["setting"], "wait.capacity");
        assert_eq!(line["fields"]["capacity"], 1);
        line["fields"]["rejected"].as_u64().unwrap()
    });
    assert_eq!(rejected.sum::<u64>(), REJECTED as u64);
    assert!(before.len() <= 3, "{log}");
    assert!(node.stop("TERM").success());
}
