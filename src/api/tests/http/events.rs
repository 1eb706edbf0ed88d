//! Events of a stream by creation number and by handle.

use crate::kit::{
    Settings, TestApi, Transfer, assert_error, assert_still_commits, event_numbers, ok_bcs,
    ok_json, recipient_store,
};
use ledger_types::ContractEvent;
use serde_json::json;

/// The resource with the event handles of a primary store.
const STORE_EVENTS: &str = "0x1::fungible_asset::FungibleAssetEvents";
const STORE: &str = "0x1::coin::CoinStore%3C0x1::node_coin::NodeCoin%3E";

/// Returns the path of the stream of deposits to `0xb0b` by its handle.
fn deposits() -> String {
    format!("/v1/accounts/0xb0b/events/{STORE}/deposit_events")
}

#[actix_web::test]
async fn reads_a_stream_by_handle_and_by_creation_number() {
    let api = TestApi::start(Settings::default()).await;
    let mut versions = Vec::new();
    for number in 0..3 {
        let committed = api.commit(&Transfer::new(0, number)).await;
        versions.push(committed["version"].clone());
    }
    let by_handle = ok_json(&api.client.get(&deposits()).await);
    assert_eq!(event_numbers(&by_handle), [0, 1, 2]);
    let number = by_handle[0]["guid"]["creation_number"].as_str().unwrap();
    let store = recipient_store().to_string();
    let expected = json!({
        "version": versions[1],
        "guid": { "creation_number": number, "account_address": store },
        "sequence_number": "1",
        "type": "0x1::fungible_asset::DepositEvent",
        "data": { "amount": "7" },
    });
    assert_eq!(by_handle[1], expected);

    let by_number = format!("/v1/accounts/{}/events/{number}", &store[2..]);
    assert_eq!(ok_json(&api.client.get(&by_number).await), by_handle);
    let in_bcs = api.client.get_bcs(&by_number).await;
    let events: Vec<(u64, ContractEvent)> = bcs::from_bytes(ok_bcs(&in_bcs)).unwrap();
    let read: Vec<_> = events
        .iter()
        .map(|(version, _)| json!(version.to_string()))
        .collect();
    assert_eq!(read, versions);
    assert_eq!(events[2].1.data().as_ref(), 7u64.to_le_bytes());
    assert_eq!(events[2].1.stream_position().unwrap().1, 2);
    api.stop().await;
}

#[actix_web::test]
async fn returns_pages_of_a_stream() {
    let api = TestApi::start(Settings::default()).await;
    for number in 0..104 {
        api.commit(&Transfer::new(0, number)).await;
    }
    let page = |query: &str| {
        let (client, path) = (api.client.clone(), format!("{}?{query}", deposits()));
        async move { event_numbers(&ok_json(&client.get(&path).await)) }
    };
    let span = |from: u64, to: u64| (from..to).collect::<Vec<_>>();
    assert_eq!(page("").await, span(79, 104), "the newest, ascending");
    assert_eq!(page("limit=2").await, span(102, 104));
    assert_eq!(page("start=3&limit=2").await, span(3, 5));
    assert_eq!(page("start=3").await, span(3, 28));
    assert_eq!(
        page("start=0&limit=65535").await,
        span(0, 100),
        "above the maximum"
    );
    assert_eq!(page("start=103&limit=5").await, [103]);
    assert_eq!(page("start=104").await, span(0, 0), "beyond the end");
    assert_eq!(page("start=18446744073709551615").await, span(0, 0));
    api.stop().await;
}

#[actix_web::test]
async fn returns_no_events_of_unknown_streams() {
    let api = TestApi::start(Settings::default()).await;
    for path in [
        "/v1/accounts/0xdead/events/0",
        "/v1/accounts/0x1/events/18446744073709551615",
        "/v1/accounts/0xdead/events/0?start=5",
    ] {
        assert_eq!(ok_json(&api.client.get(path).await), json!([]), "{path}");
        assert_eq!(ok_bcs(&api.client.get_bcs(path).await), [0], "{path}");
    }
    api.stop().await;
}

#[actix_web::test]
async fn rejects_malformed_handles_and_pages() {
    let api = TestApi::start(Settings::default()).await;
    api.commit(&Transfer::new(0, 0)).await;
    let syntax = (400, "web_framework_error");
    let input = (400, "invalid_input");
    let store = recipient_store();
    let handle = |tag: &str, field: &str| format!("/v1/accounts/0xb0b/events/{tag}/{field}");
    let of_store = |tag: &str, field: &str| format!("/v1/accounts/{store}/events/{tag}/{field}");
    let rows = [
        ("/v1/accounts/0xg/events/0".to_owned(), syntax),
        ("/v1/accounts/0x1/events/-1".to_owned(), syntax),
        (
            "/v1/accounts/0x1/events/18446744073709551616".to_owned(),
            syntax,
        ),
        ("/v1/accounts/0x1/events/0?start=x".to_owned(), syntax),
        ("/v1/accounts/0x1/events/0?limit=65536".to_owned(), syntax),
        ("/v1/accounts/0x1/events/0?limit=0".to_owned(), input),
        (format!("{}?limit=0", deposits()), input),
        (handle("u8", "deposit_events"), syntax),
        (handle(STORE, "1x"), syntax),
        (of_store("0x1::object::ObjectCore", "owner"), input),
        (
            of_store("0x1::object::ObjectCore", "guid_creation_num"),
            input,
        ),
        (
            of_store(STORE_EVENTS, "nothing"),
            (404, "struct_field_not_found"),
        ),
        (handle(STORE, "nothing"), (404, "resource_not_found")),
        (handle("0x1::no::Thing", "f"), (404, "resource_not_found")),
        (
            handle("0x1::table::TableInfo", "key_type"),
            (404, "resource_not_found"),
        ),
    ];
    for (path, expected) in rows {
        assert_error(&api.client.get(&path).await, expected, &path);
    }
    let missing = api.client.get(&of_store(STORE_EVENTS, "nothing")).await;
    assert_eq!(
        missing.json()["message"],
        format!(
            "Struct Field not found by Address({store}), Struct tag({STORE_EVENTS}), Field \
             name(nothing) and Ledger version(3)"
        )
    );
    assert_still_commits(&api).await;
    api.stop().await;
}
