//! Limits that a client can reach: requests in flight and large responses.

use crate::kit::{Settings, TestApi, Transfer};
use actix_web::{
    App, HttpMessage as _,
    body::to_bytes,
    http::StatusCode,
    test::{TestRequest, call_service, init_service},
};
use futures::{future::join_all, poll};
use ledger_actors::{WaitConfig, renderer_threads};
use ledger_api::{ApiConfig, Connection, configure};
use ledger_limits::{Demand, Work, WorkKind};
use std::{rc::Rc, sync::mpsc};

/// Bounds the requests of a connection in addition to its HTTP/2 streams, because a reset request
/// is no stream any more, but runs until it is dropped.
#[actix_web::test]
async fn requests_of_one_connection_above_its_limit_are_503() {
    let mut settings = Settings::default();
    settings.api.max_streams_per_connection = 2;
    let api = TestApi::start(settings).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let get = async |connection: &Rc<Connection>| {
        let request = TestRequest::get().uri("/v1").to_request();
        request.extensions_mut().insert(Rc::clone(connection));
        call_service(&app, request).await
    };
    let [connection, other] = [(), ()].map(|()| Rc::new(Connection::default()));
    let first = get(&connection).await;
    let _second = get(&connection).await;
    let rejected = get(&connection).await;
    assert_eq!(rejected.status(), StatusCode::SERVICE_UNAVAILABLE);
    let body = to_bytes(rejected.into_body()).await.unwrap();
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        body["message"],
        "overloaded: api.max_streams_per_connection = 2"
    );
    assert_eq!(get(&other).await.status(), StatusCode::OK);
    drop(first);
    assert_eq!(get(&connection).await.status(), StatusCode::OK);
    api.stop().await;
}

#[actix_web::test]
async fn requests_above_the_limit_are_503_until_one_ends() {
    let mut settings = Settings::default();
    settings.api.max_in_flight = 1;
    settings.node.wait = WaitConfig {
        timeout_ms: 1_500,
        ..WaitConfig::default()
    };
    let api = TestApi::start(settings).await;
    // Stays pending, because its predecessor is missing, so the wait lasts until its deadline.
    let parked = Transfer::new(0, 5).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&parked).await.status, 202);
    let client = api.client.clone();
    let path = format!(
        "/v1/transactions/wait_by_hash/{}",
        parked.hash(api.chain.vendor())
    );
    // The probes below may take the only permit first, so the wait is retried until it has it.
    let waiting = actix_web::rt::spawn(async move {
        loop {
            let response = client.get(&path).await;
            if response.status != 503 {
                break response;
            }
        }
    });

    let rejected = loop {
        let response = api.client.get("/v1").await;
        if response.status != 200 {
            break response;
        }
        assert!(
            !waiting.is_finished(),
            "the wait ended before a request was rejected"
        );
    };
    assert_eq!(
        (rejected.status, &rejected.error_code()[..]),
        (503, "internal_error")
    );
    assert_eq!(rejected.headers["retry-after"], "1");
    assert_eq!(
        rejected.json()["message"],
        "overloaded: api.max_in_flight = 1"
    );

    let waited = waiting.await.unwrap();
    assert_eq!(waited.status, 200, "{}", waited.text());
    assert_eq!(waited.json()["type"], "pending_transaction");
    assert_eq!(api.client.get("/v1").await.status, 200);
    api.stop().await;
}

#[actix_web::test]
async fn holds_a_permit_until_the_response_is_read() {
    let mut settings = Settings::default();
    settings.api.max_in_flight = 1;
    let api = TestApi::start(settings).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let get = || call_service(&app, TestRequest::get().uri("/v1").to_request());

    let unread = get().await;
    assert_eq!(unread.status(), StatusCode::OK);
    assert_eq!(get().await.status(), StatusCode::SERVICE_UNAVAILABLE);
    drop(unread);
    let read = get().await;
    assert_eq!(read.status(), StatusCode::OK);
    to_bytes(read.into_body()).await.unwrap();
    assert_eq!(get().await.status(), StatusCode::OK);
    api.stop().await;
}

/// Returns settings with a genesis that is large as a block and as a transaction.
fn with_large_genesis() -> Settings {
    Settings {
        more_accounts: 1_000,
        api: without_response_cache(),
        ..Settings::default()
    }
}

/// Returns settings of an interface that renders each response.
fn without_response_cache() -> ApiConfig {
    ApiConfig {
        response_cache_bytes_max: 0,
        ..Settings::default().api
    }
}

/// Path of a block whose response is large if the genesis is.
const BLOCK: &str = "/v1/blocks/by_height/0?with_transactions=true";

#[actix_web::test]
async fn large_responses_wait_for_a_renderer_instead_of_being_rejected() {
    let mut settings = with_large_genesis();
    // All of them are of one client, which has a part of each limit, and the estimates of a slow
    // machine are high.
    settings.node.work.render_budget_ms = 1_000_000;
    settings.api.answers_bytes_max = 1 << 30;
    let api = TestApi::start(settings).await;
    let blocks = (0..32).map(|_| api.client.get(BLOCK));
    for response in join_all(blocks).await {
        assert_eq!(response.status, 200, "{}", response.text());
    }
    api.stop().await;
}

#[actix_web::test]
async fn rejects_large_responses_beyond_the_budget_of_renderings() {
    let mut settings = with_large_genesis();
    settings.node.work.render_budget_ms = 1;
    let api = TestApi::start(settings).await;
    api.commit(&Transfer::new(0, 0)).await;
    let handle = api.handle();
    let work = Work::of_node(WorkKind::Render, Demand::rows(0));
    let mut releases = Vec::new();
    for _ in 0..renderer_threads() {
        let (started, has_started) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let handle = handle.clone();
        actix_web::rt::spawn(async move {
            let occupy = move || {
                started.send(()).unwrap();
                // An error means that the test has dropped the sender.
                let _ = released.recv();
            };
            handle.render(work, occupy).await.unwrap();
        });
        while has_started.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        releases.push(release);
    }
    let waiting = || {
        let budgets = handle.budgets();
        let found = budgets.iter().find(|status| status.name == "renderings");
        found.unwrap().waiting
    };
    let mut first = Box::pin(api.client.get(BLOCK));
    while waiting() == 0 {
        assert!(poll!(&mut first).is_pending());
        tokio::task::yield_now().await;
    }
    let rejected = api.client.get(BLOCK).await;
    assert_eq!(rejected.status, 503);
    assert!(
        rejected
            .text()
            .contains("overloaded: work.render_budget_ms = 1")
    );
    assert!(rejected.headers.contains_key("retry-after"));
    let small = "/v1/blocks/by_height/1?with_transactions=true";
    for path in [
        small,
        "/v1/blocks/by_height/0",
        "/v1/transactions/by_version/1",
    ] {
        let response = api.client.get(path).await;
        assert_eq!(response.status, 200, "{path}: {}", response.text());
    }
    drop(releases);
    assert_eq!(first.await.status, 200);
    api.stop().await;
}
