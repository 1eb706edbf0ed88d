//! A clock that pauses the reads on the threads of the listener.

use super::{TestApi, handled};
use ledger_actors::{Clock, ClockReading};
use std::sync::{Arc, Mutex};

/// Step of the first reading after [`PausingClock::pause_inline_reads`], in microseconds. It is the
/// longest pause after a slow read.
const FIRST_STEP_USECS: u64 = 1_000_000;

/// A clock with an elapsed time that can almost stand still.
///
/// The thread of a listener reads a few rows itself. After such a read of more than a millisecond,
/// reader threads do it for as long as that read took.
#[derive(Default)]
pub struct PausingClock {
    /// Replaces the elapsed time of the system.
    steps: Mutex<Option<Steps>>,
}

/// An elapsed time that each reading advances by half as much as the one before it.
struct Steps {
    elapsed_usecs: u64,
    next_usecs: u64,
}

impl PausingClock {
    /// Returns the clock of a node.
    pub fn clock(self: &Arc<Self>) -> Clock {
        let (this, system) = (Arc::clone(self), Clock::default());
        Clock::from_readings(move || {
            let reading = system.read();
            let mut steps = this.steps.lock().unwrap();
            let elapsed_usecs = steps.as_mut().map(|steps| {
                steps.elapsed_usecs += steps.next_usecs;
                // All later steps together are less than this one.
                steps.next_usecs /= 2;
                steps.elapsed_usecs
            });
            ClockReading {
                elapsed_usecs: elapsed_usecs.unwrap_or(reading.elapsed_usecs),
                ..reading
            }
        })
    }

    /// Makes a read slow, after which the time of the pause never ends.
    pub async fn pause_inline_reads(&self, api: &TestApi) {
        let of_readers = || handled(api, "storage", "read");
        loop {
            let elapsed_usecs = api.clock().elapsed_usecs();
            *self.steps.lock().unwrap() = Some(Steps {
                elapsed_usecs,
                next_usecs: FIRST_STEP_USECS,
            });
            let path = "/v1/accounts/0x1/balance/0xa";
            api.client.get(path).await;
            let before = of_readers();
            api.client.get(path).await;
            // Otherwise other threads have read the clock so often that the steps were too small.
            if of_readers() > before {
                return;
            }
        }
    }
}
