//! Errors of routes that the interface document only mentions, or that its clients use in addition.

use crate::kit::changed;
use crate::{
    interface::{chain::History, examples, rows::row},
    kit::{HoldingClock, Settings, TestApi, Transfer, ok_json},
};
use serde_json::json;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::time::sleep;

#[actix_web::test]
async fn rejects_parameters_of_another_type() {
    let history = History::start().await;
    let syntax = |route| row(route, 400, "web_framework_error");
    for (row, path) in [
        (
            row("GET /-/healthy", 400, "web_framework_error"),
            "-/healthy?duration_secs=soon",
        ),
        (
            row("GET /transactions", 400, "web_framework_error"),
            "transactions?start=x",
        ),
        (syntax("GET /transactions"), "transactions?limit=70000"),
        (
            row(
                "GET /transactions/by_version/{txn_version}",
                400,
                "web_framework_error",
            ),
            "transactions/by_version/-1",
        ),
        (
            row(
                "GET /transactions/auxiliary_info",
                400,
                "web_framework_error",
            ),
            "transactions/auxiliary_info",
        ),
        (
            syntax("GET /transactions/auxiliary_info"),
            "transactions/auxiliary_info?start_version=x",
        ),
        (
            row(
                "GET /blocks/by_version/{version}",
                400,
                "web_framework_error",
            ),
            "blocks/by_version/x",
        ),
        (
            syntax("GET /blocks/by_version/{version}"),
            "blocks/by_version/1?with_transactions=yes",
        ),
        (
            syntax("GET /accounts/{address}"),
            "accounts/0x1?ledger_version=x",
        ),
        (
            syntax("GET /accounts/{address}/resource/{resource_type}"),
            "accounts/0x1/resource/0x9::a::B?ledger_version=x",
        ),
        (
            row(
                "GET /accounts/{address}/module/{module_name}",
                400,
                "web_framework_error",
            ),
            "accounts/0x1/module/1x",
        ),
        (
            row(
                "GET /accounts/{address}/modules",
                400,
                "web_framework_error",
            ),
            "accounts/0xg/modules",
        ),
        (
            syntax("GET /accounts/{address}/modules"),
            "accounts/0x1/modules?limit=-1",
        ),
        (
            syntax("GET /accounts/{address}/modules"),
            "accounts/0x1/modules?start=zz",
        ),
        (
            row(
                "GET /accounts/{address}/transactions",
                400,
                "web_framework_error",
            ),
            "accounts/0x1/transactions?start=-1",
        ),
        (
            row(
                "GET /accounts/{address}/resources",
                400,
                "web_framework_error",
            ),
            "accounts/0x1/resources?limit=x",
        ),
        (
            syntax("GET /accounts/{address}/resources"),
            "accounts/0x1/resources?start=zz",
        ),
    ] {
        row.get(&history.api, &format!("/v1/{path}")).await;
    }
    for post in examples::posts(&history) {
        let takes_version = ["POST /view", "POST /tables/{table_handle}/item"];
        if takes_version.contains(&post.route) {
            let path = format!("{}?ledger_version=x", post.path);
            syntax(post.route)
                .post(&history.api, &path, post.body.as_ref().unwrap())
                .await;
        }
    }
    history.api.stop().await;
}

#[actix_web::test]
async fn rejects_well_formed_values_without_a_meaning() {
    let history = History::start().await;
    for (row, path) in [
        (
            row("GET /transactions", 400, "invalid_input"),
            "transactions?limit=0",
        ),
        (
            row("GET /transactions", 400, "invalid_input"),
            "transactions?start=19",
        ),
        (
            row("GET /transactions/auxiliary_info", 400, "invalid_input"),
            "transactions/auxiliary_info?start_version=19",
        ),
        (
            row("GET /accounts/{address}/modules", 400, "invalid_input"),
            "accounts/0x1/modules?limit=0",
        ),
        (
            row("GET /accounts/{address}/transactions", 400, "invalid_input"),
            "accounts/0x1/transactions?limit=0",
        ),
        (
            row("GET /accounts/{address}/resources", 400, "invalid_input"),
            "accounts/0x1/resources?limit=0",
        ),
    ] {
        row.get(&history.api, &format!("/v1/{path}")).await;
    }
    let api = &history.api;
    let page = api.client.get("/v1/accounts/0x1/resources?limit=1").await;
    let cursor = &page.headers["x-node-cursor"];
    row("GET /accounts/{address}/resources", 400, "invalid_input")
        .get(api, &format!("/v1/accounts/0xb0b/resources?start={cursor}"))
        .await;
    let submission = Transfer::new(3, 0).json(&api.chain);
    let unknown = changed(
        &submission,
        "/payload/function",
        json!("0x1::coin::nothing"),
    );
    row("POST /transactions/batch", 400, "invalid_input")
        .post(api, "/v1/transactions/batch", &json!([unknown]))
        .await;
    row("POST /transactions/encode_submission", 400, "invalid_input")
        .post(api, "/v1/transactions/encode_submission", &unknown)
        .await;
    row("POST /transactions/simulate", 400, "invalid_input")
        .post(api, "/v1/transactions/simulate", &submission)
        .await;
    let item = json!({ "key_type": "u65", "value_type": "u8", "key": "1" });
    row("POST /tables/{table_handle}/item", 400, "invalid_input")
        .post(api, "/v1/tables/0x1/item", &item)
        .await;
    let call = json!({ "function": "0x1::coin::nothing", "type_arguments": [], "arguments": [] });
    row("POST /view", 400, "invalid_input")
        .post(api, "/v1/view", &call)
        .await;
    history.api.stop().await;
}

#[actix_web::test]
async fn responds_404_to_unknown_names_and_versions() {
    let history = History::start().await;
    let future = "ledger_version=19";
    for (row, path) in [
        (
            row(
                "GET /transactions/by_version/{txn_version}",
                404,
                "transaction_not_found",
            ),
            "transactions/by_version/19".to_owned(),
        ),
        (
            row("GET /blocks/by_version/{version}", 404, "version_not_found"),
            "blocks/by_version/19".to_owned(),
        ),
        (
            row("GET /accounts/{address}", 404, "version_not_found"),
            format!("accounts/0x1?{future}"),
        ),
        (
            row(
                "GET /accounts/{address}/resource/{resource_type}",
                404,
                "version_not_found",
            ),
            format!("accounts/0x1/resource/0x9::a::B?{future}"),
        ),
        (
            row(
                "GET /accounts/{address}/module/{module_name}",
                404,
                "module_not_found",
            ),
            "accounts/0x1/module/nothing".to_owned(),
        ),
        (
            row(
                "GET /accounts/{address}/module/{module_name}",
                404,
                "version_not_found",
            ),
            format!("accounts/0x1/module/coin?{future}"),
        ),
        (
            row("GET /accounts/{address}/modules", 404, "version_not_found"),
            format!("accounts/0x1/modules?{future}"),
        ),
        (
            row(
                "GET /accounts/{address}/resources",
                404,
                "version_not_found",
            ),
            format!("accounts/0x1/resources?{future}"),
        ),
        (
            row("GET /spec/{part}", 404, "web_framework_error"),
            "spec/nothing".to_owned(),
        ),
    ] {
        row.get(&history.api, &format!("/v1/{path}")).await;
    }
    for (row, path, body) in [
        (
            row(
                "POST /tables/{table_handle}/item",
                404,
                "table_item_not_found",
            ),
            "/v1/tables/0xdead/item".to_owned(),
            json!({ "key_type": "u8", "value_type": "u8", "key": 1 }),
        ),
        (
            row("POST /tables/{table_handle}/item", 404, "version_not_found"),
            format!("/v1/tables/0xdead/item?{future}"),
            json!({ "key_type": "u8", "value_type": "u8", "key": 1 }),
        ),
        (
            row("POST /view", 404, "version_not_found"),
            format!("/v1/view?{future}"),
            json!({
                "function": "0x1::coin::name",
                "type_arguments": ["0x5::no::Coin"],
                "arguments": [],
            }),
        ),
    ] {
        row.post(&history.api, &path, &body).await;
    }
    history.api.stop().await;
}

#[actix_web::test]
async fn values_of_the_state_are_read_by_their_key() {
    let history = History::start().await;
    let path = "/v1/experimental/state_values/raw";
    let examples = examples::reads(&history);
    let mut examples = examples.iter();
    let example = examples.find(|example| example.path == path).unwrap();
    let body = example.body.as_ref().unwrap();
    let value = row("POST /experimental/state_values/raw", 200, "-")
        .post(&history.api, path, body)
        .await;
    assert_eq!(value.json()["content"], "0xab");
    let before = row(
        "POST /experimental/state_values/raw",
        404,
        "state_value_not_found",
    )
    .post(&history.api, &format!("{path}?ledger_version=1"), body)
    .await;
    let words = format!(
        "State key({}) and Ledger version(1)",
        body["key"].as_str().unwrap()
    );
    assert!(before.text().contains(&words), "{}", before.text());
    row(
        "POST /experimental/state_values/raw",
        404,
        "version_not_found",
    )
    .post(&history.api, &format!("{path}?ledger_version=19"), body)
    .await;
    row("POST /experimental/state_values/raw", 400, "invalid_input")
        .post(&history.api, path, &json!({ "key": "0xff" }))
        .await;
    history.api.stop().await;
}

#[actix_web::test]
async fn rejects_graphql_queries_for_bcs() {
    let api = TestApi::start(Settings::default()).await;
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/x-bcs"),
    ];
    let body = br#"{ "query": "{ processor_status { processor } }" }"#;
    row("POST /graphql", 400, "bcs_not_supported")
        .send(&api, "/v1/graphql", &headers, Some(body))
        .await;
    api.stop().await;
}

/// Responds with 503 once a transaction waits for longer than the client allows, without
/// `Retry-After`, because it may stay so. An idle chain is healthy.
#[actix_web::test]
async fn a_chain_that_commits_nothing_is_503_only_while_a_transaction_waits() {
    const PATH: &str = "/v1/-/healthy?duration_secs=0";
    let clock = Arc::new(HoldingClock::default());
    let api = TestApi::start(clock.settings()).await;
    assert_eq!(api.client.get(PATH).await.status, 200);
    let held = clock.hold_next_block(&api).await;
    // The transaction that waits for an earlier one does not count.
    assert_eq!(api.client.get(PATH).await.status, 200);
    let signed = Transfer::new(0, 0).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&signed).await.status, 202);
    held.wait_until_taken();
    let begun = Instant::now();
    while api.client.get(PATH).await.status == 200 {
        assert!(begun.elapsed() < Duration::from_secs(60), "stays healthy");
        sleep(Duration::from_millis(10)).await;
    }
    let response = row("GET /-/healthy", 503, "health_check_failed")
        .get(&api, PATH)
        .await;
    assert!(!response.headers.contains_key("retry-after"));
    drop(held);
    api.commit_signed(&signed).await;
    assert_eq!(api.client.get(PATH).await.status, 200);
    api.stop().await;
}

/// Names the cause, and omits `Retry-After`, because the node may stay so.
#[actix_web::test]
async fn a_node_that_cannot_write_is_503() {
    let api = TestApi::start(Settings::default()).await;
    api.handle()
        .report_disk_space(Some(&"no room is left".into()));
    let response = row("GET /-/healthy", 503, "health_check_failed")
        .get(&api, "/v1/-/healthy")
        .await;
    assert!(!response.headers.contains_key("retry-after"));
    assert!(
        response.text().contains("no room is left"),
        "{}",
        response.text()
    );
    api.handle().report_disk_space(None);
    ok_json(&api.client.get("/v1/-/healthy").await);
    api.stop().await;
}

#[actix_web::test]
async fn rejects_encoding_for_bcs() {
    let api = TestApi::start(Settings::default()).await;
    let body = Transfer::new(0, 0).json(&api.chain).to_string();
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/x-bcs"),
    ];
    row(
        "POST /transactions/encode_submission",
        400,
        "bcs_not_supported",
    )
    .send(
        &api,
        "/v1/transactions/encode_submission",
        &headers,
        Some(body.as_bytes()),
    )
    .await;
    api.stop().await;
}

/// Names the status in `vm_error_code`.
#[actix_web::test]
async fn rejects_encoding_and_simulation_of_unsupported_payloads() {
    let api = TestApi::start(Settings::default()).await;
    let body = changed(
        &Transfer::new(0, 0).json(&api.chain),
        "/payload/type",
        json!("script_payload"),
    );
    for (row, path) in [
        (
            row("POST /transactions/encode_submission", 400, "vm_error"),
            "/v1/transactions/encode_submission",
        ),
        (
            row("POST /transactions/simulate", 400, "vm_error"),
            "/v1/transactions/simulate",
        ),
    ] {
        let response = row.post(&api, path, &body).await;
        assert_eq!(response.json()["vm_error_code"], 26);
    }
    api.stop().await;
}

/// Responds with 200 to a simulation and an encoding, and with 202 to a batch without failures.
#[actix_web::test]
async fn accepts_a_simulation_an_encoding_and_a_batch() {
    let history = History::start().await;
    for example in examples::submissions(&history) {
        let row = match example.route {
            "POST /transactions/simulate" => row("POST /transactions/simulate", 200, "-"),
            "POST /transactions/encode_submission" => {
                row("POST /transactions/encode_submission", 200, "-")
            }
            "POST /transactions/batch" => row("POST /transactions/batch", 202, "-"),
            _ => row("POST /transactions", 202, "-"),
        };
        row.post(&history.api, &example.path, example.body.as_ref().unwrap())
            .await;
    }
    history.api.stop().await;
}

/// Lists the invalid transactions of the batch.
#[actix_web::test]
async fn a_batch_with_invalid_transactions_is_206() {
    let api = TestApi::start(Settings::default()).await;
    let good = Transfer::new(0, 0).json(&api.chain);
    let wrong = changed(&good, "/max_gas_amount", json!("100001"));
    let response = row("POST /transactions/batch", 206, "-")
        .post(&api, "/v1/transactions/batch", &json!([good, wrong]))
        .await;
    let failure = &response.json()["transaction_failures"][0];
    assert_eq!(failure["transaction_index"], 1);
    assert_eq!(failure["error"]["error_code"], "vm_error");
    api.stop().await;
}
