//! Golden files of the interfaces that users and operators rely on: `tests/golden/surface/`,
//! `config/node.toml` and `config/node.schema.json`.
//!
//! `UPDATE_GOLDEN=1 cargo test --test it golden::` rewrites them. Every change of one is listed in
//! the changelog. The metrics are those of `config/metrics.md`, and `metrics::` compares them.

use crate::metrics::node_at_work;
use ledger_test_support::{
    http::TestCertificate,
    node::{TestNode, binary},
};
use reqwest::Method;
use serde_json::Value;
use std::{collections::BTreeSet, env, fs, path::Path};

/// Compares a text with the golden file at this path from the root of the repository.
fn compare(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    let different = golden
        .lines()
        .zip(text.lines())
        .find(|(golden, line)| golden != line);
    assert!(
        golden == text,
        "{file} differs, and `UPDATE_GOLDEN=1 cargo test --test it golden::` rewrites it; first \
         different lines: {different:#?}"
    );
}

#[test]
fn prints_the_default_settings_and_their_schema_of_the_golden_files() {
    for (option, file) in [
        ("--defaults", "config/node.toml"),
        ("--schema", "config/node.schema.json"),
    ] {
        let output = binary().args(["config", option]).output().unwrap();
        compare(file, &String::from_utf8(output.stdout).unwrap());
    }
}

#[test]
fn prints_the_help_texts_of_the_golden_file() {
    const COMMANDS: [&str; 27] = [
        "",
        "run",
        "compact",
        "verify",
        "config",
        "config presets",
        "genesis",
        "genesis new",
        "genesis check",
        "genesis show",
        "account",
        "account new",
        "account fund",
        "account address",
        "account transfer",
        "account show",
        "bench",
        "health",
        "top",
        "cluster",
        "cluster init",
        "cluster run",
        "cluster add-full-node",
        "cluster status",
        "cluster confirm",
        "completions",
        "man",
    ];
    let mut text = String::new();
    for command in COMMANDS {
        // Wide enough for every line: whether clap wraps lines depends on the features that other
        // crates of the same build give it.
        let output = binary()
            .args(command.split_whitespace())
            .arg("--help")
            .env("COLUMNS", "1000")
            .output()
            .unwrap();
        assert!(output.status.success(), "{command}");
        text += &format!("$ ledger-node {command} --help\n");
        text += &String::from_utf8(output.stdout).unwrap();
    }
    compare("tests/golden/surface/help.txt", &text);
}

#[tokio::test]
async fn serves_the_openapi_document_of_the_golden_file() {
    let node = TestNode::start(&[]);
    // YAML, so that a difference is a line. `ledger-api` compares the JSON with the same document.
    compare(
        "tests/golden/surface/openapi.yaml",
        &node.get("/v1/spec.yaml").await.text,
    );
}

#[tokio::test]
async fn serves_admin_json_with_the_keys_and_types_of_the_golden_file() {
    const PATHS: [&str; 10] = [
        "/actors",
        "/actors/mempool",
        "/checks",
        "/connections",
        "/filter",
        "/settings",
        "/signatures",
        "/storage",
        "/switches",
        "/traffic",
    ];
    let (node, ..) = node_at_work(&["filter.rules=allow all"]).await;
    let mut text = String::new();
    for path in PATHS {
        let response = node.http.get(&format!("{}{path}", node.admin)).await;
        assert_eq!(response.status, 200, "{path}: {}", response.text);
        let mut keys = BTreeSet::new();
        add_keys(&response.json, "", &mut keys);
        text += &format!("GET {path}\n");
        text.extend(keys.iter().map(|key| format!("  {key}\n")));
    }
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    for path in ["/flight", "/tls/reload"] {
        let url = format!("{}{path}", node.admin);
        let reload = node.http.request(Method::POST, &url);
        let response = node.http.try_send(reload).await.unwrap();
        assert_eq!(response.status, 200, "{}", response.text);
        let mut keys = BTreeSet::new();
        add_keys(&response.json, "", &mut keys);
        text += &format!("POST {path}\n");
        text.extend(keys.iter().map(|key| format!("  {key}\n")));
    }
    compare("tests/golden/surface/admin.txt", &text);
}

/// Adds the path and the type of each value. All elements of an array have one path.
fn add_keys(value: &Value, path: &str, keys: &mut BTreeSet<String>) {
    let kind = match value {
        Value::Object(members) => {
            for (name, value) in members {
                // Counts by kind of message have the kinds that occurred as keys.
                let name = if path.ends_with(".handled_by_kind") {
                    "*"
                } else {
                    name
                };
                add_keys(value, &format!("{path}.{name}"), keys);
            }
            return;
        }
        Value::Array(elements) => {
            for value in elements {
                add_keys(value, &format!("{path}[]"), keys);
            }
            return;
        }
        // Its growth is unknown at first.
        _ if path.ends_with(".full_in_seconds") => "number or null",
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
    };
    keys.insert(format!("{path} {kind}"));
}
