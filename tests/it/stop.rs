//! Stops while requests wait: each is answered, over HTTP/1.1 and HTTP/2, with and without TLS.

use futures::future::join_all;
use ledger_crypto::HashValue;
use ledger_test_support::{
    TestAccount, development_chain,
    http::{
        H2, HTTP_11, Http2Connection, RawConnection, RawResponse, TestCertificate, post_bytes,
        submission_media_type,
    },
    node::{TestNode, until, until_parked, within_patience},
};
use reqwest::Method;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

mod many;

/// The media type of BCS.
pub const BCS: &str = "application/x-bcs";

/// The path of a submission that waits for the maximum time.
const SUBMISSION: &str = "/v1/transactions?timeout_ms=600000";

/// A node with a transaction that waits for its predecessor, which is never submitted.
pub struct ParkedNode {
    pub node: TestNode,
    pub hash: HashValue,
    /// The transaction in BCS.
    transaction: Vec<u8>,
    media_type: String,
}

impl ParkedNode {
    /// Submits the transaction over a new connection.
    pub async fn new(node: TestNode, certificate: Option<&TestCertificate>) -> Self {
        let account = TestAccount::from_seed(1);
        node.fund(&account, 1_000_000_000).await;
        let chain = development_chain();
        let parked = account.transfer(&chain, 1, account.address, 1);
        let created = Self {
            hash: parked.hash(chain.vendor()),
            transaction: bcs::to_bytes(&parked).unwrap(),
            media_type: submission_media_type(chain.vendor()),
            node,
        };
        let submission = post_bytes(
            "/v1/transactions",
            &created.media_type,
            &created.transaction,
        );
        let response = match certificate {
            None => {
                let mut connection = RawConnection::connect(created.node.authority()).await;
                connection.exchange(&submission).await
            }
            Some(certificate) => {
                let stream = certificate.connect(created.node.authority(), &[HTTP_11]);
                RawConnection::over(stream.await)
                    .exchange(&submission)
                    .await
            }
        };
        assert_eq!(response.unwrap().status, 202);
        created
    }

    /// Returns requests that wait for the maximum time, of each kind.
    pub fn requests(&self) -> [Request; 4] {
        let hash = self.hash;
        let get = |path, status| Request {
            path,
            body: None,
            status,
        };
        let post = |path: &str, media_type: &str, body, status| Request {
            path: path.to_owned(),
            body: Some((media_type.to_owned(), body)),
            status,
        };
        let hashes = bcs::to_bytes(&[hash].to_vec()).unwrap();
        [
            post(SUBMISSION, &self.media_type, self.transaction.clone(), 202),
            get(
                format!("/v1/transactions/wait_by_hash/{hash}?timeout_ms=600000"),
                200,
            ),
            get(
                "/v1/accounts/0x1?min_ledger_version=1000000&timeout_ms=600000".to_owned(),
                503,
            ),
            post("/v1/transactions/wait?timeout_ms=600000", BCS, hashes, 200),
        ]
    }
}

/// A request that waits.
pub struct Request {
    pub path: String,
    /// Media type and content.
    body: Option<(String, Vec<u8>)>,
    /// Status of the response at the end of the wait.
    pub status: u16,
}

impl Request {
    /// Returns the bytes of HTTP/1.1, for a response of this media type.
    pub fn bytes(&self, accept: &str) -> Vec<u8> {
        let Self { path, body, .. } = self;
        let (method, rest, content) = match body {
            None => ("GET", String::new(), &[][..]),
            Some((media_type, content)) => {
                let length = content.len();
                let rest = format!("content-type: {media_type}\r\ncontent-length: {length}\r\n");
                ("POST", rest, &content[..])
            }
        };
        let head =
            format!("{method} {path} HTTP/1.1\r\nhost: node\r\naccept: {accept}\r\n{rest}\r\n");
        [head.as_bytes(), content].concat()
    }

    /// Asserts that the JSON of a response is that at the end of the wait.
    pub fn assert_ended(&self, hash: &HashValue, status: u16, text: &str) {
        let words: &[&str] = match (status, &self.path[..]) {
            (202, _) => &[&hash.to_string(), "sequence_number"],
            (503, _) => &["\"error_code\":\"internal_error\""],
            (_, path) if path.contains("wait_by_hash") => &["\"type\":\"pending_transaction\""],
            _ => &["\"status\":\"pending\"", "\"type\":\"summary\""],
        };
        assert_eq!(status, self.status, "{}: {text}", self.path);
        for word in words {
            assert!(text.contains(word), "{}: {text}", self.path);
        }
    }
}

/// Reads the response of a request, which must be the last one of its connection.
async fn last_response<S: AsyncRead + AsyncWrite + Unpin>(
    connection: &mut RawConnection<S>,
    what: &str,
) -> RawResponse {
    let response = within_patience(what, connection.response()).await;
    let response = response.unwrap_or_else(|| panic!("no response to {what}"));
    // The head of a response in chunks was sent before the stop.
    let has_length = response.headers.contains_key("content-length");
    let closes = response.headers.get("connection").map(String::as_str);
    assert!(!has_length || closes == Some("close"), "{what}: {closes:?}");
    assert_eq!(connection.read_to_close().await.unwrap(), "", "{what}");
    response
}

/// Stops a node while requests wait on connections that `connect` opens.
async fn assert_answers_waits_at_a_stop<S: AsyncRead + AsyncWrite + Unpin>(
    mut parked: ParkedNode,
    connect: impl AsyncFn(&TestNode) -> S,
) {
    let connect = async || RawConnection::over(connect(&parked.node).await);
    let mut waiting = Vec::new();
    for request in parked.requests() {
        for accept in ["application/json", BCS] {
            let mut connection = connect().await;
            connection.send(&request.bytes(accept)).await;
            waiting.push((connection, request.bytes(accept), accept));
        }
    }
    until_parked(&parked.node, waiting.len()).await;
    let mut idle = connect().await;
    let found = idle
        .exchange(b"GET /v1 HTTP/1.1\r\nhost: node\r\n\r\n")
        .await;
    assert_eq!(found.unwrap().status, 200);
    // The body of this submission follows when the stop has begun.
    let mut late = connect().await;
    let head = format!(
        "POST {SUBMISSION} HTTP/1.1\r\nhost: node\r\ncontent-type: {}\r\ncontent-length: {}\r\n\
         expect: 100-continue\r\n\r\n",
        parked.media_type,
        parked.transaction.len()
    );
    late.send(head.as_bytes()).await;
    late.bytes("HTTP/1.1 100 Continue\r\n\r\n".len()).await;

    parked.node.signal("TERM");
    assert_eq!(idle.read_to_close().await.unwrap(), "");
    late.send(&parked.transaction).await;
    assert_eq!(last_response(&mut late, "late").await.status, 202);
    for (index, (mut connection, bytes, accept)) in waiting.into_iter().enumerate() {
        let what = String::from_utf8_lossy(&bytes).into_owned();
        let response = last_response(&mut connection, &what).await;
        let request = &parked.requests()[index / 2];
        if accept == BCS {
            assert_eq!(response.status, request.status, "{what}");
        } else {
            request.assert_ended(&parked.hash, response.status, &response.text());
        }
    }
    let status = parked.node.ended_within_patience().await;
    assert_eq!(status.code(), Some(0), "{}", parked.node.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_waits_at_a_stop() {
    let parked = ParkedNode::new(TestNode::start(&[]), None).await;
    let (directory, hash) = (parked.node.shared_directory(), parked.hash);
    let connect = async |node: &TestNode| TcpStream::connect(node.authority()).await.unwrap();
    assert_answers_waits_at_a_stop(parked, connect).await;
    let node = TestNode::start_in(directory, Vec::new());
    let found = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
    assert_eq!(found.json["type"], "pending_transaction", "{}", found.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_waits_over_tls_at_a_stop() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    let parked = ParkedNode::new(node, Some(&certificate)).await;
    let connect = async |node: &TestNode| certificate.connect(node.authority(), &[HTTP_11]).await;
    assert_answers_waits_at_a_stop(parked, connect).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_waits_and_pings_over_http2_at_a_stop() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    let mut parked = ParkedNode::new(node, Some(&certificate)).await;
    let stream = certificate.connect(parked.node.authority(), &[H2]).await;
    let mut connection = Http2Connection::over(stream).await;
    let mut late = connection.begin_post(SUBMISSION, &parked.media_type).await;
    let requests = parked.requests();
    let waiting = join_all(requests.iter().map(|request| {
        let (method, media_type, body) = match &request.body {
            None => (Method::GET, "", &[][..]),
            Some((media_type, body)) => (Method::POST, &media_type[..], &body[..]),
        };
        connection.begin(method, &request.path, media_type, body)
    }));
    let waiting = waiting.await;
    until_parked(&parked.node, waiting.len()).await;

    parked.node.signal("TERM");
    for (request, stream) in requests.iter().zip(waiting) {
        let response = within_patience(&request.path, stream.response()).await;
        request.assert_ended(&parked.hash, response.status, &response.text);
    }
    // The connection stays open for the last stream.
    connection.ping().await.unwrap();
    assert!(!connection.accepts_streams().await, "no GOAWAY");
    late.send_body(&parked.transaction);
    assert_eq!(late.response().await.status, 202);
    within_patience("the end of the connection", connection.ended())
        .await
        .unwrap();
    let status = parked.node.ended_within_patience().await;
    assert_eq!(status.code(), Some(0), "{}", parked.node.log());
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_a_payment_of_the_faucet_that_a_stop_interrupts() {
    use ledger_test_support::node::{DiskOperation, SlowDisk};
    use serde_json::json;

    let Some(disk) = SlowDisk::new() else { return };
    let mut node = disk.start(&[]);
    disk.hang(DiskOperation::Sync, "ledger.log");
    let url = format!("{}/fund", node.faucet.as_ref().unwrap());
    let (http, to) = (node.http.clone(), TestAccount::from_seed(1).address);
    let paying = tokio::spawn(async move {
        let body = json!({ "address": to.to_string(), "amount": 5 });
        let request = http.request(Method::POST, &url).json(&body);
        http.try_send(request).await
    });
    until("a sync that hangs", || async {
        (disk.calls(DiskOperation::Sync).waiting() > 0).then_some(())
    })
    .await;
    node.signal("TERM");
    let response = paying.await.unwrap().expect("a response");
    assert_eq!(response.status, 503, "{}", response.text);
    assert!(
        response.text.contains("may still be made"),
        "{}",
        response.text
    );
    disk.release(DiskOperation::Sync);
    let status = node.ended_within_patience().await;
    assert_eq!(status.code(), Some(0), "{}", node.log());
}

/// The thread `main` waits meanwhile for the sync of the log, or syncs the file of the mempool.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exits_with_1_on_a_second_signal_while_a_sync_hangs() {
    use ledger_test_support::node::{DiskOperation, SlowDisk};

    let Some(disk) = SlowDisk::new() else { return };
    for file in ["ledger.log", "mempool.bcs"] {
        let mut parked = ParkedNode::new(disk.start(&[]), None).await;
        let before = disk.calls(DiskOperation::Sync).begun;
        disk.hang(DiskOperation::Sync, file);
        parked.node.signal("TERM");
        until("a sync that hangs", || async {
            (disk.calls(DiskOperation::Sync).begun > before).then_some(())
        })
        .await;
        parked.node.signal("TERM");
        let status = parked.node.ended_within_patience().await;
        assert_eq!(status.code(), Some(1), "{file}: {}", parked.node.log());
        let log = parked.node.log();
        assert!(log.contains("a second signal, SIGTERM"), "{file}: {log}");
        disk.release(DiskOperation::Sync);
    }
}
