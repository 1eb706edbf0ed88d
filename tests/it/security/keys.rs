//! Private keys: how commands read them, and who can read their files.

use super::file;
use crate::pty::TerminalCommand;
use ledger_test_support::{
    TestAccount,
    node::{TestNode, binary, until},
};
use std::{
    fs,
    io::Write as _,
    os::unix::{fs::PermissionsExt as _, process::ExitStatusExt as _},
    path::Path,
    process::{Command, Output, Stdio},
};

/// Returns the permissions of a file.
fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Returns the command `inner` in a shell with a umask of 0, which permits everything to everyone.
fn with_open_umask(inner: &Command) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "umask 000; exec \"$@\"", "sh"]);
    command.arg(inner.get_program()).args(inner.get_args());
    command
}

/// Runs `account transfer` with a key that must be rejected. Returns its message.
fn rejected_key(key: &str, stdin: &str) -> String {
    let output = transfer("http://127.0.0.1:1", key, stdin, "0x77");
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

/// Runs `account transfer` with this key and standard input.
fn transfer(url: &str, key: &str, stdin: &str, to: &str) -> Output {
    let mut child = binary()
        .args(["account", "transfer", "--url", url, "--key", key, to, "5"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input may end before the write, which then fails.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn creates_a_key_file_that_only_its_owner_can_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("alice.key");
    let mut new = binary();
    new.args(["account", "new", "--out"]).arg(&path);
    let output = with_open_umask(&new).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(mode(&path), 0o600);
    let key = fs::read_to_string(&path).unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        !printed.contains(key.trim().trim_start_matches("0x")),
        "{printed}"
    );
}

#[test]
fn creates_a_data_directory_that_only_its_owner_can_read() {
    let directory = tempfile::tempdir().unwrap();
    let settings = TestNode::settings_of_a_late_failure();
    let command = TestNode::command(directory.path(), &settings);
    let output = with_open_umask(&command).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(mode(&directory.path().join("data")), 0o700);
}

#[test]
fn rejects_a_key_as_an_argument() {
    let key = "0x".to_owned() + &"1f".repeat(32);
    for text in [
        key.clone(),
        key[2..].to_owned(),
        format!("ed25519-priv-{key}"),
    ] {
        let message = rejected_key(&text, "");
        assert!(message.contains("standard input"), "{message}");
        assert!(!message.contains("1f1f"), "{message}");
    }
}

#[test]
fn rejects_a_key_file_that_others_can_read() {
    let directory = tempfile::tempdir().unwrap();
    let text = "1f".repeat(32);
    for mode in [0o644, 0o640, 0o604] {
        let path = file(directory.path(), "key", &text, mode);
        let message = rejected_key(path.to_str().unwrap(), "");
        assert!(message.contains("chmod 600"), "{message}");
        assert!(!message.contains("1f1f"), "{message}");
    }
    // An invalid key is not repeated in the message either: it may lack only a digit.
    let cut = file(directory.path(), "cut", &text[1..], 0o600);
    for (key, stdin) in [
        (cut.to_str().unwrap(), ""),
        ("-", &text[1..]),
        (&text[1..], ""),
    ] {
        let message = rejected_key(key, stdin);
        assert!(message.contains("--key takes"), "{message}");
        assert!(!message.contains("1f1f"), "{message}");
    }
}

#[tokio::test]
async fn reads_a_key_from_standard_input() {
    let node = TestNode::start(&[]);
    let alice = TestAccount::from_seed(1);
    node.fund(&alice, 1_000_000_000).await;
    let bob = TestAccount::from_seed(2).address;
    let key = hex::encode(alice.key.seed());
    let output = transfer(&node.api, "-", &format!("{key}\n"), &bob.to_string());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    assert_eq!(node.balance(&bob).await, 5);
}

/// Starts a transfer that prompts for its key, and waits until the terminal does not echo.
async fn transfer_prompting_for_a_key(mut program: Command) -> TerminalCommand {
    program
        .args(["account", "transfer", "--url", "http://127.0.0.1:1"])
        .args(["--key", "-", "0x77", "5"]);
    let transfer = TerminalCommand::start(program);
    until("the echo to be off", || {
        let is_off = !transfer.echoes();
        async move { is_off.then_some(()) }
    })
    .await;
    transfer
}

#[tokio::test]
async fn does_not_echo_a_key_that_is_typed() {
    let mut transfer = transfer_prompting_for_a_key(binary()).await;
    let key = "1f".repeat(32);
    transfer.type_keys(&format!("{key}\n"));
    let (status, echoes, output) = transfer.ended();
    // The key was read: the command then sends a request to the node, which does not exist.
    assert_eq!(status.code(), Some(1), "{output}");
    assert!(output.starts_with("private key: "), "{output}");
    assert!(
        output.contains("no response from http://127.0.0.1:1"),
        "{output}"
    );
    assert!(!output.contains("1f1f"), "{output}");
    assert!(echoes, "{output}");
}

#[tokio::test]
async fn reads_no_key_while_the_interrupt_is_ignored() {
    // A shell ignores the interrupt in background commands.
    let mut program = Command::new("sh");
    program
        .args(["-c", "trap '' INT; exec \"$0\" \"$@\""])
        .arg(binary().get_program());
    let mut transfer = transfer_prompting_for_a_key(program).await;
    transfer.type_keys("1f1f\x03");
    let (status, echoes, output) = transfer.ended();
    assert_eq!(status.code(), Some(1), "{output}");
    assert!(
        output.contains("interrupted") && !output.contains("1f1f"),
        "{output}"
    );
    assert!(echoes, "{output}");
}

#[tokio::test]
async fn echoes_again_after_an_interrupt() {
    let mut transfer = transfer_prompting_for_a_key(binary()).await;
    transfer.type_keys("1f1f\x03");
    let (status, echoes, output) = transfer.ended();
    // A process that was started with SIGINT ignored, as in the background of a shell, fails.
    let is_interrupted =
        status.signal() == Some(2) || (status.code() == Some(1) && output.contains("interrupted"));
    assert!(is_interrupted, "{status}: {output}");
    assert!(echoes, "{output}");
    assert!(!output.contains("1f1f"), "{output}");
}
