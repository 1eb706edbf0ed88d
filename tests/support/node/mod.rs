//! The binary in a directory of its own, on free ports.
//!
//! ```ignore
//! let node = TestNode::start(&[]);
//! let alice = TestAccount::from_seed(1);
//! node.fund(&alice, 1_000_000_000).await;
//! let chain = node.chain().await;
//! let committed = node.submit_and_wait(&alice.transfer(&chain, 0, bob.address, 5)).await;
//! assert_eq!(committed["success"], true);
//! ```

mod load;
mod process;
#[cfg(target_os = "linux")]
mod slow_disk;
mod stored;
mod test_node;

pub use load::{OpenLoop, bench_report, start_bench};
#[cfg(target_os = "linux")]
pub use slow_disk::{DiskOperation, SlowDisk, skip};
pub use stored::{replace_in_blocks, replace_in_ledger};
pub use test_node::{TestNode, tls_settings};

use crate::http::NodeClient;
use std::{
    future::Future,
    time::{Duration, Instant},
};

/// Pause between two evaluations of a condition that a test waits for.
const POLL_PAUSE: Duration = Duration::from_millis(2);

/// Maximum time until a condition is true before the test fails. It is long, because the machine
/// may be busy.
const WAIT_TIMEOUT: Duration = Duration::from_secs(120);

/// Returns a command for the binary under test: the one that `LEDGER_NODE_BIN` names, for long runs
/// of a release build, or else the one that cargo has built with the tests.
///
/// # Panics
///
/// Panics if there is neither. Cargo sets its variable when it runs integration tests of the
/// binary's package.
pub fn binary() -> std::process::Command {
    let names = ["LEDGER_NODE_BIN", "CARGO_BIN_EXE_ledger-node"];
    let program = names.into_iter().find_map(std::env::var_os);
    let program = program.expect("cargo runs the test, or LEDGER_NODE_BIN names the binary");
    let mut command = std::process::Command::new(program);
    // The environment of the test must not configure the node.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("LEDGER_NODE_") {
            command.env_remove(name);
        }
    }
    command
}

/// Waits for a future, such as a request to which a broken node never responds.
///
/// # Panics
///
/// Panics if it takes too long. The message contains `what`.
pub async fn within_patience<T>(what: &str, future: impl Future<Output = T>) -> T {
    let ended = tokio::time::timeout(WAIT_TIMEOUT, future).await;
    ended.unwrap_or_else(|_| panic!("timed out while waiting for {what}"))
}

/// Waits until `count` waits of clients last. Such a wait holds its permits, which a request that
/// probes for them could take from a wait that is still to begin.
///
/// # Panics
///
/// Panics if it takes too long.
pub async fn until_parked(node: &NodeClient, count: usize) {
    let url = format!("{}/metrics", node.admin);
    let expected = format!("ledger_waits_parked {count}");
    until(&expected, || async {
        let metrics = node.http.get(&url).await.text;
        metrics.lines().any(|line| line == expected).then_some(())
    })
    .await;
}

/// Calls `poll` until it returns a value.
///
/// # Panics
///
/// Panics if it takes too long. The message contains `what`.
pub async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut poll: impl FnMut() -> F) -> T {
    let begun = Instant::now();
    loop {
        if let Some(value) = poll().await {
            return value;
        }
        assert!(
            begun.elapsed() < WAIT_TIMEOUT,
            "timed out while waiting for {what}"
        );
        // Without a pause, the calls would take a core from the node.
        tokio::time::sleep(POLL_PAUSE).await;
    }
}
