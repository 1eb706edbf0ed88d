//! docs/reference/rest-contract.md#s4: rules of all endpoints.

use crate::{
    interface::{
        chain::History,
        examples::{self, JSON_ALWAYS, JSON_ONLY, WAIT_MANY},
        rows::row,
    },
    kit::{BODY_BYTES_MAX, ledger_headers},
};
use serde_json::Value;

/// Routes with a media type of their own, whatever the client accepts.
const FILES: [(&str, &str); 4] = [
    ("GET /spec", "text/html; charset=utf-8"),
    ("GET /spec.json", "application/json"),
    ("GET /spec.yaml", "application/yaml"),
    ("GET /spec/{part}", "text/css; charset=utf-8"),
];

/// Ignores media types that the node does not support.
#[actix_web::test]
async fn responses_are_json_by_default() {
    let history = History::start().await;
    for example in examples::reads(&history) {
        let file = FILES.iter().find(|(route, _)| *route == example.route);
        for accept in [
            "application/json",
            "*/*",
            "text/html, image/png;q=0.5",
            "application/json, application/x-bcs",
            "APPLICATION/JSON; charset=utf-8",
        ] {
            let response = example.send(&history, accept).await;
            // A response that is made while it is sent has a line for each value.
            let json = match example.route {
                WAIT_MANY => "application/x-ndjson",
                _ => "application/json",
            };
            let expected = file.map_or(json, |(_, media_type)| media_type);
            assert_eq!(
                response.headers["content-type"], expected,
                "{} {accept}",
                example.route
            );
            row(example.route, 200, "-").assert_matches(&response, example.route);
        }
    }
    history.api.stop().await;
}

/// Sends a request of every route that supports BCS.
#[actix_web::test]
async fn responses_are_bcs_if_the_client_prefers_it() {
    let history = History::start().await;
    for example in examples::reads(&history) {
        let is_file = FILES.iter().any(|(route, _)| *route == example.route);
        if is_file || JSON_ONLY.contains(&example.route) {
            continue;
        }
        if example.route == JSON_ALWAYS {
            let response = example.send(&history, "application/x-bcs").await;
            assert_eq!(response.headers["content-type"], "application/json");
            continue;
        }
        let in_json = example.send(&history, "application/json").await;
        for accept in [
            "application/x-bcs",
            "text/html, application/x-bcs, application/json",
            "Application/X-BCS;q=0.1",
        ] {
            let response = example.send(&history, accept).await;
            assert_eq!(
                response.status,
                200,
                "{}: {}",
                example.route,
                response.text()
            );
            assert_eq!(
                response.headers["content-type"], "application/x-bcs",
                "{}",
                example.route
            );
            assert_eq!(
                ledger_headers(&response, "node"),
                ledger_headers(&in_json, "node"),
                "{}",
                example.route
            );
            assert_ne!(response.body, in_json.body, "{}", example.route);
        }
    }
    history.api.stop().await;
}

#[actix_web::test]
async fn other_query_parameters_are_ignored() {
    let history = History::start().await;
    for example in examples::reads(&history) {
        let expected = example.send(&history, "application/json").await;
        let example = example.with_query("accountAddress=0x1&other=%FF&ledger_versions=x");
        let response = example.send(&history, "application/json").await;
        assert_eq!(
            response.status,
            200,
            "{}: {}",
            example.path,
            response.text()
        );
        assert_eq!(response.body, expected.body, "{}", example.path);
    }
    history.api.stop().await;
}

/// Closes the client's side after the request.
#[actix_web::test]
async fn responds_to_clients_that_have_closed_their_side() {
    let history = History::start().await;
    for example in examples::all(&history) {
        let body = example.body.as_ref().map(Value::to_string);
        let body = body.unwrap_or_default();
        let request = format!(
            "{} {} HTTP/1.1\r\nhost: node\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            example.method(),
            example.path,
            body.len()
        );
        let mut connection = history.api.client.connect().await;
        connection.send(request.as_bytes()).await;
        connection.shutdown().await;
        let response = connection.response().await;
        let response = response.unwrap_or_else(|| panic!("no response: {request}"));
        row(example.route, example.status, "-").assert_matches(&response, example.route);
        assert_eq!(connection.read_to_close().await.unwrap(), "", "{request}");
    }
    history.api.stop().await;
}

/// Accepts a media type with parameters and in any case.
#[actix_web::test]
async fn accepts_chunked_bodies() {
    let history = History::start().await;
    for post in examples::posts(&history) {
        let body = post.body.as_ref().unwrap().to_string();
        assert!(body.len() < BODY_BYTES_MAX);
        let (first, second) = body.split_at(body.len() / 2);
        let request = format!(
            "POST {} HTTP/1.1\r\nhost: node\r\nconnection: close\r\n\
                 content-type: Application/JSON; charset=utf-8\r\n\
                 transfer-encoding: chunked\r\n\r\n\
                 {:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n",
            post.path,
            first.len(),
            second.len()
        );
        let response = history.api.client.raw(request.as_bytes()).await;
        row(post.route, post.status, "-").assert_matches(&response, post.route);
    }
    history.api.stop().await;
}
