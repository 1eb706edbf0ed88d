//! Malformed requests: each is rejected with its own error, never with a failure of the node, and
//! the node continues to serve. `rejections.rs` has the requests that are specific to a route.

use crate::kit::{
    SYNTAX, Settings, TestApi, Transfer, assert_error, assert_still_commits, ok_json,
};
use ledger_test_support::http::RawConnection;
use serde_json::json;

const UNKNOWN_ROUTE: (u16, &str) = (404, "web_framework_error");
#[actix_web::test]
async fn does_not_normalize_paths() {
    let api = TestApi::start(Settings::default()).await;
    let rows = [
        ("//v1", UNKNOWN_ROUTE),
        ("/v1//", UNKNOWN_ROUTE),
        ("/v1//accounts/0x1", UNKNOWN_ROUTE),
        ("/v1/accounts//0x1", UNKNOWN_ROUTE),
        ("/v1/./accounts/0x1", UNKNOWN_ROUTE),
        ("/v1/accounts/../accounts/0x1", UNKNOWN_ROUTE),
        ("/v1/accounts/0x1/", UNKNOWN_ROUTE),
        ("/V1", UNKNOWN_ROUTE),
        ("/v1/Accounts/0x1", UNKNOWN_ROUTE),
        ("/v1%2Faccounts/0x1", UNKNOWN_ROUTE),
        ("/v1/accounts/%2e%2e", SYNTAX),
        ("/v1/accounts/0x1%00", SYNTAX),
        ("/v1/accounts/0x1%0D%0Ax", SYNTAX),
        ("/v1/accounts/%", SYNTAX),
        ("/v1/accounts/%zz", SYNTAX),
        ("/v1/accounts/%C3%28", SYNTAX),
        ("/v1/accounts/0x1/resource/0x1::a::B%3Cu8", SYNTAX),
        ("/v1/accounts/0x1/resource/0x1::a%2F::B", SYNTAX),
        ("/v1/accounts/0x1/module/coin%2F..%2Fcoin", SYNTAX),
        ("/v1/accounts/0x1?ledger_version=%00", SYNTAX),
        ("/v1/accounts/0x1?ledger_version=%FF", SYNTAX),
        ("/v1/accounts/0x1?ledger_version=0x0", SYNTAX),
        ("/v1/accounts/0x1?ledger_version=1e3", SYNTAX),
        ("/v1/accounts/0x1?ledger_version=%20", SYNTAX),
        ("/v1/transactions?limit=99999999999999999999", SYNTAX),
        ("/v1/transactions?limit=0", (400, "invalid_input")),
    ];
    for (path, expected) in rows {
        assert_error(&api.client.get(path).await, expected, path);
    }
    // Unknown query parameters are ignored, whatever their values are.
    for query in [
        "a",
        "a=b&a=c",
        "%FF=%FE",
        "&&=&=",
        "LEDGER_VERSION=x",
        "%00",
    ] {
        ok_json(&api.client.get(&format!("/v1/accounts/0x1?{query}")).await);
    }
    // Characters that need no percent-encoding may have it.
    ok_json(&api.client.get("/v1/accounts/%30%78%31").await);
    assert_still_commits(&api).await;
    api.stop().await;
}

/// Routes that take a JSON body.
const JSON_ROUTES: [&str; 8] = [
    "/v1/transactions",
    "/v1/transactions/batch",
    "/v1/transactions/simulate",
    "/v1/transactions/encode_submission",
    "/v1/view",
    "/v1/tables/0x1/item",
    "/v1/tables/0x1/raw_item",
    "/v1/experimental/state_values/raw",
];

#[actix_web::test]
async fn responds_400_to_malformed_bodies() {
    let api = TestApi::start(Settings::default()).await;
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(10_000), close.repeat(10_000));
    let bodies: Vec<(&str, Vec<u8>)> = vec![
        ("no bytes", vec![]),
        ("white space", b" \n\t".to_vec()),
        ("a zero byte", b"\0".to_vec()),
        ("invalid UTF-8", b"{\"key\":\"\xff\xfe\"}".to_vec()),
        ("half a surrogate", br#"{"key":"\ud800"}"#.to_vec()),
        ("a byte order mark", b"\xef\xbb\xbf{}".to_vec()),
        ("deep arrays", deep("[", "]").into()),
        ("deep objects", deep("{\"key\":", "}").into()),
        (
            "deep arrays in a field",
            format!("{{\"key\":{}}}", deep("[", "]")).into(),
        ),
        (
            "a huge number",
            format!("{{\"key\":1{}}}", "0".repeat(5_000)).into(),
        ),
        ("a huge exponent", b"{\"key\":1e999999999}".to_vec()),
        ("a bare number", b"1".to_vec()),
        ("null", b"null".to_vec()),
        ("two values", b"{} {}".to_vec()),
        ("a comment", b"{} // no".to_vec()),
        ("single quotes", b"{'key':'0x'}".to_vec()),
        ("a missing end", b"{\"key\":\"0x\"".to_vec()),
    ];
    for path in JSON_ROUTES {
        for (case, body) in &bodies {
            let headers = [("content-type", "application/json")];
            let response = api.client.send("POST", path, &headers, Some(body)).await;
            assert_eq!(response.status, 400, "{path}, {case}: {}", response.text());
            assert!(!response.error_code().is_empty());
        }
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn rejects_duplicate_keys() {
    let api = TestApi::start(Settings::default()).await;
    let bodies = [
        ("/v1/tables/0x1/raw_item", r#"{"key":"0x","key":"0x01"}"#),
        (
            "/v1/view",
            concat!(
                r#"{"function":"0x1::coin::name","function":"0x1::coin::name","#,
                r#""type_arguments":[],"arguments":[]}"#
            ),
        ),
    ];
    for (path, body) in bodies {
        let headers = [("content-type", "application/json")];
        let response = api
            .client
            .send("POST", path, &headers, Some(body.as_bytes()))
            .await;
        assert_error(&response, SYNTAX, path);
    }
    api.stop().await;
}

#[actix_web::test]
async fn accepts_only_json_without_a_content_encoding() {
    let api = TestApi::start(Settings::default()).await;
    let mut unsigned = Transfer::new(0, 0).json(&api.chain);
    unsigned.as_object_mut().unwrap().remove("signature");
    let body = serde_json::to_vec(&unsigned).unwrap();
    let post = async |path: &str, headers: &[(&str, &str)]| {
        let response = api.client.send("POST", path, headers, Some(&body)).await;
        (response.status, response)
    };
    let path = "/v1/transactions/encode_submission";
    let json = ("content-type", "application/json");
    for headers in [
        vec![json],
        vec![("content-type", "APPLICATION/JSON")],
        vec![("content-type", "application/json; charset=utf-8")],
        vec![("content-type", "application/json ;a=\"b\"")],
        vec![
            ("Content-Type", "application/json"),
            ("content-encoding", "identity"),
        ],
        vec![json, ("content-encoding", " IDENTITY ")],
        vec![json, ("content-encoding", "identity, Identity")],
        vec![json, ("content-encoding", ",identity,")],
        vec![json, ("content-encoding", "")],
        vec![json, ("expect", "")],
    ] {
        let (status, response) = post(path, &headers).await;
        assert_eq!(status, 200, "{headers:?}: {}", response.text());
    }
    for path in JSON_ROUTES {
        for headers in [
            vec![],
            vec![("content-type", "")],
            vec![("content-type", ";")],
            vec![("content-type", "application/jsonx")],
            vec![("content-type", "application/json, application/json")],
            vec![("content-type", "text/json")],
            vec![json, ("content-encoding", "gzip")],
            vec![json, ("content-encoding", "identity, gzip")],
            vec![
                json,
                ("content-encoding", "identity"),
                ("content-encoding", "br"),
            ],
        ] {
            let (_, response) = post(path, &headers).await;
            let label = format!("{path} {headers:?}");
            assert_error(&response, (415, "web_framework_error"), &label);
            let is_encoded = headers.iter().any(|(name, _)| *name == "content-encoding");
            let accepted = response.headers.get("accept-encoding");
            let accepted = accepted.map(String::as_str);
            assert_eq!(accepted, is_encoded.then_some("identity"), "{label}");
        }
    }
    api.stop().await;
}

#[actix_web::test]
async fn responds_405_to_unknown_and_lower_case_methods() {
    let api = TestApi::start(Settings::default()).await;
    for method in ["get", "Get", "PUT", "TRACE", "CONNECT", "GETGET", "X-Y"] {
        let response = api.client.send(method, "/v1", &[], None).await;
        assert_eq!(response.status, 405, "{method}");
        assert_eq!(response.headers["allow"], "GET, HEAD", "{method}");
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

/// Sends the bytes and reads until the connection ends.
async fn exchange(mut connection: RawConnection, request: &[u8]) -> String {
    connection.send(request).await;
    connection.rest().await
}

/// Returns a request with `Connection: close` and these further lines.
fn with_lines(lines: &str) -> String {
    format!(
        "POST /v1/tables/0xdead/raw_item HTTP/1.1\r\nhost: node\r\nconnection: close\r\n{lines}"
    )
}

#[actix_web::test]
async fn responds_400_to_malformed_http_and_closes_the_connection() {
    let api = TestApi::start(Settings::default()).await;
    let typed = "content-type: application/json\r\n";
    let body = r#"{"key":"0x"}"#;
    let rows = [
        (
            "two lengths",
            with_lines(&format!(
                "{typed}content-length: 12\r\ncontent-length: 13\r\n\r\n{body}"
            )),
        ),
        (
            "one length twice",
            with_lines(&format!(
                "{typed}content-length: 12\r\ncontent-length: 12\r\n\r\n{body}"
            )),
        ),
        (
            "a list of lengths",
            with_lines(&format!("{typed}content-length: 12, 12\r\n\r\n{body}")),
        ),
        (
            "a negative length",
            with_lines(&format!("{typed}content-length: -1\r\n\r\n")),
        ),
        (
            "a signed length",
            with_lines(&format!("{typed}content-length: +12\r\n\r\n{body}")),
        ),
        (
            "a length in hex",
            with_lines(&format!("{typed}content-length: 0xc\r\n\r\n{body}")),
        ),
        (
            "a length above 64 bits",
            with_lines(&format!(
                "{typed}content-length: 99999999999999999999\r\n\r\n"
            )),
        ),
        (
            "length and chunks",
            with_lines(&format!(
                "{typed}content-length: 12\r\ntransfer-encoding: chunked\r\n\r\n{body}"
            )),
        ),
        (
            "an encoding after the chunks",
            with_lines(&format!(
                "{typed}transfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n"
            )),
        ),
        (
            "an unknown transfer encoding",
            with_lines(&format!(
                "{typed}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n"
            )),
        ),
        (
            "a chunk size that is not a number",
            with_lines(&format!("{typed}transfer-encoding: chunked\r\n\r\nzz\r\n")),
        ),
        (
            "a chunk size above 64 bits",
            with_lines(&format!(
                "{typed}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n"
            )),
        ),
        ("a name with a space", with_lines("na me: x\r\n\r\n")),
        ("a line without a colon", with_lines("nothing\r\n\r\n")),
        ("a folded line", with_lines("a: b\r\n c\r\n\r\n")),
        ("a value with a zero byte", with_lines("a: b\0c\r\n\r\n")),
        (
            "too many lines",
            with_lines(&format!("{}\r\n", "a: b\r\n".repeat(1_000))),
        ),
        (
            "too long a line",
            with_lines(&format!("a: {}\r\n\r\n", "b".repeat(300_000))),
        ),
        ("another version", "GET /v1 HTTP/9.9\r\n\r\n".to_owned()),
        (
            "a version in lower case",
            "GET /v1 http/1.1\r\n\r\n".to_owned(),
        ),
        ("no version", "GET /v1\r\n\r\n".to_owned()),
        (
            "a path with a space",
            "GET /v1/a b HTTP/1.1\r\n\r\n".to_owned(),
        ),
        (
            "a path without a slash",
            "GET v1 HTTP/1.1\r\n\r\n".to_owned(),
        ),
        (
            "HTTP/2 without TLS",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        ),
        (
            "the start of a TLS handshake",
            "\x16\x03\x01\x02\0\x01\0\x01\u{fc}\x03\x03\r\n\r\n".to_owned(),
        ),
    ];
    for (case, request) in rows {
        let response = exchange(api.client.connect().await, request.as_bytes()).await;
        let status: Vec<_> = response.split(' ').take(2).collect();
        let expected = if case.starts_with("too ") {
            "431"
        } else {
            "400"
        };
        assert_eq!(status, ["HTTP/1.1", expected], "{case}: {response}");
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn handles_rare_forms_of_requests() {
    let api = TestApi::start(Settings::default()).await;
    let rows = [
        ("HTTP/1.0", "GET /v1 HTTP/1.0\r\n\r\n", "200"),
        (
            "HTTP/1.0 with keep-alive",
            "GET /v1 HTTP/1.0\r\nconnection: keep-alive\r\n\r\nGET /v1 HTTP/1.0\r\n\r\n",
            "200",
        ),
        (
            "no host",
            "GET /v1 HTTP/1.1\r\nconnection: close\r\n\r\n",
            "400",
        ),
        (
            "an empty host",
            "GET /v1 HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n",
            "200",
        ),
        (
            "an absolute target",
            "GET http://node/v1 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
            "200",
        ),
        (
            "empty lines before",
            "\r\n\r\nGET /v1 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
            "200",
        ),
        (
            "the server as the target",
            "OPTIONS * HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
            "404",
        ),
        (
            "a fragment",
            "GET /v1#a HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
            "200",
        ),
    ];
    for (case, request, expected) in rows {
        let response = exchange(api.client.connect().await, request.as_bytes()).await;
        let status: Vec<_> = response.split(' ').skip(1).take(1).collect();
        assert_eq!(status, [expected], "{case}: {response}");
    }
    // Pipelined requests get their responses in order.
    let pipelined = "GET /v1 HTTP/1.1\r\nhost: a\r\n\r\n\
                 GET /v1/nothing HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    let responses = exchange(api.client.connect().await, pipelined.as_bytes()).await;
    assert!(
        responses.starts_with("HTTP/1.1 200") && responses.contains("HTTP/1.1 404"),
        "{responses}"
    );
    api.stop().await;
}

#[actix_web::test]
async fn responds_100_to_a_client_that_expects_it() {
    let api = TestApi::start(Settings::default()).await;
    let body = json!({ "key": "0x" }).to_string();
    let head = with_lines(&format!(
        "content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        body.len()
    ));
    let mut connection = api.client.connect().await;
    connection.send(head.as_bytes()).await;
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n";
    assert_eq!(connection.bytes(interim.len()).await, interim);
    let response = connection.exchange(body.as_bytes()).await.unwrap();
    assert_error(
        &response,
        (404, "table_item_not_found"),
        "the body after it",
    );
    api.stop().await;
}
