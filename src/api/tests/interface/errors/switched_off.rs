//! Errors that the configuration causes: `rejected_by_filter` and `api_disabled`.

use crate::{
    interface::{
        chain::History,
        examples::{self, JSON_ONLY},
        rows::row,
    },
    kit::{Settings, TestApi, Transfer, ledger_headers},
};
use ledger_actors::FilterRules;
use ledger_api::SwitchChange;
use serde_json::json;

/// Routes about the node instead of the ledger, which no output switch disables.
pub const ALWAYS_ENABLED: [&str; 6] = [
    "GET /-/healthy",
    "GET /info",
    "GET /spec",
    "GET /spec.json",
    "GET /spec.yaml",
    "GET /spec/{part}",
];

/// Responds with 403 to a request for JSON. BCS is not affected.
#[actix_web::test]
async fn json_output_can_be_disabled() {
    let history = History::start().await;
    let examples = examples::all(&history);
    history.api.state.switches.change(&SwitchChange {
        json_output_enabled: Some(false),
        ..SwitchChange::default()
    });
    for example in examples {
        let response = example.send(&history, "application/json").await;
        if ALWAYS_ENABLED.contains(&example.route) {
            row(example.route, 200, "-").assert_matches(&response, example.route);
        } else {
            row(example.route, 403, "api_disabled").assert_matches(&response, example.route);
            let words = "api.json_output_enabled";
            assert!(response.text().contains(words), "{}", response.text());
        }
    }
    let in_bcs = history.api.client.get_bcs("/v1").await;
    assert_eq!(in_bcs.status, 200);
    history.api.stop().await;
}

/// Responds with 403 to a request for BCS. JSON is not affected.
#[actix_web::test]
async fn bcs_output_can_be_disabled() {
    let history = History::start().await;
    history.api.state.switches.change(&SwitchChange {
        bcs_output_enabled: Some(false),
        ..SwitchChange::default()
    });
    for example in examples::reads(&history) {
        if ![&ALWAYS_ENABLED[..], &JSON_ONLY]
            .concat()
            .contains(&example.route)
        {
            let response = example.send(&history, "application/x-bcs").await;
            row(example.route, 403, "api_disabled").assert_matches(&response, example.route);
        }
        let response = example.send(&history, "application/json").await;
        row(example.route, 200, "-").assert_matches(&response, example.route);
    }
    history.api.stop().await;
}

/// Names the setting of the switch in the message.
#[actix_web::test]
async fn submission_simulation_and_encoding_can_be_disabled() {
    let history = History::start().await;
    let off = Some(false);
    for (change, routes, setting) in [
        (
            SwitchChange {
                submission_enabled: off,
                ..SwitchChange::default()
            },
            &["POST /transactions", "POST /transactions/batch"][..],
            "api.submission_enabled",
        ),
        (
            SwitchChange {
                simulation_enabled: off,
                ..SwitchChange::default()
            },
            &["POST /transactions/simulate"],
            "api.simulation_enabled",
        ),
        (
            SwitchChange {
                encode_submission_enabled: off,
                ..SwitchChange::default()
            },
            &["POST /transactions/encode_submission"],
            "api.encode_submission_enabled",
        ),
    ] {
        history.api.state.switches.change(&change);
        for example in examples::submissions(&history) {
            if routes.contains(&example.route) {
                let response = example.send(&history, "application/json").await;
                row(example.route, 403, "api_disabled").assert_matches(&response, example.route);
                assert!(response.text().contains(setting), "{}", response.text());
            }
        }
    }
    history.api.stop().await;
}

/// Leaves no state of a denied submission, and accepts others.
#[actix_web::test]
async fn a_submission_that_the_filter_denies_is_403() {
    let sender = Transfer::new(0, 0).sender();
    let rule = format!("deny sender {sender}");
    let mut settings = Settings::default();
    settings.node.filter = FilterRules::parse(&[rule]).unwrap();
    let api = TestApi::start(settings).await;
    let denied = Transfer::new(0, 0);
    let response = row("POST /transactions", 403, "rejected_by_filter")
        .post(&api, "/v1/transactions", &denied.json(&api.chain))
        .await;
    ledger_headers(&response, "node");
    // A batch without a valid transaction has an error of its own.
    row("POST /transactions/batch", 400, "invalid_input")
        .post(
            &api,
            "/v1/transactions/batch",
            &json!([denied.json(&api.chain)]),
        )
        .await;
    let path = format!(
        "/v1/transactions/by_hash/{}",
        denied.sign(&api.chain).hash(api.chain.vendor())
    );
    row(
        "GET /transactions/by_hash/{txn_hash}",
        404,
        "transaction_not_found",
    )
    .get(&api, &path)
    .await;
    assert_eq!(api.commit(&Transfer::new(1, 0)).await["success"], true);
    api.stop().await;
}
