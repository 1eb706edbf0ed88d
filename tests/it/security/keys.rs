//! Where keys lie and how they come in: never among the arguments, never readable by others.

use super::file;
use crate::kit::{TestAccount, TestNode, binary, until};
use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, tcgetattr},
};
use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _, process::ExitStatusExt as _},
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
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
    for text in [
        key.clone(),
        key[2..].to_owned(),
        format!("ed25519-priv-{key}"),
    ] {
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
    for (key, stdin) in [
        (cut.to_str().unwrap(), ""),
        ("-", &text[1..]),
        (&text[1..], ""),
    ] {
        let message = refused(key, stdin);
        assert!(message.contains("--key takes"), "{message}");
        assert!(!message.contains("1f1f"), "{message}");
    }
}

#[tokio::test]
async fn a_key_comes_in_by_standard_input() {
    let node = TestNode::start(&[]);
    let alice = TestAccount::from_seed(1);
    node.fund(&alice, 1_000_000_000).await;
    let bob = TestAccount::from_seed(2).address;
    let key = hex::encode(alice.key.seed());
    let output = transfer(&node.api, "-", &format!("{key}\n"), &bob.to_string());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(node.balance(&bob).await, 5);
}

/// `account transfer` with its standard input, output and error on a terminal of its own.
struct AtTerminal {
    child: Child,
    /// What is written here is typed, and what the terminal shows is read here.
    keyboard_and_screen: File,
    terminal: File,
}

impl AtTerminal {
    /// Begins a transfer that asks for its key, and waits until the terminal does not echo.
    async fn asking_for_a_key() -> Self {
        Self::asking_for_a_key_as(binary()).await
    }

    /// Begins a transfer by a command that runs the program with more arguments.
    async fn asking_for_a_key_as(mut program: Command) -> Self {
        let keyboard_and_screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard_and_screen).unwrap();
        unlockpt(&keyboard_and_screen).unwrap();
        let name = ptsname(&keyboard_and_screen, Vec::new()).unwrap();
        let path = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
        let terminal = File::options().read(true).write(true).open(path).unwrap();
        let end = || Stdio::from(terminal.try_clone().unwrap());
        let child = program
            .args(["account", "transfer", "--url", "http://127.0.0.1:1"])
            .args(["--key", "-", "0x77", "5"])
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        let this = Self {
            child,
            keyboard_and_screen: keyboard_and_screen.into(),
            terminal,
        };
        until("the echo to be off", || {
            let is_off = !this.echoes();
            async move { is_off.then_some(()) }
        })
        .await;
        this
    }

    fn echoes(&self) -> bool {
        tcgetattr(&self.terminal)
            .unwrap()
            .local_modes
            .contains(LocalModes::ECHO)
    }

    fn types(&mut self, keys: &str) {
        self.keyboard_and_screen.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the command has ended. Returns its status, whether the terminal echoes again, and what it shows.
    fn ended(mut self) -> (ExitStatus, bool, String) {
        let status = self.child.wait().unwrap();
        let echoes = self.echoes();
        drop(self.terminal);
        let mut shown = Vec::new();
        // Ends with an error of input and output, because nobody has the terminal open any more.
        let _ = self.keyboard_and_screen.read_to_end(&mut shown);
        (status, echoes, String::from_utf8(shown).unwrap())
    }
}

#[tokio::test]
async fn does_not_echo_a_key_that_is_typed() {
    let mut transfer = AtTerminal::asking_for_a_key().await;
    let key = "1f".repeat(32);
    transfer.types(&format!("{key}\n"));
    let (status, echoes, shown) = transfer.ended();
    // The key was read: the command goes on to ask the node, which is not there.
    assert_eq!(status.code(), Some(1), "{shown}");
    assert!(shown.starts_with("private key: "), "{shown}");
    assert!(
        shown.contains("no answer from http://127.0.0.1:1"),
        "{shown}"
    );
    assert!(!shown.contains("1f1f"), "{shown}");
    assert!(echoes, "{shown}");
}

#[tokio::test]
async fn takes_no_key_where_the_interrupt_is_ignored() {
    // As in the background of a shell.
    let mut program = Command::new("sh");
    program
        .args(["-c", "trap '' INT; exec \"$0\" \"$@\""])
        .arg(binary().get_program());
    let mut transfer = AtTerminal::asking_for_a_key_as(program).await;
    transfer.types("1f1f\x03");
    let (status, echoes, shown) = transfer.ended();
    assert_eq!(status.code(), Some(1), "{shown}");
    assert!(
        shown.contains("interrupted") && !shown.contains("1f1f"),
        "{shown}"
    );
    assert!(echoes, "{shown}");
}

#[tokio::test]
async fn echoes_again_after_an_interrupt() {
    let mut transfer = AtTerminal::asking_for_a_key().await;
    transfer.types("1f1f\x03");
    let (status, echoes, shown) = transfer.ended();
    // A process that was started with SIGINT ignored, as in the background of a shell, fails instead.
    let is_interrupted =
        status.signal() == Some(2) || (status.code() == Some(1) && shown.contains("interrupted"));
    assert!(is_interrupted, "{status}: {shown}");
    assert!(echoes, "{shown}");
    assert!(!shown.contains("1f1f"), "{shown}");
}
