//! The node under a service manager: notifications over `NOTIFY_SOCKET`, the watchdog, and the unit
//! of systemd in `config/systemd/`.

use ledger_test_support::node::{DiskOperation::Sync, SlowDisk, TestNode, binary, skip, until};
use reqwest::Method;
use std::{
    fs, io,
    net::TcpStream,
    os::unix::net::UnixDatagram,
    path::Path,
    process::Command,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};
use tempfile::TempDir;

/// Time of the watchdog of the nodes.
const WATCHDOG: Duration = Duration::from_secs(1);

/// Time within which a node without a stall feeds the watchdog, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Maximum size of a notification, in bytes.
const NOTIFICATION_BYTES_MAX: usize = 4096;

const FEED: &str = "WATCHDOG=1";

/// The socket of a service manager. A thread empties it, because a node whose manager does not read
/// would wait.
struct Manager {
    directory: TempDir,
    notifications: mpsc::Receiver<String>,
}

impl Manager {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let socket = UnixDatagram::bind(directory.path().join("notify")).unwrap();
        let (sender, notifications) = mpsc::channel();
        thread::spawn(move || {
            let mut buffer = [0; NOTIFICATION_BYTES_MAX];
            while let Ok(length) = socket.recv(&mut buffer) {
                let text = String::from_utf8(buffer[..length].to_vec()).unwrap();
                if sender.send(text).is_err() {
                    break;
                }
            }
        });
        Self {
            directory,
            notifications,
        }
    }

    /// Returns the command with the environment of a service.
    fn wrap(&self, mut command: Command) -> Command {
        command
            .env("NOTIFY_SOCKET", self.directory.path().join("notify"))
            .env("WATCHDOG_USEC", WATCHDOG.as_micros().to_string());
        command
    }

    /// Waits for a notification with this line, and returns it. Drops those before it.
    fn await_line(&self, line: &str) -> String {
        loop {
            let next = self.notifications.recv_timeout(PATIENCE);
            let text = next.unwrap_or_else(|_| panic!("no notification {line}"));
            if text.lines().any(|found| found == line) {
                return text;
            }
        }
    }

    /// Returns the notifications that have arrived.
    fn arrived(&self) -> Vec<String> {
        self.notifications.try_iter().collect()
    }
}

#[test]
fn announces_start_reload_and_stop_and_feeds_the_watchdog() {
    let manager = Manager::new();
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let command = manager.wrap(TestNode::command(directory.path(), &[]));
    let starting = thread::spawn(move || TestNode::spawn(command, directory, Vec::new()));

    let ready = manager.await_line("READY=1");
    let status = ready.lines().find_map(|line| line.strip_prefix("STATUS="));
    let api = status
        .unwrap()
        .split(' ')
        .find_map(|word| word.strip_prefix("api=http://"));
    TcpStream::connect(api.unwrap()).expect("it accepts connections");
    for _ in 0..3 {
        manager.await_line(FEED);
    }

    let mut node = starting.join().unwrap();
    node.signal("HUP");
    let reloading = manager.await_line("RELOADING=1");
    assert!(reloading.contains("\nMONOTONIC_USEC="), "{reloading}");
    manager.await_line("READY=1");

    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
    manager.await_line("STOPPING=1");
    assert_eq!(manager.arrived(), [""; 0], "nothing follows the stop");
}

#[test]
fn extends_the_time_for_a_start_that_takes_long() {
    let Some(disk) = SlowDisk::new() else { return };
    let manager = Manager::new();
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let command = disk.wrap(manager.wrap(TestNode::command(directory.path(), &[])));
    disk.hang(Sync, "/data/");
    let starting = thread::spawn(move || TestNode::spawn(command, directory, Vec::new()));
    for _ in 0..2 {
        let extended = manager.await_line("EXTEND_TIMEOUT_USEC=30000000");
        assert!(
            extended.contains("\nSTATUS=opening the ledger: "),
            "{extended}"
        );
    }
    disk.release(Sync);
    manager.await_line("READY=1");
    drop(starting.join().unwrap());
}

#[tokio::test]
async fn feeds_no_watchdog_while_a_thread_is_stalled() {
    let Some(disk) = SlowDisk::new() else { return };
    let manager = Manager::new();
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let settings = vec!["process.stall_secs=1".to_owned()];
    let command = disk.wrap(manager.wrap(TestNode::command(directory.path(), &settings)));
    let node = TestNode::spawn(command, directory, settings);
    manager.await_line(FEED);

    disk.hang_in("store-writer", Sync, "/data/ledger.");
    let faucet = format!(
        "{}/mint?address=0x77&amount=5",
        node.faucet.as_ref().unwrap()
    );
    let http = node.http.clone();
    let payment = tokio::spawn(async move {
        let request = http.request(Method::POST, &faucet);
        http.try_send(request).await
    });
    let livez = format!("{}/livez", node.admin);
    until("the stall", || async {
        (node.http.get(&livez).await.status == 503).then_some(())
    })
    .await;
    let (code, message) = health(&node);
    assert_eq!(code, Some(1), "{message}");
    assert!(message.ends_with("503: commits\n"), "{message}");
    manager.arrived();
    // Four feeds would fall into it.
    let feed = manager.notifications.recv_timeout(WATCHDOG);
    assert_eq!(feed, Err(mpsc::RecvTimeoutError::Timeout));

    disk.release(Sync);
    manager.await_line(FEED);
    assert_eq!(payment.await.unwrap().unwrap().status, 200);
    let ready = until("a healthy node", || async {
        Some(health(&node)).filter(|(code, _)| *code == Some(0))
    });
    assert_eq!(ready.await.1, "ok\n");
}

/// Returns the exit code and the output of `ledger-node health`.
fn health(node: &TestNode) -> (Option<i32>, String) {
    let mut command = binary();
    let output = command.args(["health", "--url", &node.admin]).output();
    let output = output.unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

/// Returns the output of `systemd-analyze` with these arguments, which must succeed.
///
/// Prints that the test is skipped, and returns `None`, without the program.
fn systemd_analyze(arguments: &[&str]) -> Option<String> {
    let output = match Command::new("systemd-analyze").args(arguments).output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return skip("needs systemd-analyze");
        }
        output => output.unwrap(),
    };
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    assert!(output.status.success(), "{text}");
    Some(text)
}

#[test]
fn the_unit_passes_the_checks_of_systemd() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/systemd/ledger-node.service");
    let text = fs::read_to_string(file).unwrap();
    // The program of the package may not be installed here.
    let program = binary().get_program().to_str().unwrap().to_owned();
    let directory = tempfile::tempdir().unwrap();
    let unit = directory.path().join("ledger-node.service");
    fs::write(&unit, text.replace("/usr/bin/ledger-node", &program)).unwrap();
    let unit = unit.to_str().unwrap();

    let Some(printed) = systemd_analyze(&["verify", "--man=no", unit]) else {
        return;
    };
    assert_eq!(printed, "");
    // The threshold is in tenths: an exposure of 2.0 is rejected, too.
    let exposure = ["security", "--offline=true", "--threshold=19", unit];
    systemd_analyze(&exposure);
}
