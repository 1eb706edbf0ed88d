//! `ledger-node top`: the stages of a node in a terminal, and printed without one.

use super::loads::{long_call, submitters};
use crate::{pty::TerminalCommand, security::file};
use ledger_test_support::{
    TestAccount,
    node::{TestNode, binary, until},
};
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Command, Output};

/// The sequences that begin and end the alternate screen, and that show the cursor.
const BEGIN: &str = "\x1b[?1049h";
const END: &str = "\x1b[?1049l";
const SHOW_CURSOR: &str = "\x1b[?25h";

/// Returns the command that shows the stages of a node.
fn top(admin: &str) -> Command {
    let mut command = binary();
    command.args(["top", "--url", admin]);
    command
}

/// Waits until a command has written a text to its terminal.
async fn until_written(top: &TerminalCommand, text: &str) {
    until(text, || async { top.output().contains(text).then_some(()) }).await;
}

/// Checks that a command ends with success, and leaves the terminal as it was.
fn check_end(top: TerminalCommand) {
    let (status, is_restored, output) = top.ended();
    assert_eq!(status.code(), Some(0), "{output}");
    assert!(is_restored, "{output}");
    let (_, after) = output.rsplit_once(END).unwrap();
    assert!(after.contains(SHOW_CURSOR), "{output}");
    assert_eq!(output.matches(BEGIN).count(), 1, "{output}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn marks_the_limiting_stage_until_a_key_ends_it() {
    let node = TestNode::start(&["mempool.capacity_per_account=10"]);
    let mut top = TerminalCommand::start(top(&node.admin));
    until_written(&top, "store-writer").await;
    let clients = submitters(&node, TestAccount::from_seed, long_call).await;
    until_written(&top, "> executor").await;
    drop(clients);
    top.type_keys("q");
    check_end(top);
}

#[tokio::test]
async fn stays_when_the_node_stops_until_a_signal_ends_it() {
    let mut node = TestNode::start(&[]);
    let top = TerminalCommand::start(top(&node.admin));
    until_written(&top, "store-writer").await;
    assert!(node.stop("TERM").success());
    until_written(&top, "--url").await;
    kill_process(Pid::from_child(&top.child), Signal::TERM).unwrap();
    check_end(top);
}

/// Runs the command without a terminal.
fn printed(admin: &str, options: &[&str]) -> Output {
    top(admin).args(options).output().unwrap()
}

fn message(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[tokio::test]
async fn prints_one_snapshot_without_a_terminal() {
    let directory = tempfile::tempdir().unwrap();
    let token = file(directory.path(), "token", "0123456789abcdef", 0o600);
    let token = token.to_str().unwrap();
    let node = TestNode::start(&[&format!("admin.token_file={token}")]);
    let output = printed(&node.admin, &["--token-file", token]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(!text.contains('\x1b'), "{text}");
    let sentence = "limit: no stage is at its limit: clients send 0 transactions per second";
    assert!(text.contains(sentence), "{text}");
    for stage in ["http", "executor", "waits", "pruner"] {
        let is_row = |line: &str| line.split_whitespace().next() == Some(stage);
        assert!(text.lines().any(is_row), "{stage}: {text}");
    }
    assert!(text.contains("actors.committer.mailbox_capacity"), "{text}");

    let unauthorized = message(&printed(&node.admin, &[]));
    assert!(unauthorized.contains("--token-file"), "{unauthorized}");
    let other = message(&printed(&node.api, &["--once"]));
    assert!(other.contains("not an admin listener"), "{other}");
    let none = message(&printed("http://127.0.0.1:1", &[]));
    assert!(none.contains("start the node"), "{none}");
}
