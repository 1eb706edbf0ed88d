//! A node whose ledger differs from the one of the validators: requests about the ledger are 503
//! `internal_error` with both results, because the versions that the node would show are its own.

use crate::interface::{
    chain::History,
    examples::{self, Example},
    rows::row,
};

/// Cause of the difference, which every response shows.
const CAUSE: &str = "the validators decided block 9 with version 3, and this node has version 4";

/// The routes about the node, each with the reason that its response may be shown.
const ABOUT_THE_NODE: [(&str, &str); 5] = [
    ("GET /info", "identity and version of the software"),
    ("GET /spec", "the document is rendered from the route table"),
    (
        "GET /spec.json",
        "the document is rendered from the route table",
    ),
    (
        "GET /spec.yaml",
        "the document is rendered from the route table",
    ),
    (
        "GET /spec/{part}",
        "the files of the page are in the binary",
    ),
];

/// The health check, which names the cause in an error of its own.
const HEALTH: &str = "GET /-/healthy";

/// Requests that succeeded before, some of them from the response cache.
#[actix_web::test]
async fn shows_nothing_of_the_ledger_after_a_difference() {
    let history = History::start().await;
    let reads = examples::reads(&history);
    for example in &reads {
        let before = example.send(&history, "*/*").await;
        assert!(before.status < 300, "{}: {}", example.path, before.text());
    }
    history.api.handle().report_diverged("test", CAUSE);
    for example in &reads {
        let Example { route, path, .. } = example;
        let response = example.send(&history, "*/*").await;
        if ABOUT_THE_NODE.iter().any(|(about, _)| about == route) {
            row(route, 200, "-").assert_matches(&response, path);
            continue;
        }
        let code = match *route {
            HEALTH => "health_check_failed",
            _ => "internal_error",
        };
        row(route, 503, code).assert_matches(&response, path);
        assert!(
            response.text().contains(CAUSE),
            "{path}: {}",
            response.text()
        );
    }
}

#[actix_web::test]
async fn accepts_no_submission_after_a_difference() {
    let history = History::start().await;
    let submissions = examples::submissions(&history);
    history.api.handle().report_diverged("test", CAUSE);
    for example in submissions {
        let response = example.send(&history, "*/*").await;
        row(example.route, 503, "internal_error").assert_matches(&response, &example.path);
        assert!(response.text().contains(CAUSE), "{}", response.text());
    }
}
