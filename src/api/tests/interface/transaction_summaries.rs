//! docs/reference/rest-contract.md#s4-6: `GET /accounts/{address}/transaction_summaries`.

use crate::kit::{elements, number};
use crate::{
    interface::{
        chain::{History, Pruned},
        rows::row,
    },
    kit::{TestApi, ledger_headers, ok_json},
};
use serde_json::json;

const ROUTE: &str = "GET /accounts/{address}/transaction_summaries";

async fn versions(api: &TestApi, path: &str) -> Vec<u64> {
    let summaries = ok_json(&api.client.get(path).await);
    let all = elements(&summaries).iter();
    all.map(|summary| number(&summary["version"])).collect()
}

/// Returns the versions of the sender's summaries. Without a query they are 2, 5, 8 and 17.
async fn sender_versions(history: &History, query: &str) -> Vec<u64> {
    let path = format!(
        "/v1/accounts/{}/transaction_summaries{query}",
        history.sender()
    );
    versions(&history.api, &path).await
}

/// Summaries ascend by version, whatever the query is.
#[actix_web::test]
async fn summaries_ascend_by_version() {
    let history = History::start().await;
    for query in ["", "?start_version=0", "?end_version=18", "?limit=4"] {
        assert_eq!(
            sender_versions(&history, query).await,
            [2, 5, 8, 17],
            "{query}"
        );
    }
    history.api.stop().await;
}

#[actix_web::test]
async fn returns_the_newest_summaries_without_bounds() {
    let history = History::start().await;
    assert_eq!(sender_versions(&history, "?limit=1").await, [17]);
    assert_eq!(sender_versions(&history, "?limit=3").await, [5, 8, 17]);
    history.api.stop().await;
}

#[actix_web::test]
async fn start_version_is_an_inclusive_lower_bound() {
    let history = History::start().await;
    for (query, expected) in [
        ("?start_version=5", &[5, 8, 17][..]),
        ("?start_version=6", &[8, 17]),
        ("?start_version=5&limit=2", &[5, 8]),
        ("?start_version=18", &[]),
        ("?start_version=18446744073709551615", &[]),
    ] {
        assert_eq!(sender_versions(&history, query).await, expected, "{query}");
    }
    history.api.stop().await;
}

/// Returns the newest summaries up to `end_version` if it is the only bound.
#[actix_web::test]
async fn end_version_is_an_inclusive_upper_bound() {
    let history = History::start().await;
    for (query, expected) in [
        ("?end_version=8", &[2, 5, 8][..]),
        ("?end_version=7", &[2, 5]),
        ("?end_version=8&limit=2", &[5, 8]),
        ("?end_version=1", &[]),
        ("?end_version=18446744073709551615&limit=1", &[17]),
    ] {
        assert_eq!(sender_versions(&history, query).await, expected, "{query}");
    }
    history.api.stop().await;
}

/// Responds with `invalid_input` to a start above the end.
#[actix_web::test]
async fn both_bounds_apply() {
    let history = History::start().await;
    for (query, expected) in [
        ("?start_version=5&end_version=8", &[5, 8][..]),
        ("?start_version=3&end_version=17&limit=2", &[5, 8]),
        ("?start_version=5&end_version=5", &[5]),
        ("?start_version=6&end_version=7", &[]),
    ] {
        assert_eq!(sender_versions(&history, query).await, expected, "{query}");
    }
    let path = format!(
        "/v1/accounts/{}/transaction_summaries?start_version=8&end_version=5",
        history.sender()
    );
    row(
        "GET /accounts/{address}/transaction_summaries",
        400,
        "invalid_input",
    )
    .get(&history.api, &path)
    .await;
    history.api.stop().await;
}

/// Rejects a bound that is not a U64, and a limit of more than 16 bits or of 0.
#[actix_web::test]
async fn bounds_and_limit_have_their_types() {
    let history = History::start().await;
    let path = "/v1/accounts/0x1/transaction_summaries";
    for query in [
        "start_version=x",
        "start_version=-1",
        "end_version=x",
        "end_version=18446744073709551616",
        "limit=65536",
        "limit=ten",
        "limit=1&limit=1",
    ] {
        row(ROUTE, 400, "web_framework_error")
            .get(&history.api, &format!("{path}?{query}"))
            .await;
    }
    row(ROUTE, 400, "invalid_input")
        .get(&history.api, &format!("{path}?limit=0"))
        .await;
    assert_eq!(sender_versions(&history, "?limit=65535").await.len(), 4);
    history.api.stop().await;
}

/// Accepts an address without its prefix, and lists no summaries of an unknown one.
#[actix_web::test]
async fn every_address_has_a_listing() {
    let history = History::start().await;
    let without = format!(
        "/v1/accounts/{}/transaction_summaries",
        &history.sender().to_string()[2..]
    );
    assert_eq!(versions(&history.api, &without).await, [2, 5, 8, 17]);
    let response = row("GET /accounts/{address}/transaction_summaries", 200, "-")
        .get(&history.api, "/v1/accounts/0xdead/transaction_summaries")
        .await;
    assert_eq!(response.json(), json!([]));
    row(
        "GET /accounts/{address}/transaction_summaries",
        400,
        "web_framework_error",
    )
    .get(&history.api, "/v1/accounts/0xg/transaction_summaries")
    .await;
    history.api.stop().await;
}

/// Finds a pending transaction by its hash only.
#[actix_web::test]
async fn pending_transactions_have_no_summary() {
    let history = History::start().await;
    let parked = crate::kit::Transfer::new(0, 9).sign(&history.api.chain);
    assert_eq!(history.api.client.submit_bcs(&parked).await.status, 202);
    assert_eq!(sender_versions(&history, "").await, [2, 5, 8, 17]);
    let path = format!(
        "/v1/transactions/by_hash/{}",
        parked.hash(history.api.chain.vendor())
    );
    assert_eq!(history.get(&path).await["type"], "pending_transaction");
    history.api.stop().await;
}

/// Returns the retained summaries without a bound.
#[actix_web::test]
async fn a_bound_below_the_window_is_410() {
    let pruned = Pruned::start().await;
    let path = format!("/v1/accounts/{}/transaction_summaries", pruned.sender());
    let below = pruned.oldest - 1;
    for query in [
        "start_version=0".to_owned(),
        "end_version=0".to_owned(),
        format!("start_version={below}"),
        format!("end_version={below}"),
        format!("start_version={below}&end_version={}", pruned.newest),
        format!("start_version=1&end_version={}", pruned.oldest),
    ] {
        let response = row(
            "GET /accounts/{address}/transaction_summaries",
            410,
            "version_pruned",
        )
        .get(&pruned.api, &format!("{path}?{query}"))
        .await;
        assert!(
            response.text().contains("has been pruned"),
            "{}",
            response.text()
        );
        assert_eq!(ledger_headers(&response, "node")[2], pruned.oldest);
    }
    let retained: Vec<_> = pruned.transfers[6..]
        .iter()
        .map(|transfer| number(&transfer["version"]))
        .collect();
    for query in [String::new(), format!("?start_version={}", pruned.oldest)] {
        assert_eq!(
            versions(&pruned.api, &format!("{path}{query}")).await,
            retained,
            "{query}"
        );
    }
    let last = retained.last().unwrap();
    let bounds = format!("{path}?start_version={last}&end_version={}", pruned.newest);
    assert_eq!(versions(&pruned.api, &bounds).await, [*last]);
    pruned.api.stop().await;
}
