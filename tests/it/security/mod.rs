//! Network security: access to the admin and faucet listeners, secrets, and deep input.

mod admin;
mod depth;
mod faucet;
mod keys;
mod log;
mod secrets;

use crate::kit::{HttpResponse, TestNode, binary};
use reqwest::Method;
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// The operator's routes as its listener registers them, each with the methods that it takes.
const OPERATORS: [(&str, &[Method]); 9] = [
    ("/actors", &[Method::GET]),
    ("/actors/{name}", &[Method::GET, Method::PATCH]),
    ("/signatures", &[Method::GET]),
    ("/filter", &[Method::GET, Method::PUT]),
    ("/switches", &[Method::GET, Method::PATCH]),
    ("/connections", &[Method::GET]),
    ("/storage", &[Method::GET]),
    ("/tls/reload", &[Method::POST]),
    ("/metrics", &[Method::GET]),
];

/// The faucet's.
const FAUCETS: [&str; 2] = ["/fund", "/mint"];

/// The paths of the operator's routes.
fn operators_paths() -> impl Iterator<Item = String> {
    OPERATORS
        .iter()
        .map(|(route, _)| route.replace("{name}", "mempool"))
}

/// The paths of the operator's listener and of the faucet.
fn not_public() -> Vec<String> {
    operators_paths()
        .chain(FAUCETS.map(str::to_owned))
        .collect()
}

#[test]
fn the_table_of_the_operators_routes_is_whole() {
    let source = include_str!("../../../src/node/admin/routes.rs");
    let after = source.split("web::resource(\"").skip(1);
    let registered: Vec<_> = after.map(|text| text.split('"').next().unwrap()).collect();
    let mut listed = OPERATORS.map(|(route, _)| route).to_vec();
    listed.sort_unstable();
    let mut sorted = registered.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, listed);
    assert!(
        !source.contains(".route(\""),
        "a route that the table cannot see"
    );
}

/// A request with these headers.
async fn ask(
    node: &TestNode,
    method: &Method,
    url: &str,
    headers: &[(&str, &str)],
) -> HttpResponse {
    let mut request = node.http.request(method.clone(), url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    node.http.try_send(request).await.unwrap()
}

/// A file with these permissions.
fn file(directory: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

/// What a node says that does not start with these settings, and begins no ledger.
fn refused(settings: &[String]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let output = TestNode::command(directory.path(), settings)
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        !directory.path().join("data").exists(),
        "a ledger was begun"
    );
    message
}

#[test]
fn every_listener_is_for_this_machine_unless_told() {
    let output = binary().arg("config").output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let listens: Vec<_> = printed
        .lines()
        .filter_map(|line| line.strip_prefix("listen = "))
        .map(|line| line.split("  #").next().unwrap())
        .collect();
    assert_eq!(
        listens,
        [
            "\"127.0.0.1:8080\"",
            "\"\"",
            "\"127.0.0.1:8081\"",
            "\"127.0.0.1:9101\""
        ],
        "of api, graphql, faucet and admin: {printed}"
    );
}

#[tokio::test]
async fn neither_faucet_nor_operator_is_asked_on_the_public_listener() {
    let node = TestNode::start(&[]);
    for path in not_public() {
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH] {
            for prefix in ["", "/v1", "/v1/-", "/admin", "/faucet"] {
                let answer = ask(&node, &method, &format!("{}{prefix}{path}", node.api), &[]).await;
                assert_eq!(
                    answer.status, 404,
                    "{method} {prefix}{path}: {}",
                    answer.text
                );
            }
        }
    }
    // They are where they belong, and not on each other's.
    let (admin, faucet) = (&node.admin, node.faucet.as_ref().unwrap());
    for (own, other, paths) in [
        (admin, faucet, operators_paths().collect()),
        (faucet, admin, FAUCETS.map(str::to_owned).to_vec()),
    ] {
        for path in paths {
            let there = ask(&node, &Method::GET, &format!("{own}{path}"), &[]).await;
            assert!([200, 405].contains(&there.status), "{path}: {}", there.text);
            let elsewhere = ask(&node, &Method::GET, &format!("{other}{path}"), &[]).await;
            assert_eq!(elsewhere.status, 404, "{path}: {}", elsewhere.text);
        }
    }
}
