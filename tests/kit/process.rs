//! What the system says of a node's process.

use super::TestNode;
use std::fs;

impl TestNode {
    /// How much memory it has now, in bytes.
    pub fn resident_bytes(&self) -> usize {
        self.memory_bytes("VmRSS:")
    }

    /// The most memory that it ever had, in bytes.
    pub fn resident_bytes_peak(&self) -> usize {
        self.memory_bytes("VmHWM:")
    }

    /// How the system gives each of its threads turns, as numbers of sched(7).
    #[cfg(target_os = "linux")]
    pub fn scheduling_policies(&self) -> Vec<u32> {
        let process = procfs::process::Process::new(self.process_id().try_into().unwrap()).unwrap();
        // One that has ended meanwhile has none.
        let threads = process.tasks().unwrap().flatten();
        threads
            .filter_map(|thread| thread.stat().ok()?.policy)
            .collect()
    }

    /// Reads one line of `/proc/PID/status`, which counts in KiB.
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
