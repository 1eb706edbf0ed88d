//! docs/reference/rest-contract.md#s4: what it says of all endpoints.

use crate::{
    chain::History,
    examples::{self, JSON_ONLY},
    kit::{BODY_BYTES_MAX, ledger_headers},
    rows::row,
};

/// Which have a media type of their own, whatever is asked for.
const FILES: [(&str, &str); 4] = [
    ("GET /spec", "text/html; charset=utf-8"),
    ("GET /spec.json", "application/json"),
    ("GET /spec.yaml", "application/yaml"),
    ("GET /spec/{part}", "text/css; charset=utf-8"),
];

/// JSON is the content type of the answers; types that the node does not speak are passed over.
#[actix_web::test]
async fn answers_are_json_unless_bcs_is_asked_for() {
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
            let answer = example.ask(&history, accept).await;
            let expected = file.map_or("application/json", |(_, media_type)| media_type);
            assert_eq!(
                answer.headers["content-type"], expected,
                "{} {accept}",
                example.route
            );
            row(example.route, 200, "-").holds(&answer, example.route);
        }
    }
    history.api.stop().await;
}

/// Where the client takes BCS first the answer is BCS, on every route that has one.
#[actix_web::test]
async fn answers_are_bcs_where_it_is_asked_for_first() {
    let history = History::start().await;
    for example in examples::reads(&history) {
        let is_file = FILES.iter().any(|(route, _)| *route == example.route);
        if is_file || JSON_ONLY.contains(&example.route) {
            continue;
        }
        let in_json = example.ask(&history, "application/json").await;
        for accept in [
            "application/x-bcs",
            "text/html, application/x-bcs, application/json",
            "Application/X-BCS;q=0.1",
        ] {
            let answer = example.ask(&history, accept).await;
            assert_eq!(answer.status, 200, "{}: {}", example.route, answer.text());
            assert_eq!(
                answer.headers["content-type"], "application/x-bcs",
                "{}",
                example.route
            );
            assert_eq!(
                ledger_headers(&answer, "node"),
                ledger_headers(&in_json, "node"),
                "{}",
                example.route
            );
            assert_ne!(answer.body, in_json.body, "{}", example.route);
        }
    }
    history.api.stop().await;
}

/// Query parameters that an endpoint does not have are passed over.
#[actix_web::test]
async fn other_query_parameters_are_ignored() {
    let history = History::start().await;
    for mut example in examples::reads(&history) {
        let expected = example.ask(&history, "application/json").await;
        let mark = if example.path.contains('?') { '&' } else { '?' };
        example.path += &format!("{mark}accountAddress=0x1&other=%FF&ledger_versions=x");
        let answer = example.ask(&history, "application/json").await;
        assert_eq!(answer.status, 200, "{}: {}", example.path, answer.text());
        assert_eq!(answer.body, expected.body, "{}", example.path);
    }
    history.api.stop().await;
}

/// A body may come in chunks; its type may have parameters and be written in any case.
#[actix_web::test]
async fn bodies_may_come_in_chunks() {
    let history = History::start().await;
    for post in examples::posts(&history) {
        let body = post.body.as_ref().unwrap().to_string();
        assert!(body.len() < BODY_BYTES_MAX);
        let (first, second) = body.split_at(body.len() / 2);
        let request = format!(
            "POST {} HTTP/1.1\r\nhost: node\r\nconnection: close\r\ncontent-type: Application/JSON; \
             charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n",
            post.path,
            first.len(),
            second.len()
        );
        let answer = history.api.client.raw(request.as_bytes()).await;
        row(post.route, post.status, "-").holds(&answer, post.route);
    }
    history.api.stop().await;
}
