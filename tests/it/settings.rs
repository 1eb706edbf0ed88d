//! Run-time settings: the routes `/settings` of the admin listener, and what of a change stays.

use ledger_test_support::{
    http::HttpResponse,
    node::{TestNode, until},
};
use reqwest::Method;
use serde_json::{Value, json};
use std::{fs, os::unix::fs::PermissionsExt as _, sync::Arc};
use tokio::net::TcpStream;

/// Sends a request below `/settings` of the admin listener.
async fn send(node: &TestNode, method: Method, path: &str, body: &Value) -> HttpResponse {
    let url = format!("{}/settings{path}", node.admin);
    node.http.send_json(method, &url, body).await
}

/// Changes settings, and returns the response.
async fn set(node: &TestNode, set: Value) -> HttpResponse {
    send(node, Method::PATCH, "", &json!({ "set": set })).await
}

/// Changes settings that must be allowed.
async fn changed(node: &TestNode, values: Value) {
    let response = set(node, values).await;
    assert_eq!(response.status, 200, "{}", response.text);
}

/// Sends a request without a body.
async fn post(node: &TestNode, path: &str) -> HttpResponse {
    let url = format!("{}/settings/{path}", node.admin);
    let request = node.http.request(Method::POST, &url);
    node.http.try_send(request).await.unwrap()
}

/// Returns a setting of `GET /settings`.
async fn setting(node: &TestNode, key: &str) -> Value {
    let url = format!("{}/settings", node.admin);
    let report = node.http.get(&url).await.json;
    let settings = report["settings"].as_array().unwrap();
    let found = settings.iter().find(|setting| setting["key"] == key);
    found.unwrap_or_else(|| panic!("{key}")).clone()
}

/// Checks that a response is a 503 that names this limit.
fn assert_overloaded(response: &HttpResponse, limit: &str) {
    assert_eq!(response.status, 503, "{}", response.text);
    let message = response.json["message"].as_str().unwrap();
    assert_eq!(message, format!("overloaded: {limit}"));
}

#[tokio::test]
async fn limits_of_requests_apply_at_once_and_end_with_an_undo() {
    let node = TestNode::start(&["wait.timeout_max_ms=600000"]);
    let ledger = format!("{}/v1", node.api);
    // A wait for a version that does not come holds a permit of each limit.
    let waiting = format!("{ledger}/accounts/0x1?min_ledger_version=999999&timeout_ms=600000");
    let http = node.http.clone();
    let held = tokio::spawn({
        let waiting = waiting.clone();
        async move { http.get(&waiting).await }
    });
    until("the wait", || async {
        let metrics = node.http.get(&format!("{}/metrics", node.admin)).await;
        metrics.text.contains("ledger_waits_parked 1").then_some(())
    })
    .await;

    for (key, path) in [
        ("api.max_in_flight", &ledger),
        ("api.max_in_flight_per_address", &ledger),
        ("wait.capacity", &waiting),
    ] {
        changed(&node, json!({ key: 1 })).await;
        let rejected = node.http.get(path).await;
        assert_overloaded(&rejected, &format!("{key} = 1"));
        assert_eq!(post(&node, "undo").await.status, 200);
        assert_eq!(node.http.get(&ledger).await.status, 200);
    }
    held.abort();

    let body = json!({ "function": "x".repeat(200), "type_arguments": [], "arguments": [] });
    let view = format!("{ledger}/view");
    let status = async || node.http.send_json(Method::POST, &view, &body).await.status;
    assert_eq!(status().await, 400);
    changed(&node, json!({ "api.max_body_bytes": 100 })).await;
    assert_eq!(status().await, 413);

    changed(&node, json!({ "api.max_connections_per_address": 1 })).await;
    // An error means that the listener has reset the connection.
    let _first = TcpStream::connect(node.authority()).await;
    until("the rejection of a second connection", || async {
        let url = format!("{}/connections", node.admin);
        let counts = node.http.get(&url).await.json;
        let refused = counts[0]["refused_of_address"].as_u64().unwrap();
        let _second = TcpStream::connect(node.authority()).await;
        (refused > 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn other_routes_of_the_admin_listener_change_the_same_settings() {
    let node = TestNode::start(&[]);
    for (method, path, body, key, value) in [
        (
            Method::PATCH,
            "/actors/mempool",
            json!({ "mailbox_capacity": 7 }),
            "actors.mempool.mailbox_capacity",
            json!(7),
        ),
        (
            Method::PATCH,
            "/budgets/point_reads",
            json!({ "capacity_ms": 9 }),
            "work.point_read_budget_ms",
            json!(9),
        ),
        (
            Method::PATCH,
            "/budgets/renderings",
            json!({ "capacity_ms": 8 }),
            "work.render_budget_ms",
            json!(8),
        ),
        (
            Method::PUT,
            "/filter",
            json!({ "rules": ["deny sender 0x1"] }),
            "filter.rules",
            json!("deny sender 0x1"),
        ),
        (
            Method::PATCH,
            "/switches",
            json!({ "submission_enabled": false }),
            "api.submission_enabled",
            json!(false),
        ),
    ] {
        let before = setting(&node, key).await["value"].clone();
        let url = format!("{}{path}", node.admin);
        let response = node.http.send_json(method.clone(), &url, &body).await;
        assert_eq!(response.status, 200, "{}", response.text);
        assert_eq!(setting(&node, key).await["value"], value);
        let line = format!("setting=\"{key}\"");
        let log = node.logged(&line).await;
        let line = log.lines().find(|it| it.contains(&line)).unwrap();
        assert!(
            line.contains("author=\"loopback from 127.0.0.1\""),
            "{line}"
        );

        let undone = post(&node, "undo").await;
        assert_eq!(undone.status, 200, "{}", undone.text);
        assert_eq!(undone.json["changes"][0]["cause"], "undo");
        assert_eq!(setting(&node, key).await["value"], before);

        // A change that waits for its confirmation excludes another one of the same setting.
        let pending = json!({ "set": { key: value }, "revert_after_secs": 3600 });
        let response = send(&node, Method::PATCH, "", &pending).await;
        assert_eq!(response.status, 200, "{}", response.text);
        let response = node.http.send_json(method, &url, &body).await;
        assert_eq!(response.status, 409, "{}", response.text);
        assert!(response.text.contains(key), "{}", response.text);
        assert_eq!(post(&node, "confirm").await.status, 200);
        assert_eq!(post(&node, "confirm").await.status, 409);
    }
    assert_eq!(post(&node, "undo").await.status, 200);
    assert_eq!(
        setting(&node, "api.submission_enabled").await["value"],
        true
    );
}

#[tokio::test]
async fn rejects_malformed_changes_with_the_allowed_values() {
    let node = TestNode::start(&[]);
    for (body, expected) in [
        (
            json!({ "set": { "wait.capacity": 0 } }),
            "wait.capacity = 0 is not allowed: expected an integer from 1 to 10000000",
        ),
        (
            json!({ "set": { "wait.capacity": -1 } }),
            "expected an integer from 1 to 10000000",
        ),
        (
            json!({ "set": { "wait.capacity": [7] } }),
            "wait.capacity = a value of the type array is not allowed",
        ),
        (
            json!({ "set": { "log.level": "loud" } }),
            "log.level = \"loud\" is not allowed: expected off, error",
        ),
        (
            json!({ "set": { "filter.rules": "deny sender 0x1,permit all" } }),
            "rule 2",
        ),
        (
            json!({ "set": { "api.listen": "0.0.0.0:1" } }),
            "api.listen is no run-time setting: it changes at the next start",
        ),
        (json!({ "set": { "nothing": 1 } }), "no setting nothing"),
        (json!({ "set": {} }), "names no setting"),
        (
            json!({ "set": { "wait.capacity": 9 }, "revert_after_secs": 9 }),
            "expected an integer from 10 to 3600",
        ),
        (json!({ "values": {} }), "the body must be"),
    ] {
        let response = send(&node, Method::PATCH, "", &body).await;
        assert_eq!(response.status, 400, "{body}: {}", response.text);
        let message = response.json["message"].as_str().unwrap();
        assert!(message.contains(expected), "{body}: {message}");
    }
    for path in ["confirm", "undo"] {
        let with_body = send(&node, Method::POST, &format!("/{path}"), &json!({})).await;
        assert_eq!(with_body.status, 400, "{}", with_body.text);
        assert_eq!(post(&node, path).await.status, 409);
    }
}

#[tokio::test]
async fn keeps_settings_over_restarts_unless_they_are_ignored() {
    let key = "actors.mempool.mailbox_capacity";
    let mut node = TestNode::start(&["wait.capacity=9"]);
    changed(&node, json!({ key: 77, "log.level": "info,http=debug" })).await;
    let request = |preview| json!({ "keys": [key, "log.level"], "preview": preview });
    let shown = send(&node, Method::POST, "/keep", &request(true)).await;
    assert_eq!((shown.status, &shown.json["written"]), (200, &json!(false)));
    let file = node.directory().join("data/overrides.toml");
    assert!(!file.exists());
    let kept = send(&node, Method::POST, "/keep", &request(false)).await;
    assert_eq!(kept.json["diff"], shown.json["diff"]);
    let lines = kept.json["diff"].as_array().unwrap();
    assert!(lines.contains(&json!(format!("+{key} = 77"))), "{lines:?}");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let refused = send(
        &node,
        Method::POST,
        "/keep",
        &json!({ "keys": ["wait.capacity"] }),
    )
    .await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.text.contains("--set"), "{}", refused.text);

    // A crash does not lose them.
    node.kill();
    let mut node = node.restart_with(&[]);
    assert_eq!(setting(&node, key).await["value"], 77);
    let named = format!("settings=\"{key}, log.level\"");
    assert!(node.log().contains(&named), "{}", node.log());
    let changed_log = node.http.get(&format!("{}/v1", node.api)).await;
    assert_eq!(changed_log.status, 200);
    node.logged("/v1").await;

    assert!(node.stop("TERM").success());
    let directory = Arc::clone(&node.shared_directory());
    let mut command = TestNode::command(directory.path(), &[]);
    command.arg("--no-overrides");
    let mut node = TestNode::spawn(command, Arc::clone(&directory), Vec::new());
    assert_eq!(setting(&node, key).await["value"], 16_384);
    let refused = send(&node, Method::POST, "/keep", &json!({ "keys": [key] })).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(node.stop("TERM").success());

    // A file with an invalid value or another setting ends the start, with its line.
    for (text, expected) in [
        (
            "wait.capacity = 0\n",
            "overrides.toml, line 1): expected an integer",
        ),
        (
            "wait.capacity = 1\nadmin.listen = \"0.0.0.0:1\"\n",
            "overrides.toml, line 2) is no run-time setting",
        ),
    ] {
        fs::write(&file, text).unwrap();
        let output = TestNode::command(directory.path(), &[]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(expected), "{message}");
    }
}

#[tokio::test]
async fn a_hangup_keeps_kept_settings_and_drops_unconfirmed_ones() {
    let (kept, pending) = ("wait.capacity", "work.read_budget_ms");
    let node = TestNode::start(&[]);
    changed(&node, json!({ kept: 40 })).await;
    let request = json!({ "keys": [kept] });
    assert_eq!(
        send(&node, Method::POST, "/keep", &request).await.status,
        200
    );
    let change = json!({ "set": { pending: 41 }, "revert_after_secs": 3600 });
    let response = send(&node, Method::PATCH, "", &change).await;
    assert_eq!(response.json["pending"]["settings"][0]["new"], 41);

    node.signal("HUP");
    node.logged("SIGHUP: the configuration was reloaded").await;
    assert_eq!(setting(&node, kept).await["value"], 40);
    assert_eq!(setting(&node, pending).await["value"], 1_000);
    assert_eq!(post(&node, "confirm").await.status, 409);
}

#[tokio::test]
async fn shows_every_setting() {
    let node = TestNode::start(&[]);
    let report = node.http.get(&format!("{}/settings", node.admin)).await;
    let keys = report.json["settings"].as_array().unwrap().iter();
    let keys: Vec<_> = keys.map(|it| it["key"].as_str().unwrap()).collect();
    let printed = ledger_test_support::node::binary()
        .args(["config", "--defaults"])
        .output()
        .unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    let count = printed
        .lines()
        .filter(|line| line.contains(" = ") && !line.starts_with('#'));
    assert_eq!(keys.len(), count.count());
    assert!(report.json["memory"]["limit_bytes"].as_u64().unwrap() > 0);
}
