//! Processor time of the writer, of one group of blocks in many.

use crate::runtime::clock::Clock;

/// Number of groups of which one is measured, because each reading of the clock is a system call
/// between a block and its client.
///
/// A prime: a lone client's groups are applied in sixteens, and the measured group must be each of
/// them in turn.
const GROUPS_PER_MEASURED: u32 = 61;

/// The timer of appends and applies. The first group is measured.
///
/// The apply of a group follows its append, so its time counts for the next group.
#[derive(Debug)]
pub(super) struct WriteTimer {
    clock: Clock,
    /// Number of groups before the next one that is measured.
    unmeasured_left: u32,
    /// Time at the begin of the work in progress.
    begun_usecs: Option<u64>,
    /// Time of the work since the last group.
    work_usecs: u64,
}

impl WriteTimer {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            clock,
            unmeasured_left: 0,
            begun_usecs: None,
            work_usecs: 0,
        }
    }

    /// Calls `work`, whose time counts for the next group.
    pub(super) fn time<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.begin();
        let result = work(self);
        self.end();
        result
    }

    /// Ends a group within its append, the rest of which counts for the next one. Returns its time
    /// in microseconds if it is measured.
    pub(super) fn end_group(&mut self) -> Option<u64> {
        self.end();
        let is_measured = self.unmeasured_left == 0;
        let left = self.unmeasured_left.checked_sub(1);
        self.unmeasured_left = left.unwrap_or(GROUPS_PER_MEASURED - 1);
        self.begin();
        is_measured.then(|| std::mem::take(&mut self.work_usecs))
    }

    fn begin(&mut self) {
        let is_measured = self.unmeasured_left == 0;
        self.begun_usecs = is_measured.then(|| self.clock.thread_processor_usecs());
    }

    fn end(&mut self) {
        if let Some(begun_usecs) = self.begun_usecs.take() {
            let now_usecs = self.clock.thread_processor_usecs();
            self.work_usecs += now_usecs.saturating_sub(begun_usecs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        cell::Cell,
        sync::{
            Arc,
            atomic::{AtomicU64, Ordering::Relaxed},
        },
    };

    /// Returns a timer whose clock advances by one microsecond at each reading, and the number of
    /// readings.
    fn timer() -> (WriteTimer, Arc<AtomicU64>) {
        let readings = Arc::<AtomicU64>::default();
        let counted = Arc::clone(&readings);
        let clock = Clock::new(move || counted.fetch_add(1, Relaxed));
        (WriteTimer::new(clock), readings)
    }

    #[test]
    fn reads_the_clock_for_one_group_in_many() {
        const GROUPS: u64 = 1_000;
        let (mut timer, readings) = timer();
        let measured = Cell::new(0);
        for _ in 0..GROUPS {
            timer.time(|timer| {
                measured.set(measured.get() + u64::from(timer.end_group().is_some()));
            });
            timer.time(|_| ());
        }
        assert_eq!(
            measured.get(),
            GROUPS.div_ceil(u64::from(GROUPS_PER_MEASURED))
        );
        let readings = readings.load(Relaxed);
        assert!(readings <= 6 * measured.get(), "{readings}");
    }

    #[test]
    fn counts_the_apply_of_the_group_before() {
        let (mut timer, _) = timer();
        assert_eq!(timer.time(WriteTimer::end_group), Some(1));
        for _ in 1..GROUPS_PER_MEASURED {
            assert_eq!(timer.time(WriteTimer::end_group), None);
        }
        timer.time(|_| ());
        // The rest of the last append, the apply, and the append until the group is durable.
        assert_eq!(timer.time(WriteTimer::end_group), Some(3));
    }
}
