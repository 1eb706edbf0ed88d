//! Limits on processes, as containers have them. The node starts all threads before it is ready.

use ledger_test_support::node::{TestNode, until};
use rustix::process::geteuid;
use std::{
    fs,
    io::Write as _,
    os::unix::{self, process::CommandExt as _},
    path::Path,
    process::Command,
    sync::Arc,
};
use tempfile::TempDir;
use tokio::task::JoinSet;

/// A user and group other than root, which the limit does not bind: `nobody` on common systems.
const USER: u32 = 65_534;

/// Number of accounts in the genesis. The response with its transaction is larger than 256 KiB, so
/// that it is rendered on another thread than the HTTP worker.
const ACCOUNTS: usize = 1_000;

/// The path of a large response.
const LARGE: &str = "/v1/blocks/by_height/0?with_transactions=true";

/// The path of a response of more than 64 KiB, which is compressed on another thread than the HTTP
/// worker.
pub(crate) const COMPRESSED: &str = "/v1/accounts/0x1/modules";

/// Number of concurrent requests, more than the limit on concurrent large responses.
const CONCURRENT: usize = 24;

/// The option of prlimit(1) that prevents a process from starting threads.
const NO_FURTHER_THREADS: &str = "--nproc=0:0";

/// Returns prlimit(1) as the node's user, which may lower the limits of its own processes.
fn prlimit() -> Command {
    let mut command = Command::new("prlimit");
    command.arg(NO_FURTHER_THREADS);
    if geteuid().is_root() {
        command.uid(USER).gid(USER);
    }
    command
}

/// Returns whether this process may start others as [`USER`], which only root needs.
///
/// # Panics
///
/// Panics if it may not and the environment variable `CI` is set.
fn may_change_user() -> bool {
    let is_allowed =
        !geteuid().is_root() || Command::new("true").uid(USER).gid(USER).status().is_ok();
    let message = "not tested: root may not start a process as another user here, and limits on \
                   processes do not bind root";
    assert!(is_allowed || std::env::var_os("CI").is_none(), "{message}");
    if !is_allowed {
        // Directly to standard error, so that the message of a passed test is not captured.
        std::io::stderr()
            .write_all(format!("{message}\n").as_bytes())
            .unwrap();
    }
    is_allowed
}

/// Returns the command of a node that limits on processes bind, in a directory that its user owns.
fn bound_command(directory: &Path, settings: &[String]) -> Command {
    let command = TestNode::command(directory, settings);
    if !geteuid().is_root() {
        return command;
    }
    // Another user may not have access to the build directory.
    let program = directory.join("ledger-node");
    let built = command.get_program();
    if fs::hard_link(built, &program).is_err() {
        fs::copy(built, &program).unwrap();
    }
    unix::fs::chown(directory, Some(USER), Some(USER)).unwrap();
    let mut bound = Command::new(program);
    bound.args(command.get_args()).uid(USER).gid(USER);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => bound.env(name, value),
            None => bound.env_remove(name),
        };
    }
    bound
}

/// Starts a node that cannot start threads once it has served requests. Returns `None` without the
/// right to limit it.
pub(crate) async fn node_without_threads(
    directory: Arc<TempDir>,
    settings: Vec<String>,
) -> Option<TestNode> {
    if !may_change_user() {
        return None;
    }
    let command = bound_command(directory.path(), &settings);
    let node = TestNode::spawn(command, directory, settings);
    assert_eq!(node.get("/v1").await.status, 200);
    assert_eq!(
        node.http
            .get(&format!("{}/actors", node.admin))
            .await
            .status,
        200
    );
    let limited = prlimit()
        .arg("--pid")
        .arg(node.process_id().to_string())
        .status();
    assert!(limited.unwrap().success());
    Some(node)
}

/// Starts a node that cannot start threads and whose genesis transaction makes a large response.
async fn node_with_large_genesis() -> Option<TestNode> {
    let directory = Arc::new(TempDir::new().unwrap());
    let genesis = directory.path().join("genesis.toml");
    let accounts = (1..=ACCOUNTS)
        .map(|number| format!("[[accounts]]\naddress = \"0xabc{number:04}\"\nbalance = 1\n"));
    let text = format!("chain_id = 77\n{}", accounts.collect::<String>());
    fs::write(&genesis, text).unwrap();
    let settings = vec![format!("chain.genesis={}", genesis.display())];
    node_without_threads(directory, settings).await
}

/// Returns the status of a GET and the content coding of its response, or `None` without a
/// response.
async fn get(node: &TestNode, path: &str, accepted: &str) -> Option<(u16, Option<String>)> {
    let url = format!("{}{path}", node.api);
    let request = node.http.request(reqwest::Method::GET, &url);
    let response = node
        .http
        .try_send(request.header("accept-encoding", accepted))
        .await?;
    let coding = response.headers.get("content-encoding");
    let coding = coding.map(|value| value.to_str().unwrap().to_owned());
    Some((response.status, coding))
}

/// Returns the number of threads of the node.
fn thread_count(node: &TestNode) -> usize {
    let tasks = format!("/proc/{}/task", node.process_id());
    fs::read_dir(tasks).unwrap().count()
}

#[tokio::test]
async fn serves_large_responses_if_no_further_thread_can_be_started() {
    let Some(mut node) = node_with_large_genesis().await else {
        return;
    };
    let threads = thread_count(&node);
    assert_eq!(get(&node, LARGE, "identity").await, Some((200, None)));
    let zstd = Some("zstd".to_owned());
    assert_eq!(
        get(&node, COMPRESSED, "zstd").await,
        Some((200, zstd.clone()))
    );
    assert_eq!(get(&node, LARGE, "zstd").await, Some((200, zstd)));
    assert_eq!(
        get(&node, "/v1/spec", "gzip")
            .await
            .map(|response| response.0),
        Some(200)
    );
    assert_eq!(
        thread_count(&node),
        threads,
        "threads were started on demand"
    );
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves_or_rejects_many_large_responses_if_no_further_thread_can_be_started() {
    let Some(node) = node_with_large_genesis().await else {
        return;
    };
    let node = Arc::new(node);
    let mut requests = JoinSet::new();
    for number in 0..CONCURRENT {
        let node = Arc::clone(&node);
        // The paths differ, so that no response comes from the response cache.
        let path = format!("/v1/transactions?start=0&limit={}", number + 1);
        requests.spawn(async move { get(&node, &path, "zstd").await });
    }
    for response in requests.join_all().await {
        let (status, _) = response.expect("a response");
        assert!(matches!(status, 200 | 503), "{status}");
    }
    until("a large response after the many", || async {
        get(&node, LARGE, "identity")
            .await
            .filter(|response| response.0 == 200)
    })
    .await;
}

#[test]
fn fails_to_start_with_its_reason_if_no_thread_can_be_started() {
    if !may_change_user() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let inner = bound_command(directory.path(), &[]);
    let mut limited = prlimit();
    limited
        .arg("--")
        .arg(inner.get_program())
        .args(inner.get_args());
    let output = limited.output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.starts_with("ledger-node: "), "{message}");
    assert!(message.contains("limit on processes"), "{message}");
    assert!(!message.contains("panicked"), "{message}");
    assert!(
        !directory.path().join("data").exists(),
        "a data directory was created"
    );
}
