//! `ledger-node cluster status`.

use super::kit::{Cluster, VALIDATORS};
use ledger_test_support::node::{binary, until};
use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Output};

/// Runs the command with these arguments.
fn status(arguments: &[&str]) -> Output {
    let mut command = binary();
    command.args(["cluster", "status"]).args(arguments);
    command.output().unwrap()
}

/// Runs the command for the admin listeners of all validators.
fn status_of(urls: &[String], token_file: &Path) -> Output {
    let mut arguments = vec!["--token-file", token_file.to_str().unwrap()];
    for url in urls {
        arguments.extend(["--admin", url]);
    }
    status(&arguments)
}

/// Returns the cells of the row that begins with `name`.
fn row(output: &Output, name: &str) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| line.starts_with(name));
    let line = line.unwrap_or_else(|| panic!("no {name} in {text}"));
    line.split("  ")
        .map(|cell| cell.trim().to_owned())
        .filter(|cell| !cell.is_empty())
        .collect()
}

#[actix_web::test]
async fn shows_how_far_each_node_is_and_which_validator_is_silent() {
    let files = tempfile::tempdir().unwrap();
    let token_file = files.path().join("token");
    fs::write(&token_file, "a-token-of-the-test").unwrap();
    fs::set_permissions(&token_file, fs::Permissions::from_mode(0o600)).unwrap();
    let setting = format!("admin.token_file={}", token_file.display());
    let mut cluster = Cluster::start_with(&[&setting]);
    let chain = cluster.node(0).chain().await;
    cluster.commit(0, &cluster.transfer(&chain, 0, 0)).await;
    let urls: Vec<_> = (0..VALIDATORS)
        .map(|index| cluster.node(index).admin.clone())
        .collect();

    let output = until("all in contact", || async {
        let output = status_of(&urls, &token_file);
        let text = String::from_utf8_lossy(&output.stdout);
        (output.status.success() && text.matches("3 of 3").count() == 2 * VALIDATORS)
            .then_some(output)
    })
    .await;
    for url in &urls {
        assert_eq!(row(&output, url)[2], "votes");
    }
    let unauthorized = status(&["--admin", &urls[0]]);
    assert_eq!(unauthorized.status.code(), Some(1));
    let message = String::from_utf8_lossy(&unauthorized.stderr);
    assert!(message.contains("admin.token_file"), "{message}");

    cluster.kill(3);
    let output = until("a silent validator", || async {
        let output = status_of(&urls, &token_file);
        let text = String::from_utf8_lossy(&output.stdout);
        text.contains("0 of 3").then_some(output)
    })
    .await;
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(row(&output, &urls[3])[1], "unknown");
    assert_eq!(row(&output, &urls[0])[2], "votes", "three are a quorum");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains(&urls[3]), "{message}");

    cluster.node(2).signal("STOP");
    let output = status_of(&urls, &token_file);
    cluster.node(2).signal("CONT");
    assert_eq!(row(&output, &urls[2])[1], "unknown");
    let message = String::from_utf8_lossy(&output.stderr);
    let hangs = format!("{}: no response within 5 s", urls[2]);
    assert!(message.contains(&hangs), "{message}");
}

#[actix_web::test]
async fn finds_the_nodes_of_a_directory() {
    let cluster = Cluster::start_full(1, &[]);
    for index in 0..=VALIDATORS {
        let path = cluster.keys(index).with_file_name("node.toml");
        let text = fs::read_to_string(&path).unwrap();
        let begin = text.find("[admin]").unwrap();
        let (before, section) = text.split_at(begin);
        let old = section.split('"').nth(1).unwrap();
        let new = cluster.node(index).admin.strip_prefix("http://").unwrap();
        let section = section.replacen(old, new, 1);
        fs::write(&path, format!("{before}{section}")).unwrap();
    }
    let dir = cluster.directory();
    let output = until("all in contact", || async {
        let output = status(&["--dir", dir.to_str().unwrap()]);
        output.status.success().then_some(output)
    })
    .await;
    assert_eq!(row(&output, "node-4")[1..3], ["full node", "follows"]);
    for index in 0..VALIDATORS {
        let cells = row(&output, &format!("node-{index}"));
        assert_eq!(cells[2], "votes", "{cells:?}");
    }
}
