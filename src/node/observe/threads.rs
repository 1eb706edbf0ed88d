//! Processor time of the threads of the process and of the machine, from `/proc`.
//!
//! Each reading opens the files anew. With the threads of a node that takes less than a
//! thousandth of a core per second, so no file stays open.

use super::snapshot::{Processor, ThreadGroup};
use std::{collections::BTreeMap, sync::LazyLock, thread, time::Duration};

/// Maximum number of threads that are read: far more than a node has.
#[cfg(target_os = "linux")]
const THREADS_MAX: usize = 4_096;

/// Number of cores that the process may use. It is read once, because that takes as long as a tenth
/// of a snapshot.
static CORES: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));

/// Time that a thread, or several, spent since their start, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTime {
    /// Time on a core.
    pub cpu_nanos: u64,
    /// Time in which the thread could run and waited for a core. `None` if the kernel does not
    /// measure it.
    pub core_wait_nanos: Option<u64>,
}

impl ThreadTime {
    fn add(&mut self, other: Self) {
        self.cpu_nanos += other.cpu_nanos;
        if let Some(waited) = other.core_wait_nanos {
            *self.core_wait_nanos.get_or_insert(0) += waited;
        }
    }

    fn since(self, earlier: Self) -> Self {
        let waited = |nanos: u64| nanos.saturating_sub(earlier.core_wait_nanos.unwrap_or(0));
        Self {
            cpu_nanos: self.cpu_nanos.saturating_sub(earlier.cpu_nanos),
            core_wait_nanos: self.core_wait_nanos.map(waited),
        }
    }
}

/// A thread with its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadReading {
    /// Number of the thread in the system.
    pub id: i32,
    /// Name of the thread, cut to 15 characters by the kernel.
    pub name: String,
    /// Its time.
    pub time: ThreadTime,
}

/// Busy and total time of the cores of the machine, in the same unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineTime {
    busy: u64,
    total: u64,
}

/// A reading of all threads. Empty if the system has no `/proc`.
#[derive(Clone, Debug, Default)]
pub struct ProcessReading {
    /// The threads.
    pub threads: Vec<ThreadReading>,
    /// The cores of the machine.
    pub machine: Option<MachineTime>,
    /// Resident memory of the process, in bytes.
    pub resident_bytes: Option<u64>,
}

impl ProcessReading {
    /// Reads the threads of this process. A thread that ends meanwhile is omitted.
    #[cfg(target_os = "linux")]
    pub fn now() -> Self {
        Self {
            threads: linux::threads().unwrap_or_default(),
            machine: linux::machine(),
            resident_bytes: linux::resident_bytes(),
        }
    }

    /// Returns an empty reading.
    #[cfg(not(target_os = "linux"))]
    pub fn now() -> Self {
        Self::default()
    }

    /// Returns the time that the threads of each name have spent since their start.
    pub fn times_by_name(&self) -> BTreeMap<&str, ThreadTime> {
        let mut by_name: BTreeMap<_, ThreadTime> = BTreeMap::new();
        for thread in &self.threads {
            by_name.entry(&*thread.name).or_default().add(thread.time);
        }
        by_name
    }

    /// Returns the threads by name, with the time that they spent since `earlier`, which was read
    /// `interval` before.
    pub fn groups_since(&self, earlier: &Self, interval: Duration) -> Vec<ThreadGroup> {
        let before: BTreeMap<_, _> = earlier.threads.iter().map(|of| (of.id, of)).collect();
        let mut groups: BTreeMap<&str, (usize, ThreadTime)> = BTreeMap::new();
        for thread in &self.threads {
            // The system may give the number of a thread that has ended to another one.
            let known = before.get(&thread.id).filter(|of| of.name == thread.name);
            let earlier = known.map_or_else(ThreadTime::default, |of| of.time);
            let (threads, time) = groups.entry(&thread.name).or_default();
            *threads += 1;
            time.add(thread.time.since(earlier));
        }
        let groups = groups.into_iter().map(|(name, (threads, time))| {
            let permille = |nanos| permille_of(nanos, interval);
            ThreadGroup {
                name: name.to_owned(),
                threads,
                cpu_permille: permille(time.cpu_nanos),
                core_wait_permille: time.core_wait_nanos.map(permille),
            }
        });
        groups.collect()
    }

    /// Returns the use of the processor since `earlier` by the threads of `groups`.
    pub fn processor_since(&self, earlier: &Self, groups: &[ThreadGroup]) -> Processor {
        let cores = *CORES;
        let of_cores = |sum: u64| sum / cores as u64;
        let busy = groups.iter().map(|group| group.cpu_permille).sum();
        let waits = groups.iter().filter_map(|group| group.core_wait_permille);
        let waited = waits.reduce(|all, of| all + of);
        let machine = self.machine.zip(earlier.machine).and_then(|(now, before)| {
            let total = now.total.saturating_sub(before.total);
            let busy = now.busy.saturating_sub(before.busy);
            (busy.saturating_mul(1_000)).checked_div(total)
        });
        Processor {
            cores,
            busy_permille: (!groups.is_empty()).then(|| of_cores(busy)),
            core_wait_permille: waited.map(of_cores),
            machine_busy_permille: machine,
        }
    }
}

/// Returns the share of `nanos` in `interval`, in thousandths.
pub fn permille_of(nanos: u64, interval: Duration) -> u64 {
    let share = Duration::from_nanos(nanos).as_secs_f64() / interval.as_secs_f64().max(1e-9);
    (share * 1_000.0).round() as u64
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{MachineTime, THREADS_MAX, ThreadReading, ThreadTime};
    use procfs::{
        CurrentSI as _, KernelStats, page_size,
        process::{Process, Task},
        ticks_per_second,
    };
    use std::{fs, io, path::Path};

    /// Nanoseconds in a second.
    const NANOS: u64 = 1_000_000_000;

    /// Folder with a folder for each thread of this process.
    const TASKS: &str = "/proc/self/task";

    /// Reads the threads of this process.
    ///
    /// It reads two short files of each. `stat` has all figures in one, but the kernel takes ten
    /// times as long to write it.
    ///
    /// # Errors
    ///
    /// Returns the error of the system if `/proc` cannot be read.
    pub(super) fn threads() -> io::Result<Vec<ThreadReading>> {
        let mut threads = Vec::new();
        for entry in fs::read_dir(TASKS)?.take(THREADS_MAX) {
            let entry = entry?;
            // A thread that has ended meanwhile has no files any more.
            threads.extend(thread(&entry.path()));
        }
        Ok(threads)
    }

    fn thread(folder: &Path) -> Option<ThreadReading> {
        let id = folder.file_name()?.to_str()?.parse().ok()?;
        let mut name = fs::read_to_string(folder.join("comm")).ok()?;
        name.truncate(name.trim_end().len());
        let time = match fs::read_to_string(folder.join("schedstat")) {
            Ok(measured) => {
                let mut nanos = measured.split(' ').map(str::parse);
                ThreadTime {
                    cpu_nanos: nanos.next()?.ok()?,
                    core_wait_nanos: Some(nanos.next()?.ok()?),
                }
            }
            // A kernel without CONFIG_SCHED_INFO counts in ticks of some 10 ms.
            Err(_) => {
                let stat = task(id)?.stat().ok()?;
                ThreadTime {
                    cpu_nanos: (stat.utime + stat.stime) * (NANOS / ticks_per_second().max(1)),
                    core_wait_nanos: None,
                }
            }
        };
        Some(ThreadReading { id, name, time })
    }

    fn task(id: i32) -> Option<Task> {
        Process::myself().ok()?.task_from_tid(id).ok()
    }

    /// Reads the resident memory of the process.
    pub(super) fn resident_bytes() -> Option<u64> {
        let memory = Process::myself().ok()?.statm().ok()?;
        Some(memory.resident * page_size())
    }

    /// Reads the time of the cores of the machine.
    pub(super) fn machine() -> Option<MachineTime> {
        let cores = KernelStats::current().ok()?.total;
        let idle = cores.idle + cores.iowait.unwrap_or(0);
        let others = [cores.irq, cores.softirq, cores.steal].map(Option::unwrap_or_default);
        let busy = cores.user + cores.nice + cores.system + others.iter().sum::<u64>();
        Some(MachineTime {
            busy,
            total: busy + idle,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn thread(id: i32, name: &str, cpu_ms: u64, core_wait_ms: u64) -> ThreadReading {
        ThreadReading {
            id,
            name: name.to_owned(),
            time: ThreadTime {
                cpu_nanos: cpu_ms * 1_000_000,
                core_wait_nanos: Some(core_wait_ms * 1_000_000),
            },
        }
    }

    fn reading(threads: impl Into<Vec<ThreadReading>>) -> ProcessReading {
        ProcessReading {
            threads: threads.into(),
            ..ProcessReading::default()
        }
    }

    #[test]
    fn sums_the_time_of_the_threads_of_a_name() {
        let before = reading([thread(1, "reader", 100, 0), thread(2, "reader", 300, 10)]);
        let after = reading([
            thread(1, "reader", 350, 20),
            thread(2, "reader", 300, 10),
            thread(3, "writer", 40, 0),
        ]);
        let groups = after.groups_since(&before, SECOND);
        let figures = groups.iter().map(|group| {
            (
                &*group.name,
                group.threads,
                group.cpu_permille,
                group.core_wait_permille,
            )
        });
        let figures: Vec<_> = figures.collect();
        assert_eq!(
            figures,
            [("reader", 2, 250, Some(20)), ("writer", 1, 40, Some(0))]
        );
    }

    #[test]
    fn counts_a_thread_with_the_number_of_an_ended_one_from_its_start() {
        let before = reading([thread(1, "limit-check", 500, 0)]);
        let after = reading([thread(1, "reader", 30, 0)]);
        assert_eq!(after.groups_since(&before, SECOND)[0].cpu_permille, 30);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn measures_the_processor_time_of_a_thread() {
        use rustix::time::{ClockId, clock_gettime};
        const NAME: &str = "measured";
        let spent = Duration::from_millis(50);
        let work = move || {
            while Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap() < spent {}
            ProcessReading::now()
        };
        let named = thread::Builder::new().name(NAME.to_owned()).spawn(work);
        let reading = named.unwrap().join().unwrap();
        let groups = reading.groups_since(&ProcessReading::default(), spent);
        let of = groups.iter().find(|group| group.name == NAME).unwrap();
        assert!(of.cpu_permille >= 800, "{of:?}");
        assert!(reading.machine.is_some());
    }
}
