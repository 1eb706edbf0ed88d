//! docs/use/interface.md#head-requests: `HEAD` of every path that takes `GET`.

use crate::{
    interface::{chain::History, examples},
    kit::{Settings, TestApi, Transfer},
};
use ledger_actors::WaitConfig;
use ledger_api::declared_responses;
use std::{collections::BTreeSet, time::Duration};
use tokio::time::timeout;

/// A response that ends its connection.
#[derive(PartialEq, Eq, Debug)]
struct Response {
    status_line: String,
    /// Header lines in lower case, sorted, without the date.
    headers: Vec<String>,
    has_body: bool,
}

impl Response {
    fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter_map(|line| line.split_once(": "));
        values.find_map(|(of, value)| (of == name).then_some(value))
    }
}

async fn send(api: &TestApi, method: &str, path: &str, lines: &str) -> Response {
    let mut connection = api.client.connect().await;
    let request =
        format!("{method} {path} HTTP/1.1\r\nhost: node\r\nconnection: close\r\n{lines}\r\n");
    connection.send(request.as_bytes()).await;
    let bytes = connection.rest().await;
    let (head, body) = bytes.split_once("\r\n\r\n").expect("a head");
    let (status_line, lines) = head.split_once("\r\n").unwrap_or((head, ""));
    let headers = lines.lines().map(str::to_ascii_lowercase);
    let mut headers: Vec<_> = headers.filter(|line| !line.starts_with("date:")).collect();
    headers.sort();
    Response {
        status_line: status_line.to_owned(),
        headers,
        has_body: !body.is_empty(),
    }
}

/// Returns the responses to `GET` and to `HEAD`.
///
/// # Panics
///
/// Panics if they differ in more than the body, or if the response to `HEAD` has one.
async fn get_and_head(api: &TestApi, path: &str, lines: &str) -> (Response, Response) {
    let get = send(api, "GET", path, lines).await;
    let head = send(api, "HEAD", path, lines).await;
    assert!(!head.has_body, "HEAD {path} {lines}");
    assert_eq!(
        (&head.status_line, &head.headers),
        (&get.status_line, &get.headers),
        "HEAD {path} {lines}"
    );
    (get, head)
}

#[actix_web::test]
async fn head_of_every_route_has_status_and_headers_of_get() {
    let history = History::start().await;
    let api = &history.api;
    let mut requested = BTreeSet::new();
    for example in examples::all(&history) {
        let Some(route) = example.route.strip_prefix("GET ") else {
            continue;
        };
        requested.insert(format!("/v1{}", route.trim_end_matches('/')));
        for lines in [
            "",
            "accept: application/x-bcs\r\n",
            "accept-encoding: gzip\r\n",
            "origin: https://wallet.example\r\n",
        ] {
            let (get, head) = get_and_head(api, &example.path, lines).await;
            assert_eq!(get.status_line, "HTTP/1.1 200 OK", "{}", example.path);
            assert!(head.header("content-length").is_some(), "{}", example.path);
        }
    }
    let declared = declared_responses().into_iter();
    let declared = declared.filter(|response| response.method == "GET");
    let declared: BTreeSet<_> = declared.map(|response| response.path).collect();
    assert_eq!(requested, declared, "each route has an example");
    history.api.stop().await;
}

#[actix_web::test]
async fn head_has_the_errors_of_get() {
    let api = TestApi::start(Settings::default()).await;
    let paths = [
        ("/", "200 OK"),
        ("/v1/", "200 OK"),
        ("/v1/transactions/by_version/99", "404 Not Found"),
        ("/v1/transactions/by_version/x", "400 Bad Request"),
        ("/v1/accounts/0x1?ledger_version=x", "400 Bad Request"),
        ("/v1/-/healthy?duration_secs=x", "400 Bad Request"),
        ("/v1/no_such_route", "404 Not Found"),
        ("/no_such_route", "404 Not Found"),
    ];
    for (path, status) in paths {
        let (get, _) = get_and_head(&api, path, "").await;
        assert_eq!(get.status_line, format!("HTTP/1.1 {status}"), "{path}");
    }
    let head = send(&api, "HEAD", "/v1/view", "").await;
    assert_eq!(head.status_line, "HTTP/1.1 405 Method Not Allowed");
    assert_eq!(head.header("allow"), Some("post"));
    api.stop().await;
}

#[actix_web::test]
async fn head_does_not_wait_for_a_commit() {
    let mut settings = Settings::default();
    settings.node.wait = WaitConfig {
        timeout_ms: 600_000,
        ..WaitConfig::default()
    };
    let api = TestApi::start(settings).await;
    // Not executed before the transaction with sequence number 0.
    let pending = Transfer::new(0, 1).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&pending).await.status, 202);
    let path = |route| {
        let hash = pending.hash(api.chain.vendor());
        format!("/v1/transactions/{route}/{hash}")
    };
    let (get, _) = get_and_head(&api, &path("by_hash"), "").await;
    let path = path("wait_by_hash");
    let head = timeout(Duration::from_secs(60), send(&api, "HEAD", &path, "")).await;
    assert_eq!(
        head.expect("a response without a wait").headers,
        get.headers
    );
    api.stop().await;
}

#[actix_web::test]
async fn counts_head_with_get_in_the_metrics_of_a_route() {
    let api = TestApi::start(Settings::default()).await;
    get_and_head(&api, "/v1/info", "").await;
    let routes = api.state.route_meters.status();
    let counted: Vec<_> = routes
        .iter()
        .map(|route| (&route.method[..], &route.path[..], &route.statuses[..]))
        .collect();
    assert_eq!(counted, [("GET", "/v1/info", &[(200, 2)][..])]);
    api.stop().await;
}
