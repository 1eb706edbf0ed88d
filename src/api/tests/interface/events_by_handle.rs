//! docs/reference/rest-contract.md#s4-3:
//! `GET /accounts/{address}/events/{event_handle}/{field_name}`.

use crate::{
    interface::{
        chain::{History, STORE, STORE_EVENTS},
        rows::row,
    },
    kit::{Settings, TestApi, elements, event_numbers, recipient_store},
};
use serde_json::json;

const ROUTE: &str = "GET /accounts/{address}/events/{event_handle}/{field_name}";

fn path(address: &str, tag: &str, field: &str) -> String {
    format!("/v1/accounts/{address}/events/{tag}/{field}")
}

fn deposits(query: &str) -> String {
    path("0xb0b", STORE, &format!("deposit_events{query}"))
}

/// Returns the events of the handle that the account's struct holds in the field.
#[actix_web::test]
async fn events_are_those_of_the_handle() {
    let history = History::start().await;
    let response = row(
        "GET /accounts/{address}/events/{event_handle}/{field_name}",
        200,
        "-",
    )
    .get(&history.api, &deposits(""))
    .await;
    assert_eq!(event_numbers(&response.json()), [0, 1, 2, 3]);
    // The account is the recipient of the events, not the one of the module.
    row(ROUTE, 404, "resource_not_found")
        .get(&history.api, &path("0x1", STORE, "deposit_events"))
        .await;
    let withdrawals = path(&history.sender().to_string(), STORE, "withdraw_events");
    assert_eq!(elements(&history.get(&withdrawals).await).len(), 4);
    assert_eq!(
        history.get(&path("0xb0b", STORE, "withdraw_events")).await,
        json!([])
    );
    history.api.stop().await;
}

#[actix_web::test]
async fn the_address_may_lack_its_prefix() {
    let history = History::start().await;
    let without = path("b0b", STORE, "deposit_events");
    assert_eq!(
        history.get(&without).await,
        history.get(&deposits("")).await
    );
    row(ROUTE, 400, "web_framework_error")
        .get(&history.api, &path("0xg", STORE, "deposit_events"))
        .await;
    history.api.stop().await;
}

/// Names the missing struct or field in the message.
#[actix_web::test]
async fn missing_structs_and_fields_are_not_found() {
    let history = History::start().await;
    let store = recipient_store().to_string();
    let response = row(
        "GET /accounts/{address}/events/{event_handle}/{field_name}",
        404,
        "resource_not_found",
    )
    .get(&history.api, &path("0xb0b", "0x9::a::B", "f"))
    .await;
    assert_eq!(
        response.json()["message"],
        "Resource not found by Address(0xb0b), Struct tag(0x9::a::B) and Ledger version(18)"
    );
    let response = row(
        "GET /accounts/{address}/events/{event_handle}/{field_name}",
        404,
        "struct_field_not_found",
    )
    .get(&history.api, &path(&store, STORE_EVENTS, "nothing"))
    .await;
    assert_eq!(
        response.json()["message"],
        format!(
            "Struct Field not found by Address({store}), Struct tag({STORE_EVENTS}), Field \
             name(nothing) and Ledger version(18)"
        )
    );
    history.api.stop().await;
}

/// Responds with `invalid_input` to a field without a handle, and with `web_framework_error` to an
/// invalid field name or struct tag.
#[actix_web::test]
async fn rejects_fields_without_a_handle() {
    let history = History::start().await;
    let store = recipient_store().to_string();
    let tag = "0x1::object::ObjectCore";
    for (field, code) in [
        ("owner", "invalid_input"),
        ("guid_creation_num", "invalid_input"),
        ("1x", "web_framework_error"),
        ("deposit%20events", "web_framework_error"),
    ] {
        row(
            "GET /accounts/{address}/events/{event_handle}/{field_name}",
            400,
            code,
        )
        .get(&history.api, &path(&store, tag, field))
        .await;
    }
    for tag in ["u8", "0x1::coin", "vector%3Cu8%3E"] {
        row(
            "GET /accounts/{address}/events/{event_handle}/{field_name}",
            400,
            "web_framework_error",
        )
        .get(&history.api, &path("0xb0b", tag, "deposit_events"))
        .await;
    }
    history.api.stop().await;
}

/// Returns an empty list for a handle without emitted events.
#[actix_web::test]
async fn a_stream_without_events_is_empty() {
    let api = TestApi::start(Settings::default()).await;
    let sender = crate::kit::Transfer::new(0, 0).sender().to_string();
    let response = row(ROUTE, 200, "-")
        .get(&api, &path(&sender, STORE, "withdraw_events"))
        .await;
    assert_eq!(response.json(), json!([]));
    api.stop().await;
}
