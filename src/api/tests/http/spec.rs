//! The OpenAPI document that the node serves, its web page, and its examples as requests.

use crate::kit::{RawResponse, Settings, TestApi, assert_error};
use ledger_api::openapi_document;
use serde_json::Value;

const HTML: &str = "text/html; charset=utf-8";

fn file(response: &RawResponse, media_type: &str) -> String {
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(response.headers["content-type"], media_type);
    assert_eq!(response.headers["x-content-type-options"], "nosniff");
    response.text()
}

#[actix_web::test]
async fn serves_the_document_in_json_and_yaml() {
    let api = TestApi::start(Settings::default()).await;
    let responses = [
        api.client.get("/v1/spec.json").await,
        api.client.get_bcs("/v1/spec.json").await,
    ];
    for response in responses {
        assert_eq!(response.json(), openapi_document(api.chain.vendor()));
    }
    let yaml = file(&api.client.get("/v1/spec.yaml").await, "application/yaml");
    let has_line = |line: &str| yaml.lines().any(|one| one == line);
    assert!(
        has_line("openapi: \"3.1.0\"") && has_line("paths:"),
        "{yaml:.200}"
    );
    api.stop().await;
}

#[actix_web::test]
async fn page_loads_only_its_own_parts() {
    let api = TestApi::start(Settings::default()).await;
    let response = api.client.get("/v1/spec").await;
    let page = file(&response, HTML);
    let policy = &response.headers["content-security-policy"];
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self';"),
        "{policy}"
    );
    let parts: Vec<_> = page
        .split(['"', '\''])
        .filter(|part| part.starts_with('/') || part.contains("://"))
        .collect();
    assert!(parts.len() >= 5, "{parts:?}");
    for part in parts {
        let response = api.client.get(part).await;
        assert_eq!(response.status, 200, "{part}");
        assert!(!response.body.is_empty(), "{part}");
    }
    let missing = api.client.get("/v1/spec/index.html").await;
    assert_error(
        &missing,
        (404, "web_framework_error"),
        "not a part of the page",
    );
    api.stop().await;
}

#[actix_web::test]
async fn root_links_to_the_page() {
    let api = TestApi::start(Settings::default()).await;
    let home = file(&api.client.get("/").await, HTML);
    assert!(home.contains("href=\"/v1/spec\""), "{home}");
    let posted = api.client.send("POST", "/", &[], Some(b"")).await;
    assert_error(&posted, (405, "web_framework_error"), "POST /");
    assert_eq!(posted.headers["allow"], "GET, HEAD");
    api.stop().await;
}

/// Returns the target of a request with the examples of an operation's parameters in path and
/// query.
fn target(document: &Value, path: &str, operation: &Value) -> String {
    let mut path = path.to_owned();
    let mut query = Vec::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let parameter = match parameter["$ref"].as_str() {
            Some(reference) => document.pointer(&reference[1..]).unwrap(),
            None => parameter,
        };
        let name = parameter["name"].as_str().unwrap();
        let example = match &parameter["example"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match parameter["in"].as_str() {
            Some("path") => path = path.replace(&format!("{{{name}}}"), &example),
            Some("header") => (),
            _ => query.push(format!("{name}={example}")),
        }
    }
    format!("/v1{path}?{}", query.join("&"))
}

/// Sends the request of each example, which the node must parse. An example may name a missing
/// thing.
#[actix_web::test]
async fn examples_are_valid_requests() {
    let api = TestApi::start(Settings::default()).await;
    let document = openapi_document(api.chain.vendor());
    let mut count = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let target = target(&document, path, operation);
            let body = &operation["requestBody"]["content"]["application/json"]["example"];
            let response = match method.as_str() {
                "get" => api.client.get(&target).await,
                _ => {
                    api.client
                        .post_json(&target, body, "application/json")
                        .await
                }
            };
            let text = response.text();
            if response.status == 400 {
                // The signature of the examples is invalid, and each node has its own cursors.
                let is_expected = path.starts_with("/transactions") || path.ends_with("/resources");
                assert!(is_expected, "{method} {target}: {text}");
                assert_ne!(
                    response.error_code(),
                    "web_framework_error",
                    "{method} {target}: {text}"
                );
            } else {
                assert!(
                    response.status < 300 || response.status == 404,
                    "{method} {target}: {text}"
                );
            }
            count += 1;
        }
    }
    assert!(count > 30, "{count}");
    api.stop().await;
}
