//! docs/reference/rest-contract.md#s9: versions of the interface and of the ledger.

use crate::{
    interface::{
        chain::{History, NEWEST},
        examples,
        rows::row,
    },
    kit::{Settings, TestApi, assert_error, ledger_headers},
};

#[actix_web::test]
async fn resources_are_below_v1_only() {
    let history = History::start().await;
    for example in examples::reads(&history) {
        let response = example.send(&history, "application/json").await;
        row(example.route, 200, "-").assert_matches(&response, example.route);
        let rest = example.path.strip_prefix("/v1").unwrap();
        for other in [format!("/v2{rest}"), format!("/V1{rest}")] {
            let response = history.api.client.get(&other).await;
            assert_error(&response, (404, "web_framework_error"), &other);
        }
    }
    history.api.stop().await;
}

/// Treats a percent-encoded letter as the letter (RFC 3986, section 6.2.2.2).
#[actix_web::test]
async fn decodes_letters_that_need_no_encoding() {
    let api = TestApi::start(Settings::default()).await;
    let plain = api.client.get("/v1/info").await;
    assert_eq!(plain.status, 200);
    for path in ["/%761/info", "/v%31/inf%6F"] {
        let response = api.client.get(path).await;
        assert_eq!(
            (response.status, response.text()),
            (200, plain.text()),
            "{path}"
        );
    }
    api.stop().await;
}

#[actix_web::test]
async fn unknown_paths_are_not_found() {
    let api = TestApi::start(Settings::default()).await;
    for path in [
        "/v1/nothing",
        "/v1/accounts",
        "/v1/accounts/0x1/",
        "/v1/blocks/by_height",
    ] {
        let response = api.client.get(path).await;
        assert_error(&response, (404, "web_framework_error"), path);
        assert!(response.text().contains(path), "{}", response.text());
    }
    api.stop().await;
}

#[actix_web::test]
async fn ledger_versions_are_independent_of_v1() {
    let history = History::start().await;
    let response = history.api.client.get("/v1").await;
    let [_, version, .., height, _] = ledger_headers(&response, "node");
    assert_eq!((version, height), (NEWEST, 6));
    history.api.stop().await;
}
