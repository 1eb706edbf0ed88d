//! docs/reference/rest-contract.md#s2-7: an event.

use crate::interface::chain::{History, STORE};
use crate::kit::{elements, members, number, recipient_store};
use serde_json::json;

/// Shows an event with five members, and its guid with two.
#[actix_web::test]
async fn an_event_has_five_members() {
    let history = History::start().await;
    let events = history
        .get(&format!("/v1/accounts/0xb0b/events/{STORE}/deposit_events"))
        .await;
    for event in elements(&events) {
        assert_eq!(
            members(event),
            ["data", "guid", "sequence_number", "type", "version"]
        );
        assert_eq!(
            members(&event["guid"]),
            ["account_address", "creation_number"]
        );
        assert_eq!(
            event["guid"]["account_address"],
            recipient_store().to_string()
        );
        number(&event["guid"]["creation_number"]);
    }
    history.api.stop().await;
}

#[actix_web::test]
async fn an_event_has_the_version_of_its_transaction() {
    let history = History::start().await;
    let events = history
        .get(&format!("/v1/accounts/0xb0b/events/{STORE}/deposit_events"))
        .await;
    let emitted: Vec<_> = elements(&events)
        .iter()
        .map(|event| &event["version"])
        .collect();
    let sent = history.transfers.iter().chain([&history.orderless]);
    let versions: Vec<_> = sent.map(|transaction| &transaction["version"]).collect();
    assert_eq!(emitted, versions);
    history.api.stop().await;
}

#[actix_web::test]
async fn the_data_has_the_shape_of_the_type() {
    let history = History::start().await;
    let deposits = history
        .get(&format!("/v1/accounts/0xb0b/events/{STORE}/deposit_events"))
        .await;
    assert_eq!(deposits[0]["type"], "0x1::fungible_asset::DepositEvent");
    assert_eq!(deposits[0]["data"], json!({ "amount": "7" }));
    let set = format!(
        "/v1/accounts/{}/events/0x1::registry::Registry/set_events",
        history.owner()
    );
    let set = history.get(&set).await;
    assert_eq!(members(&set[0]["data"]), ["name", "record"]);
    assert_eq!(
        members(&set[0]["data"]["record"]),
        ["content", "revision", "updated_usecs"]
    );
    history.api.stop().await;
}
