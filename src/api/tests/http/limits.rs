//! Limits that a client can reach: requests in flight and large responses.

use crate::kit::{Settings, TestApi, Transfer};
use actix_web::{
    App, HttpMessage as _,
    body::to_bytes,
    dev::ServiceResponse,
    http::{StatusCode, header},
    test::{TestRequest, call_service, init_service},
};
use futures::poll;
use ledger_actors::WaitConfig;
use ledger_api::{Connection, configure};
use ledger_types::{AccountAddress, StateKey};
use serde_json::{Value, json};
use std::rc::Rc;

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
    assert_eq!(
        get(&connection).await.status(),
        StatusCode::SERVICE_UNAVAILABLE
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
        ..without_response_cache()
    }
}

/// Returns settings without a response cache, because a cached response needs no permit.
fn without_response_cache() -> Settings {
    let mut settings = Settings::default();
    settings.api.kept_answers_bytes_max = 0;
    settings
}

/// Path of a block. Its response needs a large-response permit if the genesis is large.
const BLOCK: &str = "/v1/blocks/by_height/0?with_transactions=true";

/// Path that the reader threads read, even if HTTP workers do other reads themselves.
const READ_BY_READERS: &str = "/v1/accounts/0x1/resources?limit=1";

/// Returns the response to `send` while eight blocks hold all large-response permits.
///
/// A block holds its permit from its read until its response is written, and nothing polls these
/// responses again. A block that is read before its first poll ends is also written then, which
/// releases its permit, and the last block may not be read yet. A request that succeeds is
/// therefore repeated a few times.
async fn respond_without_permits<B, F, G>(
    get: impl Fn(&str) -> F,
    send: impl Fn() -> G,
) -> ServiceResponse<B>
where
    F: Future<Output = ServiceResponse<B>>,
    G: Future<Output = ServiceResponse<B>>,
{
    const TRIES: usize = 20;
    let mut tries = 1;
    loop {
        let mut blocks: Vec<_> = (0..8).map(|_| Box::pin(get(BLOCK))).collect();
        for block in &mut blocks {
            // The poll starts the read. Its result is pending or a response that is not needed.
            let _ = poll!(block);
        }
        get(READ_BY_READERS).await;
        let response = send().await;
        if response.status() != StatusCode::OK || tries == TRIES {
            return response;
        }
        tries += 1;
    }
}

#[actix_web::test]
async fn a_block_needs_a_large_response_permit_only_if_it_is_large() {
    let api = TestApi::start(with_large_genesis()).await;
    api.commit(&Transfer::new(0, 0)).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let get = |path: &str| call_service(&app, TestRequest::get().uri(path).to_request());
    let rejected = respond_without_permits(get, || get(BLOCK)).await;
    assert_eq!(rejected.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(rejected.headers().get(header::RETRY_AFTER).unwrap(), "1");
    let small = "/v1/blocks/by_height/1?with_transactions=true";
    for path in [small, "/v1/blocks/by_height/0"] {
        let response = respond_without_permits(get, || get(path)).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
    }
    // An abandoned request still runs to completion, which releases its permit.
    while get(BLOCK).await.status() != StatusCode::OK {}
    api.stop().await;
}

#[actix_web::test]
async fn a_transaction_needs_a_large_response_permit_only_if_it_is_large() {
    let api = TestApi::start(with_large_genesis()).await;
    api.commit(&Transfer::new(0, 0)).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let get = |path: &str| call_service(&app, TestRequest::get().uri(path).to_request());
    let large = "/v1/transactions/by_version/0";
    for (path, expected) in [
        ("/v1/transactions/by_version/1", StatusCode::OK),
        (large, StatusCode::SERVICE_UNAVAILABLE),
    ] {
        let response = respond_without_permits(get, || get(path)).await;
        assert_eq!(response.status(), expected, "{path}");
    }
    // An abandoned request still runs to completion, which releases its permit.
    while get(large).await.status() != StatusCode::OK {}
    api.stop().await;
}

#[actix_web::test]
async fn a_page_of_events_needs_a_large_response_permit_only_if_it_is_large() {
    let api = TestApi::start(with_large_genesis()).await;
    let made = Transfer::new(0, 0).sign_call(&api.chain, "0x1::registry::initialize", &[]);
    api.commit_signed(&made).await;
    // 40 times 8 KB are more than 256 KB.
    for number in 1..=40 {
        let arguments = [json!("name"), json!("ab".repeat(8_000))];
        let set = Transfer::new(0, number).sign_call(&api.chain, "0x1::registry::set", &arguments);
        let set = api.commit_signed(&set).await;
        assert_eq!(set["success"], true, "{}", set["vm_status"]);
    }
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let get = |path: &str| call_service(&app, TestRequest::get().uri(path).to_request());
    let stream = format!(
        "/v1/accounts/{}/events/0x1::registry::Registry/set_events",
        made.raw.sender
    );
    let (small, large) = (format!("{stream}?limit=5"), format!("{stream}?limit=100"));
    for (path, expected) in [
        (&small, StatusCode::OK),
        (&large, StatusCode::SERVICE_UNAVAILABLE),
    ] {
        let response = respond_without_permits(get, || get(path)).await;
        assert_eq!(response.status(), expected, "{path}");
    }
    // An abandoned request still runs to completion, which releases its permit.
    while get(&large).await.status() != StatusCode::OK {}
    api.stop().await;
}

#[actix_web::test]
async fn a_table_item_needs_a_large_response_permit_only_if_it_is_large() {
    let table = AccountAddress::from_low_u64(0x7ab1e);
    let item = |key: u8, length: usize| {
        let value = bcs::to_bytes(&vec![7u8; length]).unwrap();
        (StateKey::table_item(&table, &[key]), value.into())
    };
    let api = TestApi::start(Settings {
        more_state: vec![item(0, 1_000), item(1, 300 * 1024)],
        ..without_response_cache()
    })
    .await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let get = |path: &str| call_service(&app, TestRequest::get().uri(path).to_request());
    let send = |route: &str, body: Value, accept: &'static str| {
        let request = TestRequest::post()
            .uri(&format!("/v1/tables/{table}/{route}"))
            .insert_header((header::ACCEPT, accept))
            .set_json(body);
        call_service(&app, request.to_request())
    };
    let typed = |key: u8| json!({ "key_type": "u8", "value_type": "vector<u8>", "key": key });
    let raw = |key: u8| json!({ "key": format!("0x0{key}") });
    const JSON: &str = "application/json";
    for (route, [small, large]) in [
        ("item", [typed(0), typed(1)]),
        ("raw_item", [raw(0), raw(1)]),
    ] {
        let response = respond_without_permits(get, || send(route, small.clone(), JSON)).await;
        assert_eq!(response.status(), StatusCode::OK, "{route}");
        let response = respond_without_permits(get, || send(route, large.clone(), JSON)).await;
        assert_eq!(
            response.status(),
            StatusCode::SERVICE_UNAVAILABLE,
            "{route}"
        );
        let as_stored = || send(route, large.clone(), "application/x-bcs");
        let response = respond_without_permits(get, as_stored).await;
        assert_eq!(response.status(), StatusCode::OK, "{route}");
    }
    // An abandoned request still runs to completion, which releases its permit.
    while send("item", typed(1), JSON).await.status() != StatusCode::OK {}
    api.stop().await;
}
