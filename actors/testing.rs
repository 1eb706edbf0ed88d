//! Helpers of the unit tests that name private types. All others are in `ledger_test_support`.

use crate::{
    SequencerConfig,
    runtime::clock::{Clock, ClockReading, LedgerClock},
};
use ledger_test_support::HandClock;

/// Returns the ledger clock of a chain that has only genesis.
pub(crate) fn ledger_clock(hand: &HandClock) -> LedgerClock {
    let hand = hand.clone();
    let clock = Clock::from_readings(move || ClockReading {
        wall_usecs: hand.wall_usecs(),
        elapsed_usecs: hand.elapsed_usecs(),
    });
    LedgerClock::new(clock, &SequencerConfig::default(), 0)
}
