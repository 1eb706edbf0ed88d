//! Limits on processes, as containers have them: all threads exist before the node is ready.

use crate::kit::{TestNode, until};
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

/// A user and group that are not root's: the limit does not bind root. `nobody` on common systems.
const USER: u32 = 65_534;

/// Accounts of the genesis: its transaction then makes a response of more than 256 KiB, which is rendered on
/// another thread than the HTTP worker.
const ACCOUNTS: usize = 1_000;

/// A response that is large.
const LARGE: &str = "/v1/blocks/by_height/0?with_transactions=true";

/// A response of more than 64 KiB, which is compressed on another thread than the HTTP worker.
pub(crate) const COMPRESSED: &str = "/v1/accounts/0x1/modules";

/// Requests that are sent at the same time: more than there may be large responses at a time.
const AT_ONCE: usize = 24;

/// The option of prlimit(1) after which a process can start no thread.
const NO_FURTHER_THREADS: &str = "--nproc=0:0";

/// Returns prlimit(1) as the node's user, which may lower the limits of its processes.
fn prlimit() -> Command {
    let mut command = Command::new("prlimit");
    command.arg(NO_FURTHER_THREADS);
    if geteuid().is_root() {
        command.uid(USER).gid(USER);
    }
    command
}

/// Returns whether this process may start others as [`USER`]; only root needs to.
///
/// # Panics
///
/// Panics if it may not and the environment variable `CI` is set.
fn may_change_user() -> bool {
    let may = !geteuid().is_root() || Command::new("true").uid(USER).gid(USER).status().is_ok();
    let message = "not tested: root may not start a process as another user here, and limits on processes do not bind root";
    assert!(may || std::env::var_os("CI").is_none(), "{message}");
    if !may {
        // Not captured, so that a test that tested nothing does not pass unnoticed.
        std::io::stderr()
            .write_all(format!("{message}\n").as_bytes())
            .unwrap();
    }
    may
}

/// Returns the command line of a node that limits on processes bind, in a directory that its user owns.
fn bound_command(directory: &Path, settings: &[String]) -> Command {
    let command = TestNode::command(directory, settings);
    if !geteuid().is_root() {
        return command;
    }
    // Another user may not be able to enter the directory of the build.
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

/// Starts a node that may start no thread once it answers; `None` without the right.
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

/// Starts a node that may start no thread and whose genesis transaction makes a large response.
async fn started_node() -> Option<TestNode> {
    let directory = Arc::new(TempDir::new().unwrap());
    let genesis = directory.path().join("genesis.toml");
    let accounts = (1..=ACCOUNTS)
        .map(|number| format!("[[accounts]]\naddress = \"0xabc{number:04}\"\nbalance = 1\n"));
    let text = format!("chain_id = 77\n{}", accounts.collect::<String>());
    fs::write(&genesis, text).unwrap();
    let settings = vec![format!("chain.genesis={}", genesis.display())];
    node_without_threads(directory, settings).await
}

/// The status of a GET, and how its response is coded; `None` when no response came.
async fn get(node: &TestNode, path: &str, accepted: &str) -> Option<(u16, Option<String>)> {
    let url = format!("{}{path}", node.api);
    let request = node.http.request(reqwest::Method::GET, &url);
    let answer = node
        .http
        .try_send(request.header("accept-encoding", accepted))
        .await?;
    let coding = answer.headers.get("content-encoding");
    let coding = coding.map(|value| value.to_str().unwrap().to_owned());
    Some((answer.status, coding))
}

fn thread_count(node: &TestNode) -> usize {
    let tasks = format!("/proc/{}/task", node.process_id());
    fs::read_dir(tasks).unwrap().count()
}

#[tokio::test]
async fn answers_large_requests_where_no_further_thread_can_be_made() {
    let Some(mut node) = started_node().await else {
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
        get(&node, "/v1/spec", "gzip").await.map(|answer| answer.0),
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
async fn answers_many_large_requests_with_200_or_503_where_no_further_thread_can_be_made() {
    let Some(node) = started_node().await else {
        return;
    };
    let node = Arc::new(node);
    let mut requests = JoinSet::new();
    for number in 0..AT_ONCE {
        let node = Arc::clone(&node);
        // Distinct, so that none is answered from the response cache.
        let path = format!("/v1/transactions?start=0&limit={}", number + 1);
        requests.spawn(async move { get(&node, &path, "zstd").await });
    }
    for answer in requests.join_all().await {
        let (status, _) = answer.expect("a response");
        assert!(matches!(status, 200 | 503), "{status}");
    }
    until("a large response after the many", || async {
        get(&node, LARGE, "identity")
            .await
            .filter(|answer| answer.0 == 200)
    })
    .await;
}

#[test]
fn fails_to_start_with_its_reason_where_no_thread_can_be_made() {
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
        "nothing was written"
    );
}
