//! Bad input of each kind for each route: the right status and error body, and nothing is lost or
//! stuck afterwards.

use crate::kit::{BODY_BYTES_MAX, Settings, TestApi, Transfer, refused, still_works};

/// What reads as no value of its declared type.
const SYNTAX: (u16, &str) = (400, "web_framework_error");

/// A route that does not exist.
const UNKNOWN_ROUTE: (u16, &str) = (404, "web_framework_error");

#[actix_web::test]
async fn paths_and_queries() {
    let api = TestApi::start(Settings::default()).await;
    let hash = "ab".repeat(32);
    let long = "1".repeat(65);
    let deep = format!(
        "0x1::a::B%3C{}u8{}%3E",
        "vector%3C".repeat(20),
        "%3E".repeat(20)
    );
    let missing = |what| (404, what);
    let rows: Vec<(String, (u16, &str))> = vec![
        ("/v1/nothing".into(), UNKNOWN_ROUTE),
        ("/v1/accounts".into(), UNKNOWN_ROUTE),
        ("/v1/accounts/0x1/".into(), UNKNOWN_ROUTE),
        ("/v2".into(), UNKNOWN_ROUTE),
        ("/v1/-/healthy?duration_secs=soon".into(), SYNTAX),
        ("/v1/-/healthy?duration_secs=%2B9999".into(), SYNTAX),
        (
            "/v1/-/healthy?duration_secs=0".into(),
            (503, "health_check_failed"),
        ),
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
        let shown: String = path.chars().take(80).collect();
        refused(&api.client.get(&path).await, expected, &shown);
        // An error is JSON whatever the client would take.
        refused(&api.client.get_bcs(&path).await, expected, &shown);
    }
    still_works(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn not_found_names_the_thing_and_the_version() {
    let api = TestApi::start(Settings::default()).await;
    let rows = [
        (
            "/v1/accounts/01/resource/0x1::a::B%3Cu8,0x1::c::D%3E",
            "Resource not found by Address(0x1), Struct tag(0x1::a::B<u8, 0x1::c::D>) and Ledger version(0)",
        ),
        (
            "/v1/accounts/0x1/module/nothing",
            "Module not found by Address(0x1), Module name(nothing) and Ledger version(0)",
        ),
        (
            "/v1/blocks/by_height/7",
            "Block not found by Block height(7)",
        ),
        (
            "/v1/transactions/by_version/7",
            "Transaction not found by Ledger version(7)",
        ),
        (
            "/v1/accounts/0x1?ledger_version=7",
            "Ledger version not found by Ledger version(7)",
        ),
    ];
    for (path, message) in rows {
        let answer = api.client.get(path).await;
        assert_eq!(answer.json()["message"], message);
        assert_eq!(answer.headers["x-node-ledger-version"], "0", "{path}");
    }
    api.stop().await;
}

#[actix_web::test]
async fn methods() {
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
        let answer = api.client.send(method, path, &[], Some(b"")).await;
        refused(&answer, (405, "web_framework_error"), path);
        assert_eq!(answer.headers["allow"], allowed);
    }
    still_works(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn bodies_by_length_and_type() {
    let api = TestApi::start(Settings::default()).await;
    let client = &api.client;
    let path = "/v1/transactions";
    let json = ("content-type", "application/json");
    let web = |status| (status, "web_framework_error");

    refused(
        &client.send("POST", path, &[json], None).await,
        web(411),
        "no length",
    );
    refused(
        &client.send("POST", path, &[], Some(b"{}")).await,
        web(415),
        "no type",
    );
    for media_type in [
        "text/plain",
        "application/x-bcs",
        "application/x.aptos.signed_transaction+bcs",
        "",
    ] {
        let answer = client
            .send("POST", path, &[("content-type", media_type)], Some(b"{}"))
            .await;
        refused(&answer, web(415), media_type);
    }
    let declared = [json, ("content-length", "999999999999")];
    refused(
        &client.send("POST", path, &declared, None).await,
        web(413),
        "declared too large",
    );
    let large = vec![b' '; BODY_BYTES_MAX + 1];
    refused(
        &client.send("POST", path, &[json], Some(&large)).await,
        web(413),
        "too large",
    );

    let head = "POST /v1/transactions HTTP/1.1\r\nhost: node\r\nconnection: close\r\n\
                content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut endless = head.as_bytes().to_vec();
    let chunk_bytes = 16 * 1024;
    for _ in 0..=BODY_BYTES_MAX / chunk_bytes {
        endless.extend(format!("{chunk_bytes:x}\r\n{}\r\n", " ".repeat(chunk_bytes)).bytes());
    }
    refused(&client.raw(&endless).await, web(413), "chunks without end");
    refused(
        &client.raw(format!("{head}0\r\n\r\n").as_bytes()).await,
        SYNTAX,
        "empty chunks",
    );
    still_works(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn a_chunked_submission_under_the_limit_is_accepted() {
    let api = TestApi::start(Settings::default()).await;
    let body = Transfer::new(0, 0).json(&api.chain).to_string();
    let (first, second) = body.split_at(100);
    let request = format!(
        "POST /v1/transactions HTTP/1.1\r\nhost: node\r\nconnection: close\r\ncontent-type: application/json\r\n\
         transfer-encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n",
        first.len(),
        second.len()
    );
    let answer = api.client.raw(request.as_bytes()).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    api.stop().await;
}
