//! Tests of whole nodes through their handles, in one test binary, which links once.
//!
//! `stop.rs` is a binary of its own, because it counts the threads of its process.

mod batches;
mod broken_disk;
mod clock;
mod full_blocks;
mod many_clients;
mod node;
mod read_queue;
mod version_wait;
mod window;

use ledger_actors::{Clock, ClockReading, Node, NodeConfig};
use ledger_limits::ClientKey;
use ledger_test_support::{HandClock, store::open_store};
use std::{path::Path, time::Duration};

/// The client of all requests.
const CLIENT: ClientKey = ClientKey::NODE;

/// Pause between two evaluations of a condition that a test waits for.
const POLL_PAUSE: Duration = Duration::from_millis(5);

/// Maximum time until a condition is true before the test fails. It is long, because the machine
/// may be busy.
const WAIT_TIMEOUT: Duration = Duration::from_secs(120);

/// Starts a node on the ledger in `directory`, or on a new development chain.
async fn start(directory: &Path, config: NodeConfig) -> Node {
    let (chain, store) = open_store(directory);
    Node::start(chain, store, Some(directory), config)
        .await
        .expect("the node starts")
}

/// Returns the clock of a node that `hand` advances.
fn node_clock(hand: &HandClock) -> Clock {
    let hand = hand.clone();
    Clock::from_readings(move || ClockReading {
        wall_usecs: hand.wall_usecs(),
        elapsed_usecs: hand.elapsed_usecs(),
    })
}

/// Waits until `is_reached` holds.
///
/// # Panics
///
/// Panics if it takes too long. The message is `what`.
async fn wait_until(what: &str, is_reached: impl Fn() -> bool) {
    let poll = async {
        while !is_reached() {
            tokio::time::sleep(POLL_PAUSE).await;
        }
    };
    let waited = tokio::time::timeout(WAIT_TIMEOUT, poll).await;
    waited.unwrap_or_else(|_| panic!("{what}"));
}
