//! `Expect: 100-continue` (RFC 9110, section 10.1.1): a client that waits for the interim response
//! gets it when its body will be read, and the final status otherwise.

use ledger_test_support::{
    http::{RawConnection, TestCertificate},
    node::TestNode,
};
use reqwest::Method;

/// A request whose client waits before it sends its body.
struct Expecting {
    authority: String,
    line: &'static str,
    lines: String,
    status: u16,
}

impl Expecting {
    fn head(&self) -> String {
        let Self {
            authority,
            line,
            lines,
            ..
        } = self;
        format!("{line} HTTP/1.1\r\nhost: {authority}\r\nexpect: 100-continue\r\n{lines}\r\n")
    }
}

fn json_lines(length: usize) -> String {
    format!("content-type: application/json\r\ncontent-length: {length}\r\n")
}

/// Returns a request for each status that the head decides.
fn decided_by_the_head(node: &TestNode) -> Vec<Expecting> {
    let authority = |url: &str| url.strip_prefix("http://").unwrap().to_owned();
    let api = node.authority().to_owned();
    let admin = authority(&node.admin);
    let faucet = authority(node.faucet.as_ref().unwrap());
    let graphql = authority(node.graphql.as_ref().unwrap());
    let large = json_lines(20_000_000);
    let chunked = "content-type: text/plain\r\ntransfer-encoding: chunked\r\n";
    let rows = [
        (&api, "POST /v1/view", large.clone(), 413),
        (&api, "POST /v1/transactions", large.clone(), 413),
        (
            &api,
            "POST /v1/transactions?timeout_ms=x",
            json_lines(9),
            400,
        ),
        (&api, "POST /v1/transactions/simulate", json_lines(9), 403),
        (&api, "POST /v1/nothing", json_lines(9), 404),
        (&api, "POST /v1", json_lines(9), 405),
        (
            &api,
            "POST /v1/view",
            "content-length: 9\r\n".to_owned(),
            415,
        ),
        (&api, "POST /v1/view", chunked.to_owned(), 415),
        (
            &api,
            "POST /v1/view",
            json_lines(9) + "content-encoding: gzip\r\n",
            415,
        ),
        (&graphql, "POST /v1/graphql", large.clone(), 413),
        (&admin, "PATCH /actors/mempool", large.clone(), 413),
        (&admin, "PATCH /nothing", json_lines(9), 404),
        (&admin, "POST /actors", json_lines(9), 405),
        (&faucet, "POST /fund", large, 413),
        (&faucet, "PUT /fund", json_lines(9), 405),
        (&faucet, "POST /nothing", json_lines(9), 404),
    ];
    let rows = rows.into_iter();
    rows.map(|(authority, line, lines, status)| Expecting {
        authority: authority.clone(),
        line,
        lines,
        status,
    })
    .collect()
}

fn start() -> TestNode {
    TestNode::start(&["graphql.listen=127.0.0.1:0", "api.simulation_enabled=false"])
}

#[tokio::test]
async fn responds_with_the_final_status_if_the_head_decides_it() {
    let node = start();
    for expecting in decided_by_the_head(&node) {
        let line = expecting.line;
        let mut connection = RawConnection::connect(&expecting.authority).await;
        let response = connection.exchange(expecting.head().as_bytes()).await;
        let response = response.unwrap_or_else(|| panic!("no final response to {line}"));
        assert_eq!(response.status, expecting.status, "{line}");
        // The node cannot know whether the client still sends its body.
        assert_eq!(response.headers["connection"], "close", "{line}");
        assert_eq!(connection.read_to_close().await.unwrap(), "", "{line}");
    }
}

/// Reads the interim response.
async fn read_interim(connection: &mut RawConnection, line: &str) {
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n";
    let received = connection.bytes(interim.len()).await;
    assert_eq!(
        String::from_utf8_lossy(&received),
        String::from_utf8_lossy(interim),
        "{line}"
    );
}

#[tokio::test]
async fn sends_the_interim_response_if_the_body_will_be_read() {
    let node = start();
    let authority = |url: &str| url.strip_prefix("http://").unwrap().to_owned();
    let api = node.authority().to_owned();
    let chunked = "content-type: application/json\r\ntransfer-encoding: chunked\r\n";
    let rows = [
        (api.clone(), "POST /v1/view", json_lines(2), "{}"),
        (
            api,
            "POST /v1/view",
            chunked.to_owned(),
            "2\r\n{}\r\n0\r\n\r\n",
        ),
        (
            authority(node.graphql.as_ref().unwrap()),
            "POST /v1/graphql",
            json_lines(2),
            "{}",
        ),
        (
            authority(&node.admin),
            "PATCH /actors/mempool",
            json_lines(2),
            "{}",
        ),
        (
            authority(node.faucet.as_ref().unwrap()),
            "POST /fund",
            json_lines(2),
            "{}",
        ),
    ];
    for (authority, line, lines, body) in rows {
        let expecting = Expecting {
            authority,
            line,
            lines,
            status: 400,
        };
        let head = expecting.head();
        let mut connection = RawConnection::connect(&expecting.authority).await;
        // The connection serves further requests, and an interim response follows the response to
        // an earlier request.
        let earlier = format!("GET / HTTP/1.1\r\nhost: {}\r\n\r\n", expecting.authority);
        for _ in 0..2 {
            connection.send((earlier.clone() + &head).as_bytes()).await;
            assert!(connection.response().await.unwrap().status >= 200, "{line}");
            read_interim(&mut connection, line).await;
            let response = connection.exchange(body.as_bytes()).await.unwrap();
            assert_eq!(response.status, expecting.status, "{line}");
        }
        // A client need not wait.
        connection.send((head + body).as_bytes()).await;
        let response = connection.response().await.unwrap();
        assert_eq!(response.status, expecting.status, "{line}");
    }
}

#[tokio::test]
async fn http_2_sends_the_interim_response_if_the_body_will_be_read() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    let connection = certificate.connect_http2(node.authority()).await;
    for (path, length, is_read) in [
        ("/v1/view", 2, true),
        ("/v1/view", 20_000_000, false),
        ("/v1/nothing", 2, false),
    ] {
        let mut stream = connection
            .begin_expecting(Method::POST, path, "application/json", length)
            .await;
        assert_eq!(stream.interim().await, is_read.then_some(100), "{path}");
        if is_read {
            stream.send_body(b"{}");
        }
        let response = stream.response().await;
        assert!(response.status >= 400, "{}", response.text);
    }
}
