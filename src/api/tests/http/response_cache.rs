//! The response cache: it reuses a body with the headers of the newest version, but not once the
//! content is pruned or has changed.

use crate::kit::{RawResponse, Settings, TestApi, Transfer, ledger_headers};
use serde_json::Value;

/// Returns the paths of responses that show a transfer and never change.
fn immutable_paths(transfer: &Value) -> Vec<String> {
    let (version, hash) = (
        transfer["version"].as_str().unwrap(),
        transfer["hash"].as_str().unwrap(),
    );
    // The first block after genesis has the versions 1 to 3.
    vec![
        format!("/v1/transactions/by_hash/{hash}"),
        format!("/v1/transactions/by_version/{version}"),
        "/v1/blocks/by_height/1".to_owned(),
        "/v1/blocks/by_height/1?with_transactions=true".to_owned(),
        format!("/v1/blocks/by_version/{version}"),
        format!("/v1/blocks/by_version/{version}?with_transactions=true"),
    ]
}

/// Returns the path of the newest events in the stream of a transfer's withdrawal.
fn withdrawals_path(transfer: &Value) -> String {
    let all = transfer["events"].as_array().unwrap();
    let withdrawal = all
        .iter()
        .find(|event| event["type"] == "0x1::fungible_asset::WithdrawEvent")
        .unwrap();
    let field = |name: &str| withdrawal["guid"][name].as_str().unwrap();
    format!(
        "/v1/accounts/{}/events/{}",
        field("account_address"),
        field("creation_number")
    )
}

/// Returns the responses in JSON and in BCS.
async fn both(api: &TestApi, path: &str) -> [RawResponse; 2] {
    [api.client.get(path).await, api.client.get_bcs(path).await]
}

fn version_of(response: &RawResponse) -> u64 {
    ledger_headers(response, "node")[1]
}

#[actix_web::test]
async fn reuses_an_immutable_body_with_the_headers_of_the_newest_version() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = api.commit(&Transfer::new(0, 0)).await;
    let paths = immutable_paths(&transfer);
    let mut first = Vec::new();
    for path in &paths {
        first.push(both(&api, path).await);
    }
    let hits = api.state.cache.status().hits;
    api.commit(&Transfer::new(0, 1)).await;
    for (path, first) in paths.iter().zip(&first) {
        let again = both(&api, path).await;
        for (first, again) in first.iter().zip(&again) {
            assert_eq!((first.status, again.status), (200, 200), "{path}");
            assert!(first.body == again.body, "{path}");
            assert_eq!(first.headers["content-type"], again.headers["content-type"]);
            assert_eq!(version_of(again), version_of(first) + 3, "{path}");
        }
        assert!(again[0].body != again[1].body, "{path}: JSON and BCS");
    }
    let expected_hits = 2 * paths.len() as u64;
    assert_eq!(api.state.cache.status().hits, hits + expected_hits);
    api.stop().await;
}

#[actix_web::test]
async fn reuses_a_page_of_events_until_the_next_commit() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = api.commit(&Transfer::new(0, 0)).await;
    let path = withdrawals_path(&transfer);
    let count = |response: &RawResponse| response.json().as_array().unwrap().len();
    let first = both(&api, &path).await;
    let again = both(&api, &path).await;
    assert_eq!(api.state.cache.status().hits, 2);
    for (first, again) in first.iter().zip(&again) {
        assert!(first.body == again.body);
        assert_eq!(version_of(first), version_of(again));
    }
    let other = api.client.get(&format!("{path}?start=1")).await;
    assert_eq!((count(&first[0]), count(&other)), (1, 0), "another page");
    api.commit(&Transfer::new(0, 1)).await;
    let newer = both(&api, &path).await;
    assert_eq!(count(&newer[0]), 2);
    assert!(newer[1].body.len() > first[1].body.len());
    api.stop().await;
}

#[actix_web::test]
async fn responds_410_for_pruned_content_that_was_cached() {
    let api = TestApi::start(Settings::with_window(3)).await;
    let transfer = api.commit(&Transfer::new(0, 0)).await;
    let paths = immutable_paths(&transfer);
    for path in &paths {
        for response in both(&api, path).await {
            assert_eq!(response.status, 200, "{path}");
        }
    }
    let mut number = 1;
    // Each block starts the pruner. The headers show when the first block is pruned.
    while ledger_headers(&api.client.get("/v1").await, "node")[2] <= 3 {
        api.commit(&Transfer::new(0, number)).await;
        number += 1;
        assert!(number < 200, "nothing is pruned");
    }
    for path in &paths {
        for response in both(&api, path).await {
            assert_eq!(response.status, 410, "{path}: {}", response.text());
        }
    }
    api.stop().await;
}

#[actix_web::test]
async fn caches_nothing_without_memory_for_it() {
    let mut settings = Settings::default();
    settings.api.response_cache_bytes_max = 0;
    let api = TestApi::start(settings).await;
    let transfer = api.commit(&Transfer::new(0, 0)).await;
    for path in immutable_paths(&transfer) {
        let [first, again] = [api.client.get(&path).await, api.client.get(&path).await];
        assert!(first.status == 200 && first.body == again.body, "{path}");
    }
    assert_eq!(
        api.state.cache.status(),
        ledger_api::ResponseCacheStatus::default()
    );
    api.stop().await;
}
