//! Processor time and memory of this process and of the node's.
//!
//! A figure of a node is misleading if the generator takes the processor from it, or cannot go any
//! faster itself.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The resource usage up to one time.
#[derive(Debug, Clone, Copy, Default)]
pub struct ResourceUsage {
    /// Processor time of this process.
    pub own_cpu: Duration,
    /// Usage of the node's process, if it is known.
    pub node: Option<ProcessUsage>,
}

/// The resource usage of another process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Processor time, in the resolution of the kernel's clock ticks, 10 ms.
    pub cpu: Duration,
    /// Resident memory.
    pub resident_bytes: u64,
}

impl ResourceUsage {
    /// Returns the usage up to now, including that of the process `pid` if there is one.
    pub fn now(pid: Option<u32>) -> Self {
        let own = clock_gettime(ClockId::ProcessCPUTime);
        let secs = u64::try_from(own.tv_sec).unwrap_or_default();
        let nanos = u32::try_from(own.tv_nsec).unwrap_or_default();
        Self {
            own_cpu: Duration::new(secs, nanos),
            node: pid.and_then(ProcessUsage::of),
        }
    }
}

impl ProcessUsage {
    /// Returns the usage of the process `pid`, or `None` if there is no such process, it has ended
    /// and its parent has not waited for it, or its figures cannot be read.
    #[cfg(target_os = "linux")]
    pub fn of(pid: u32) -> Option<Self> {
        let process = procfs::process::Process::new(pid.try_into().ok()?).ok()?;
        let stat = process.stat().ok()?;
        // A process releases its memory when it ends.
        if stat.rss == 0 {
            return None;
        }
        let ticks = stat.utime.checked_add(stat.stime)?;
        let ticks_per_second = procfs::ticks_per_second().max(1);
        Some(Self {
            cpu: Duration::from_secs_f64(ticks as f64 / ticks_per_second as f64),
            resident_bytes: stat.rss.checked_mul(procfs::page_size())?,
        })
    }

    /// Returns `None`, because only Linux has `/proc`.
    #[cfg(not(target_os = "linux"))]
    pub fn of(_pid: u32) -> Option<Self> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::{process::Command, thread};

    #[test]
    fn reads_the_memory_of_a_process() {
        let usage = ProcessUsage::of(std::process::id()).unwrap();
        assert!(usage.resident_bytes > 0);
    }

    #[test]
    fn returns_none_for_a_process_that_has_ended() {
        let mut child = Command::new("true").spawn().unwrap();
        let process = procfs::process::Process::new(child.id().try_into().unwrap()).unwrap();
        while process.stat().unwrap().state != 'Z' {
            thread::yield_now();
        }
        assert_eq!(ProcessUsage::of(child.id()), None);
        child.wait().unwrap();
    }

    #[test]
    fn returns_none_for_an_unknown_process() {
        assert_eq!(ProcessUsage::of(u32::MAX), None);
    }
}
