//! Network security: access to the admin and faucet listeners, secrets, and deep input.

mod admin;
mod admin_tls;
mod console;
mod depth;
mod faucet;
mod keys;
mod log;
mod secrets;

use ledger_test_support::{
    http::HttpResponse,
    node::{TestNode, binary},
};
use reqwest::Method;
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// The routes of the admin listener as it registers them, each with its methods.
const ADMIN_ROUTES: [(&str, &[Method]); 27] = [
    ("/actors", &[Method::GET]),
    ("/actors/{name}", &[Method::GET, Method::PATCH]),
    ("/budgets", &[Method::GET]),
    ("/budgets/{name}", &[Method::PATCH]),
    ("/signatures", &[Method::GET]),
    ("/filter", &[Method::GET, Method::PUT]),
    ("/settings", &[Method::GET, Method::PATCH]),
    ("/settings/confirm", &[Method::POST]),
    ("/settings/undo", &[Method::POST]),
    ("/settings/keep", &[Method::POST]),
    ("/switches", &[Method::GET, Method::PATCH]),
    ("/checks", &[Method::GET]),
    ("/livez", &[Method::GET]),
    ("/readyz", &[Method::GET]),
    ("/connections", &[Method::GET]),
    ("/consensus", &[Method::GET]),
    ("/peers", &[Method::GET, Method::POST]),
    ("/storage", &[Method::GET]),
    ("/flight", &[Method::POST]),
    ("/tls/reload", &[Method::POST]),
    ("/traffic", &[Method::GET]),
    ("/traffic/deny", &[Method::POST]),
    ("/traffic/allow", &[Method::POST]),
    ("/snapshot", &[Method::GET]),
    ("/history", &[Method::GET]),
    ("/events", &[Method::GET]),
    ("/metrics", &[Method::GET]),
];

/// The routes that need neither a token nor a name of the listener as `Host`.
const PROBES: [&str; 2] = ["/livez", "/readyz"];

/// The routes of the console, which the admin listener serves beside its own.
const CONSOLE_ROUTES: [(&str, &[Method]); 8] = [
    ("/", &[Method::GET]),
    ("/login", &[Method::GET, Method::POST]),
    ("/logout", &[Method::POST]),
    ("/console/traffic", &[Method::GET]),
    ("/console/settings", &[Method::GET]),
    ("/console/health", &[Method::GET]),
    ("/assets/console.css", &[Method::GET]),
    ("/assets/console.js", &[Method::GET]),
];
/// The route whose response has no end, so that the tests of all routes do not await it. The
/// module `observe` tests it.
const STREAM: &str = "/events";

/// The routes of the faucet.
const FAUCET_ROUTES: [&str; 2] = ["/fund", "/mint"];

/// Returns the paths of the admin routes.
fn admin_paths() -> impl Iterator<Item = String> {
    ADMIN_ROUTES
        .iter()
        .map(|(route, _)| route.replace("{name}", "mempool"))
}

/// Returns the paths of the admin listener and of the faucet.
fn non_public_paths() -> Vec<String> {
    admin_paths()
        .chain(FAUCET_ROUTES.map(str::to_owned))
        .collect()
}

#[test]
fn lists_every_admin_route() {
    for (source, routes) in [
        (
            include_str!("../../../src/node/admin/routes.rs"),
            &ADMIN_ROUTES[..],
        ),
        (
            include_str!("../../../src/node/console/routes.rs"),
            &CONSOLE_ROUTES[..],
        ),
    ] {
        let after = source.split("web::resource(\"").skip(1);
        let mut registered: Vec<_> = after.map(|text| text.split('"').next().unwrap()).collect();
        let mut listed: Vec<_> = routes.iter().map(|(route, _)| *route).collect();
        listed.sort_unstable();
        registered.sort_unstable();
        assert_eq!(registered, listed);
        assert!(
            !source.contains(".route(\""),
            "the routes have one that the table cannot find"
        );
    }
}

/// Sends a request with these headers.
async fn send(
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

/// Creates a file with these permissions.
pub(crate) fn file(directory: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

/// Runs a node that must end with these settings before it creates a ledger. Returns its message.
pub(crate) fn rejected_start(settings: &[String]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let output = TestNode::command(directory.path(), settings)
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        !directory.path().join("data").exists(),
        "a ledger was created"
    );
    message
}

#[test]
fn listens_on_loopback_addresses_by_default() {
    let output = binary().arg("config").output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let listens: Vec<_> = printed
        .lines()
        .filter_map(|line| line.split_once("listen = "))
        .map(|(_, line)| line.split("  #").next().unwrap())
        .collect();
    assert_eq!(
        listens,
        [
            "\"127.0.0.1:8080\"",
            "\"\"",
            "\"127.0.0.1:8081\"",
            "\"127.0.0.1:9101\"",
            "\"127.0.0.1:7000\"",
            "\"127.0.0.1:7400\""
        ],
        "default addresses of api, graphql, faucet, admin, consensus and relay: {printed}"
    );
}

#[tokio::test]
async fn serves_admin_and_faucet_routes_only_on_their_own_listeners() {
    let node = TestNode::start(&[]);
    for path in non_public_paths() {
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH] {
            for prefix in ["", "/v1", "/v1/-", "/admin", "/faucet"] {
                let response =
                    send(&node, &method, &format!("{}{prefix}{path}", node.api), &[]).await;
                assert_eq!(
                    response.status, 404,
                    "{method} {prefix}{path}: {}",
                    response.text
                );
            }
        }
    }
    // Each listener has its own routes and not those of the other.
    let (admin, faucet) = (&node.admin, node.faucet.as_ref().unwrap());
    for (own, other, paths) in [
        (admin, faucet, admin_paths().collect()),
        (faucet, admin, FAUCET_ROUTES.map(str::to_owned).to_vec()),
    ] {
        for path in paths.into_iter().filter(|path| path != STREAM) {
            let own_response = send(&node, &Method::GET, &format!("{own}{path}"), &[]).await;
            assert!(
                [200, 405].contains(&own_response.status),
                "{path}: {}",
                own_response.text
            );
            let other_response = send(&node, &Method::GET, &format!("{other}{path}"), &[]).await;
            assert_eq!(
                other_response.status, 404,
                "{path}: {}",
                other_response.text
            );
        }
    }
}
