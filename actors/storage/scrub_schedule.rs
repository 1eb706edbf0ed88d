//! The schedule of the scrubber: when it begins a pass.

use super::scrubber::{BeginPass, may_scrub};
use crate::{
    runtime::clock::Clock,
    state::{directory_size::DirectorySize, storage_health::StorageHealth},
};
use crossbeam_channel::Sender;
use std::time::Duration;

/// Interval of the checks whether a pass is due. A pass that ended early is repeated at the next
/// one.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// Number of passes that begin within `storage.scrub_hours`.
///
/// A bit that is flipped directly after its page was read is found by the next pass. So it is found
/// in time if a pass takes at most half of that time.
const PASSES_PER_INTERVAL: u32 = 2;

/// The schedule of the scrubber. Dropping it ends the scrubber thread.
pub(crate) struct ScrubSchedule {
    passes: Sender<BeginPass>,
    /// Maximum time from the start of a complete pass to the start of the next one.
    period: Duration,
    clock: Clock,
    health: StorageHealth,
    size: DirectorySize,
    /// State of the newest pass.
    state: PassState,
    /// Elapsed time of the clock at the start of the newest pass.
    started_at: Duration,
}

/// The state of a pass.
enum PassState {
    /// It ended early, or was not begun.
    Incomplete,
    Running,
    Complete,
}

impl ScrubSchedule {
    /// Creates the schedule of a scrubber that has begun no pass.
    ///
    /// Damage is found within `interval` if a pass takes at most half of it.
    pub(crate) fn new(
        passes: Sender<BeginPass>,
        interval: Duration,
        clock: Clock,
        health: StorageHealth,
        size: DirectorySize,
    ) -> Self {
        Self {
            passes,
            period: interval / PASSES_PER_INTERVAL,
            clock,
            health,
            size,
            state: PassState::Incomplete,
            started_at: Duration::ZERO,
        }
    }

    /// Begins a pass if one is due and may run. The caller must call it at each
    /// [`CHECK_INTERVAL`].
    pub(super) fn check(&mut self) {
        let is_due = match self.state {
            PassState::Incomplete => true,
            PassState::Running => false,
            // The next check would be too late.
            PassState::Complete => self.since_start() + CHECK_INTERVAL > self.period,
        };
        if is_due && may_scrub(&self.health, &self.size) {
            self.started_at = self.now();
            self.state = PassState::Running;
            // Not full, because the thread has ended the pass before. It is disconnected after a
            // panic of the thread, which was reported.
            let _ = self.passes.try_send(BeginPass);
        }
    }

    /// Records the end of the pass that runs.
    pub(super) fn end_pass(&mut self, is_complete: bool) {
        if !is_complete {
            self.state = PassState::Incomplete;
            return;
        }
        self.state = PassState::Complete;
        let duration = self.since_start();
        if duration > self.period {
            tracing::warn!(
                ?duration,
                "the ledger is too large to be scrubbed within storage.scrub_hours"
            );
        }
    }

    /// Returns the time since the start of the newest pass.
    fn since_start(&self) -> Duration {
        self.now().saturating_sub(self.started_at)
    }

    fn now(&self) -> Duration {
        Duration::from_micros(self.clock.elapsed_usecs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        error::{FaultKind, StorageFault},
        state::storage_health::{ShortageSource, StorageHealthPublisher},
        testing::ledger_clock,
    };
    use crossbeam_channel::Receiver;
    use ledger_test_support::HandClock;

    const INTERVAL: Duration = Duration::from_secs(60 * 60);

    /// A schedule of two passes an hour whose clock the test advances.
    struct Fixture {
        schedule: ScrubSchedule,
        begun: Receiver<BeginPass>,
        hand: HandClock,
        health: StorageHealthPublisher,
        size: DirectorySize,
    }

    impl Fixture {
        fn new() -> Self {
            let (passes, begun) = crossbeam_channel::bounded(1);
            let (hand, health) = (HandClock::at_secs(0), StorageHealthPublisher::default());
            let size = DirectorySize::default();
            let schedule = ScrubSchedule::new(
                passes,
                INTERVAL,
                ledger_clock(&hand).source().clone(),
                health.health().clone(),
                size.clone(),
            );
            Self {
                schedule,
                begun,
                hand,
                health,
                size,
            }
        }

        /// Returns whether a check begins a pass.
        fn check(&mut self) -> bool {
            self.schedule.check();
            self.begun.try_recv().is_ok()
        }

        /// Advances the clock to the next check, and returns whether it begins a pass.
        fn check_next(&mut self) -> bool {
            self.hand.pass_secs(CHECK_INTERVAL.as_secs());
            self.check()
        }
    }

    #[test]
    fn begins_the_first_pass_at_the_start_and_each_other_within_half_of_the_interval() {
        let mut fixture = Fixture::new();
        assert!(fixture.check());
        // The timer is in time, or late at each check.
        for (late_usecs, checks) in [(0, 30), (1, 29)] {
            fixture.schedule.end_pass(true);
            for check in 1..=checks {
                fixture.hand.pass_usecs(late_usecs);
                assert_eq!(fixture.check_next(), check == checks, "check {check}");
            }
        }
    }

    #[test]
    fn begins_no_pass_while_one_runs() {
        let mut fixture = Fixture::new();
        assert!(fixture.check());
        for _ in 0..90 {
            assert!(!fixture.check_next());
        }
        fixture.schedule.end_pass(true);
        assert!(fixture.check_next(), "the pass took longer than the period");
    }

    #[test]
    fn repeats_a_pass_that_ended_early_at_the_next_check() {
        let mut fixture = Fixture::new();
        for _ in 0..3 {
            assert!(fixture.check_next());
            fixture.schedule.end_pass(false);
        }
    }

    #[test]
    fn begins_no_pass_while_pages_must_be_freed_and_none_after_a_fault() {
        let mut fixture = Fixture::new();
        let shortage = "7 bytes are left".into();
        for is_low in [true, false] {
            let shortage = is_low.then_some(&shortage);
            fixture
                .health
                .publish_disk_space(ShortageSource::Monitor, shortage);
            fixture.size.set_must_free_pages(!is_low);
            assert!(!fixture.check());
        }
        fixture.size.set_must_free_pages(false);
        assert!(fixture.check());
        fixture.schedule.end_pass(false);
        fixture.health.publish_fault(&StorageFault {
            thread: "test",
            kind: FaultKind::Read,
            cause: "injected by the test".into(),
        });
        assert!(!fixture.check_next());
    }
}
