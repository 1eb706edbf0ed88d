//! What a browser asks before it lets a page of another origin read an answer.

use crate::kit::{Settings, TestApi, Transfer, refused};

const ORIGIN: (&str, &str) = ("origin", "https://wallet.example");

#[actix_web::test]
async fn a_page_of_another_origin_may_submit_and_read_with_all_headers() {
    let api = TestApi::start(Settings::default()).await;
    let question = [
        ORIGIN,
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type,x-aptos-client"),
    ];
    let answer = api
        .client
        .send("OPTIONS", "/v1/transactions", &question, None)
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.headers["access-control-allow-origin"], ORIGIN.1);
    assert_eq!(answer.headers["access-control-allow-credentials"], "true");
    assert_eq!(
        answer.headers["access-control-allow-headers"],
        "content-type,x-aptos-client"
    );
    let methods = &answer.headers["access-control-allow-methods"];
    assert!(methods.contains("GET") && methods.contains("POST"), "{methods}");

    let body = serde_json::to_vec(&Transfer::new(0, 0).json(&api.chain)).unwrap();
    let headers = [ORIGIN, ("content-type", "application/json")];
    let accepted = api
        .client
        .send("POST", "/v1/transactions", &headers, Some(&body))
        .await;
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    assert_eq!(accepted.headers["access-control-allow-origin"], ORIGIN.1);
    let exposed = &accepted.headers["access-control-expose-headers"];
    for name in ["x-node-ledger-version", "x-node-cursor", "x-node-gas-used"] {
        assert!(exposed.contains(name), "{name} is not in {exposed}");
    }
    // An error can be read as well.
    let missing = api
        .client
        .send("GET", "/v1/blocks/by_height/99", &[ORIGIN], None)
        .await;
    refused(&missing, (404, "block_not_found"), "a block above the newest");
    assert_eq!(missing.headers["access-control-allow-origin"], ORIGIN.1);
    api.stop().await;
}

#[actix_web::test]
async fn other_methods_are_not_for_pages_and_programs_see_no_such_headers() {
    let api = TestApi::start(Settings::default()).await;
    let question = [ORIGIN, ("access-control-request-method", "DELETE")];
    let answer = api
        .client
        .send("OPTIONS", "/v1/transactions", &question, None)
        .await;
    assert_eq!(answer.status, 400, "{}", answer.text());
    let plain = api.client.get("/v1").await;
    let names: Vec<_> = plain
        .headers
        .keys()
        .filter(|name| name.starts_with("access-control"))
        .collect();
    assert_eq!((names, plain.headers.get("vary")), (vec![], None));
    // OPTIONS that no browser asks is a method like others.
    let answer = api.client.send("OPTIONS", "/v1", &[], None).await;
    refused(&answer, (405, "web_framework_error"), "OPTIONS");
    api.stop().await;
}
