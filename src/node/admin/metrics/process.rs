//! Metrics of the process: its build, and counters of the kernel.
//!
//! Names without `ledger_` are the conventional ones of Prometheus clients. Metrics that the kernel
//! does not provide are omitted.

use super::family::Families;
use crate::{observe::ProcessReading, telemetry};
use std::time::Duration;

/// Appends the metrics of the process.
pub fn collect(families: &mut Families) {
    families
        .gauge((
            "ledger_build_info",
            "Always 1; the label is the version of the program.",
        ))
        .sample(&[("version", env!("CARGO_PKG_VERSION"))], 1.0);
    families
        .counter((
            "ledger_log_lost_lines_total",
            "Lines of the log that were lost because standard error was not read or not writable.",
        ))
        .sample(&[], telemetry::lost_lines() as f64);
    #[cfg(target_os = "linux")]
    {
        // An error omits the remaining metrics of this response.
        let _ = linux::collect(families);
    }
    threads(families);
}

/// Appends the time of the threads, from the same source as the snapshots.
fn threads(families: &mut Families) {
    let reading = ProcessReading::now();
    let by_name = reading.times_by_name();
    let seconds = |nanos| Duration::from_nanos(nanos).as_secs_f64();
    let mut spent = families.counter((
        "ledger_thread_cpu_seconds_total",
        "Processor time of threads by name, cut to 15 characters by the kernel (Linux).",
    ));
    for (thread, time) in &by_name {
        spent.sample(&[("thread", thread)], seconds(time.cpu_nanos));
    }
    let mut waited = families.counter((
        "ledger_thread_core_wait_seconds_total",
        "Time for which threads could run and waited for a core, by name (Linux with schedstat).",
    ));
    for (thread, time) in &by_name {
        if let Some(nanos) = time.core_wait_nanos {
            waited.sample(&[("thread", thread)], seconds(nanos));
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    //! Metrics from `/proc`.

    use super::Families;
    use procfs::{
        ProcResult, boot_time_secs, page_size,
        process::{LimitValue, Process},
        ticks_per_second,
    };

    /// Appends the metrics from `/proc`.
    ///
    /// # Errors
    ///
    /// Returns the error of a file that cannot be read. The metrics before it are appended.
    pub fn collect(families: &mut Families) -> ProcResult<()> {
        let process = Process::myself()?;
        let stat = process.stat()?;
        let ticks = ticks_per_second() as f64;
        let mut gauge = |name, help, value| {
            families.gauge((name, help)).sample(&[], value);
        };
        gauge(
            "process_start_time_seconds",
            "Start time of the process, Unix time (Linux).",
            boot_time_secs()? as f64 + stat.starttime as f64 / ticks,
        );
        gauge(
            "process_resident_memory_bytes",
            "Resident memory of the process (Linux).",
            (stat.rss * page_size()) as f64,
        );
        gauge(
            "process_virtual_memory_bytes",
            "Mapped memory of the process (Linux).",
            stat.vsize as f64,
        );
        gauge(
            "process_threads",
            "Number of threads of the process (Linux).",
            stat.num_threads as f64,
        );
        gauge(
            "process_open_fds",
            "Number of open files and sockets of the process (Linux).",
            process.fd_count()? as f64,
        );
        if let LimitValue::Value(max) = process.limits()?.max_open_files.soft_limit {
            gauge(
                "process_max_fds",
                "Maximum number of open files and sockets of the process (Linux).",
                max as f64,
            );
        }
        families
            .counter((
                "process_cpu_seconds_total",
                "Processor time of the process in user and system mode (Linux).",
            ))
            .sample(&[], (stat.utime + stat.stime) as f64 / ticks);
        Ok(())
    }
}
