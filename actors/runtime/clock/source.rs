//! The system clocks, as a value that tests replace.

use rustix::time::{ClockId, clock_gettime};
use std::{
    fmt,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

/// One reading of both clocks of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// Microseconds since the Unix epoch. This clock can be set in either direction at any time.
    pub wall_usecs: u64,
    /// Microseconds since an arbitrary start. Never decreases, cannot be set, and includes the time
    /// that the machine was suspended.
    pub elapsed_usecs: u64,
}

/// A source of clock readings. Cheap to clone.
#[derive(Clone, Default)]
pub struct Clock {
    source: Source,
    is_chosen: bool,
}

/// The source of the readings of a clock.
#[derive(Clone, Default)]
enum Source {
    /// The clocks of the system, each read only if it is needed.
    #[default]
    System,
    Replaced(Arc<dyn Fn() -> ClockReading + Send + Sync>),
}

impl Clock {
    /// Creates a clock from `now_usecs`, which returns microseconds since the Unix epoch.
    ///
    /// The same value serves as elapsed time, so a step of such a clock counts as elapsed time
    /// and not as a change of the setting.
    pub fn new(now_usecs: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self::from_readings(move || {
            let now_usecs = now_usecs();
            ClockReading {
                wall_usecs: now_usecs,
                elapsed_usecs: now_usecs,
            }
        })
    }

    /// Creates a clock from `read`, which returns both readings.
    pub fn from_readings(read: impl Fn() -> ClockReading + Send + Sync + 'static) -> Self {
        Self {
            source: Source::Replaced(Arc::new(read)),
            is_chosen: false,
        }
    }

    /// Creates a clock that starts now at `start_secs`, in seconds since the Unix epoch, and runs as
    /// fast as time passes.
    pub fn starting_at_secs(start_secs: u64) -> Self {
        let started_usecs = system_elapsed_usecs();
        let start_usecs = start_secs.saturating_mul(1_000_000);
        let clock = Self::new(move || {
            start_usecs.saturating_add(system_elapsed_usecs().saturating_sub(started_usecs))
        });
        clock.chosen()
    }

    /// Returns this clock as one whose time is chosen, so that a new chain trusts it even if it
    /// reads a time long ago. A clock of the system that does was never set.
    pub fn chosen(self) -> Self {
        Self {
            is_chosen: true,
            ..self
        }
    }

    /// Returns whether the time is chosen.
    pub(super) fn is_chosen(&self) -> bool {
        self.is_chosen
    }

    /// Reads both clocks.
    pub fn read(&self) -> ClockReading {
        match &self.source {
            Source::System => {
                // First, because a thread that is preempted between the two readings then sees a
                // wall clock that is ahead, which is ignored, and not one that is behind.
                let elapsed_usecs = system_elapsed_usecs();
                ClockReading {
                    wall_usecs: system_wall_usecs(),
                    elapsed_usecs,
                }
            }
            Source::Replaced(read) => read(),
        }
    }

    /// Returns the wall clock in microseconds since the Unix epoch.
    pub fn now_usecs(&self) -> u64 {
        match &self.source {
            Source::System => system_wall_usecs(),
            Source::Replaced(read) => read().wall_usecs,
        }
    }

    /// Returns the wall clock in seconds since the Unix epoch.
    pub fn now_secs(&self) -> u64 {
        self.now_usecs() / 1_000_000
    }

    /// Returns elapsed time in microseconds. It suits intervals, because no step of the wall
    /// clock changes it.
    pub fn elapsed_usecs(&self) -> u64 {
        match &self.source {
            Source::System => system_elapsed_usecs(),
            Source::Replaced(read) => read().elapsed_usecs,
        }
    }

    /// Returns the processor time of the calling thread, in microseconds. A clock of a test returns
    /// its elapsed time instead, so that what depends on the time is reproducible.
    pub(crate) fn thread_processor_usecs(&self) -> u64 {
        match &self.source {
            Source::System => thread_processor_usecs(),
            Source::Replaced(read) => read().elapsed_usecs,
        }
    }
}

/// Returns the processor time of the calling thread, in microseconds.
///
/// Work is measured in processor time, because elapsed time contains the turns of other threads: a
/// busy machine would raise every estimate, and queues would then reject work that they have time
/// for.
pub fn thread_processor_usecs() -> u64 {
    usecs_of(ClockId::ThreadCPUTime)
}

/// Returns the time since the Unix epoch in microseconds; 0 if the clock is set before it.
fn system_wall_usecs() -> u64 {
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since_epoch.as_micros()).unwrap_or(u64::MAX)
}

/// Returns the time since the machine was started, in microseconds, including suspended time.
fn system_elapsed_usecs() -> u64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const ELAPSED: ClockId = ClockId::Boottime;
    // The monotonic clock of macOS includes suspended time.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const ELAPSED: ClockId = ClockId::Monotonic;
    usecs_of(ELAPSED)
}

/// Returns the time of a clock of the system in microseconds.
fn usecs_of(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let secs = u64::try_from(time.tv_sec).unwrap_or_default();
    let usecs = u64::try_from(time.tv_nsec).unwrap_or_default() / 1_000;
    secs.saturating_mul(1_000_000).saturating_add(usecs)
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock(..)")
    }
}
