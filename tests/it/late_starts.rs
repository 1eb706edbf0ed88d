//! Starts that fail after the mempool was restored.
//!
//! Its transactions are pending after the next start.
//!
//! Limits on threads do not bind root, so that their test runs its nodes as another user. Without
//! the right to do that the test prints so and passes, and fails if `CI` is set.

use ledger_crypto::HashValue;
use ledger_test_support::{
    TestAccount,
    node::{TestNode, until, within_patience},
};
use std::{
    fs::{self, File},
    io::Write as _,
    os::unix::{fs::chown, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    sync::Arc,
};
use tempfile::TempDir;
use tokio::net::TcpStream;

/// Number of pending transactions in the mempool.
const TRANSACTIONS: u64 = 20;
/// Settings that fix the number of threads, and so the limits that a start needs.
const THREADS: [&str; 2] = ["api.workers=2", "signatures.threads=2"];

/// An unprivileged user, and a copy of the binary that it can execute.
struct User {
    id: u32,
    program: PathBuf,
}

/// A directory with the ledger and the saved mempool of a stopped node.
struct Saved {
    directory: Arc<TempDir>,
    settings: Vec<String>,
    hashes: Vec<HashValue>,
    user: Option<User>,
}

impl Saved {
    /// Stops a node whose mempool has [`TRANSACTIONS`] transactions that wait for a predecessor.
    async fn new(user: Option<User>) -> Self {
        let mut saved = Self {
            directory: Arc::new(tempfile::tempdir().unwrap()),
            settings: THREADS.map(str::to_owned).to_vec(),
            hashes: Vec::new(),
            user,
        };
        if let Some(user) = &saved.user {
            chown(saved.directory.path(), Some(user.id), Some(user.id)).unwrap();
        }
        let mut node = saved.spawn(saved.command()).unwrap();
        let account = TestAccount::from_seed(1);
        node.fund(&account, 1_000_000_000).await;
        let chain = node.chain().await;
        for sequence_number in 1..=TRANSACTIONS {
            let transaction = account.transfer(&chain, sequence_number, account.address, 1);
            saved.hashes.push(node.submit(&transaction).await);
        }
        assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
        saved
    }

    /// Returns the command of a node in the directory.
    fn command(&self) -> Command {
        let inner = TestNode::command(self.directory.path(), &self.settings);
        match &self.user {
            None => inner,
            Some(user) => TestNode::with_program(&user.program, &inner),
        }
    }

    /// Starts a node by a command, as the user. Returns its exit status if it ends before it is
    /// ready.
    fn spawn(&self, mut command: Command) -> Result<TestNode, ExitStatus> {
        if let Some(user) = &self.user {
            command.uid(user.id).gid(user.id);
        }
        TestNode::try_spawn(command, Arc::clone(&self.directory), self.settings.clone())
    }

    /// Starts a node by a command, and stops it if it becomes ready. Returns whether it did.
    ///
    /// # Panics
    ///
    /// Panics if a transaction is lost, or if the exit status is not 1 for a failed start and 0 for
    /// a stop.
    async fn try_start(&self, command: Command, limit: &str) -> bool {
        let started = self.spawn(command);
        let (is_ready, status) = match started {
            Ok(mut node) => (true, node.stop("TERM")),
            Err(status) => (false, status),
        };
        let log = self.log();
        self.check(limit).await;
        assert_eq!(
            status.code(),
            Some(i32::from(!is_ready)),
            "under {limit}: {log}"
        );
        is_ready
    }

    /// Returns the log of all nodes in the directory.
    fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("node.err")).unwrap_or_default()
    }

    /// Checks that all transactions are pending after a start without limits, and stops the node.
    async fn check(&self, after: &str) {
        let mut node = self.spawn(self.command()).unwrap();
        for hash in &self.hashes {
            let found = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
            assert_eq!(
                found.json["type"], "pending_transaction",
                "after {after}: {}",
                found.text
            );
        }
        assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
    }

    /// Starts the node under limits, each a name and a command, in ascending order.
    ///
    /// The first start must fail and the last one succeed. No start may lose a transaction or
    /// panic.
    async fn check_starts(&self, starts: impl Iterator<Item = (String, Command)>) {
        let mut outcomes = Vec::new();
        for (limit, command) in starts {
            outcomes.push(self.try_start(command, &limit).await);
        }
        assert!(
            outcomes.contains(&false) && outcomes.contains(&true),
            "{outcomes:?}"
        );
        assert!(
            outcomes.is_sorted(),
            "a start under a higher limit failed: {outcomes:?}"
        );
        assert!(!self.log().contains("panicked"), "{}", self.log());
        self.check_executed().await;
    }

    /// Checks that the transactions are executed after their predecessor.
    async fn check_executed(&self) {
        let node = self.spawn(self.command()).unwrap();
        let account = TestAccount::from_seed(1);
        let first = account.transfer(&node.chain().await, 0, account.address, 1);
        node.submit_and_wait(&first).await;
        for hash in &self.hashes {
            assert_eq!(node.try_wait(hash).await.unwrap()["success"], true);
        }
    }
}

#[tokio::test]
async fn keeps_the_mempool_if_standard_output_is_full() {
    let saved = Saved::new(None).await;
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let output = saved.command().stdout(full()).output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    saved.check("a start without standard output").await;
    assert_eq!(output.status.code(), Some(1), "{log}");
    let last = log.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("ledger-node: standard output cannot be written"),
        "{log}"
    );

    // The second start cannot print its error either.
    let status = saved
        .command()
        .stdout(full())
        .stderr(full())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(1));
    saved
        .check("a start without standard output and standard error")
        .await;
    saved.check_executed().await;
}

#[tokio::test]
async fn keeps_the_mempool_if_descriptors_run_out() {
    let saved = Saved::new(None).await;
    let starts = (16..=136).step_by(8).map(|open_files_max| {
        let limit = format!("-n {open_files_max}");
        let command = TestNode::limited(&limit, &saved.command());
        (limit, command)
    });
    saved.check_starts(starts).await;
}

/// Returns a user that no process runs as, or `None` without the right to run processes as others.
fn other_user(directory: &Path) -> Option<User> {
    // Above the identifiers of a system's users, and below the end of the range that containers
    // map.
    let id = 20_000 + std::process::id() % 40_000;
    let program = directory.join("ledger-node");
    let binary = ledger_test_support::node::binary();
    fs::copy(binary.get_program(), &program).unwrap();
    chown(directory, Some(id), Some(id)).unwrap_or_default();
    let version = Command::new("prlimit")
        .arg("--nproc=64:64")
        .arg(&program)
        .arg("--version")
        .uid(id)
        .gid(id)
        .output();
    match version {
        Ok(output) if output.status.success() => Some(User { id, program }),
        failed => {
            let words = format!(
                "skipped: needs prlimit, and the right to run it as another user: {failed:?}\n"
            );
            assert!(std::env::var_os("CI").is_none(), "{words}");
            // Directly to standard error, because the captured output is printed only if the test
            // fails.
            std::io::stderr().write_all(words.as_bytes()).unwrap();
            None
        }
    }
}

#[tokio::test]
async fn keeps_the_mempool_if_threads_run_out() {
    let home = tempfile::tempdir().unwrap();
    let Some(user) = other_user(home.path()) else {
        return;
    };
    let saved = Saved::new(Some(user)).await;
    let starts = (2..=26).step_by(2).map(|threads_max| {
        let limit = format!("--nproc={threads_max}:{threads_max}");
        let command = TestNode::wrapped(&["prlimit", &limit], &saved.command());
        (limit, command)
    });
    saved.check_starts(starts).await;
}

/// Returns the number of field `name` in the only warning of a log.
fn number_in_warning(log: &str, name: &str) -> usize {
    let warnings: Vec<_> = log
        .lines()
        .filter(|line| line.contains("api.max_connections is lowered"))
        .collect();
    assert_eq!(warnings.len(), 1, "{log}");
    let (_, rest) = warnings[0].split_once(&format!("{name}=")).unwrap();
    rest.split(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn serves_admin_and_faucet_while_all_api_connections_are_taken() {
    const CONFIGURED: usize = 1_000;
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let settings: Vec<_> = [
        "api.workers=2",
        "api.max_connections=1000",
        // Connections without a request stay open for the duration of the test.
        "api.client_request_timeout_ms=600000",
        "api.keep_alive_secs=3600",
    ]
    .map(str::to_owned)
    .to_vec();
    let command = TestNode::limited("-n 300", &TestNode::command(directory.path(), &settings));
    let mut node = TestNode::spawn(command, directory, settings);
    assert_eq!(number_in_warning(&node.log(), "configured"), CONFIGURED);
    let allowed = number_in_warning(&node.log(), "allowed");
    assert!((50..300).contains(&allowed), "{allowed}");

    let address = node.api.strip_prefix("http://").unwrap().to_owned();
    let mut held = Vec::new();
    for _ in 0..CONFIGURED / 2 {
        held.push(TcpStream::connect(&address).await.unwrap());
    }
    let connections = async || {
        let response = node.http.get(&format!("{}/connections", node.admin)).await;
        assert_eq!(response.status, 200, "{}", response.text);
        let mut listeners = response.json.as_array().unwrap().iter();
        let api = listeners
            .find(|listener| listener["listener"] == "api")
            .unwrap();
        usize::try_from(api["open"].as_u64().unwrap()).unwrap()
    };
    within_patience("responses of the faucet and the admin listener", async {
        until("the connections of the API to be taken", || async {
            (connections().await >= allowed).then_some(())
        })
        .await;
        for number in 1..=3 {
            let account = TestAccount::from_seed(number);
            node.fund(&account, 1_000).await;
            let metrics = node.http.get(&format!("{}/metrics", node.admin)).await;
            assert_eq!(metrics.status, 200, "{}", metrics.text);
        }
        assert!(connections().await >= allowed);
    })
    .await;
    drop(held);
    assert_eq!(
        node.balance(&TestAccount::from_seed(3).address).await,
        1_000
    );
    assert!(
        !node.log().contains("Too many open files"),
        "{}",
        node.log()
    );
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
}
