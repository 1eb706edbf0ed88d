//! Errors of requests that do not depend on the route.

use crate::{
    interface::{
        chain::History,
        examples::{self, WAIT_MANY},
        rows::row,
    },
    kit::{BODY_BYTES_MAX, RawResponse, Settings, TestApi, ok_json},
};
use actix_web::{
    App,
    body::to_bytes,
    dev::Payload,
    test::{TestRequest, call_service, init_service},
};
use futures::stream;
use ledger_api::configure;

/// The routes with requests that do not count against `api.max_in_flight`.
pub const HAS_OWN_PERMITS: [&str; 1] = ["GET /-/healthy"];

const JSON: (&str, &str) = ("content-type", "application/json");

/// Lists the methods of the path in the response.
#[actix_web::test]
async fn another_method_is_405() {
    let history = History::start().await;
    for example in examples::all(&history) {
        for method in ["DELETE", "PUT", "PATCH"] {
            let response = history
                .api
                .client
                .send(method, &example.path, &[], Some(b""))
                .await;
            row(example.route, 405, "web_framework_error").assert_matches(&response, example.route);
            let allowed = &response.headers["allow"];
            assert!(
                allowed.split(", ").any(|one| one == example.method()),
                "{allowed}"
            );
        }
    }
    history.api.stop().await;
}

/// Limits path and query to 16 KiB.
#[actix_web::test]
async fn a_path_that_is_too_long_is_414() {
    let history = History::start().await;
    let long = "a=b&".repeat(5_000);
    // The longest accepted path.
    let longest = format!("/v1?{}", "a".repeat(16 * 1024 - 4));
    ok_json(&history.api.client.get(&longest).await);
    row("GET /", 414, "web_framework_error")
        .get(&history.api, &format!("{longest}a"))
        .await;
    for example in examples::all(&history) {
        let body = example
            .body
            .as_ref()
            .map(|body| body.to_string().into_bytes());
        let mark = if example.path.contains('?') { '&' } else { '?' };
        let path = format!("{}{mark}{long}", example.path);
        row(example.route, 414, "web_framework_error")
            .send(&history.api, &path, &[JSON], body.as_deref())
            .await;
    }
    history.api.stop().await;
}

/// Responds with 503 and `Retry-After` above `api.max_in_flight`. The health check has its own
/// permits.
#[actix_web::test]
async fn requests_above_the_limit_are_503() {
    let history = History::start().await;
    let examples = examples::all(&history);
    let mut settings = Settings::default();
    settings.api.max_in_flight = 0;
    let api = TestApi::start(settings).await;
    ok_json(&api.client.get("/v1/-/healthy").await);
    for example in examples
        .iter()
        .filter(|example| !HAS_OWN_PERMITS.contains(&example.route))
    {
        let body = example
            .body
            .as_ref()
            .map(|body| body.to_string().into_bytes());
        let response = row(example.route, 503, "internal_error")
            .send(&api, &example.path, &[JSON], body.as_deref())
            .await;
        assert_eq!(response.headers["retry-after"], "1");
    }
    api.stop().await;
    history.api.stop().await;
}

#[actix_web::test]
async fn a_post_without_a_body_is_411() {
    let history = History::start().await;
    for post in examples::posts(&history) {
        row(post.route, 411, "web_framework_error")
            .send(&history.api, &post.path, &[JSON], None)
            .await;
    }
    history.api.stop().await;
}

/// Rejects a body above `api.max_body_bytes`, before it arrives if its length is declared.
#[actix_web::test]
async fn a_body_that_is_too_large_is_413() {
    let history = History::start().await;
    let large = vec![b' '; BODY_BYTES_MAX + 1];
    // The longest accepted body is read, and is not a call.
    row("POST /view", 400, "web_framework_error")
        .send(&history.api, "/v1/view", &[JSON], Some(&large[1..]))
        .await;
    for post in examples::posts(&history) {
        row(post.route, 413, "web_framework_error")
            .send(&history.api, &post.path, &[JSON], Some(&large))
            .await;
        let declared = [JSON, ("content-length", "999999999999")];
        row(post.route, 413, "web_framework_error")
            .send(&history.api, &post.path, &declared, None)
            .await;
    }
    history.api.stop().await;
}

/// Rejects a body without a media type, or of one that the route does not accept.
#[actix_web::test]
async fn a_body_of_another_type_is_415() {
    let history = History::start().await;
    for post in examples::posts(&history) {
        row(post.route, 415, "web_framework_error")
            .send(&history.api, &post.path, &[], Some(b"{}"))
            .await;
        for media_type in ["text/plain", "application/x-bcs", ""] {
            // A vector of hashes is no value with a media type of its own.
            if (post.route, media_type) == (WAIT_MANY, "application/x-bcs") {
                continue;
            }
            row(post.route, 415, "web_framework_error")
                .send(
                    &history.api,
                    &post.path,
                    &[("content-type", media_type)],
                    Some(b"{}"),
                )
                .await;
        }
    }
    history.api.stop().await;
}

/// Rejects a body that is not JSON, or not of the required form.
#[actix_web::test]
async fn a_malformed_body_is_400() {
    let history = History::start().await;
    let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
    for post in examples::posts(&history) {
        for body in ["", "{", "nul", "7", "\u{feff}{}", "[7]", &deep] {
            row(post.route, 400, "web_framework_error")
                .send(&history.api, &post.path, &[JSON], Some(body.as_bytes()))
                .await;
        }
        row(post.route, 400, "web_framework_error")
            .send(
                &history.api,
                &post.path,
                &[JSON],
                Some(b"{\"key\":\"\xff\"}"),
            )
            .await;
    }
    history.api.stop().await;
}

#[actix_web::test]
async fn an_empty_parameter_of_a_path_is_404() {
    let history = History::start().await;
    for with_path in examples::all(&history) {
        let (method, pattern) = with_path.route.split_once(' ').unwrap();
        let parts = pattern
            .split('/')
            .zip(with_path.path["/v1".len()..].split('/'));
        let parts: Vec<_> = parts.collect();
        for (index, (name, _)) in parts.iter().enumerate() {
            if !name.starts_with('{') {
                continue;
            }
            let given = parts.iter().enumerate();
            let given: Vec<_> = given
                .map(|(other, (_, part))| if other == index { "" } else { part })
                .collect();
            let path = format!("/v1{}", given.join("/"));
            let body = (method == "POST").then_some(&b"{}"[..]);
            row(with_path.route, 404, "web_framework_error")
                .send(&history.api, &path, &[JSON], body)
                .await;
        }
    }
    history.api.stop().await;
}

#[actix_web::test]
async fn a_body_that_does_not_arrive_in_time_is_408() {
    let history = History::start().await;
    let app =
        init_service(App::new().configure(|config| configure(config, &history.api.state))).await;
    let posts = examples::posts(&history);
    // The paused time advances only while the runtime is idle.
    tokio::time::pause();
    for post in posts {
        let request = TestRequest::post()
            .uri(&post.path)
            .insert_header(JSON)
            .insert_header(("content-length", "9"))
            .to_request();
        let never: Payload = Payload::Stream {
            payload: Box::pin(stream::pending()),
        };
        let response = call_service(&app, request.replace_payload(never).0).await;
        let response = RawResponse {
            version: "HTTP/1.1".to_owned(),
            status: response.status().as_u16(),
            headers: [("content-type".to_owned(), "application/json".to_owned())].into(),
            body: to_bytes(response.into_body()).await.unwrap().to_vec(),
        };
        row(post.route, 408, "web_framework_error").assert_matches(&response, post.route);
    }
    history.api.stop().await;
}
