//! Tests of whole nodes through their handles, in one test binary, which links once.
//!
//! `stop.rs` is a binary of its own, because it counts the threads of its process.

mod batches;
mod broken_disk;
mod clock;
mod full_blocks;
#[path = "../testing/hand_clock.rs"]
mod hand_clock;
mod many_clients;
mod node;
mod read_queue;
mod version_wait;
#[path = "../testing/wallet.rs"]
mod wallet;
mod window;

use ledger_actors::{Clock, ClockReading};
