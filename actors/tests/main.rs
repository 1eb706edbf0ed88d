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

use ledger_actors::{Clock, ClockReading};
use ledger_test_support::HandClock;

/// Returns the clock of a node that `hand` advances.
fn node_clock(hand: &HandClock) -> Clock {
    let hand = hand.clone();
    Clock::from_readings(move || ClockReading {
        wall_usecs: hand.wall_usecs(),
        elapsed_usecs: hand.elapsed_usecs(),
    })
}
