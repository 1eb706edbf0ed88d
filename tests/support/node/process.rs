//! Memory and scheduling of a node's process.

use super::TestNode;
use std::fs;

impl TestNode {
    /// Returns the resident memory, in bytes.
    pub fn resident_bytes(&self) -> usize {
        self.memory_bytes("VmRSS:")
    }

    /// Returns the maximum of the resident memory since the start, in bytes.
    pub fn resident_bytes_peak(&self) -> usize {
        self.memory_bytes("VmHWM:")
    }

    /// Returns the scheduling policy of each thread, as a number of sched(7).
    #[cfg(target_os = "linux")]
    pub fn scheduling_policies(&self) -> Vec<u32> {
        let process = procfs::process::Process::new(self.process_id().try_into().unwrap()).unwrap();
        // A thread that has ended meanwhile has no policy.
        let threads = process.tasks().unwrap().flatten();
        threads
            .filter_map(|thread| thread.stat().ok()?.policy)
            .collect()
    }

    /// Returns the value of a line of `/proc/PID/status`, in bytes.
    fn memory_bytes(&self, name: &str) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process_id())).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .unwrap();
        let kib: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
        kib * 1024
    }
}
