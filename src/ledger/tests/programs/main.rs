//! Seeded random programs that mix all functions of the framework: nothing creates, destroys or locks
//! what is worth something, and replaying the chain gives the same hashes.

// A failing run prints its seed.
#![allow(clippy::print_stdout)]

mod census;
#[path = "../kit/mod.rs"]
mod kit;

use census::Census;
use kit::MemoryChain;

#[test]
fn genesis_holds_what_its_supplies_say() {
    let census = Census::of(&MemoryChain::development());
    census.assert_supplies_hold();
    assert_eq!(census.coin_supplies.len(), 1);
}
