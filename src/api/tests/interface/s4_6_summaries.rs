//! docs/reference/rest-contract.md#s4-6: `GET /accounts/{address}/transaction_summaries`.

use crate::{
    chain::{History, Pruned},
    kit::{TestApi, good},
    rows::{elements, number, row},
};
use serde_json::json;

const ROUTE: &str = "GET /accounts/{address}/transaction_summaries";

async fn versions(api: &TestApi, path: &str) -> Vec<u64> {
    let summaries = good(&api.client.get(path).await);
    let all = elements(&summaries).iter();
    all.map(|summary| number(&summary["version"])).collect()
}

/// The first development account's transactions have the versions 2, 5, 8 and 17.
async fn asked(history: &History, query: &str) -> Vec<u64> {
    let path = format!(
        "/v1/accounts/{}/transaction_summaries{query}",
        history.sender()
    );
    versions(&history.api, &path).await
}

/// The order is ascending by version, whatever is asked for.
#[actix_web::test]
async fn summaries_ascend_by_version() {
    let history = History::start().await;
    for query in ["", "?start_version=0", "?end_version=18", "?limit=4"] {
        assert_eq!(asked(&history, query).await, [2, 5, 8, 17], "{query}");
    }
    history.api.stop().await;
}

/// Without bounds the most recent ones are given.
#[actix_web::test]
async fn without_bounds_the_newest_are_given() {
    let history = History::start().await;
    assert_eq!(asked(&history, "?limit=1").await, [17]);
    assert_eq!(asked(&history, "?limit=3").await, [5, 8, 17]);
    history.api.stop().await;
}

/// With a start they begin at that version, which is included.
#[actix_web::test]
async fn a_start_is_where_they_begin() {
    let history = History::start().await;
    for (query, expected) in [
        ("?start_version=5", &[5, 8, 17][..]),
        ("?start_version=6", &[8, 17]),
        ("?start_version=5&limit=2", &[5, 8]),
        ("?start_version=18", &[]),
        ("?start_version=18446744073709551615", &[]),
    ] {
        assert_eq!(asked(&history, query).await, expected, "{query}");
    }
    history.api.stop().await;
}

/// With an end alone they end at that version, which is included; the newest before it are given.
#[actix_web::test]
async fn an_end_is_where_they_end() {
    let history = History::start().await;
    for (query, expected) in [
        ("?end_version=8", &[2, 5, 8][..]),
        ("?end_version=7", &[2, 5]),
        ("?end_version=8&limit=2", &[5, 8]),
        ("?end_version=1", &[]),
        ("?end_version=18446744073709551615&limit=1", &[17]),
    ] {
        assert_eq!(asked(&history, query).await, expected, "{query}");
    }
    history.api.stop().await;
}

/// Both bounds are honoured; a start above the end makes no sense.
#[actix_web::test]
async fn both_bounds_are_honoured() {
    let history = History::start().await;
    for (query, expected) in [
        ("?start_version=5&end_version=8", &[5, 8][..]),
        ("?start_version=3&end_version=17&limit=2", &[5, 8]),
        ("?start_version=5&end_version=5", &[5]),
        ("?start_version=6&end_version=7", &[]),
    ] {
        assert_eq!(asked(&history, query).await, expected, "{query}");
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

/// The bounds are U64 and the limit has 16 bits and is not 0.
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
    assert_eq!(asked(&history, "?limit=65535").await.len(), 4);
    history.api.stop().await;
}

/// The address may lack its prefix; of one that nobody knows there are none.
#[actix_web::test]
async fn any_address_may_be_asked_for() {
    let history = History::start().await;
    let without = format!(
        "/v1/accounts/{}/transaction_summaries",
        &history.sender().to_string()[2..]
    );
    assert_eq!(versions(&history.api, &without).await, [2, 5, 8, 17]);
    let answer = row("GET /accounts/{address}/transaction_summaries", 200, "-")
        .get(&history.api, "/v1/accounts/0xdead/transaction_summaries")
        .await;
    assert_eq!(answer.json(), json!([]));
    row(
        "GET /accounts/{address}/transaction_summaries",
        400,
        "web_framework_error",
    )
    .get(&history.api, "/v1/accounts/0xg/transaction_summaries")
    .await;
    history.api.stop().await;
}

/// What is pending is not among them: it is found by its hash.
#[actix_web::test]
async fn pending_transactions_are_not_among_them() {
    let history = History::start().await;
    let parked = crate::kit::Transfer::new(0, 9).sign(&history.api.chain);
    assert_eq!(history.api.client.submit_bcs(&parked).await.status, 202);
    assert_eq!(asked(&history, "").await, [2, 5, 8, 17]);
    let path = format!(
        "/v1/transactions/by_hash/{}",
        parked.hash(history.api.chain.vendor())
    );
    assert_eq!(history.get(&path).await["type"], "pending_transaction");
    history.api.stop().await;
}

/// A bound below the window is 410; without one those that are kept are given.
#[actix_web::test]
async fn a_bound_below_the_window_is_gone() {
    let pruned = Pruned::start().await;
    let path = format!("/v1/accounts/{}/transaction_summaries", pruned.sender());
    let below = pruned.oldest - 1;
    for query in [
        "start_version=0".to_owned(),
        format!("start_version={below}"),
        format!("end_version={below}"),
        format!("start_version={below}&end_version={}", pruned.newest),
    ] {
        let answer = row(
            "GET /accounts/{address}/transaction_summaries",
            410,
            "version_pruned",
        )
        .get(&pruned.api, &format!("{path}?{query}"))
        .await;
        assert!(
            answer.text().contains("has been pruned"),
            "{}",
            answer.text()
        );
    }
    let kept: Vec<_> = pruned.transfers[6..]
        .iter()
        .map(|transfer| number(&transfer["version"]))
        .collect();
    for query in [String::new(), format!("?start_version={}", pruned.oldest)] {
        assert_eq!(
            versions(&pruned.api, &format!("{path}{query}")).await,
            kept,
            "{query}"
        );
    }
    pruned.api.stop().await;
}
