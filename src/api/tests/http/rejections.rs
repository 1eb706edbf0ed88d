//! Malformed input of each kind for each route: the response has the expected status and error
//! code, and the node still serves.

use crate::kit::{BODY_BYTES_MAX, Settings, TestApi, assert_error, assert_still_commits};

/// Error of a value that cannot be parsed as its declared type.
const SYNTAX: (u16, &str) = (400, "web_framework_error");

/// Error of a route that does not exist.
const UNKNOWN_ROUTE: (u16, &str) = (404, "web_framework_error");

#[actix_web::test]
async fn rejects_malformed_or_unknown_paths_and_queries() {
    let api = TestApi::start(Settings::default()).await;
    let hash = "ab".repeat(32);
    let long = "1".repeat(65);
    let deep = format!(
        "0x1::a::B%3C{}u8{}%3E",
        "vector%3C".repeat(20),
        "%3E".repeat(20)
    );
    let missing = |case| (404, case);
    let rows: Vec<(String, (u16, &str))> = vec![
        ("/v1/nothing".into(), UNKNOWN_ROUTE),
        ("/v1/accounts".into(), UNKNOWN_ROUTE),
        ("/v1/accounts/0x1/".into(), UNKNOWN_ROUTE),
        ("/v2".into(), UNKNOWN_ROUTE),
        ("/v1/-/healthy?duration_secs=soon".into(), SYNTAX),
        ("/v1/-/healthy?duration_secs=%2B9999".into(), SYNTAX),
        ("/v1/transactions/by_hash/0x12".into(), SYNTAX),
        ("/v1/transactions/by_hash/zz".into(), SYNTAX),
        (
            format!("/v1/transactions/by_hash/{hash}"),
            missing("transaction_not_found"),
        ),
        ("/v1/transactions/wait_by_hash/0x".into(), SYNTAX),
        (
            format!("/v1/transactions/wait_by_hash/0x{hash}"),
            missing("transaction_not_found"),
        ),
        ("/v1/transactions/by_version/-1".into(), SYNTAX),
        ("/v1/transactions/by_version/+0".into(), SYNTAX),
        (
            "/v1/transactions/by_version/18446744073709551616".into(),
            SYNTAX,
        ),
        (
            "/v1/transactions/by_version/18446744073709551615".into(),
            missing("transaction_not_found"),
        ),
        ("/v1/accounts/0xg".into(), SYNTAX),
        (format!("/v1/accounts/{long}"), SYNTAX),
        ("/v1/accounts/0x1%2F2".into(), SYNTAX),
        ("/v1/accounts/%FF%FE".into(), SYNTAX),
        ("/v1/accounts/0x1?ledger_version=x".into(), SYNTAX),
        ("/v1/accounts/0x1?ledger_version=%2B0".into(), SYNTAX),
        (
            "/v1/accounts/0x1?ledger_version=0&ledger_version=0".into(),
            SYNTAX,
        ),
        (
            "/v1/accounts/0x1?ledger_version=99".into(),
            missing("version_not_found"),
        ),
        ("/v1/accounts/0xg/resource/0x1::a::B".into(), SYNTAX),
        ("/v1/accounts/0x1/resource/u8".into(), SYNTAX),
        ("/v1/accounts/0x1/resource/0x1::a".into(), SYNTAX),
        (format!("/v1/accounts/0x1/resource/{deep}"), SYNTAX),
        (
            "/v1/accounts/0x1/resource/0x1::a::B".into(),
            missing("resource_not_found"),
        ),
        (
            "/v1/accounts/0x1/resource/0x1::a::B?ledger_version=99".into(),
            missing("version_not_found"),
        ),
        ("/v1/accounts/0x1/module/1x".into(), SYNTAX),
        (
            "/v1/accounts/0x1/module/nothing".into(),
            missing("module_not_found"),
        ),
        (
            "/v1/accounts/0x2/module/coin".into(),
            missing("module_not_found"),
        ),
        (
            "/v1/accounts/0x1/module/coin?ledger_version=99".into(),
            missing("version_not_found"),
        ),
        (
            "/v1/accounts/0x1/modules?limit=0".into(),
            (400, "invalid_input"),
        ),
        ("/v1/accounts/0x1/modules?limit=-1".into(), SYNTAX),
        ("/v1/accounts/0x1/modules?start=zz".into(), SYNTAX),
        ("/v1/accounts/0x1/modules?start=00".into(), SYNTAX),
        (
            "/v1/accounts/0x1/modules?ledger_version=99".into(),
            missing("version_not_found"),
        ),
        ("/v1/accounts/0x1/balance/coin".into(), SYNTAX),
        ("/v1/accounts/0x1/balance/0x1::coin".into(), SYNTAX),
        ("/v1/accounts/zz/balance/0xa".into(), SYNTAX),
        (
            "/v1/accounts/0x1/balance/0xa?ledger_version=99".into(),
            missing("version_not_found"),
        ),
        ("/v1/blocks/by_height/first".into(), SYNTAX),
        ("/v1/blocks/by_height/+0".into(), SYNTAX),
        (
            "/v1/blocks/by_height/0?with_transactions=yes".into(),
            SYNTAX,
        ),
        ("/v1/blocks/by_height/99".into(), missing("block_not_found")),
        (
            format!("/v1/accounts/{}", "1".repeat(20_000)),
            (414, "web_framework_error"),
        ),
        (
            format!("/v1?{}", "a=b&".repeat(6_000)),
            (414, "web_framework_error"),
        ),
    ];
    for (path, expected) in rows {
        let label: String = path.chars().take(80).collect();
        assert_error(&api.client.get(&path).await, expected, &label);
        // An error is JSON, whatever the client accepts.
        assert_error(&api.client.get_bcs(&path).await, expected, &label);
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn lists_the_allowed_methods_in_a_405() {
    let api = TestApi::start(Settings::default()).await;
    let rows = [
        ("POST", "/v1", "GET, HEAD"),
        ("DELETE", "/v1/accounts/0x1", "GET, HEAD"),
        ("PUT", "/v1/transactions", "GET, HEAD, POST"),
        ("POST", "/v1/accounts/0x1/transactions", "GET, HEAD"),
        ("PATCH", "/v1/blocks/by_height/0", "GET, HEAD"),
        ("POST", "/v1/accounts/0x1/events/0", "GET, HEAD"),
        ("GET", "/v1/view", "POST"),
        ("GET", "/v1/transactions/simulate", "POST"),
        ("GET", "/v1/tables/0x1/item", "POST"),
        ("GET", "/v1/tables/0x1/raw_item", "POST"),
    ];
    for (method, path, allowed) in rows {
        let response = api.client.send(method, path, &[], Some(b"")).await;
        assert_error(&response, (405, "web_framework_error"), path);
        assert_eq!(response.headers["allow"], allowed);
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn rejects_the_bcs_media_type_of_another_vendor() {
    let api = TestApi::start(Settings::default()).await;
    let media_type = "application/x.aptos.signed_transaction+bcs";
    let headers = [("content-type", media_type)];
    let response = api
        .client
        .send("POST", "/v1/transactions", &headers, Some(b"{}"))
        .await;
    assert_error(&response, (415, "web_framework_error"), media_type);
    let message = response.text();
    assert!(
        message.contains("ledger-node run --preset sdk"),
        "{message}"
    );
    api.stop().await;
}

#[actix_web::test]
async fn limits_the_length_of_chunked_bodies() {
    let api = TestApi::start(Settings::default()).await;
    let head = "POST /v1/transactions HTTP/1.1\r\nhost: node\r\nconnection: close\r\n\
                content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut endless = head.as_bytes().to_vec();
    let chunk_bytes = 16 * 1024;
    for _ in 0..=BODY_BYTES_MAX / chunk_bytes {
        endless.extend(format!("{chunk_bytes:x}\r\n{}\r\n", " ".repeat(chunk_bytes)).bytes());
    }
    assert_error(
        &api.client.raw(&endless).await,
        (413, "web_framework_error"),
        "chunks without end",
    );
    assert_error(
        &api.client.raw(format!("{head}0\r\n\r\n").as_bytes()).await,
        SYNTAX,
        "empty chunks",
    );
    assert_still_commits(&api).await;
    api.stop().await;
}
