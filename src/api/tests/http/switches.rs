//! Parts of the interface that the operator has turned off.

use crate::kit::{
    RawResponse, Settings, TestApi, Transfer, assert_error, assert_still_commits, ok_bcs, ok_json,
};
use ledger_api::{ApiConfig, SwitchChange, SwitchSettings};
use serde_json::{Value, json};

const JSON: &str = "application/json";
const BCS: &str = "application/x-bcs";

async fn with_switches(switches: SwitchSettings) -> TestApi {
    let settings = Settings::default();
    let api = ApiConfig {
        switches,
        ..settings.api
    };
    TestApi::start(Settings { api, ..settings }).await
}

/// Asserts that the response names this setting as the reason.
fn assert_disabled(response: &RawResponse, setting: &str, case: &str) {
    assert_error(response, (403, "api_disabled"), case);
    let body = json!({
        "message": format!("disabled on this node: {setting} is false"),
        "error_code": "api_disabled",
    });
    assert_eq!(response.json(), body, "{case}");
}

/// Returns a transfer in JSON without a signature, as `encode_submission` takes it.
fn unsigned(api: &TestApi) -> Value {
    let mut body = Transfer::new(0, 0).json(&api.chain);
    body.as_object_mut().unwrap().remove("signature");
    body
}

/// Returns a transfer in JSON with a signature of zeros, as `simulate` takes it.
fn with_zeros(api: &TestApi) -> Value {
    let mut body = Transfer::new(0, 0).json(&api.chain);
    body["signature"]["signature"] = json!(format!("0x{}", "00".repeat(64)));
    body
}

#[actix_web::test]
async fn disables_each_kind_of_request_by_its_own_setting() {
    let on = SwitchSettings::default();
    let rows = [
        (
            SwitchSettings {
                submission_enabled: false,
                ..on
            },
            "api.submission_enabled",
            vec!["transactions", "transactions/batch"],
        ),
        (
            SwitchSettings {
                simulation_enabled: false,
                ..on
            },
            "api.simulation_enabled",
            vec!["transactions/simulate"],
        ),
        (
            SwitchSettings {
                encode_submission_enabled: false,
                ..on
            },
            "api.encode_submission_enabled",
            vec!["transactions/encode_submission"],
        ),
    ];
    for (switches, setting, disabled) in rows {
        let api = with_switches(switches).await;
        let bodies = [
            ("transactions", Transfer::new(0, 0).json(&api.chain), 202),
            (
                "transactions/batch",
                json!([Transfer::new(1, 0).json(&api.chain)]),
                202,
            ),
            ("transactions/simulate", with_zeros(&api), 200),
            ("transactions/encode_submission", unsigned(&api), 200),
        ];
        for (path, body, status) in bodies {
            let url = format!("/v1/{path}");
            let response = api.client.post_json(&url, &body, JSON).await;
            if disabled.contains(&path) {
                assert_disabled(&response, setting, path);
                // The switch is checked before the body, which this request lacks.
                let headless = api.client.send("POST", &url, &[], None).await;
                assert_disabled(&headless, setting, path);
            } else {
                assert_eq!(
                    response.status,
                    status,
                    "{setting}, {path}: {}",
                    response.text()
                );
            }
        }
        ok_json(&api.client.get("/v1").await);
        api.stop().await;
    }
}

#[actix_web::test]
async fn serves_errors_and_health_in_json_without_json_output() {
    let api = with_switches(SwitchSettings {
        json_output_enabled: false,
        ..SwitchSettings::default()
    })
    .await;
    let setting = "api.json_output_enabled";
    let paths = [
        "/v1",
        "/v1/",
        "/v1/estimate_gas_price",
        "/v1/transactions",
        "/v1/transactions/by_version/0",
        "/v1/accounts/0x1",
        "/v1/accounts/0x1/modules",
        "/v1/blocks/by_height/0",
    ];
    for path in paths {
        assert_disabled(&api.client.get(path).await, setting, path);
        ok_bcs(&api.client.get_bcs(path).await);
    }
    let missing = api.client.get_bcs("/v1/blocks/by_height/9").await;
    assert_error(
        &missing,
        (404, "block_not_found"),
        "an error, always in JSON",
    );
    let submission = Transfer::new(0, 0).json(&api.chain);
    let response = api
        .client
        .post_json("/v1/transactions", &submission, JSON)
        .await;
    assert_disabled(&response, setting, "the response would be JSON");
    // The request may still be JSON.
    let response = api
        .client
        .post_json("/v1/transactions", &submission, BCS)
        .await;
    assert_eq!((response.status, &response.body[..]), (202, &b""[..]));
    for path in ["/v1/-/healthy", "/v1/info", "/v1/spec.json"] {
        let response = api.client.get(path).await;
        assert_eq!(response.status, 200, "{path}: {}", response.text());
    }
    api.stop().await;
}

#[actix_web::test]
async fn serves_json_without_bcs_output() {
    let api = with_switches(SwitchSettings {
        bcs_output_enabled: false,
        ..SwitchSettings::default()
    })
    .await;
    for path in ["/v1", "/v1/transactions", "/v1/accounts/0x1"] {
        assert_disabled(
            &api.client.get_bcs(path).await,
            "api.bcs_output_enabled",
            path,
        );
        ok_json(&api.client.get(path).await);
    }
    assert_eq!(api.client.get_bcs("/v1/-/healthy").await.status, 200);
    // A submission in BCS has a response in JSON.
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn changes_only_the_named_switches_of_a_running_node() {
    let api = TestApi::start(Settings::default()).await;
    let change = |text: &str| serde_json::from_str::<SwitchChange>(text).unwrap();
    assert_eq!(api.state.switches.settings(), SwitchSettings::default());
    api.state.switches.change(&change(
        r#"{"submission_enabled": false, "bcs_output_enabled": false}"#,
    ));
    let expected = SwitchSettings {
        submission_enabled: false,
        bcs_output_enabled: false,
        ..SwitchSettings::default()
    };
    assert_eq!(api.state.switches.settings(), expected);
    let signed = Transfer::new(0, 0).sign(&api.chain);
    let response = api.client.submit_bcs(&signed).await;
    assert_disabled(&response, "api.submission_enabled", "turned off");
    api.state
        .switches
        .change(&change(r#"{"submission_enabled": true}"#));
    assert_still_commits(&api).await;
    assert_disabled(
        &api.client.get_bcs("/v1").await,
        "api.bcs_output_enabled",
        "unchanged",
    );
    for wrong in [r#"{"submission": true}"#, r#"{"submission_enabled": 1}"#] {
        assert!(
            serde_json::from_str::<SwitchChange>(wrong).is_err(),
            "{wrong}"
        );
    }
    api.stop().await;
}
