//! The data directory or a file of the ledger that is removed, renamed or replaced while the node
//! runs.

use super::full::check_rejected;
use futures::future::join_all;
use ledger_crypto::HashValue;
use ledger_test_support::{
    TestAccount,
    http::HttpResponse,
    node::{TestNode, until},
};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;
use std::{
    cell::Cell,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Time in which an idle node must find a moved file: four looks of its monitor, on a machine that
/// may be busy.
const FOUND_WITHIN: Duration = Duration::from_secs(1);
/// Addition to [`FOUND_WITHIN`] for a busy machine.
const BUSY_MARGIN: Duration = Duration::from_secs(4);
/// Number of clients that submit concurrently.
const CLIENTS: u64 = 8;
/// Number of committed transactions before a file is moved under load.
const COMMITTED_MIN: usize = 40;

/// A change of the data directory while the node runs.
#[derive(Clone, Copy, Debug)]
struct Move {
    /// The file, or an empty name for the directory.
    name: &'static str,
    change: Change,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Removed,
    Renamed,
    /// By a copy.
    Replaced,
}

impl Move {
    fn all() -> impl Iterator<Item = Self> {
        let names = ["", "ledger.redb", "ledger.log"];
        names.into_iter().flat_map(|name| {
            [Change::Removed, Change::Renamed, Change::Replaced].map(|change| Self { name, change })
        })
    }

    fn is_directory(self) -> bool {
        self.name.is_empty()
    }

    /// Returns whether the node can save its mempool afterwards.
    fn has_directory(self) -> bool {
        !self.is_directory() || self.change == Change::Replaced
    }

    fn apply(self, node: &TestNode) {
        let data = node.directory().join("data");
        let path = match self.is_directory() {
            true => data,
            false => data.join(self.name),
        };
        let aside = path.with_extension("aside");
        match self.change {
            Change::Removed if self.is_directory() => fs::remove_dir_all(path).unwrap(),
            Change::Removed => fs::remove_file(path).unwrap(),
            Change::Renamed => fs::rename(path, aside).unwrap(),
            Change::Replaced => {
                copy(&path, &aside);
                // In one step, so that the path is never gone.
                renameat_with(CWD, aside, CWD, path, RenameFlags::EXCHANGE).unwrap();
            }
        }
    }

    /// Returns the words with which the node reports the change.
    fn words(self) -> &'static str {
        match self.change {
            Change::Removed | Change::Renamed => "was removed or renamed",
            Change::Replaced => "was replaced by another file",
        }
    }
}

/// Copies a file, or the files of a directory.
fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A directory with the files of a running node, which stay when their paths are gone.
struct KeptFiles(Arc<TempDir>);

impl KeptFiles {
    /// Creates links to the files, which must be at their paths.
    fn of(node: &TestNode) -> Self {
        let directory = tempfile::tempdir_in(node.directory().parent().unwrap()).unwrap();
        let data = directory.path().join("data");
        fs::create_dir(&data).unwrap();
        for name in ["ledger.redb", "ledger.log"] {
            fs::hard_link(node.directory().join("data").join(name), data.join(name)).unwrap();
        }
        Self(Arc::new(directory))
    }

    /// Copies the files, which were removed, by the descriptors of the process.
    fn of_process(node: &TestNode) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        fs::create_dir(&data).unwrap();
        let descriptors = format!("/proc/{}/fd", node.process_id());
        for descriptor in fs::read_dir(descriptors).unwrap() {
            let descriptor = descriptor.unwrap().path();
            let target = fs::read_link(&descriptor).unwrap();
            let target = target.to_str().unwrap().trim_end_matches(" (deleted)");
            for name in ["ledger.redb", "ledger.log"] {
                if target.ends_with(name) {
                    fs::copy(&descriptor, data.join(name)).unwrap();
                }
            }
        }
        Self(Arc::new(directory))
    }

    /// Starts a node on the files, and checks that it has these transactions.
    async fn check(self, committed: &[(HashValue, String)], case: Move) {
        let node = TestNode::start_in(self.0, Vec::new());
        for (hash, version) in committed {
            let found = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
            assert_eq!(
                (found.status, &found.json["version"]),
                (200, &json!(version)),
                "{case:?}: committed and not in the removed files"
            );
        }
    }
}

/// Returns hash and version of a response that reports a transaction as committed.
fn committed(hash: HashValue, response: &HttpResponse) -> Option<(HashValue, String)> {
    let is_committed = response.status == 200 && response.json["type"] == "user_transaction";
    is_committed.then(|| (hash, response.json["version"].as_str().unwrap().to_owned()))
}

/// Checks that health names a path and its change, and that the log has one error.
async fn check_reported(node: &TestNode, case: Move) {
    let health = until("the node to be unhealthy", || async {
        let health = node.get("/v1/-/healthy").await;
        (health.status == 503).then_some(health)
    })
    .await;
    let data: PathBuf = node.directory().join("data").join(case.name);
    for word in [data.to_str().unwrap(), case.words()] {
        assert!(health.text.contains(word), "{case:?}: {}", health.text);
    }
    let words = "the ledger cannot be written: submissions are rejected";
    let log = node.logged(words).await;
    assert_eq!(log.matches(words).count(), 1, "{case:?}: {log}");
    for word in [case.words(), "put the file back"] {
        assert!(log.contains(word), "{case:?}: {log}");
    }
}

/// Stops a node after its files were moved, and checks that it reports them and saves its mempool
/// if there is a directory.
fn check_stop(mut node: TestNode, case: Move) {
    assert_eq!(
        node.stop("TERM").code(),
        Some(1),
        "{case:?}: {}",
        node.log()
    );
    let log = node.log();
    let last = log.lines().last().unwrap_or_default();
    let begin = "ledger-node: the node did not stop cleanly";
    assert!(last.starts_with(begin), "{case:?}: {last}");
    let pool = node.directory().join("data/mempool.bcs");
    assert_eq!(pool.exists(), case.has_directory(), "{case:?}: {log}");
    if !case.has_directory() {
        for word in ["could not be saved", pool.to_str().unwrap(), case.words()] {
            assert!(last.contains(word), "{case:?}: no {word:?} in {last}");
        }
    }
}

#[tokio::test]
async fn idle_node_finds_a_moved_file_and_serves_reads() {
    for case in Move::all() {
        // No heartbeat writes a block meanwhile.
        let node = TestNode::start(&["sequencer.heartbeat_secs=0"]);
        let account = TestAccount::from_seed(1);
        node.fund(&account, 1_000_000_000).await;
        let chain = node.chain().await;
        let to = TestAccount::from_seed(2).address;
        let hash = node.submit(&account.transfer(&chain, 0, to, 1)).await;
        let path = format!("/v1/transactions/wait_by_hash/{hash}");
        let before = committed(hash, &node.get(&path).await).unwrap();
        // It waits for an earlier one, and is saved by the stop.
        node.submit(&account.transfer(&chain, 2, to, 1)).await;
        let links = KeptFiles::of(&node);

        case.apply(&node);
        let moved = Instant::now();
        check_reported(&node, case).await;
        let found_after = moved.elapsed();
        assert!(
            found_after < FOUND_WITHIN + BUSY_MARGIN,
            "{case:?}: found after {found_after:?}"
        );
        let rejected = node.try_submit(&account.transfer(&chain, 1, to, 1)).await;
        check_rejected(&rejected.unwrap(), case.words());
        let found = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
        assert_eq!(committed(hash, &found), Some(before.clone()), "{case:?}");
        assert!(node.balance(&to).await > 0, "{case:?}");
        let copies = (case.change == Change::Removed).then(|| KeptFiles::of_process(&node));
        check_stop(node, case);
        for files in [Some(links), copies].into_iter().flatten() {
            files.check(std::slice::from_ref(&before), case).await;
        }
    }
}

/// What the clients of a node see until each has a response that is not a commitment.
struct LoadedNode<'a> {
    node: &'a TestNode,
    case: Move,
    /// Number of committed transactions of all clients.
    committed: Cell<usize>,
    is_moved: Cell<bool>,
}

impl LoadedNode<'_> {
    /// Transfers until a transaction is rejected or not committed. Returns the committed ones.
    async fn transfer(&self, account: TestAccount) -> Vec<(HashValue, String)> {
        let chain = self.node.chain().await;
        let to = TestAccount::from_seed(100).address;
        let mut all = Vec::new();
        for sequence_number in 0.. {
            let transfer = account.transfer(&chain, sequence_number, to, 1);
            let is_later = self.is_moved.get();
            let submitted = self.node.try_submit(&transfer).await.unwrap();
            if submitted.status != 202 {
                check_rejected(&submitted, self.case.words());
                break;
            }
            let hash = transfer.hash(chain.vendor());
            let path = format!("/v1/transactions/wait_by_hash/{hash}");
            let waited = self.node.get(&path).await;
            let Some(commitment) = committed(hash, &waited) else {
                check_rejected(&waited, self.case.words());
                break;
            };
            assert!(!is_later, "submitted after the move, and committed: {hash}");
            all.push(commitment);
            self.committed.set(self.committed.get() + 1);
        }
        all
    }

    /// Moves a file once enough transactions are committed.
    async fn move_file(&self) {
        until("transactions to be committed", || async {
            (self.committed.get() >= COMMITTED_MIN).then_some(())
        })
        .await;
        self.case.apply(self.node);
        self.is_moved.set(true);
    }
}

#[tokio::test]
async fn loaded_node_acknowledges_nothing_after_a_file_was_moved() {
    for case in Move::all() {
        let node = TestNode::start(&[]);
        let accounts: Vec<_> = (1..=CLIENTS).map(TestAccount::from_seed).collect();
        for account in &accounts {
            node.fund(account, 1_000_000_000_000).await;
        }
        let links = KeptFiles::of(&node);
        let load = LoadedNode {
            node: &node,
            case,
            committed: Cell::new(0),
            is_moved: Cell::new(false),
        };
        let transfers = accounts.into_iter().map(|account| load.transfer(account));
        let (all, ()) = tokio::join!(join_all(transfers), load.move_file());
        check_reported(&node, case).await;
        let first = TestAccount::from_seed(1);
        let chain = node.chain().await;
        let transfer = first.transfer(&chain, 0, first.address, 1);
        let rejected = node.try_submit(&transfer).await.unwrap();
        check_rejected(&rejected, case.words());
        drop(node);
        links.check(&all.concat(), case).await;
    }
}
