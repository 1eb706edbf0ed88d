//! docs/use/interface.md#minimum-version: the minimum version of every route that reads the ledger.

use crate::{
    interface::{
        chain::{History, NEWEST},
        errors::switched_off::ALWAYS_ENABLED,
        examples::{self, Example, WAIT_MANY},
        rows::row,
    },
    kit::{RawResponse, Settings, Transfer, assert_error, ledger_headers},
};
use actix_web::{
    App,
    dev::Service as _,
    http::Method,
    test::{TestRequest, init_service},
};
use futures::{future::join_all, join, poll};
use ledger_actors::{VERSIONS_AHEAD_MAX, WaitStatus};
use ledger_api::{configure, openapi_document};
use ledger_limits::ClientKey;
use ledger_types::Vendor;
use std::{collections::BTreeSet, future::pending, pin::pin, time::Duration};
use tokio::time::Instant;

const HEADER: &str = "X-NODE-MIN-LEDGER-VERSION";

/// Routes that ignore a minimum version beside [`ALWAYS_ENABLED`]: those that write, and one whose
/// response depends on the request alone.
const NOT_READS: [&str; 3] = [
    "POST /transactions",
    "POST /transactions/batch",
    "POST /transactions/encode_submission",
];

/// Returns the routes whose operation has the parameter with this name, or a reference to it.
fn routes_with(name: &str) -> BTreeSet<String> {
    let document = openapi_document(&Vendor::default());
    let mut routes = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let mut parameters = operation["parameters"].as_array().into_iter().flatten();
            let has_it = parameters.any(|parameter| {
                let component = parameter["$ref"].as_str();
                let component = component.and_then(|place| document.pointer(&place[1..]));
                component.unwrap_or(parameter)["name"] == name
            });
            if has_it {
                routes.insert(format!("{} {path}", method.to_uppercase()));
            }
        }
    }
    routes
}

/// Returns the examples that wait for a minimum version, which are those of the routes that declare
/// it in the document.
fn waiting_reads(history: &History) -> Vec<Example> {
    let routes = routes_with("min_ledger_version");
    let (reads, others): (Vec<_>, Vec<_>) = examples::all(history)
        .into_iter()
        .partition(|example| routes.contains(example.route));
    assert_eq!(reads.len(), routes.len(), "{routes:?}");
    let others: BTreeSet<_> = others.iter().map(|example| example.route).collect();
    let expected = ALWAYS_ENABLED.iter().chain(&NOT_READS).copied();
    assert_eq!(others, expected.collect());
    reads
}

fn waits(history: &History) -> WaitStatus {
    history.api.handle().meters().waits
}

/// Waits until this number of requests wait.
///
/// # Panics
///
/// Panics if they do not within a minute.
async fn until_waiting(history: &History, count: usize) {
    let end = Instant::now() + Duration::from_secs(60);
    while waits(history).waiting != count {
        assert!(Instant::now() < end, "{:?}", waits(history));
        tokio::task::yield_now().await;
    }
}

/// Asserts that the response is a 503 with the newest version, and returns its message.
fn assert_not_reached(response: &RawResponse, retry_after_secs: &str, case: &str) -> String {
    assert_error(response, (503, "internal_error"), case);
    assert_eq!(response.headers["retry-after"], retry_after_secs, "{case}");
    assert_eq!(ledger_headers(response, "node")[1], NEWEST, "{case}");
    response.json()["message"].as_str().unwrap().to_owned()
}

#[actix_web::test]
async fn responds_at_once_if_the_ledger_has_the_version() {
    let history = History::start().await;
    for example in waiting_reads(&history) {
        for version in [0, NEWEST] {
            let with_query = example.with_query(&format!("min_ledger_version={version}"));
            for response in [
                with_query.send(&history, "application/json").await,
                example
                    .send_with(&history, &[(HEADER, &version.to_string())])
                    .await,
            ] {
                row(example.route, 200, "-").assert_matches(&response, example.route);
            }
        }
    }
    let waits = waits(&history);
    assert_eq!((waits.reached, waits.timed_out, waits.refused), (0, 0, 0));
    history.api.stop().await;
}

/// Sends a request of each route with the parameter and one with the header, then commits a block.
#[actix_web::test]
async fn waits_until_the_ledger_has_the_version() {
    let history = History::start().await;
    let reads = waiting_reads(&history);
    let next = (NEWEST + 1).to_string();
    let by_query = join_all(reads.iter().map(async |example| {
        let query = format!("min_ledger_version={next}&timeout_ms=60000");
        let request = example.with_query(&query);
        request.send(&history, "application/json").await
    }));
    let by_header = join_all(reads.iter().map(async |example| {
        let request = example.with_query("timeout_ms=60000");
        request.send_with(&history, &[(HEADER, &next)]).await
    }));
    let committed = async {
        until_waiting(&history, 2 * reads.len()).await;
        history.api.commit(&Transfer::new(4, 0)).await
    };
    let (by_query, by_header, committed) = join!(by_query, by_header, committed);
    assert_eq!(committed["success"], true);
    for (example, response) in reads.iter().cycle().zip(by_query.iter().chain(&by_header)) {
        row(example.route, 200, "-").assert_matches(response, example.route);
        let version = ledger_headers(response, "node")[1];
        assert!(version > NEWEST, "{}: {version}", example.route);
    }
    assert_eq!(waits(&history).reached, 2 * reads.len() as u64);
    history.api.stop().await;
}

/// A body shows the state of the version too.
#[actix_web::test]
async fn reads_the_state_of_the_version() {
    let history = History::start().await;
    let balance = "/v1/accounts/0xb0b/balance/0xa";
    let before = history.get(balance).await.as_u64().unwrap();
    let path = format!(
        "{balance}?min_ledger_version={}&timeout_ms=60000",
        NEWEST + 1
    );
    let transferred = async {
        until_waiting(&history, 1).await;
        history.api.commit(&Transfer::new(4, 0)).await
    };
    let (after, _) = join!(history.get(&path), transferred);
    assert_eq!(after.as_u64().unwrap(), before + 7);
    history.api.stop().await;
}

#[actix_web::test]
async fn responds_503_after_the_timeout() {
    let mut settings = Settings::default();
    settings.node.wait.timeout_ms = 3_600_000;
    settings.node.wait.timeout_max_ms = 2;
    let history = History::start_with(settings).await;
    let next = NEWEST + 1;
    let reads = waiting_reads(&history);
    for example in &reads {
        // The second timeout is longer than the maximum.
        for timeout_ms in ["0", "3600000"] {
            let query = format!("min_ledger_version={next}&timeout_ms={timeout_ms}");
            let request = example.with_query(&query);
            let response = request.send(&history, "application/json").await;
            let message = assert_not_reached(&response, "1", &request.path);
            assert_eq!(
                message,
                format!(
                    "ledger version {next} is not reached: the newest version is {NEWEST}; retry \
                     later"
                )
            );
        }
    }
    assert_eq!(waits(&history).timed_out, 2 * reads.len() as u64);
    history.api.stop().await;
}

#[actix_web::test]
async fn waits_for_the_configured_timeout_by_default() {
    let mut settings = Settings::default();
    settings.node.wait.timeout_ms = 2;
    let history = History::start_with(settings).await;
    let path = format!("/v1?min_ledger_version={}", NEWEST + 1);
    assert_not_reached(&history.api.client.get(&path).await, "1", &path);
    history.api.stop().await;
}

#[actix_web::test]
async fn responds_503_at_once_if_the_version_is_too_far_ahead() {
    let mut settings = Settings::default();
    settings.node.wait.timeout_ms = 3_600_000;
    let history = History::start_with(settings).await;
    for example in waiting_reads(&history) {
        for version in [NEWEST + VERSIONS_AHEAD_MAX + 1, u64::MAX] {
            let request = example.with_query(&format!("min_ledger_version={version}"));
            let response = request.send(&history, "application/json").await;
            let message = assert_not_reached(&response, "10", &request.path);
            assert!(message.contains("too far ahead"), "{message}");
        }
    }
    // The farthest version that a request waits for.
    let farthest = NEWEST + VERSIONS_AHEAD_MAX;
    let path = format!("/v1?min_ledger_version={farthest}&timeout_ms=0");
    let message = assert_not_reached(&history.api.client.get(&path).await, "1", &path);
    assert!(message.contains("is not reached"), "{message}");
    let document = openapi_document(&Vendor::default()).to_string();
    assert!(document.contains(&format!("more than {VERSIONS_AHEAD_MAX} above")));
    history.api.stop().await;
}

#[actix_web::test]
async fn rejects_a_minimum_above_the_version_to_read() {
    let history = History::start().await;
    let routes = routes_with("ledger_version");
    assert!(routes.len() >= 9, "{routes:?}");
    let mut reads = waiting_reads(&history);
    reads.retain(|example| routes.contains(example.route));
    assert_eq!(reads.len(), routes.len());
    for example in reads {
        let at_newest = example.with_query(&format!("ledger_version={NEWEST}"));
        let above = (NEWEST + 1).to_string();
        let with_query = at_newest.with_query(&format!("min_ledger_version={above}"));
        for response in [
            with_query.send(&history, "application/json").await,
            at_newest.send_with(&history, &[(HEADER, &above)]).await,
        ] {
            assert_error(&response, (400, "invalid_input"), example.route);
            let words = format!("version {above} is above ledger_version {NEWEST}");
            assert!(response.text().contains(&words), "{}", response.text());
        }
        let equal = at_newest.with_query(&format!("min_ledger_version={NEWEST}"));
        let response = equal.send(&history, "application/json").await;
        row(example.route, 200, "-").assert_matches(&response, example.route);
    }
    history.api.stop().await;
}

/// The minimum version and the timeout are validated even if the ledger has the version.
#[actix_web::test]
async fn rejects_minimum_versions_and_timeouts_that_are_no_numbers() {
    let history = History::start().await;
    for example in examples::reads(&history) {
        if ALWAYS_ENABLED.contains(&example.route) {
            continue;
        }
        for query in [
            "min_ledger_version=",
            "min_ledger_version=-1",
            "min_ledger_version=0x1",
            "min_ledger_version=18446744073709551616",
            "min_ledger_version=1&min_ledger_version=1",
            "min_ledger_version=1&timeout_ms=1s",
        ] {
            let request = example.with_query(query);
            let response = request.send(&history, "application/json").await;
            row(example.route, 400, "invalid_input").assert_matches(&response, &request.path);
        }
        for values in [&["latest"][..], &["1, 2"], &["1", "1"], &["\u{e9}"]] {
            let lines: Vec<_> = values.iter().map(|value| (HEADER, *value)).collect();
            let response = example.send_with(&history, &lines).await;
            assert_error(&response, (400, "invalid_input"), example.route);
        }
    }
    history.api.stop().await;
}

#[actix_web::test]
async fn waits_for_the_larger_version_of_parameter_and_header() {
    let history = History::start().await;
    let far = (NEWEST + VERSIONS_AHEAD_MAX + 1).to_string();
    for example in waiting_reads(&history) {
        for (of_query, of_header) in [("0", &far[..]), (&far, "0")] {
            let request = example.with_query(&format!("min_ledger_version={of_query}"));
            let response = request.send_with(&history, &[(HEADER, of_header)]).await;
            assert_not_reached(&response, "10", &request.path);
        }
    }
    history.api.stop().await;
}

/// The only permit is that of the test.
#[actix_web::test]
async fn responds_503_at_once_without_a_permit() {
    let mut settings = Settings::default();
    settings.node.wait.capacity = 1;
    settings.node.wait.timeout_ms = 3_600_000;
    let history = History::start_with(settings).await;
    let handle = history.api.handle();
    let mut holder = pin!(handle.wait_for_version(NEWEST + 1, pending(), ClientKey::NODE));
    assert!(poll!(&mut holder).is_pending());
    let reads = waiting_reads(&history);
    for example in &reads {
        let request = example.with_query(&format!("min_ledger_version={}", NEWEST + 1));
        let response = request.send(&history, "application/json").await;
        let message = assert_not_reached(&response, "1", &request.path);
        assert_eq!(message, "overloaded: wait.capacity = 1");
        // The hashes of a wait for many need permits of their own.
        if example.route == WAIT_MANY {
            continue;
        }
        // A version that the ledger has needs no permit.
        let request = example.with_query(&format!("min_ledger_version={NEWEST}"));
        let response = request.send(&history, "application/json").await;
        row(example.route, 200, "-").assert_matches(&response, &request.path);
    }
    assert_eq!(waits(&history).refused, reads.len() as u64);
    history.api.commit(&Transfer::new(4, 0)).await;
    holder.await.unwrap();
    history.api.stop().await;
}

#[actix_web::test]
async fn other_routes_ignore_the_minimum_version() {
    let history = History::start().await;
    for example in examples::all(&history) {
        if !ALWAYS_ENABLED.contains(&example.route) && !NOT_READS.contains(&example.route) {
            continue;
        }
        let request = example.with_query("min_ledger_version=far&timeout_ms=0");
        let response = request.send_with(&history, &[(HEADER, "far")]).await;
        row(example.route, example.status, "-").assert_matches(&response, &request.path);
    }
    history.api.stop().await;
}

/// The server drops the future of a request when its client disconnects.
#[actix_web::test]
async fn a_request_that_is_dropped_releases_its_permit() {
    let history = History::start().await;
    let app = App::new().configure(|config| configure(config, &history.api.state));
    let service = init_service(app).await;
    for example in waiting_reads(&history) {
        let request = example.with_query(&format!("min_ledger_version={}", NEWEST + 1));
        let method = Method::from_bytes(request.method().as_bytes()).unwrap();
        let mut sent = TestRequest::with_uri(&request.path).method(method);
        if let Some(body) = &request.body {
            sent = sent.set_json(body);
        }
        let mut response = pin!(service.call(sent.to_request()));
        assert!(poll!(&mut response).is_pending(), "{}", example.route);
        assert_eq!(waits(&history).waiting, 1, "{}", example.route);
        response.set(service.call(TestRequest::get().uri("/v1").to_request()));
        assert_eq!(waits(&history).waiting, 0, "{}", example.route);
    }
    history.api.stop().await;
}

/// A `HEAD` has the status and headers of `GET`, so it waits too.
#[actix_web::test]
async fn head_waits_as_get_does() {
    let history = History::start().await;
    let client = &history.api.client;
    let path = format!("/v1?min_ledger_version={}", NEWEST + 1);
    let committed = async {
        until_waiting(&history, 1).await;
        history.api.commit(&Transfer::new(4, 0)).await
    };
    let mut connection = client.connect().await;
    let request = format!("HEAD {path} HTTP/1.1\r\nhost: node\r\nconnection: close\r\n\r\n");
    connection.send(request.as_bytes()).await;
    let (head, _) = join!(connection.rest(), committed);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let newer = format!("x-node-ledger-version: {NEWEST}\r\n");
    assert!(!head.to_lowercase().contains(&newer), "{head}");
    history.api.stop().await;
}
