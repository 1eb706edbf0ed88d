//! HTTP/2: concurrent requests on a connection, and their limits.

use futures::future::{FutureExt as _, join_all};
use ledger_test_support::{
    TestAccount, development_chain,
    http::{Http2Connection, Http2Stream, HttpResponse, TestCertificate, submission_media_type},
    node::{TestNode, until},
};
use ledger_types::SignedTransaction;
use ledger_vm::Chain;
use reqwest::Method;

/// The maximum of `wait.timeout_ms`: a wait that ends was ended by an action of the test.
const MAXIMUM_WAIT: &str = "wait.timeout_ms=600000";

/// Returns a funded account and its chain.
async fn funded_account(node: &TestNode) -> (TestAccount, Chain) {
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    let chain = development_chain();
    (account, chain)
}

/// Submits a transaction, which must be accepted.
async fn submit(
    connection: &Http2Connection,
    chain: &Chain,
    transaction: &SignedTransaction,
) -> HttpResponse {
    let media_type = submission_media_type(chain.vendor());
    let body = bcs::to_bytes(transaction).unwrap();
    let stream = connection
        .begin(Method::POST, "/v1/transactions", &media_type, &body)
        .await;
    let response = stream.response().await;
    assert_eq!(response.status, 202, "{}", response.json);
    response
}

/// Returns the path of a long poll for the transaction.
fn wait_path(chain: &Chain, transaction: &SignedTransaction) -> String {
    format!(
        "/v1/transactions/wait_by_hash/{}",
        transaction.hash(chain.vendor())
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves_reads_submissions_and_long_polls_on_one_connection() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[MAXIMUM_WAIT]);
    let (account, chain) = funded_account(&node).await;
    let connection = certificate.connect_http2(node.authority()).await;

    let first = account.transfer(&chain, 0, account.address, 1);
    let second = account.transfer(&chain, 1, account.address, 1);
    submit(&connection, &chain, &second).await;
    // The wait for the second transaction lasts until the first one is submitted. Other requests
    // are served meanwhile.
    let waiting = connection.begin_get(&wait_path(&chain, &second)).await;
    let newest = connection.get("/v1").await;
    assert_eq!((newest.status, &newest.json["chain_id"]), (200, &4.into()));
    submit(&connection, &chain, &first).await;
    let committed = waiting.response().await;
    assert_eq!(committed.status, 200, "{}", committed.json);
    assert_eq!(committed.json["success"], true, "{}", committed.json);
    let version = committed.json["version"]
        .as_str()
        .unwrap()
        .parse::<u64>()
        .unwrap();
    let ledger_version = committed.headers["x-node-ledger-version"].to_str().unwrap();
    assert!(ledger_version.parse::<u64>().unwrap() >= version);

    let missing = connection.get("/v1/no_such_route").await;
    assert_eq!(missing.status, 404);
    assert_eq!(missing.json["error_code"], "web_framework_error");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves_as_many_concurrent_requests_as_a_browser_sends() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    let connection = certificate.connect_http2(node.authority()).await;
    let streams = join_all((0..100).map(|_| connection.begin_get("/v1"))).await;
    let responses = join_all(streams.into_iter().map(Http2Stream::response)).await;
    assert!(responses.iter().all(|response| response.status == 200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bounds_the_concurrent_streams_of_a_connection() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(
        &certificate,
        &[MAXIMUM_WAIT, "api.max_streams_per_connection=3"],
    );
    let (account, chain) = funded_account(&node).await;
    let connection = certificate.connect_http2(node.authority()).await;
    let other = certificate.connect_http2(node.authority()).await;
    let first = account.transfer(&chain, 0, account.address, 1);
    let second = account.transfer(&chain, 1, account.address, 1);
    submit(&other, &chain, &second).await;

    // The client knows the node's limit after the first response.
    assert_eq!(connection.get("/v1").await.status, 200);
    let path = wait_path(&chain, &second);
    let waiting = join_all((0..3).map(|_| connection.begin_get(&path))).await;
    let mut later = Box::pin(connection.get("/v1"));
    for _ in 0..20 {
        assert!(
            (&mut later).now_or_never().is_none(),
            "a fourth request was sent"
        );
        assert_eq!(
            other.get("/v1").await.status,
            200,
            "another connection has its own streams"
        );
    }

    submit(&other, &chain, &first).await;
    for stream in waiting {
        let response = stream.response().await;
        assert_eq!(
            (response.status, &response.json["success"]),
            (200, &true.into())
        );
    }
    assert_eq!(later.await.status, 200);
    assert_eq!(
        connection.get("/v1").await.status,
        200,
        "the streams are free again"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn releases_the_streams_of_reset_requests() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(
        &certificate,
        &[MAXIMUM_WAIT, "api.max_streams_per_connection=3"],
    );
    let (account, chain) = funded_account(&node).await;
    let connection = certificate.connect_http2(node.authority()).await;
    let other = certificate.connect_http2(node.authority()).await;
    let first = account.transfer(&chain, 0, account.address, 1);
    let second = account.transfer(&chain, 1, account.address, 1);
    submit(&other, &chain, &second).await;

    assert_eq!(connection.get("/v1").await.status, 200);
    let path = wait_path(&chain, &second);
    for stream in join_all((0..3).map(|_| connection.begin_get(&path))).await {
        stream.reset();
    }
    // The streams are free immediately, although the awaited transaction is not committed.
    assert_eq!(connection.get("/v1").await.status, 200);
    // New requests count as the first ones did.
    let waiting = join_all((0..2).map(|_| connection.begin_get(&path))).await;
    assert_eq!(connection.get("/v1").await.status, 200);
    submit(&other, &chain, &first).await;
    for stream in waiting {
        assert_eq!(stream.response().await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bounds_the_concurrent_requests_of_all_connections() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[MAXIMUM_WAIT, "api.max_in_flight=3"]);
    let (account, chain) = funded_account(&node).await;
    let connection = certificate.connect_http2(node.authority()).await;
    let other = certificate.connect_http2(node.authority()).await;
    let second = account.transfer(&chain, 1, account.address, 1);
    submit(&other, &chain, &second).await;

    let path = wait_path(&chain, &second);
    let (mut waiting, mut rejected) = (Vec::new(), Vec::new());
    // A permit is released after its response is sent, so a poll may be rejected because of the
    // request before it. Then one more poll is sent.
    while rejected.is_empty() {
        assert!(waiting.len() < 100, "the three permits are never exhausted");
        waiting.push(connection.begin_get(&path).await);
        // The node processes the requests of a connection in order.
        let responses = [connection.get("/v1").await, other.get("/v1").await];
        if responses.iter().all(|response| response.status == 503) {
            rejected.extend(responses);
        }
    }
    for response in rejected {
        assert_eq!(response.headers["retry-after"], "1", "{}", response.json);
    }
    for stream in waiting {
        stream.reset();
    }
    until("a free permit", || async {
        (other.get("/v1").await.status == 200).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn responds_to_head_as_to_get_without_the_body() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    let connection = certificate.connect_http2(node.authority()).await;
    for path in [
        "/",
        "/v1",
        "/v1/info",
        "/v1/spec",
        "/v1/spec.json",
        "/v1/blocks/by_height/0?with_transactions=true",
        "/v1/accounts/0x1/modules",
        "/v1/accounts/x",
        "/v1/no_such_route",
    ] {
        let get = connection.get(path).await;
        let head = connection.begin(Method::HEAD, path, "", &[]).await;
        let head = head.response().await;
        let headers = |response: &HttpResponse| {
            let mut headers = response.headers.clone();
            headers.remove("date");
            headers
        };
        assert_eq!((head.status, &head.text[..]), (get.status, ""), "{path}");
        assert_eq!(headers(&head), headers(&get), "{path}");
        let length = get.text.len().to_string();
        assert_eq!(head.headers["content-length"], length, "{path}");
    }
}
