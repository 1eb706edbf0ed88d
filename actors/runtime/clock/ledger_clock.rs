//! The ledger's time of a running node, shared by its threads.

use super::{
    bounded::{BoundedTime, ClockLimits, EARLIEST_USECS, FOLLOW_USECS_PER_USEC, PERSISTENCE_USECS},
    source::{Clock, ClockReading},
};
use crate::{NotWritable, SequencerConfig, runtime::clock::bounded::ClockState};
use arc_swap::ArcSwap;
use std::sync::{
    Arc,
    atomic::{
        AtomicU64,
        Ordering::{AcqRel, Acquire},
    },
};

/// Lead of a suggested `sequencer.clock_confirmed_until_secs` over the current clock, in seconds.
/// It leaves time to change the setting and to restart.
const CONFIRMATION_SECS: u64 = 3_600;

/// The system clock compared with the ledger's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockStatus {
    /// The state at the last observation.
    pub state: ClockState,
    /// Lead of the system clock over the ledger's time now, in microseconds. Negative if the
    /// system clock is behind.
    pub drift_usecs: i64,
}

/// The ledger's time. Cheap to clone; all clones share one [`BoundedTime`].
///
/// The mempool observes the clock at least once per second, and the sequencer records the time of
/// each block. All other threads only read. A change is one compare-and-swap, like a change of
/// the Head.
#[derive(Clone, Debug)]
pub(crate) struct LedgerClock {
    source: Clock,
    shared: Arc<SharedTime>,
}

/// The state that clones of a clock share.
#[derive(Debug)]
struct SharedTime {
    /// The newest block in it may be older than `newest_block_usecs`.
    bounded: ArcSwap<BoundedTime>,
    /// Time of the newest ordered block.
    ///
    /// Beside the rest, because each block changes it, and a swap visits every thread that has
    /// read the value. It never decreases, and is written before the rest of the same change.
    newest_block_usecs: AtomicU64,
}

impl SharedTime {
    /// Returns the current value.
    fn load(&self) -> BoundedTime {
        let bounded = **self.bounded.load();
        // After the rest, so that it is at least as new.
        bounded.with_newest_block(self.newest_block_usecs.load(Acquire))
    }
}

impl LedgerClock {
    /// Creates the clock of a chain whose newest block has the time `newest_block_usecs`; 0 means
    /// genesis. Logs the state unless the clocks agree.
    pub(crate) fn new(source: Clock, config: &SequencerConfig, newest_block_usecs: u64) -> Self {
        let limits = ClockLimits {
            jump_max_usecs: config.clock_jump_max_secs.saturating_mul(1_000_000),
            confirmed_until_usecs: config.clock_confirmed_until_secs.saturating_mul(1_000_000),
            earliest_usecs: if source.is_chosen() {
                0
            } else {
                EARLIEST_USECS
            },
        };
        let ClockReading {
            wall_usecs,
            elapsed_usecs,
        } = source.read();
        let bounded = BoundedTime::new(limits, newest_block_usecs, wall_usecs, elapsed_usecs);
        if bounded.state() != ClockState::InStep {
            log_state(&bounded, wall_usecs, elapsed_usecs);
        }
        Self {
            source,
            shared: Arc::new(SharedTime {
                bounded: ArcSwap::from_pointee(bounded),
                newest_block_usecs: AtomicU64::new(newest_block_usecs),
            }),
        }
    }

    /// Returns the system clock.
    pub(crate) fn source(&self) -> &Clock {
        &self.source
    }

    /// Returns the ledger's time in microseconds since the Unix epoch. Never before the newest
    /// ordered block.
    pub(crate) fn now_usecs(&self) -> u64 {
        let reading = self.source.read();
        let bounded = self.shared.load();
        bounded.now_usecs(reading.wall_usecs, reading.elapsed_usecs)
    }

    /// Returns the ledger's time in seconds since the Unix epoch.
    pub(crate) fn now_secs(&self) -> u64 {
        self.now_usecs() / 1_000_000
    }

    /// Reads the clock and observes the reading as [`Self::observe_at`] does.
    pub(crate) fn observe(&self) -> u64 {
        self.observe_at(self.source.read())
    }

    /// Observes a reading and returns the ledger's time at it, in microseconds since the Unix
    /// epoch. Logs a change of the clock's state.
    pub(crate) fn observe_at(&self, reading: ClockReading) -> u64 {
        let ClockReading {
            wall_usecs,
            elapsed_usecs,
        } = reading;
        let observed = self.change(|bounded| bounded.observe(wall_usecs, elapsed_usecs));
        if observed.before.state() != observed.after.state() {
            log_state(&observed.after, wall_usecs, elapsed_usecs);
        }
        observed.after.now_usecs(wall_usecs, elapsed_usecs)
    }

    /// Records that a block with the time `block_usecs` was ordered at `reading`.
    ///
    /// `reading` must be the one from which the block got its time. A suspend after that reading
    /// then counts as elapsed time, and the block does not count as late.
    pub(crate) fn record_block(&self, block_usecs: u64, reading: ClockReading) {
        let elapsed_usecs = reading.elapsed_usecs;
        self.change(|bounded| bounded.record_block(block_usecs, elapsed_usecs));
    }

    /// Returns whether blocks may be ordered.
    pub(crate) fn is_trusted(&self) -> bool {
        self.shared.load().is_trusted()
    }

    /// Returns the reason that no block may be ordered, or `None` if the clock is trusted.
    pub(crate) fn distrust_reason(&self) -> Option<NotWritable> {
        let bounded = self.shared.load();
        (!bounded.is_trusted()).then(|| {
            NotWritable::ClockUntrusted(disbelief_message(&bounded, self.source.now_usecs()).into())
        })
    }

    /// Returns the state of the clock and its lead over the ledger's time.
    pub(crate) fn status(&self) -> ClockStatus {
        let reading = self.source.read();
        let bounded = self.shared.load();
        ClockStatus {
            state: bounded.state(),
            drift_usecs: drift_usecs(&bounded, reading.wall_usecs, reading.elapsed_usecs),
        }
    }

    /// Applies `change` to the value. Calls it again if another thread has replaced the value in
    /// the meantime.
    fn change(&self, change: impl Fn(&mut BoundedTime)) -> Changed {
        let SharedTime {
            bounded,
            newest_block_usecs,
        } = &*self.shared;
        let mut current = bounded.load();
        loop {
            let newest_usecs = newest_block_usecs.load(Acquire);
            let before = current.with_newest_block(newest_usecs);
            let mut after = before;
            change(&mut after);
            newest_block_usecs.fetch_max(after.newest_block_usecs(), AcqRel);
            if after == before.with_newest_block(after.newest_block_usecs()) {
                return Changed { before, after };
            }
            let previous = bounded.compare_and_swap(&*current, Arc::new(after));
            if Arc::ptr_eq(&current, &previous) {
                return Changed { before, after };
            }
            current = previous;
        }
    }
}

/// The value before and after a change.
struct Changed {
    before: BoundedTime,
    after: BoundedTime,
}

fn drift_usecs(bounded: &BoundedTime, wall_usecs: u64, elapsed_usecs: u64) -> i64 {
    let now_usecs = bounded.now_usecs(wall_usecs, elapsed_usecs);
    let size = |usecs: u64| i64::try_from(usecs).unwrap_or(i64::MAX);
    match wall_usecs.checked_sub(now_usecs) {
        Some(ahead_usecs) => size(ahead_usecs),
        None => -size(now_usecs.saturating_sub(wall_usecs)),
    }
}

/// Returns the message about a clock that is not trusted: its reading, the limit, and the
/// remedy.
fn disbelief_message(bounded: &BoundedTime, wall_usecs: u64) -> String {
    let wall_secs = wall_usecs / 1_000_000;
    if bounded.newest_block_usecs() == 0 {
        return format!(
            "the system clock reads {wall_secs} (Unix seconds), before {}, so it was never set",
            EARLIEST_USECS / 1_000_000
        );
    }
    format!(
        "the system clock reads {wall_secs} (Unix seconds), {} after the newest block, and \
         sequencer.clock_jump_max_secs allows {}; if the clock is correct, restart the node with \
         sequencer.clock_confirmed_until_secs={}",
        format_duration(wall_usecs.saturating_sub(bounded.newest_block_usecs())),
        format_duration(bounded.limits().jump_max_usecs),
        wall_secs.saturating_add(CONFIRMATION_SECS),
    )
}

/// Returns a duration in days, or in seconds if it is shorter than a day.
fn format_duration(usecs: u64) -> String {
    match usecs / 1_000_000 {
        secs @ 0..86_400 => format!("{secs} s"),
        secs => format!("{:.1} days", secs as f64 / 86_400.0),
    }
}

/// Logs a new state of the clock.
fn log_state(bounded: &BoundedTime, wall_usecs: u64, elapsed_usecs: u64) {
    let drift_secs = drift_usecs(bounded, wall_usecs, elapsed_usecs) / 1_000_000;
    match bounded.state() {
        ClockState::InStep => tracing::info!("the system clock and block time agree"),
        ClockState::Ahead => tracing::warn!(
            drift_secs,
            "the system clock is ahead of block time: block time advances at {} times its normal \
             speed if the lead lasts {} s; a restart of the node adopts the system clock \
             immediately",
            FOLLOW_USECS_PER_USEC + 1,
            PERSISTENCE_USECS / 1_000_000
        ),
        ClockState::TooFarAhead => tracing::warn!(
            drift_secs,
            "the system clock is further ahead of block time than sequencer.clock_jump_max_secs: \
             block time advances without it; correct the clock, or, if it is correct, restart the \
             node with sequencer.clock_confirmed_until_secs={}",
            (wall_usecs / 1_000_000).saturating_add(CONFIRMATION_SECS)
        ),
        ClockState::Behind => tracing::warn!(
            drift_secs,
            "the system clock is behind the newest block: block time hardly advances until the clock has \
             reached it"
        ),
        ClockState::Untrusted => tracing::error!(
            cause = %disbelief_message(bounded, wall_usecs),
            "the system clock is not trusted: no block is created and submissions are rejected \
             until it is correct"
        ),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::ledger_clock;
    use ledger_test_support::HandClock;
    use std::sync::Arc;

    #[test]
    fn blocks_of_clocks_in_step_replace_no_shared_value() {
        let clock = HandClock::at_secs(1_800_000_000);
        let ledger_clock = ledger_clock(&clock);
        let before = ledger_clock.shared.bounded.load_full();
        for _ in 0..3 {
            clock.pass_secs(1);
            let reading = ledger_clock.source().read();
            let block_usecs = ledger_clock.observe_at(reading);
            ledger_clock.record_block(block_usecs, reading);
            let newest_usecs = ledger_clock.shared.load().newest_block_usecs();
            assert_eq!(newest_usecs, block_usecs);
        }
        let after = ledger_clock.shared.bounded.load_full();
        assert!(Arc::ptr_eq(&before, &after));
    }

    #[test]
    fn counts_a_suspend_between_the_reading_and_the_record_of_a_block() {
        let clock = HandClock::at_secs(1_800_000_000);
        let ledger_clock = ledger_clock(&clock);
        for _ in 0..3 {
            let reading = ledger_clock.source().read();
            let block_usecs = ledger_clock.observe_at(reading);
            clock.pass_secs(8 * 3_600);
            ledger_clock.record_block(block_usecs, reading);
            assert_eq!(ledger_clock.now_secs(), clock.secs());
        }
    }
}
