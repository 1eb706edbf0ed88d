//! Scheduling policy of the node's threads.
//!
//! A transaction passes between threads several times. If all cores are busy, the default policy of
//! Linux preempts the sending thread for the thread that it wakes, once per message: both lose
//! their CPU caches, and the woken thread finds one message. Under `SCHED_BATCH` (sched(7)) the
//! woken thread waits for its turn and finds many.

use std::error::Error;

/// Applies the setting `process.scheduling` to this thread and to the threads that it starts.
///
/// With `batch` the policy becomes `SCHED_BATCH`, unless the process was started under a policy
/// other than the default one: then its operator has chosen. The niceness does not change.
///
/// # Errors
///
/// Returns the error of the operating system if it rejects the policy, which is then unchanged.
pub fn set_scheduling_policy(process_scheduling: &str) -> Result<(), Box<dyn Error>> {
    #[cfg(target_os = "linux")]
    if process_scheduling == "batch" {
        linux::set_batch_policy()?;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = process_scheduling;
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use thread_priority::{
        NormalThreadSchedulePolicy::{Batch, Other},
        ThreadPriority, ThreadPriorityValue,
        ThreadSchedulePolicy::Normal,
        set_thread_priority_and_policy, thread_native_id, thread_schedule_policy,
    };

    pub(super) fn set_batch_policy() -> Result<(), Box<dyn Error>> {
        if thread_schedule_policy()? != Normal(Other) {
            return Ok(());
        }
        let policy = Normal(Batch);
        let niceness = rustix::process::getpriority_process(None)?;
        // The library sets the niceness with the policy, and takes it as a priority from 0 to 99.
        let priority = (0..=u8::MAX)
            .filter_map(|value| ThreadPriorityValue::try_from(value).ok())
            .map(ThreadPriority::Crossplatform)
            .find(|priority| priority.to_posix(policy) == Ok(niceness))
            .ok_or("the niceness of the process is out of range")?;
        Ok(set_thread_priority_and_policy(
            thread_native_id(),
            priority,
            policy,
        )?)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use rustix::process::{getpriority_process, nice};
    use std::thread;
    use thread_priority::{
        NormalThreadSchedulePolicy::{Batch, Idle, Other},
        ThreadPriority,
        ThreadSchedulePolicy::{self, Normal},
        set_thread_priority_and_policy, thread_native_id, thread_schedule_policy,
    };

    /// Sets the policy of this thread, and its niceness to the highest value that the policy has.
    fn set_policy(policy: ThreadSchedulePolicy) {
        // The library sets the policy first, then the niceness. It knows no other niceness of
        // `Idle` than 0, which a process with a higher one may not be permitted to set.
        let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy);
        assert_eq!(thread_schedule_policy().unwrap(), policy);
    }

    /// Returns the policy of a thread that has `before` and applies the setting, and of a thread
    /// that it starts afterwards.
    fn policies_after(
        before: ThreadSchedulePolicy,
        process_scheduling: &'static str,
    ) -> [ThreadSchedulePolicy; 2] {
        let threads = thread::spawn(move || {
            set_policy(before);
            set_scheduling_policy(process_scheduling).unwrap();
            let started = thread::spawn(|| thread_schedule_policy().unwrap());
            [thread_schedule_policy().unwrap(), started.join().unwrap()]
        });
        threads.join().unwrap()
    }

    #[test]
    fn sets_batch_unless_the_operator_chose_another_policy() {
        assert_eq!(policies_after(Normal(Other), "batch"), [Normal(Batch); 2]);
        assert_eq!(policies_after(Normal(Other), "inherit"), [Normal(Other); 2]);
        assert_eq!(policies_after(Normal(Idle), "batch"), [Normal(Idle); 2]);
    }

    #[test]
    fn keeps_the_niceness() {
        let niceness = thread::spawn(|| {
            let before = nice(7).unwrap();
            set_scheduling_policy("batch").unwrap();
            (before, getpriority_process(None).unwrap())
        });
        let (before, after) = niceness.join().unwrap();
        assert_eq!(before, after);
    }
}
