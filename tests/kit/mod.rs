//! The kit of the end-to-end tests: the binary in a directory of its own, beside the accounts,
//! transactions and HTTP clients of `ledger-test-support`. Copy both for your own tests.
//!
//! ```ignore
//! let node = TestNode::start(&[]);
//! let alice = TestAccount::from_seed(1);
//! node.fund(&alice, 1_000_000_000).await;
//! let chain = node.chain().await;
//! let committed = node.submit_and_wait(&alice.transfer(&chain, 0, bob.address, 5)).await;
//! assert_eq!(committed["success"], true);
//! ```

mod node;
mod process;
#[cfg(target_os = "linux")]
mod slow_disk;

pub use ledger_test_support::{
    TestAccount, TestKey, TransactionBuilder, development_chain, function_call,
    http::{
        H2, HTTP_11, Http2Connection, Http2Stream, HttpClient, HttpResponse, NodeClient,
        RawConnection, RawResponse, SERVER_NAME, TestCertificate, batch_bytes, post_bytes,
        submission_bytes, submission_media_type, wait_bytes,
    },
    seed, test_genesis,
};
pub use node::{TestNode, tls_settings};
#[cfg(target_os = "linux")]
pub use slow_disk::{DiskOperation, SlowDisk};

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
/// of a release build, or else the one that was built with the tests.
pub fn binary() -> std::process::Command {
    let built = env!("CARGO_BIN_EXE_ledger-node");
    let named = std::env::var_os("LEDGER_NODE_BIN").unwrap_or_else(|| built.into());
    let mut command = std::process::Command::new(named);
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
