//! Content coding of responses: it is one that the client accepts, and nothing else changes.

use crate::kit::{Settings, TestApi, Transfer};
use actix_web::{
    App,
    body::to_bytes,
    dev::ServiceResponse,
    http::{StatusCode, header},
    test::{TestRequest, call_service, init_service},
};
use ledger_api::configure;
use serde_json::json;
use std::io::Read as _;

/// Path of a response of more than 8 KiB.
const LARGE: &str = "/v1/accounts/0x1/modules?limit=20";
/// `Accept-Encoding` as browsers send it.
const BROWSER: &str = "gzip, deflate, br, zstd";

/// Returns a GET request with these headers.
fn get(path: &str, headers: &[(&str, &str)]) -> TestRequest {
    let request = TestRequest::get().uri(path);
    headers
        .iter()
        .fold(request, |request, header| request.append_header(*header))
}

fn header_of<B>(response: &ServiceResponse<B>, name: header::HeaderName) -> Option<&str> {
    Some(response.headers().get(name)?.to_str().unwrap())
}

fn decoded(coding: Option<&str>, body: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    match coding {
        None => return body.to_vec(),
        Some("zstd") => zstd::stream::read::Decoder::new(body)
            .unwrap()
            .read_to_end(&mut plain),
        Some("br") => brotli::Decompressor::new(body, 4096).read_to_end(&mut plain),
        Some("gzip") => flate2::read::GzDecoder::new(body).read_to_end(&mut plain),
        Some(other) => panic!("{other} was not requested"),
    }
    .unwrap();
    plain
}

#[actix_web::test]
async fn encodes_a_large_response_in_the_accepted_coding() {
    // The genesis transaction writes all accounts, which makes its response large.
    let settings = Settings {
        more_accounts: 300,
        ..Settings::default()
    };
    let api = TestApi::start(settings).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let genesis = "/v1/transactions/by_version/0";
    for (path, accept) in [
        (LARGE, "application/json"),
        (genesis, "application/json"),
        (genesis, "application/x-bcs"),
    ] {
        let plain = call_service(&app, get(path, &[("accept", accept)]).to_request()).await;
        assert_eq!(header_of(&plain, header::CONTENT_ENCODING), None);
        let plain = to_bytes(plain.into_body()).await.unwrap();
        assert!(plain.len() > 8 * 1024, "{} bytes", plain.len());
        let rows = [
            (BROWSER, Some("zstd")),
            ("gzip", Some("gzip")),
            ("br;q=1.0, gzip;q=0.5", Some("br")),
            ("zstd;q=0, gzip;q=0.1", Some("gzip")),
            ("identity", None),
            ("identity;q=0, *;q=0", None),
            ("snappy", None),
            ("\u{fc}", None),
        ];
        for (accepted, coding) in rows {
            let case = format!("{path}, {accept}, {accepted}");
            let response = call_service(
                &app,
                get(path, &[("accept", accept), ("accept-encoding", accepted)]).to_request(),
            )
            .await;
            assert_eq!(response.status(), StatusCode::OK, "{case}");
            assert_eq!(
                header_of(&response, header::CONTENT_ENCODING),
                coding,
                "{case}"
            );
            assert_eq!(
                header_of(&response, header::VARY),
                Some("accept-encoding, accept, origin"),
                "{case}"
            );
            assert_eq!(
                header_of(&response, header::CONTENT_TYPE),
                Some(accept),
                "{case}"
            );
            assert!(
                response.headers().contains_key("x-node-ledger-version"),
                "{case}"
            );
            let body = to_bytes(response.into_body()).await.unwrap();
            assert_eq!(
                coding.is_some(),
                body.len() < plain.len() / 2,
                "{case}: {} bytes",
                body.len()
            );
            assert_eq!(decoded(coding, &body), plain, "{case}");
        }
    }
    api.stop().await;
}

/// Prevents a cache that stores the plain body for a client without `Accept-Encoding` from giving
/// it to a client that would get another body, and vice versa.
#[actix_web::test]
async fn varies_on_accept_encoding_whether_or_not_the_request_has_it() {
    let api = TestApi::start(Settings::default()).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    for path in [LARGE, "/v1/transactions/by_version/0", "/v1/spec.json"] {
        for headers in [
            &[][..],
            &[("accept-encoding", "")],
            &[("accept-encoding", "identity")],
            &[("accept-encoding", BROWSER)],
        ] {
            let response = call_service(&app, get(path, headers).to_request()).await;
            assert_eq!(response.status(), StatusCode::OK, "{path}, {headers:?}");
            let values: Vec<_> = response
                .headers()
                .get_all(header::VARY)
                .map(|value| value.to_str().unwrap())
                .collect();
            let varies = values
                .iter()
                .flat_map(|value| value.split(','))
                .any(|name| name.trim().eq_ignore_ascii_case("accept-encoding"));
            assert!(varies, "{path}, {headers:?}: {values:?}");
            let is_large = to_bytes(response.into_body()).await.unwrap().len() > 1024;
            assert!(is_large, "{path}, {headers:?}");
        }
    }
    api.stop().await;
}

#[actix_web::test]
async fn names_every_reason_to_vary_once_to_a_web_page() {
    let api = TestApi::start(Settings::default()).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let headers = [
        ("origin", "https://wallet.example"),
        ("accept-encoding", BROWSER),
    ];
    let response = call_service(&app, get(LARGE, &headers).to_request()).await;
    assert_eq!(header_of(&response, header::CONTENT_ENCODING), Some("zstd"));
    let vary = header_of(&response, header::VARY)
        .unwrap()
        .to_ascii_lowercase();
    let mut names: Vec<_> = vary.split(", ").collect();
    names.sort_unstable();
    let expected = [
        "accept",
        "accept-encoding",
        "access-control-request-headers",
        "access-control-request-method",
        "origin",
    ];
    assert_eq!(names, expected);
    api.stop().await;
}

#[actix_web::test]
async fn does_not_encode_small_responses_or_responses_to_submissions() {
    let api = TestApi::start(Settings::default()).await;
    let committed = api.commit(&Transfer::new(0, 0)).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let version = committed["version"].as_str().unwrap();
    let hash = committed["hash"].as_str().unwrap();
    for path in [
        "/v1".to_owned(),
        format!("/v1/transactions/by_version/{version}"),
        format!("/v1/transactions/wait_by_hash/{hash}"),
        "/v1/blocks/by_height/99".to_owned(),
    ] {
        let response = call_service(
            &app,
            get(&path, &[("accept-encoding", BROWSER)]).to_request(),
        )
        .await;
        assert_eq!(
            header_of(&response, header::CONTENT_ENCODING),
            None,
            "{path}"
        );
        assert_eq!(
            header_of(&response, header::VARY),
            Some("accept, origin"),
            "{path}"
        );
    }
    let arguments = [json!("name"), json!("ab".repeat(10_000))];
    let large = Transfer::new(0, 1).sign_call(&api.chain, "0x1::registry::set", &arguments);
    let request = TestRequest::post()
        .uri("/v1/transactions")
        .insert_header(("content-type", api.client.signed_transaction_type()))
        .insert_header(("accept-encoding", BROWSER))
        .set_payload(bcs::to_bytes(&large).unwrap());
    let response = call_service(&app, request.to_request()).await;
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    assert_eq!(header_of(&response, header::CONTENT_ENCODING), None);
    assert!(to_bytes(response.into_body()).await.unwrap().len() > 8 * 1024);
    api.stop().await;
}

#[actix_web::test]
async fn does_not_compress_if_compression_is_disabled() {
    let mut settings = Settings::default();
    settings.api.compression_enabled = false;
    let api = TestApi::start(settings).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let response = call_service(
        &app,
        get(LARGE, &[("accept-encoding", BROWSER)]).to_request(),
    )
    .await;
    assert_eq!(header_of(&response, header::CONTENT_ENCODING), None);
    assert_eq!(header_of(&response, header::VARY), Some("accept, origin"));
    api.stop().await;
}

#[actix_web::test]
async fn holds_a_permit_until_a_compressed_response_is_read() {
    let mut settings = Settings::default();
    settings.api.max_in_flight = 1;
    let api = TestApi::start(settings).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let unread = call_service(
        &app,
        get(LARGE, &[("accept-encoding", BROWSER)]).to_request(),
    )
    .await;
    assert_eq!(header_of(&unread, header::CONTENT_ENCODING), Some("zstd"));
    let rejected = call_service(&app, get("/v1", &[]).to_request()).await;
    assert_eq!(rejected.status(), StatusCode::SERVICE_UNAVAILABLE);
    drop(unread);
    assert_eq!(
        call_service(&app, get("/v1", &[]).to_request())
            .await
            .status(),
        StatusCode::OK
    );
    api.stop().await;
}
