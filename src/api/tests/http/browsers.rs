//! CORS: the preflight requests of a browser, and the headers that let a page of another origin
//! read a response.

use crate::kit::{Settings, TestApi, Transfer, assert_error};

const ORIGIN: (&str, &str) = ("origin", "https://wallet.example");

#[actix_web::test]
async fn lets_a_page_of_another_origin_submit_and_read_all_headers() {
    let api = TestApi::start(Settings::default()).await;
    let preflight = [
        ORIGIN,
        ("access-control-request-method", "POST"),
        (
            "access-control-request-headers",
            "content-type,x-aptos-client",
        ),
    ];
    let response = api
        .client
        .send("OPTIONS", "/v1/transactions", &preflight, None)
        .await;
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(response.headers["access-control-allow-origin"], ORIGIN.1);
    assert_eq!(response.headers["access-control-allow-credentials"], "true");
    assert_eq!(
        response.headers["access-control-allow-headers"],
        "content-type,x-aptos-client"
    );
    let methods = &response.headers["access-control-allow-methods"];
    assert_eq!(methods, "GET, HEAD, POST");
    assert_eq!(response.headers["access-control-max-age"], "3600");

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
    // The page can read errors too.
    let missing = api
        .client
        .send("GET", "/v1/blocks/by_height/99", &[ORIGIN], None)
        .await;
    assert_error(
        &missing,
        (404, "block_not_found"),
        "a block above the newest",
    );
    assert_eq!(missing.headers["access-control-allow-origin"], ORIGIN.1);
    api.stop().await;
}

#[actix_web::test]
async fn rejects_a_preflight_request_for_an_unsupported_method() {
    let api = TestApi::start(Settings::default()).await;
    let preflight = [ORIGIN, ("access-control-request-method", "DELETE")];
    let response = api
        .client
        .send("OPTIONS", "/v1/transactions", &preflight, None)
        .await;
    assert_error(&response, (403, "web_framework_error"), "DELETE");
    // Without the method, too, it is a question of a browser.
    let response = api
        .client
        .send("OPTIONS", "/v1/transactions", &[ORIGIN], None)
        .await;
    assert_error(&response, (403, "web_framework_error"), "no method");
    api.stop().await;
}

#[actix_web::test]
async fn sends_cors_headers_only_to_requests_with_an_origin() {
    let api = TestApi::start(Settings::default()).await;
    let plain = api.client.get("/v1").await;
    let names: Vec<_> = plain
        .headers
        .keys()
        .filter(|name| name.starts_with("access-control"))
        .collect();
    assert_eq!(names, Vec::<&String>::new());
    // OPTIONS without the headers of a preflight request is a method like any other.
    let response = api.client.send("OPTIONS", "/v1", &[], None).await;
    assert_error(&response, (405, "web_framework_error"), "OPTIONS");
    api.stop().await;
}

#[actix_web::test]
async fn accepts_preflights_of_every_route_with_the_headers_of_the_sdks() {
    let api = TestApi::start(Settings::default()).await;
    let document = ledger_api::openapi_document(api.chain.vendor());
    let mut count = 0;
    for (template, methods) in document["paths"].as_object().unwrap() {
        let path = format!("/v1{}", template.replace(['{', '}'], ""));
        for method in methods.as_object().unwrap().keys() {
            let method = method.to_uppercase();
            let headers = "content-type,x-node-client,x-aptos-client,\
                           x-aptos-typescript-sdk-origin-method,traceparent";
            let preflight = [
                ORIGIN,
                ("access-control-request-method", &method[..]),
                ("access-control-request-headers", headers),
            ];
            let response = api.client.send("OPTIONS", &path, &preflight, None).await;
            assert_eq!(response.status, 200, "{method} {path}: {}", response.text());
            assert_eq!(response.headers["access-control-allow-origin"], ORIGIN.1);
            let allowed = &response.headers["access-control-allow-headers"];
            for name in headers.split(',') {
                assert!(
                    allowed.contains(name),
                    "{method} {path}: {name} is not in {allowed}"
                );
            }
            assert!(response.headers["access-control-allow-methods"].contains(&method));
            count += 1;
        }
    }
    assert!(count > 25, "{count} routes");
    api.stop().await;
}

#[actix_web::test]
async fn lets_a_page_read_the_404_of_an_unknown_route() {
    let api = TestApi::start(Settings::default()).await;
    let preflight = [ORIGIN, ("access-control-request-method", "GET")];
    let response = api
        .client
        .send("OPTIONS", "/v1/no/such/route", &preflight, None)
        .await;
    assert_eq!(response.status, 200, "{}", response.text());
    let response = api
        .client
        .send("GET", "/v1/no/such/route", &[ORIGIN], None)
        .await;
    assert_error(&response, (404, "web_framework_error"), "an unknown route");
    assert_eq!(response.headers["access-control-allow-origin"], ORIGIN.1);
    let vary = response.headers["vary"].to_ascii_lowercase();
    assert!(vary.contains("origin"), "{vary}");
    let response = api
        .client
        .send("OPTIONS", "/v1/no/such/route", &[], None)
        .await;
    assert_error(
        &response,
        (404, "web_framework_error"),
        "not a preflight request",
    );
    api.stop().await;
}

#[actix_web::test]
async fn names_the_request_headers_that_each_response_depends_on() {
    const PAGE: &str = "origin, access-control-request-method, access-control-request-headers";
    let mut settings = Settings::default();
    settings.api.switches.bcs_output_enabled = false;
    let api = TestApi::start(settings).await;
    let rows = [
        ("GET", "/v1", 200, true),
        ("GET", "/v1/estimate_gas_price", 200, true),
        ("GET", "/v1/blocks/by_height/0", 200, true),
        ("GET", "/v1/blocks/by_height/99", 404, true),
        ("GET", "/v1/blocks/by_height/x", 400, true),
        ("POST", "/v1/view", 411, true),
        ("POST", "/v1/transactions", 411, true),
        ("GET", "/v1/-/healthy", 200, false),
        ("GET", "/v1/info", 200, false),
        ("GET", "/v1/spec/no_such_part", 404, false),
        ("GET", "/v1/no_such_route", 404, false),
        ("DELETE", "/v1", 405, false),
    ];
    for (method, path, status, depends_on_accept) in rows {
        for headers in [&[][..], &[ORIGIN]] {
            let response = api.client.send(method, path, headers, None).await;
            assert_eq!(
                response.status,
                status,
                "{method} {path}: {}",
                response.text()
            );
            let expected = match (depends_on_accept, headers.is_empty()) {
                (true, true) => "accept, origin".to_owned(),
                (true, false) => format!("{PAGE}, accept"),
                (false, true) => "origin".to_owned(),
                (false, false) => PAGE.to_owned(),
            };
            let vary = response.headers["vary"].to_ascii_lowercase();
            assert_eq!(vary, expected, "{method} {path} {headers:?}");
        }
    }
    // With BCS turned off, this status is the response to one form only.
    let bcs = [("accept", "application/x-bcs")];
    let response = api.client.send("GET", "/v1", &bcs, None).await;
    assert_error(&response, (403, "api_disabled"), "BCS is turned off");
    assert_eq!(response.headers["vary"], "accept, origin");
    api.stop().await;
}
