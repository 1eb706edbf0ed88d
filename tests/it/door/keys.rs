//! Where keys lie and how they come in: never among the arguments, never readable by others.

use super::file;
use crate::kit::{Account, TestNode, binary};
use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output, Stdio},
};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// `program` and its arguments in a shell that lets everyone do everything with new files.
fn with_open_umask(inner: &Command) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "umask 000; exec \"$@\"", "sh"]);
    command.arg(inner.get_program()).args(inner.get_args());
    command
}

/// `account transfer` with this key, which is to be refused; its words.
fn refused(key: &str, stdin: &str) -> String {
    let output = transfer("http://127.0.0.1:1", key, stdin, "0x77");
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

fn transfer(url: &str, key: &str, stdin: &str, to: &str) -> Output {
    let mut child = binary()
        .args(["account", "transfer", "--url", url, "--key", key, to, "5"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Who does not read it ends before it is written.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn a_key_file_is_its_owners_whatever_the_umask() {
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
fn a_new_data_directory_is_its_owners_whatever_the_umask() {
    let directory = tempfile::tempdir().unwrap();
    // It fails over the address, with the ledger made.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("admin.listen={}", taken.local_addr().unwrap());
    let command = TestNode::command(directory.path(), &[address]);
    let output = with_open_umask(&command).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(mode(&directory.path().join("data")), 0o700);
}

#[test]
fn a_key_is_no_argument() {
    let key = "0x".to_owned() + &"1f".repeat(32);
    for text in [key.clone(), key[2..].to_owned(), format!("ed25519-priv-{key}")] {
        let message = refused(&text, "");
        assert!(message.contains("standard input"), "{message}");
        assert!(!message.contains("1f1f"), "{message}");
    }
}

#[test]
fn a_key_file_that_others_can_read_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let text = "1f".repeat(32);
    for mode in [0o644, 0o640, 0o604] {
        let path = file(directory.path(), "key", &text, mode);
        let message = refused(path.to_str().unwrap(), "");
        assert!(message.contains("chmod 600"), "{message}");
        assert!(!message.contains("1f1f"), "{message}");
    }
    // What is no key is not repeated either: a digit may be missing.
    let cut = file(directory.path(), "cut", &text[1..], 0o600);
    for (key, stdin) in [(cut.to_str().unwrap(), ""), ("-", &text[1..]), (&text[1..], "")] {
        let message = refused(key, stdin);
        assert!(message.contains("--key takes"), "{message}");
        assert!(!message.contains("1f1f"), "{message}");
    }
}

#[tokio::test]
async fn a_key_comes_in_by_standard_input() {
    let node = TestNode::start(&[]);
    let alice = Account::from_seed(1);
    node.fund(&alice, 1_000_000_000).await;
    let bob = Account::from_seed(2).address;
    let key = hex::encode(alice.key.seed());
    let output = transfer(&node.api, "-", &format!("{key}\n"), &bob.to_string());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(node.balance(&bob).await, 5);
}
