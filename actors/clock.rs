//! The time of day, as a value that tests replace.

use std::{
    fmt,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

/// Tells the time of day. Cheap to clone.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Clock {
    /// A clock that asks `now_usecs` for the microseconds since the Unix epoch.
    pub fn new(now_usecs: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now_usecs))
    }

    /// Microseconds since the Unix epoch.
    pub fn now_usecs(&self) -> u64 {
        (self.0)()
    }

    /// Seconds since the Unix epoch.
    pub fn now_secs(&self) -> u64 {
        self.now_usecs() / 1_000_000
    }
}

impl Default for Clock {
    /// The clock of the system. One that is set before 1970 reads 0.
    fn default() -> Self {
        Self::new(|| {
            let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            u64::try_from(since_epoch.as_micros()).unwrap_or(u64::MAX)
        })
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock(..)")
    }
}
