//! A ledger in memory: no file, its clock and accounts, and its end with the process that holds its
//! standard input.

use ledger_test_support::{
    TestAccount,
    node::{TestNode, binary},
};
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    fs,
    io::PipeWriter,
    process::{Command, Stdio},
    sync::Arc,
};
use tempfile::TempDir;

/// Unix time in seconds at which the chain of a test starts, years before the system's.
const START_SECS: u64 = 1_600_000_000;
/// Maximum time for which the start of such a node may take, in seconds.
const START_MAX_SECS: u64 = 300;

/// Returns a new directory, and the command that starts a node in memory there.
fn in_memory(arguments: &[&str], settings: &[&str]) -> (Arc<TempDir>, Command) {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let mut command = binary();
    command.args(arguments).current_dir(directory.path());
    let ports = ["api", "faucet", "admin"].map(|name| format!("{name}.listen=127.0.0.1:0"));
    let settings = settings.iter().map(|&setting| setting.to_owned());
    for setting in ports.into_iter().chain(settings) {
        command.args(["--set", &setting]);
    }
    (directory, command)
}

/// Starts a node in memory.
fn start(settings: &[&str]) -> TestNode {
    let (directory, command) = in_memory(&["run", "--in-memory"], settings);
    TestNode::spawn(command, directory, Vec::new())
}

/// Returns the message of a start that ends with exit code 2.
fn rejection(arguments: &[&str], settings: &[&str]) -> String {
    let (_directory, mut command) = in_memory(arguments, settings);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    text
}

/// Commits a transfer, and returns it.
async fn transfer(node: &TestNode, expiration_secs: u64) -> Value {
    let [alice, bob] = [1, 2].map(TestAccount::from_seed);
    node.fund(&alice, 1_000_000_000).await;
    let chain = node.chain().await;
    let transfer =
        ledger_test_support::TransactionBuilder::transfer(&chain, alice.address, bob.address, 5);
    let transfer = transfer.sequence_number(0).expiration_secs(expiration_secs);
    node.submit_and_wait(&transfer.sign(&alice)).await
}

#[tokio::test]
async fn writes_no_file() {
    let mut node = start(&[]);
    let committed = transfer(&node, ledger_test_support::FAR_FUTURE_SECS).await;
    assert_eq!(committed["success"], true, "{committed}");
    let admin = |path: &str| format!("{}{path}", node.admin);
    let storage = node.http.get(&admin("/storage")).await;
    assert_eq!(storage.status, 200, "{}", storage.text);
    assert_eq!(storage.json["file_bytes"], Value::Null);
    assert_eq!(storage.json["limit_bytes"], 1024 * 1024 * 1024);
    let metrics = node.http.get(&admin("/metrics")).await;
    assert!(!metrics.text.contains("ledger_store_file_bytes"));
    let console = node.http.get(&admin("/console/health")).await;
    assert!(console.text.contains("the ledger is in memory"));
    let recording = node.http.request(Method::POST, &admin("/flight"));
    let recording = node.http.try_send(recording).await.unwrap();
    assert_eq!(recording.status, 409, "{}", recording.text);
    let keep = json!({ "keys": ["wait.timeout_ms"] });
    let keep_url = admin("/settings/keep");
    let kept = node.http.send_json(Method::POST, &keep_url, &keep).await;
    assert_eq!(kept.status, 409, "{}", kept.text);
    assert!(node.stop("TERM").success());
    let files = fs::read_dir(node.directory()).unwrap();
    let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names, ["node.err"], "only the log that the test reads");
}

#[tokio::test]
async fn starts_at_the_chosen_time_with_the_chosen_accounts() {
    let node = start(&[
        &format!("chain.start_secs={START_SECS}"),
        "chain.accounts=7",
    ]);
    let accounts = node
        .greeting
        .iter()
        .filter(|line| line.contains("account 0x"));
    assert_eq!(accounts.count(), 7, "{:?}", node.greeting);
    let committed = transfer(&node, START_SECS + START_MAX_SECS).await;
    let usecs: u64 = committed["timestamp"].as_str().unwrap().parse().unwrap();
    let since_start = (usecs / 1_000_000).checked_sub(START_SECS);
    assert!(
        since_start.is_some_and(|secs| secs < START_MAX_SECS),
        "{usecs}"
    );
}

/// Starts a node that ends when its standard input is closed, and returns it with the other end.
fn start_with_input() -> (TestNode, PipeWriter) {
    let arguments = ["run", "--in-memory", "--until-stdin-closes"];
    let (directory, mut command) = in_memory(&arguments, &[]);
    let (input, held) = std::io::pipe().unwrap();
    command.stdin(Stdio::from(input));
    (TestNode::spawn(command, directory, Vec::new()), held)
}

#[cfg(target_os = "linux")]
#[test]
fn all_threads_have_one_scheduling_policy_while_standard_input_is_watched() {
    let (node, _held) = start_with_input();
    let policies = node.scheduling_policies();
    assert!(policies.len() > 5, "{policies:?}");
    assert!(
        policies.iter().all(|policy| *policy == policies[0]),
        "{policies:?}"
    );
}

#[tokio::test]
async fn ends_when_its_standard_input_is_closed() {
    let (mut node, held) = start_with_input();
    assert_eq!(node.try_ended(), None);
    // The system closes it too if the process that holds it is killed.
    drop(held);
    assert!(node.ended_within_patience().await.success());
}

#[test]
fn rejects_settings_that_contradict_a_ledger_in_memory() {
    let run = &["run", "--in-memory"];
    for (arguments, settings, part) in [
        (
            &run[..],
            &["storage.data_dir=elsewhere"][..],
            "storage.data_dir is set",
        ),
        (&["run"], &["chain.start_secs=5"], "chain.start_secs is set"),
        (
            &["--data-dir", "elsewhere", "run", "--in-memory"],
            &[],
            "storage.data_dir is set",
        ),
        (
            &["compact", "--in-memory"],
            &[],
            "only a ledger in a directory",
        ),
        (
            &["verify", "--in-memory"],
            &[],
            "only a ledger in a directory",
        ),
    ] {
        let message = rejection(arguments, settings);
        assert!(message.contains(part), "{part:?} is not in {message}");
    }
}
