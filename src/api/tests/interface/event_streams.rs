//! docs/reference/rest-contract.md#s6: events and their streams.

use crate::interface::chain::{History, STORE};
use crate::kit::{elements, number, recipient_store, store_of};
use serde_json::Value;

async fn streams(history: &History) -> Vec<Vec<Value>> {
    let sender = history.sender();
    let mut streams = Vec::new();
    for path in [
        format!("/v1/accounts/0xb0b/events/{STORE}/deposit_events"),
        format!("/v1/accounts/{sender}/events/{STORE}/withdraw_events"),
    ] {
        streams.push(elements(&history.get(&path).await).clone());
    }
    streams
}

#[actix_web::test]
async fn a_stream_is_an_account_and_a_creation_number() {
    let history = History::start().await;
    for (events, account) in streams(&history)
        .await
        .iter()
        .zip([recipient_store(), store_of(history.sender())])
    {
        assert!(
            events
                .iter()
                .all(|event| event["guid"] == events[0]["guid"])
        );
        assert_eq!(events[0]["guid"]["account_address"], account.to_string());
    }
    history.api.stop().await;
}

#[actix_web::test]
async fn events_of_a_stream_are_numbered_from_0() {
    let history = History::start().await;
    for events in streams(&history).await {
        let numbers: Vec<_> = events
            .iter()
            .map(|event| number(&event["sequence_number"]))
            .collect();
        assert_eq!(numbers, [0, 1, 2, 3]);
    }
    history.api.stop().await;
}

/// Returns what a client needs that follows a stream.
#[actix_web::test]
async fn reads_the_newest_events_without_a_start() {
    let history = History::start().await;
    let path = format!("/v1/accounts/0xb0b/events/{STORE}/deposit_events?limit=1");
    let newest = history.get(&path).await;
    assert_eq!(newest[0]["version"], history.orderless["version"]);
    history.api.stop().await;
}

/// Adds the version to the event.
#[actix_web::test]
async fn an_event_equals_the_event_of_its_transaction() {
    let history = History::start().await;
    for event in streams(&history).await.iter().flatten() {
        let path = format!(
            "/v1/transactions/by_version/{}",
            event["version"].as_str().unwrap()
        );
        let transaction = history.get(&path).await;
        let mut inside = event.clone();
        inside.as_object_mut().unwrap().remove("version");
        assert!(
            elements(&transaction["events"]).contains(&inside),
            "{event}"
        );
    }
    history.api.stop().await;
}
