//! HTTP/2, whose connections carry many requests at once: what it answers, and what bounds it.

use crate::kit::{
    Http2Connection, Http2Stream, HttpResponse, TestAccount, TestCertificate, TestNode,
    development_chain, submission_media_type, until,
};
use futures::future::{FutureExt as _, join_all};
use ledger_types::SignedTransaction;
use ledger_vm::Chain;
use reqwest::Method;

/// The longest that `wait.timeout_ms` can be: a wait that ends was ended by what the test does.
const LONGEST_WAIT: &str = "wait.timeout_ms=600000";

/// An account with coins, and its chain.
async fn rich_account(node: &TestNode) -> (TestAccount, Chain) {
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    let chain = development_chain();
    (account, chain)
}

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
    let answer = stream.response().await;
    assert_eq!(answer.status, 202, "{}", answer.json);
    answer
}

/// The path of a long poll for it.
fn wait_path(chain: &Chain, transaction: &SignedTransaction) -> String {
    format!(
        "/v1/transactions/wait_by_hash/{}",
        transaction.hash(chain.vendor())
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_submissions_and_long_polls_share_a_connection() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[LONGEST_WAIT]);
    let (account, chain) = rich_account(&node).await;
    let connection = certificate.connect_http2(node.authority()).await;

    let first = account.transfer(&chain, 0, account.address, 1);
    let second = account.transfer(&chain, 1, account.address, 1);
    submit(&connection, &chain, &second).await;
    // The wait for the second lasts until the first is there; meanwhile others are answered.
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
async fn as_many_requests_at_once_as_a_browser_sends_are_answered() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    let connection = certificate.connect_http2(node.authority()).await;
    let streams = join_all((0..100).map(|_| connection.begin_get("/v1"))).await;
    let answers = join_all(streams.into_iter().map(Http2Stream::response)).await;
    assert!(answers.iter().all(|answer| answer.status == 200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_connection_has_only_so_many_streams_at_once() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(
        &certificate,
        &[LONGEST_WAIT, "api.max_streams_per_connection=3"],
    );
    let (account, chain) = rich_account(&node).await;
    let connection = certificate.connect_http2(node.authority()).await;
    let other = certificate.connect_http2(node.authority()).await;
    let first = account.transfer(&chain, 0, account.address, 1);
    let second = account.transfer(&chain, 1, account.address, 1);
    submit(&other, &chain, &second).await;

    // What the node allows is known with its first answer.
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
            "another connection has its own places"
        );
    }

    submit(&other, &chain, &first).await;
    for stream in waiting {
        let answer = stream.response().await;
        assert_eq!(
            (answer.status, &answer.json["success"]),
            (200, &true.into())
        );
    }
    assert_eq!(later.await.status, 200);
    assert_eq!(
        connection.get("/v1").await.status,
        200,
        "the places are free again"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_are_taken_back_give_their_places_back() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(
        &certificate,
        &[LONGEST_WAIT, "api.max_streams_per_connection=3"],
    );
    let (account, chain) = rich_account(&node).await;
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
    // At once, although nothing of what they wait for comes.
    assert_eq!(connection.get("/v1").await.status, 200);
    // Others count as the first ones did.
    let waiting = join_all((0..2).map(|_| connection.begin_get(&path))).await;
    assert_eq!(connection.get("/v1").await.status, 200);
    submit(&other, &chain, &first).await;
    for stream in waiting {
        assert_eq!(stream.response().await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_of_all_connections_together_are_bounded() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[LONGEST_WAIT, "api.max_in_flight=3"]);
    let (account, chain) = rich_account(&node).await;
    let connection = certificate.connect_http2(node.authority()).await;
    let other = certificate.connect_http2(node.authority()).await;
    let second = account.transfer(&chain, 1, account.address, 1);
    submit(&other, &chain, &second).await;

    let path = wait_path(&chain, &second);
    let (mut waiting, mut refused) = (Vec::new(), Vec::new());
    // An answer is there before its place is free again, so a poll may find a place taken by what was asked just
    // before it: one more takes it.
    while refused.is_empty() {
        assert!(waiting.len() < 100, "three places are never all taken");
        waiting.push(connection.begin_get(&path).await);
        // Requests of a connection are taken in their order.
        let answers = [connection.get("/v1").await, other.get("/v1").await];
        if answers.iter().all(|answer| answer.status == 503) {
            refused.extend(answers);
        }
    }
    for answer in refused {
        assert_eq!(answer.headers["retry-after"], "1", "{}", answer.json);
    }
    for stream in waiting {
        stream.reset();
    }
    until("a place", || async {
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
