//! `ledger-node cluster add-full-node`, and the admission of a peer that is running.

use super::kit::{Cluster, VALIDATORS};
use ledger_test_support::{
    http::HttpResponse,
    node::{TestNode, binary, until},
};
use reqwest::Method;
use serde_json::{Value, json};
use std::{fs, net::TcpListener, path::Path, process::Output, sync::Arc};
use tempfile::TempDir;

/// Runs the command with these arguments.
fn add_full_node(arguments: &[&str]) -> Output {
    let mut command = binary();
    command.args(["cluster", "add-full-node"]).args(arguments);
    command.output().unwrap()
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Starts the node in `directory` by its configuration, except for the ports of clients and
/// operators.
fn start_created(directory: &Path) -> TestNode {
    let ledger = Arc::new(TempDir::new().unwrap());
    let mut command = TestNode::command(ledger.path(), &[]);
    command
        .args(["--config", "node.toml"])
        .current_dir(directory);
    TestNode::spawn(command, ledger, Vec::new())
}

/// Returns a free address of this machine.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

async fn admit(node: &TestNode, entry: &Value) -> HttpResponse {
    let url = format!("{}/peers", node.admin);
    let request = node.http.request(Method::POST, &url).json(entry);
    node.http.try_send(request).await.unwrap()
}

async fn peers(node: &TestNode) -> Vec<Value> {
    let response = node.http.get(&format!("{}/peers", node.admin)).await;
    response.json["peers"].as_array().unwrap().clone()
}

#[actix_web::test]
async fn a_full_node_for_another_machine_is_admitted_without_a_restart() {
    let mut cluster = Cluster::start();
    let chain = cluster.node(0).chain().await;
    let first = cluster.transfer(&chain, 0, 0);
    cluster.commit(0, &first).await;
    let urls: Vec<_> = (0..VALIDATORS)
        .map(|index| cluster.node(index).admin.clone())
        .collect();
    let files = TempDir::new().unwrap();
    let dir = files.path().join("full");
    let genesis = cluster.directory().join("genesis.toml");
    let (address, relay) = (free_address(), free_address());
    let arguments = |urls: &[String]| {
        let mut arguments: Vec<String> = ["--address", &address, "--relay", &relay]
            .map(str::to_owned)
            .to_vec();
        for (option, path) in [("--dir", &dir), ("--genesis", &genesis)] {
            arguments.extend([option.to_owned(), path.display().to_string()]);
        }
        for url in urls {
            arguments.extend(["--admin".to_owned(), url.clone()]);
        }
        arguments
    };
    let run = |urls: &[String]| {
        let arguments = arguments(urls);
        add_full_node(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };

    let output = run(&urls[..1]);
    assert_eq!(output.status.code(), Some(1));
    assert!(message(&output).contains("name the admin listener of one more validator"));
    assert!(!dir.exists());

    let output = run(&urls);
    assert!(output.status.success(), "{output:?}");
    let node = start_created(&dir);
    let path = format!("/v1/transactions/by_hash/{}", first.hash(chain.vendor()));
    until("a transaction at the new node", || async {
        (node.get(&path).await.status == 200).then_some(())
    })
    .await;

    // The relays of the validators have admitted it too.
    let second = cluster.transfer(&chain, 0, 1);
    assert_eq!(node.submit_and_wait(&second).await["success"], true);

    // The entry is in the file, and the same entry again is no change.
    let entry = peers(cluster.node(0)).await.pop().unwrap();
    assert_eq!(entry["address"], Value::from(address.as_str()));
    let again = admit(cluster.node(0), &entry).await;
    assert_eq!((again.status, &again.json["is_new"]), (200, &json!(false)));
    assert_eq!(peers(cluster.node(0)).await.len(), VALIDATORS);

    // After a restart, the validators know it by their files.
    for index in 0..VALIDATORS {
        cluster.stop(index);
        cluster.start_node(index);
    }
    let third = cluster.transfer(&chain, 0, 2);
    cluster.commit(1, &third).await;
    let path = format!("/v1/transactions/by_hash/{}", third.hash(chain.vendor()));
    until("a later transaction at the new node", || async {
        (node.get(&path).await.status == 200).then_some(())
    })
    .await;
}

#[actix_web::test]
async fn only_a_full_node_of_its_own_identity_is_admitted_at_a_validator() {
    let cluster = Cluster::start_full(1, &[]);
    let (validator, full_node) = (cluster.node(0), cluster.node(VALIDATORS));
    let known = peers(validator).await;
    let identity = |index: usize| known[index]["identity"].clone();
    // Of the first validator, whose own identity only the others have.
    let own = peers(cluster.node(1)).await[0].clone();
    let stranger = "12D3KooWGC6wNSSUGc7Q4SZpyVHz6nBwFqGnGFyaQYjRzMUAMMoE";
    let entry = |identity: &Value| json!({"identity": identity, "address": "127.0.0.1:9"});
    for (node, entry, status, words) in [
        (
            validator,
            json!({"identity": "x", "address": "127.0.0.1:9"}),
            400,
            "no identity",
        ),
        (
            validator,
            json!({"identity": stranger, "address": "9"}),
            400,
            "no address",
        ),
        (
            validator,
            json!({"identity": stranger, "address": "127.0.0.1:9", "relay": "9"}),
            400,
            "no address of a relay",
        ),
        (
            validator,
            json!({"identity": stranger, "address": "127.0.0.1:9", "validator": "0x1"}),
            400,
            "only full nodes are admitted",
        ),
        (validator, entry(&identity(0)), 409, "another entry"),
        (validator, entry(&own["identity"]), 409, "that of this node"),
        (
            full_node,
            entry(&json!(stranger)),
            409,
            "this node is a full node",
        ),
    ] {
        let response = admit(node, &entry).await;
        assert_eq!(response.status, status, "{entry}: {}", response.text);
        assert!(response.text.contains(words), "{entry}: {}", response.text);
    }
    assert_eq!(peers(validator).await, known);
}

#[actix_web::test]
async fn a_directory_of_this_machine_gets_a_further_node() {
    let mut cluster = Cluster::start();
    cluster.stop(3);
    for index in 0..VALIDATORS {
        let path = cluster.keys(index).with_file_name("node.toml");
        let text = fs::read_to_string(&path).unwrap();
        // The admin listeners of this test have other ports than the files.
        let (before, section) = text.split_at(text.find("[admin]").unwrap());
        let old = section.split('"').nth(1).unwrap();
        let new = match index {
            3 => free_address(),
            _ => cluster.node(index).admin.replace("http://", ""),
        };
        let section = section.replacen(old, &new, 1);
        fs::write(&path, format!("{before}{section}")).unwrap();
    }
    let dir = cluster.directory();
    let output = add_full_node(&["--dir", dir.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("node-0 has admitted it"), "{printed}");
    assert!(
        printed.contains("node-3 admits it at its next start"),
        "{printed}"
    );
    let entry = peers(cluster.node(0)).await.pop().unwrap();
    let stopped = fs::read_to_string(cluster.keys(3).join("peers.toml")).unwrap();
    assert!(
        stopped.contains(entry["identity"].as_str().unwrap()),
        "{stopped}"
    );
    let own = fs::read_to_string(dir.join("node-4/full-node/peers.toml")).unwrap();
    assert_eq!(own.matches("[[peers]]").count(), VALIDATORS, "{own}");
    let output = add_full_node(&["--dir", dir.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    assert!(dir.join("node-5/node.toml").exists());
}
