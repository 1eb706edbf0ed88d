//! How the system gives the node's threads their turns.
//!
//! Threads hand a transaction to each other several times. Where all cores are busy, the system's usual way is to stop
//! the one that hands over for the one that it wakes, for each of them: both lose what they had in the cache, and the
//! woken one finds a single thing to do. Under `SCHED_BATCH` (sched(7)) it waits its turn and finds many.

use std::error::Error;

/// Gives this thread, and all that it starts, the way that `process.scheduling` names. What started the process under
/// another way than the system's usual one has decided that, and is not overruled.
///
/// # Errors
///
/// Returns the error of the system if it refuses. The threads then have the system's usual policy.
pub fn schedule(process_scheduling: &str) -> Result<(), Box<dyn Error>> {
    #[cfg(target_os = "linux")]
    if process_scheduling == "batch" {
        batch()?;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = process_scheduling;
    Ok(())
}

#[cfg(target_os = "linux")]
fn batch() -> preempt_rt::sched::RtResult<()> {
    use preempt_rt::sched::{Pid, Scheduler, SchedulerParams, get_scheduler, set_scheduler};
    let this = Pid::current_thread();
    if get_scheduler(this)? != Scheduler::SCHED_NORMAL {
        return Ok(());
    }
    // The only priority that it has.
    set_scheduler(
        this,
        Scheduler::SCHED_BATCH,
        SchedulerParams { priority: 0 },
    )
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use preempt_rt::sched::{Pid, Scheduler, SchedulerParams, get_scheduler, set_scheduler};
    use std::thread;

    /// What a thread has that `schedule` was called on, and one that it started after that.
    fn scheduled(before: Scheduler, process_scheduling: &'static str) -> [Scheduler; 2] {
        let threads = thread::spawn(move || {
            let this = Pid::current_thread();
            set_scheduler(this, before, SchedulerParams { priority: 0 }).unwrap();
            schedule(process_scheduling).unwrap();
            let started = thread::spawn(move || get_scheduler(this).unwrap());
            [get_scheduler(this).unwrap(), started.join().unwrap()]
        });
        threads.join().unwrap()
    }

    #[test]
    fn threads_wait_their_turns_where_nobody_decided_otherwise() {
        use Scheduler::{SCHED_BATCH, SCHED_IDLE, SCHED_NORMAL};
        assert_eq!(scheduled(SCHED_NORMAL, "batch"), [SCHED_BATCH; 2]);
        assert_eq!(scheduled(SCHED_NORMAL, "inherit"), [SCHED_NORMAL; 2]);
        assert_eq!(scheduled(SCHED_IDLE, "batch"), [SCHED_IDLE; 2]);
    }
}
