//! Limits that a client meets: a full pool, requests in flight, the window of versions.

use crate::kit::{Settings, TestApi, Transfer, refused};
use actix_web::{
    App, HttpMessage as _,
    body::to_bytes,
    dev::ServiceResponse,
    http::{StatusCode, header},
    test::{TestRequest, call_service, init_service},
};
use futures::poll;
use ledger_actors::{MempoolConfig, NodeConfig, WaitConfig};
use ledger_api::{Connection, configure};
use ledger_types::{AccountAddress, StateKey};
use serde_json::{Value, json};
use std::rc::Rc;

#[actix_web::test]
async fn a_full_pool_is_507() {
    let mempool = MempoolConfig {
        capacity_per_account: 1,
        ..MempoolConfig::default()
    };
    let settings = Settings {
        node: NodeConfig {
            mempool,
            ..NodeConfig::default()
        },
        ..Settings::default()
    };
    let api = TestApi::start(settings).await;
    let submit = |number| {
        let signed = Transfer::new(0, number).sign(&api.chain);
        let client = api.client.clone();
        async move { client.submit_bcs(&signed).await }
    };
    assert_eq!(submit(5).await.status, 202);
    let answer = submit(6).await;
    assert_eq!(
        (answer.status, &answer.error_code()[..]),
        (507, "mempool_is_full")
    );
    assert_eq!(api.commit(&Transfer::new(1, 0)).await["success"], true);
    api.stop().await;
}

/// HTTP/2 bounds the streams of a connection; this is about requests that were taken back, which are no streams
/// any more, and are counted until they are dropped.
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
    // A gap before it keeps it pending, so the wait lasts until its deadline.
    let parked = Transfer::new(0, 5).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&parked).await.status, 202);
    let client = api.client.clone();
    let path = format!(
        "/v1/transactions/wait_by_hash/{}",
        parked.hash(api.chain.vendor())
    );
    // The probes below may take the only place first, so the wait comes again until it has it.
    let waiting = actix_web::rt::spawn(async move {
        loop {
            let answer = client.get(&path).await;
            if answer.status != 503 {
                break answer;
            }
        }
    });

    let refused = loop {
        let answer = api.client.get("/v1").await;
        if answer.status != 200 {
            break answer;
        }
        assert!(
            !waiting.is_finished(),
            "the wait ended and nobody was refused"
        );
    };
    assert_eq!(
        (refused.status, &refused.error_code()[..]),
        (503, "internal_error")
    );
    assert_eq!(refused.headers["retry-after"], "1");

    let waited = waiting.await.unwrap();
    assert_eq!(waited.status, 200, "{}", waited.text());
    assert_eq!(waited.json()["type"], "pending_transaction");
    assert_eq!(api.client.get("/v1").await.status, 200);
    api.stop().await;
}

#[actix_web::test]
async fn an_answer_that_is_not_read_keeps_its_place() {
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

/// With a genesis whose block and whose transaction make large answers.
fn with_large_genesis() -> Settings {
    Settings {
        more_accounts: 1_000,
        ..keeping_no_answers()
    }
}

/// An answer that is kept takes no place when it is given again.
fn keeping_no_answers() -> Settings {
    let mut settings = Settings::default();
    settings.api.kept_answers_bytes_max = 0;
    settings
}

/// Takes a place of the large answers where the genesis is large.
const BLOCK: &str = "/v1/blocks/by_height/0?with_transactions=true";

/// Is answered by a reader, whatever else HTTP workers read by themselves.
const BEHIND: &str = "/v1/accounts/0x1/resources?limit=1";

/// How `ask` is answered while all places of the large answers are taken by as many blocks: those take
/// them when they are read and keep them, as nothing polls them again. But where a block is read before its
/// first poll ends, it is also written then, which gives its place back, and the last one may not be read yet:
/// so what is answered well is asked again a few times.
async fn without_places<B, F, G>(get: impl Fn(&str) -> F, ask: impl Fn() -> G) -> ServiceResponse<B>
where
    F: Future<Output = ServiceResponse<B>>,
    G: Future<Output = ServiceResponse<B>>,
{
    const TRIES: usize = 20;
    let mut tries = 1;
    loop {
        let mut blocks: Vec<_> = (0..8).map(|_| Box::pin(get(BLOCK))).collect();
        for block in &mut blocks {
            let _ = poll!(block);
        }
        get(BEHIND).await;
        let answer = ask().await;
        if answer.status() != StatusCode::OK || tries == TRIES {
            return answer;
        }
        tries += 1;
    }
}

#[actix_web::test]
async fn a_block_takes_a_place_of_the_large_answers_only_if_it_is_large() {
    let api = TestApi::start(with_large_genesis()).await;
    api.commit(&Transfer::new(0, 0)).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let get = |path: &str| call_service(&app, TestRequest::get().uri(path).to_request());
    let refused = without_places(get, || get(BLOCK)).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers().get(header::RETRY_AFTER).unwrap(), "1");
    let small = "/v1/blocks/by_height/1?with_transactions=true";
    for path in [small, "/v1/blocks/by_height/0"] {
        let answer = without_places(get, || get(path)).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
    }
    // A question that nobody waits for any more is still answered, which gives its place back.
    while get(BLOCK).await.status() != StatusCode::OK {}
    api.stop().await;
}

#[actix_web::test]
async fn a_transaction_takes_a_place_of_the_large_answers_only_if_it_is_large() {
    let api = TestApi::start(with_large_genesis()).await;
    api.commit(&Transfer::new(0, 0)).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let get = |path: &str| call_service(&app, TestRequest::get().uri(path).to_request());
    let large = "/v1/transactions/by_version/0";
    for (path, expected) in [
        ("/v1/transactions/by_version/1", StatusCode::OK),
        (large, StatusCode::SERVICE_UNAVAILABLE),
    ] {
        let answer = without_places(get, || get(path)).await;
        assert_eq!(answer.status(), expected, "{path}");
    }
    // A question that nobody waits for any more is still answered, which gives its place back.
    while get(large).await.status() != StatusCode::OK {}
    api.stop().await;
}

#[actix_web::test]
async fn a_page_of_events_takes_a_place_of_the_large_answers_only_if_it_is_large() {
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
        let answer = without_places(get, || get(path)).await;
        assert_eq!(answer.status(), expected, "{path}");
    }
    // A question that nobody waits for any more is still answered, which gives its place back.
    while get(&large).await.status() != StatusCode::OK {}
    api.stop().await;
}

#[actix_web::test]
async fn an_item_of_a_table_takes_a_place_of_the_large_answers_only_if_it_is_large() {
    let table = AccountAddress::from_low_u64(0x7ab1e);
    let item = |key: u8, length: usize| {
        let value = bcs::to_bytes(&vec![7u8; length]).unwrap();
        (StateKey::table_item(&table, &[key]), value.into())
    };
    let api = TestApi::start(Settings {
        more_state: vec![item(0, 1_000), item(1, 300 * 1024)],
        ..keeping_no_answers()
    })
    .await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let get = |path: &str| call_service(&app, TestRequest::get().uri(path).to_request());
    let ask = |route: &str, body: Value, accept: &'static str| {
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
        let answer = without_places(get, || ask(route, small.clone(), JSON)).await;
        assert_eq!(answer.status(), StatusCode::OK, "{route}");
        let answer = without_places(get, || ask(route, large.clone(), JSON)).await;
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE, "{route}");
        let as_stored = || ask(route, large.clone(), "application/x-bcs");
        let answer = without_places(get, as_stored).await;
        assert_eq!(answer.status(), StatusCode::OK, "{route}");
    }
    // A question that nobody waits for any more is still answered, which gives its place back.
    while ask("item", typed(1), JSON).await.status() != StatusCode::OK {}
    api.stop().await;
}

#[actix_web::test]
async fn what_is_below_the_window_is_gone() {
    let api = TestApi::start(Settings::with_window(3)).await;
    let first = api.commit(&Transfer::new(0, 0)).await;
    let mut number = 1;
    // Each block brings the pruner to work; the headers tell when version 0 has left the window.
    let oldest = loop {
        api.commit(&Transfer::new(0, number)).await;
        number += 1;
        let oldest: u64 = api.client.get("/v1").await.headers["x-node-ledger-oldest-version"]
            .parse()
            .unwrap();
        if oldest > 3 {
            break oldest;
        }
        assert!(number < 200, "nothing is pruned");
    };
    let gone = [
        (
            "/v1/transactions/by_version/0",
            "version_pruned",
            "Ledger version(0) has been pruned",
        ),
        (
            "/v1/blocks/by_height/0",
            "block_pruned",
            "Block(0) has been pruned",
        ),
        (
            "/v1/blocks/by_height/0?with_transactions=true",
            "block_pruned",
            "Block(0) has been pruned",
        ),
        (
            "/v1/blocks/by_version/0",
            "version_pruned",
            "Ledger version(0) has been pruned",
        ),
        (
            "/v1/transactions/auxiliary_info?start_version=0",
            "version_pruned",
            "Ledger version(0) has been pruned",
        ),
        (
            "/v1/accounts/0x1?ledger_version=0",
            "version_pruned",
            "Ledger version(0) has been pruned",
        ),
        (
            "/v1/accounts/0x1/resource/0x1::a::B?ledger_version=0",
            "version_pruned",
            "Ledger version(0) has been pruned",
        ),
        (
            "/v1/accounts/0x1/module/coin?ledger_version=0",
            "version_pruned",
            "Ledger version(0) has been pruned",
        ),
        (
            "/v1/accounts/0x1/modules?ledger_version=0",
            "version_pruned",
            "Ledger version(0) has been pruned",
        ),
        (
            "/v1/accounts/0x1/balance/0xa?ledger_version=0",
            "version_pruned",
            "Ledger version(0) has been pruned",
        ),
    ];
    for (path, error_code, message) in gone {
        let answer = api.client.get(path).await;
        assert_eq!(answer.status, 410, "{path}: {}", answer.text());
        assert_eq!(answer.error_code(), error_code, "{path}");
        assert_eq!(answer.json()["message"], message, "{path}");
        let now: u64 = answer.headers["x-node-ledger-oldest-version"]
            .parse()
            .unwrap();
        assert!(now >= oldest, "{path}");
    }
    // Before a 404: no such item and no such function was ever there.
    for (path, body) in [
        ("/v1/tables/0xdead/raw_item", json!({ "key": "0x" })),
        (
            "/v1/tables/0xdead/item",
            json!({ "key_type": "u8", "value_type": "u8", "key": 1 }),
        ),
        (
            "/v1/view",
            json!({ "function": "0x1::coin::name", "type_arguments": ["0x5::no::Coin"], "arguments": [] }),
        ),
    ] {
        let path = format!("{path}?ledger_version=0");
        let answer = api.client.post_json(&path, &body, "application/json").await;
        refused(&answer, (410, "version_pruned"), &path);
    }
    // By hash the index row may still be there or not.
    let path = format!(
        "/v1/transactions/by_hash/{}",
        first["hash"].as_str().unwrap()
    );
    let answer = api.client.get(&path).await;
    let expected = [(410, "version_pruned"), (404, "transaction_not_found")];
    assert!(
        expected.contains(&(answer.status, &answer.error_code())),
        "{}",
        answer.text()
    );
    api.stop().await;
}
