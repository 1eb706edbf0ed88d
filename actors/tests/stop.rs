//! A test that a stop joins every thread. It has a process of its own, because it counts threads.
#![cfg(target_os = "linux")]

use ledger_actors::{Node, NodeConfig};
use ledger_test_support::store::open_store;
use std::{collections::BTreeMap, thread::available_parallelism};

fn thread_counts() -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let name = std::fs::read_to_string(task.unwrap().path().join("comm"));
        *names.entry(name.unwrap_or_default()).or_default() += 1;
    }
    names
}

/// Waits until the threads are as `expected` and returns them, or returns the current ones after
/// many attempts.
///
/// Waiting is necessary because a thread sets its name itself, and the kernel may list a thread
/// briefly after it was joined.
fn wait_for_threads(
    expected: impl Fn(&BTreeMap<String, usize>) -> bool,
) -> BTreeMap<String, usize> {
    const ATTEMPTS_MAX: usize = 100_000;
    for _ in 0..ATTEMPTS_MAX {
        let counts = thread_counts();
        if expected(&counts) {
            return counts;
        }
        std::thread::yield_now();
    }
    thread_counts()
}

#[actix::test]
async fn stop_joins_every_thread() {
    let before = thread_counts();
    // One renderer per core, between 2 and 8.
    let renderers = available_parallelism().unwrap().get().clamp(2, 8);
    let directory = tempfile::tempdir().unwrap();
    for actor_threads in [
        &["actors\n"][..],
        &["mempool\n", "commit\n"],
        &["mempool\n", "commit\n", "storage\n"],
    ] {
        let (chain, store) = open_store(directory.path());
        let mut config = NodeConfig::default();
        config.signatures.threads = 3;
        config.actors.threads = actor_threads.len();
        let node = Node::start(chain, store, Some(directory.path()), config)
            .await
            .unwrap();
        let handle = node.handle();
        let mut expected = before.clone();
        let threads = [
            ("signature-check\n", 3),
            ("executor\n", 1),
            ("store-writer\n", 1),
            ("store-applier\n", 1),
            ("store-reader\n", 2),
            ("point-reader\n", 1),
            ("renderer\n", renderers),
            ("store-scrubber\n", 1),
            ("stall-monitor\n", 1),
        ];
        let actor_threads = actor_threads.iter().map(|name| (*name, 1));
        for (name, count) in threads.into_iter().chain(actor_threads) {
            *expected.entry(name.to_owned()).or_default() += count;
        }
        assert_eq!(wait_for_threads(|counts| *counts == expected), expected);
        node.stop().await.unwrap();
        assert_eq!(wait_for_threads(|counts| *counts == before), before);
        // A handle that outlives its node keeps no thread running.
        drop(handle);
    }
}
