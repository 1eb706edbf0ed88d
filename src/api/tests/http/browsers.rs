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
    assert_eq!(answer.headers["access-control-max-age"], "3600");

    let body = serde_json::to_vec(&Transfer::new(0, 0).json(&api.chain)).unwrap();
    let headers = [ORIGIN, ("content-type", "application/json")];
    let accepted = api
        .client
        .send("POST", "/v1/transactions", &headers, Some(&body))
        .await;
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    assert_eq!(accepted.headers["access-control-allow-origin"], ORIGIN.1);
    let exposed = &accepted.headers["access-control-expose-headers"];
    let exposed: Vec<_> = exposed.split(',').map(str::trim).collect();
    for name in [
        "x-node-chain-id",
        "x-node-ledger-version",
        "x-node-ledger-oldest-version",
        "x-node-ledger-timestampusec",
        "x-node-epoch",
        "x-node-block-height",
        "x-node-oldest-block-height",
        "x-node-gas-used",
        "x-node-cursor",
        "retry-after",
    ] {
        assert!(exposed.contains(&name), "{name} is not in {exposed:?}");
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

#[actix_web::test]
async fn a_page_may_ask_of_every_route_with_the_headers_of_the_sdks() {
    let api = TestApi::start(Settings::default()).await;
    let document = ledger_api::openapi_document(api.chain.vendor());
    let mut asked = 0;
    for (template, methods) in document["paths"].as_object().unwrap() {
        let path = format!("/v1{}", template.replace(['{', '}'], ""));
        for method in methods.as_object().unwrap().keys() {
            let method = method.to_uppercase();
            let headers =
                "content-type,x-node-client,x-aptos-client,x-aptos-typescript-sdk-origin-method,traceparent";
            let question = [
                ORIGIN,
                ("access-control-request-method", &method[..]),
                ("access-control-request-headers", headers),
            ];
            let answer = api.client.send("OPTIONS", &path, &question, None).await;
            assert_eq!(answer.status, 200, "{method} {path}: {}", answer.text());
            assert_eq!(answer.headers["access-control-allow-origin"], ORIGIN.1);
            let allowed = &answer.headers["access-control-allow-headers"];
            for name in headers.split(',') {
                assert!(
                    allowed.contains(name),
                    "{method} {path}: {name} is not in {allowed}"
                );
            }
            assert!(answer.headers["access-control-allow-methods"].contains(&method));
            asked += 1;
        }
    }
    assert!(asked > 25, "{asked} routes");
    api.stop().await;
}

#[actix_web::test]
async fn a_page_can_read_that_there_is_no_such_route() {
    let api = TestApi::start(Settings::default()).await;
    let question = [ORIGIN, ("access-control-request-method", "GET")];
    let answer = api
        .client
        .send("OPTIONS", "/v1/no/such/route", &question, None)
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = api.client.send("GET", "/v1/no/such/route", &[ORIGIN], None).await;
    refused(&answer, (404, "web_framework_error"), "an unknown route");
    assert_eq!(answer.headers["access-control-allow-origin"], ORIGIN.1);
    let vary = answer.headers["vary"].to_ascii_lowercase();
    assert!(vary.contains("origin"), "{vary}");
    let answer = api.client.send("OPTIONS", "/v1/no/such/route", &[], None).await;
    refused(&answer, (404, "web_framework_error"), "no question of a browser");
    api.stop().await;
}
