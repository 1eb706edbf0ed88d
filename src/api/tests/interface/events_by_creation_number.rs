//! docs/reference/rest-contract.md#s4-4: `GET /accounts/{address}/events/{creation_number}`.

use crate::{
    interface::{
        chain::{History, STORE, STORE_EVENTS},
        rows::row,
    },
    kit::{TestApi, ok_json, recipient_store, store_of},
};
use serde_json::json;

const ROUTE: &str = "GET /accounts/{address}/events/{creation_number}";

/// Returns the path of the deposits to `0xb0b`.
async fn deposits(api: &TestApi) -> String {
    let by_handle = format!("/v1/accounts/0xb0b/events/{STORE}/deposit_events");
    let events = ok_json(&api.client.get(&by_handle).await);
    let number = events[0]["guid"]["creation_number"].as_str().unwrap();
    format!("/v1/accounts/{}/events/{number}", recipient_store())
}

#[actix_web::test]
async fn each_stream_of_a_store_has_its_own_number() {
    let history = History::start().await;
    let sender = history.sender();
    let address = store_of(sender);
    let mut seen = Vec::new();
    for field in ["deposit_events", "withdraw_events"] {
        let by_handle = format!("/v1/accounts/{sender}/events/{STORE}/{field}");
        let store = history
            .get(&format!("/v1/accounts/{address}/resource/{STORE_EVENTS}"))
            .await;
        let id = &store["data"][field]["guid"]["id"];
        let path = format!(
            "/v1/accounts/{address}/events/{}",
            id["creation_num"].as_str().unwrap()
        );
        let response = row("GET /accounts/{address}/events/{creation_number}", 200, "-")
            .get(&history.api, &path)
            .await;
        assert_eq!(response.json(), history.get(&by_handle).await, "{field}");
        seen.push(id["creation_num"].clone());
    }
    assert_ne!(seen[0], seen[1]);
    history.api.stop().await;
}

/// Accepts an address without its prefix, and a U64 as the creation number.
#[actix_web::test]
async fn address_and_number_have_their_types() {
    let history = History::start().await;
    let path = deposits(&history.api).await;
    let without = path.replace("/0x", "/");
    assert_eq!(history.get(&without).await, history.get(&path).await);
    for wrong in [
        "0xg/events/0",
        "0x1/events/-1",
        "0x1/events/x",
        "0x1/events/0x1",
        "0x1/events/18446744073709551616",
    ] {
        row(
            "GET /accounts/{address}/events/{creation_number}",
            400,
            "web_framework_error",
        )
        .get(&history.api, &format!("/v1/accounts/{wrong}"))
        .await;
    }
    history.api.stop().await;
}

/// Returns an empty list for an unknown account and for an unknown number.
#[actix_web::test]
async fn unknown_streams_are_empty() {
    let history = History::start().await;
    for path in [
        "/v1/accounts/0xdead/events/0",
        "/v1/accounts/0xb0b/events/18446744073709551615",
        "/v1/accounts/0xdead/events/0?start=3&limit=2",
    ] {
        let response = row(ROUTE, 200, "-").get(&history.api, path).await;
        assert_eq!(response.json(), json!([]), "{path}");
    }
    history.api.stop().await;
}
