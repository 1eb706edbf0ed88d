//! What this process and the node's use of the machine: a figure of a node means little where the load
//! generator takes the processor from it, or cannot go any faster itself.

use rustix::{
    param::{clock_ticks_per_second, page_size},
    time::{ClockId, clock_gettime},
};
use std::{fs, time::Duration};

/// What was used up to a moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    /// Processor time of this process.
    pub own: Duration,
    /// Of the node's process, where it is known.
    pub node: Option<NodeUsage>,
}

/// What a node's process uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NodeUsage {
    /// Processor time, as exact as the kernel's clock ticks: 10 ms.
    pub cpu: Duration,
    /// Memory in use.
    pub resident_bytes: u64,
}

impl Usage {
    /// Up to now; of the node's process too, if `pid` tells which it is.
    pub fn now(pid: Option<u32>) -> Self {
        let own = clock_gettime(ClockId::ProcessCPUTime);
        let secs = u64::try_from(own.tv_sec).unwrap_or_default();
        let nanos = u32::try_from(own.tv_nsec).unwrap_or_default();
        Self {
            own: Duration::new(secs, nanos),
            node: pid.and_then(NodeUsage::of),
        }
    }
}

impl NodeUsage {
    /// Of the process `pid`; `None` where there is no such process, or no `/proc`.
    pub fn of(pid: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Reads the line of `/proc/PID/stat` (proc_pid_stat(5)).
    fn parse(line: &str) -> Option<Self> {
        // The second field, the name, may have spaces and parentheses in it; what follows it begins with
        // the third.
        let mut fields = line.rsplit_once(')')?.1.split_ascii_whitespace();
        let mut field = |skipped: usize| fields.nth(skipped)?.parse::<u64>().ok();
        let (user, system) = (field(14 - 3)?, field(0)?);
        let resident_pages = field(24 - 15 - 1)?;
        let per_second = clock_ticks_per_second().max(1);
        Some(Self {
            cpu: Duration::from_secs_f64(user.checked_add(system)? as f64 / per_second as f64),
            resident_bytes: resident_pages.checked_mul(page_size() as u64)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_read_whatever_the_process_is_called() {
        let line = "7 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 150 50 13 14 15 16 17 18 19 20 300 22";
        let per_second = clock_ticks_per_second();
        let usage = NodeUsage::parse(line).unwrap();
        assert_eq!(
            usage.cpu,
            Duration::from_secs_f64(200.0 / per_second as f64)
        );
        assert_eq!(usage.resident_bytes, 300 * page_size() as u64);
        for line in [
            "",
            "7 (a",
            "7 (a) S 1 2",
            "7 (a) S 1 2 3 4 5 6 7 8 9 10 x 50",
        ] {
            assert_eq!(NodeUsage::parse(line), None, "{line}");
        }
    }

    #[test]
    fn a_process_has_used_some_of_the_machine() {
        let Some(usage) = NodeUsage::of(std::process::id()) else {
            return;
        };
        assert!(usage.resident_bytes > 0);
    }
}
