//! Of the process: which build it is, and what the kernel counts of it. The names without `ledger_` are those
//! that all programs have for this; where the kernel does not tell, they are missing.

use super::family::Families;
use crate::telemetry;

/// Tells of it.
pub fn tell(families: &mut Families) {
    families
        .gauge((
            "ledger_build_info",
            "Always 1; the version of the program is a label.",
        ))
        .sample(&[("version", env!("CARGO_PKG_VERSION"))], 1.0);
    families
        .counter((
            "ledger_log_lost_lines_total",
            "Lines of the log that were lost, as standard error was not read in time or could not be written.",
        ))
        .sample(&[], telemetry::lost_lines() as f64);
    #[cfg(target_os = "linux")]
    {
        // What cannot be read now may be read next time.
        let _ = linux::tell(families);
    }
}

#[cfg(target_os = "linux")]
mod linux {
    //! What stands in `/proc`.

    use super::Families;
    use procfs::{
        ProcResult, boot_time_secs, page_size,
        process::{LimitValue, Process},
        ticks_per_second,
    };
    use std::collections::BTreeMap;

    /// How many threads are looked at: far more than a node has, were it not to end threads that it starts.
    const THREADS_MAX: usize = 4_096;

    /// # Errors
    /// When a file cannot be read; what was told before it stays.
    pub fn tell(families: &mut Families) -> ProcResult<()> {
        let process = Process::myself()?;
        let stat = process.stat()?;
        let ticks = ticks_per_second() as f64;
        let mut gauge = |name, help, value| {
            families.gauge((name, help)).sample(&[], value);
        };
        gauge(
            "process_start_time_seconds",
            "When the process was started, Unix time (Linux).",
            boot_time_secs()? as f64 + stat.starttime as f64 / ticks,
        );
        gauge(
            "process_resident_memory_bytes",
            "Memory of the process that is resident (Linux).",
            (stat.rss * page_size()) as f64,
        );
        gauge(
            "process_virtual_memory_bytes",
            "Memory of the process that is mapped (Linux).",
            stat.vsize as f64,
        );
        gauge(
            "process_threads",
            "Threads of the process (Linux).",
            stat.num_threads as f64,
        );
        gauge(
            "process_open_fds",
            "Files and sockets that the process has open (Linux).",
            process.fd_count()? as f64,
        );
        if let LimitValue::Value(max) = process.limits()?.max_open_files.soft_limit {
            gauge(
                "process_max_fds",
                "How many files and sockets the process may have open (Linux).",
                max as f64,
            );
        }
        families
            .counter((
                "process_cpu_seconds_total",
                "Processor time of the process, in user and system mode (Linux).",
            ))
            .sample(&[], (stat.utime + stat.stime) as f64 / ticks);
        threads(&process, ticks, families)
    }

    fn threads(process: &Process, ticks: f64, families: &mut Families) -> ProcResult<()> {
        let mut by_name: BTreeMap<String, u64> = BTreeMap::new();
        for task in process.tasks()?.take(THREADS_MAX) {
            // One that has ended meanwhile is not there any more.
            if let Ok(stat) = task.and_then(|task| task.stat()) {
                *by_name.entry(stat.comm).or_default() += stat.utime + stat.stime;
            }
        }
        let mut family = families.counter((
            "ledger_thread_cpu_seconds_total",
            "Processor time of the threads of a name, of which the kernel keeps 15 characters (Linux).",
        ));
        for (thread, spent) in &by_name {
            family.sample(&[("thread", thread)], *spent as f64 / ticks);
        }
        Ok(())
    }
}
