//! Clients of HTTP/1.0, which cannot read chunks (RFC 9112, section 6.1).

use ledger_test_support::{TestAccount, http::RawConnection, node::TestNode};
use serde_json::{Value, json};

/// Returns head and body of the response to a request after which the connection ends.
async fn exchange(node: &TestNode, request: String) -> (String, String) {
    let mut connection = RawConnection::connect(node.authority()).await;
    connection.send(request.as_bytes()).await;
    let response = connection.read_to_close().await.unwrap();
    let (head, body) = response.split_once("\r\n\r\n").expect("a head");
    (head.to_ascii_lowercase(), body.to_owned())
}

#[tokio::test]
async fn ends_a_streamed_body_with_the_connection() {
    let node = TestNode::start(&[]);
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    let transfer = account.transfer(&node.chain().await, 0, account.address, 1);
    let hash = node.submit(&transfer).await;
    let body = json!({ "hashes": [hash.to_string()] }).to_string();
    for connection in ["close", "keep-alive"] {
        let request = format!(
            "POST /v1/transactions/wait HTTP/1.0\r\nconnection: {connection}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let (head, lines) = exchange(&node, request).await;
        assert!(head.starts_with("http/1.0 200"), "{head}\n{lines}");
        assert!(!head.contains("transfer-encoding"), "{head}");
        assert!(!head.contains("keep-alive"), "{head}");
        let lines = lines.lines().map(serde_json::from_str::<Value>);
        let lines: Vec<_> = lines.collect::<Result<_, _>>().unwrap();
        assert!(lines.len() > 1, "{lines:?}");
    }
}
