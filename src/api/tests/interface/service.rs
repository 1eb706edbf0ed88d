//! docs/reference/rest-contract.md#s1: each use of the service once, from end to end.

use crate::kit::elements;
use crate::{
    interface::{
        chain::{History, Pruned, STORE, parked},
        rows::row,
    },
    kit::{Settings, TestApi, Transfer, ledger_headers, ok_json, recipient_store},
};
use serde_json::json;

/// Submits in JSON and in BCS, with the same hash either way.
#[actix_web::test]
async fn signed_transactions_are_submitted_as_json_or_as_bcs() {
    let api = TestApi::start(Settings::default()).await;
    let (in_json, in_bcs) = (Transfer::new(0, 0), Transfer::new(1, 0));
    let accepted = api.client.submit_json(&in_json.json(&api.chain)).await;
    row("POST /transactions", 202, "-").assert_matches(&accepted, "JSON");
    let accepted = api.client.submit_bcs(&in_bcs.sign(&api.chain)).await;
    row("POST /transactions", 202, "-").assert_matches(&accepted, "BCS");
    for transfer in [in_json, in_bcs] {
        let hash = transfer.sign(&api.chain).hash(api.chain.vendor());
        let committed = api.client.wait(&hash).await;
        assert_eq!(committed["hash"], hash.to_string());
        assert_eq!(committed["success"], true, "{committed}");
    }
    api.stop().await;
}

#[actix_web::test]
async fn pending_transactions_are_polled_for_or_waited_for() {
    let api = TestApi::start(Settings::default()).await;
    let pending = parked(&api);
    api.client.submit_bcs(&pending).await;
    let hash = pending.hash(api.chain.vendor());
    let polled = row("GET /transactions/by_hash/{txn_hash}", 200, "-")
        .get(&api, &format!("/v1/transactions/by_hash/{hash}"))
        .await;
    assert_eq!(polled.json()["type"], "pending_transaction");

    let transfer = Transfer::new(0, 0).sign(&api.chain);
    api.client.submit_bcs(&transfer).await;
    let path = format!(
        "/v1/transactions/wait_by_hash/{}",
        transfer.hash(api.chain.vendor())
    );
    let waited = row("GET /transactions/wait_by_hash/{txn_hash}", 200, "-")
        .get(&api, &path)
        .await;
    assert_eq!(
        waited.json()["type"],
        "user_transaction",
        "{}",
        waited.text()
    );
    api.stop().await;
}

#[actix_web::test]
async fn blocks_are_read_with_or_without_their_transactions() {
    let history = History::start().await;
    let bare = history.get("/v1/blocks/by_height/2").await;
    assert_eq!(bare.get("transactions"), None);
    let full = history
        .get("/v1/blocks/by_height/2?with_transactions=true")
        .await;
    assert_eq!(elements(&full["transactions"])[1], history.transfers[1]);
    history.api.stop().await;
}

/// Returns the same events for the event handle of a stream and for its creation number.
#[actix_web::test]
async fn events_are_read_by_handle_or_by_creation_number() {
    let history = History::start().await;
    let by_handle = history
        .get(&format!("/v1/accounts/0xb0b/events/{STORE}/deposit_events"))
        .await;
    assert_eq!(elements(&by_handle).len(), 4);
    let number = by_handle[0]["guid"]["creation_number"].as_str().unwrap();
    let by_number = history
        .get(&format!(
            "/v1/accounts/{}/events/{number}",
            recipient_store()
        ))
        .await;
    assert_eq!(by_handle, by_number);
    history.api.stop().await;
}

/// Summaries of the committed transactions that an account sent are listed.
#[actix_web::test]
async fn summaries_of_an_accounts_transactions_are_listed() {
    let history = History::start().await;
    let path = format!("/v1/accounts/{}/transaction_summaries", history.sender());
    let summaries = history.get(&path).await;
    let hashes: Vec<_> = elements(&summaries)
        .iter()
        .map(|summary| &summary["transaction_hash"])
        .collect();
    let sent = history.transfers.iter().chain([&history.orderless]);
    assert_eq!(hashes, sent.map(|one| &one["hash"]).collect::<Vec<_>>());
    history.api.stop().await;
}

#[actix_web::test]
async fn a_table_item_is_read_by_its_serialized_key() {
    let history = History::start().await;
    let path = format!("/v1/tables/{}/raw_item", history.table);
    let key = json!({ "key": crate::interface::chain::RECORD_KEY });
    let item = row("POST /tables/{table_handle}/raw_item", 200, "-")
        .post(&history.api, &path, &key)
        .await;
    assert_eq!(item.json()["content"], "0xab");
    history.api.stop().await;
}

#[actix_web::test]
async fn balances_of_coins_and_fungible_assets_are_read() {
    let history = History::start().await;
    for asset in ["0x1::node_coin::NodeCoin", "0xa"] {
        let balance = history
            .get(&format!("/v1/accounts/0xb0b/balance/{asset}"))
            .await;
        assert_eq!(balance, 28, "{asset}");
    }
    history.api.stop().await;
}

#[actix_web::test]
async fn reads_have_the_version_of_the_ledger_in_headers() {
    let history = History::start().await;
    let before = history
        .api
        .client
        .get("/v1/accounts/0xb0b/balance/0xa")
        .await;
    history.api.commit(&Transfer::new(3, 0)).await;
    let after = history
        .api
        .client
        .get("/v1/accounts/0xb0b/balance/0xa")
        .await;
    assert_eq!((ok_json(&before), ok_json(&after)), (json!(28), json!(35)));
    let (before, after) = (
        ledger_headers(&before, "node"),
        ledger_headers(&after, "node"),
    );
    assert_eq!(after[1], before[1] + 3, "the version");
    assert_eq!(after[5], before[5] + 1, "the height");
    assert!(after[3] > before[3], "the time");
    history.api.stop().await;
}

/// Responds with 410 to a version below the configured window.
#[actix_web::test]
async fn responds_410_below_the_window() {
    let Pruned { api, oldest, .. } = Pruned::start().await;
    let path = "/v1/accounts/0xb0b/balance/0xa?ledger_version=";
    row(
        "GET /accounts/{address}/balance/{asset_type}",
        410,
        "version_pruned",
    )
    .get(&api, &format!("{path}{}", oldest - 1))
    .await;
    row("GET /accounts/{address}/balance/{asset_type}", 200, "-")
        .get(&api, &format!("{path}{oldest}"))
        .await;
    api.stop().await;
}
