//! The stages of a node, from the difference of two readings.
//!
//! The counters of a stage are on its own side; no stage measures for this module. An actor's part
//! of the processor time of its thread is its part of the time that the handlers of that thread
//! ran, because the kernel measures threads and not actors.

use super::{
    reading::{Reading, Sources},
    snapshot::{Processor, Queue, Stage, StageKind, SyncShare, ThreadGroup},
    threads::permille_of,
};
use ledger_actors::{BudgetStatus, LaneStatus, MailboxStatus, WorkStatus, relay::RelayReport};
use ledger_metrics::Histogram;
use std::time::Duration;

/// Share of the time in jobs, in thousandths, from which the queue of threads counts as never
/// empty. The rest is the time between two jobs, and the jobs at both ends of the interval.
const NEVER_EMPTY_PERMILLE: u64 = 970;

/// Two readings and the time between them.
pub(super) struct Interval<'a> {
    pub(super) sources: &'a Sources,
    pub(super) before: &'a Reading,
    pub(super) now: &'a Reading,
    pub(super) length: Duration,
    /// The threads by name, with the time they spent in the interval.
    pub(super) groups: Vec<ThreadGroup>,
}

impl<'a> Interval<'a> {
    pub(super) fn new(sources: &'a Sources, before: &'a Reading, now: &'a Reading) -> Self {
        let length = now.at.saturating_duration_since(before.at);
        Self {
            sources,
            before,
            now,
            length,
            groups: now.process.groups_since(&before.process, length),
        }
    }

    /// Returns the increase of a counter per second, with one decimal.
    pub(super) fn per_s(&self, counter: impl Fn(&Reading) -> u64) -> f64 {
        let increase = counter(self.now).saturating_sub(counter(self.before));
        rounded(increase as f64 / self.length.as_secs_f64().max(1e-9))
    }

    /// Returns the increase of a counter of nanoseconds, in thousandths of the interval.
    pub(super) fn permille(&self, nanos: impl Fn(&Reading) -> u64) -> u64 {
        let increase = nanos(self.now).saturating_sub(nanos(self.before));
        permille_of(increase, self.length)
    }

    /// Returns the values that a recorder has recorded in the interval.
    fn recorded(&self, histogram: impl Fn(&Reading) -> Option<&Histogram>) -> Option<Histogram> {
        Some(histogram(self.now)?.since(histogram(self.before)?))
    }

    /// Returns the use of the processor in the interval.
    pub(super) fn processor(&self) -> Processor {
        let earlier = &self.before.process;
        self.now.process.processor_since(earlier, &self.groups)
    }

    fn group(&self, thread: &str) -> Option<&ThreadGroup> {
        // The kernel cuts names to 15 bytes.
        let cut = thread.get(..15).unwrap_or(thread);
        self.groups.iter().find(|group| group.name == cut)
    }

    /// Returns the stages, in the order of a transaction, then those beside its way.
    pub(super) fn stages(&self) -> Vec<Stage> {
        let mut stages = vec![
            self.http(),
            self.signatures(),
            self.actor("mempool", "Mempool", true),
            self.pool(),
            self.actor("sequencer", "Sequencer", true),
            self.executor(),
            self.writer(),
            self.actor("committer", "Committer", true),
            self.waits(),
            self.actor("storage", "Storage", false),
            self.readers("point-reader", "Readers of few rows", "point_reads"),
            self.readers("store-reader", "Readers", "reads"),
            self.readers("renderer", "Renderers", "renderings"),
            self.worker("store-applier", "Applier", false),
            self.actor("pruner", "Pruner", false),
        ];
        if self.now.engine.is_some() {
            stages.push(self.threads_only("consensus", "Consensus engine"));
            stages.push(self.threads_only("consensus-io", "Network of the engine"));
            stages.push(self.worker("consensus-log", "Consensus log", false));
        }
        if self.now.relay.is_some() {
            stages.push(self.relay());
        }
        stages
    }

    /// Returns a stage with the processor time of the threads of one name.
    fn threads_only(&self, name: &'static str, title: &'static str) -> Stage {
        let group = self.group(name);
        let threads = group.map_or(0, |group| group.threads);
        let of_thread = |permille: u64| permille / threads.max(1) as u64;
        Stage {
            name,
            title,
            kind: StageKind::Threads,
            is_on_path: false,
            thread: Some(name),
            threads,
            busy_permille: group.map(|group| of_thread(group.cpu_permille)),
            core_wait_permille: group
                .and_then(|group| group.core_wait_permille)
                .map(of_thread),
            occupied_permille: None,
            in_per_s: None,
            out_per_s: None,
            rejected_per_s: None,
            queue: None,
            sync: None,
        }
    }

    fn http(&self) -> Stage {
        let responses = Some(self.per_s(|of| of.responses));
        let rejected = self.per_s(|of| of.rejections_of(|limit| limit.starts_with("api.")));
        Stage {
            name: "http",
            thread: Some("http-api"),
            threads: self.sources.http_workers,
            is_on_path: true,
            in_per_s: responses,
            out_per_s: responses,
            rejected_per_s: Some(rejected),
            ..self.threads_only("http-api", "HTTP workers")
        }
    }

    fn signatures(&self) -> Stage {
        let sum =
            |value: fn(&LaneStatus) -> u64| Some(self.per_s(|of| of.lanes.iter().map(value).sum()));
        // The lane that is fullest, because each has the whole capacity.
        let fullest = self.now.lanes.iter().max_by_key(|of| of.waiting_signatures);
        let queue = fullest.map(|lane| Queue {
            unit: "checks",
            waiting: lane.waiting_signatures as u64,
            capacity: Some(lane.capacity_signatures as u64),
            setting: Some("signatures.queue_capacity"),
            oldest_ms: oldest(lane.waiting, lane.oldest_waiting_ms),
            ..Queue::default()
        });
        Stage {
            in_per_s: sum(|lane| lane.accepted),
            out_per_s: sum(|lane| lane.checked),
            rejected_per_s: sum(|lane| lane.refused),
            ..self.with_work("signature-check", "Signature checks", true, queue)
        }
    }

    /// Returns the counters of the threads of one name behind a queue.
    fn work<'r>(&self, reading: &'r Reading, thread: &str) -> Option<&'r WorkStatus> {
        let mut all = reading.meters.work.iter();
        all.find(|work| work.thread == thread)
    }

    /// Returns the stage of threads behind a queue, with their occupation and time in the queue.
    fn with_work(
        &self,
        name: &'static str,
        title: &'static str,
        is_on_path: bool,
        queue: Option<Queue>,
    ) -> Stage {
        let stage = self.threads_only(name, title);
        let Some(work) = self.work(self.now, name) else {
            return stage;
        };
        let took = |of: &Reading| self.work(of, name).map_or(0, |work| work.took.sum());
        let occupied = self.permille(took) / work.threads.max(1) as u64;
        let waited = self.recorded(|of| self.work(of, name).map(|work| &work.waited));
        let jobs = |of: &Reading| self.work(of, name).map_or(0, |work| work.took.count());
        let queue = queue.map(|queue| Queue {
            waited_p50_us: waited.as_ref().and_then(|waited| waited.quantile(500)),
            waited_p99_us: waited.as_ref().and_then(|waited| waited.quantile(990)),
            was_never_empty: occupied >= NEVER_EMPTY_PERMILLE,
            ..queue
        });
        let done = Some(self.per_s(jobs));
        Stage {
            is_on_path,
            threads: work.threads,
            occupied_permille: Some(occupied.min(1_000)),
            in_per_s: done,
            out_per_s: done,
            queue,
            ..stage
        }
    }

    /// Returns the stage of threads whose queue a protocol bounds.
    fn worker(&self, name: &'static str, title: &'static str, is_on_path: bool) -> Stage {
        let work = self.work(self.now, name);
        let queue = work.map(|work| Queue {
            unit: "jobs",
            waiting: work.depth as u64,
            oldest_ms: oldest(work.depth, work.oldest_waiting_ms),
            ..Queue::default()
        });
        self.with_work(name, title, is_on_path, queue)
    }

    fn executor(&self) -> Stage {
        let stage = self.worker("executor", "Executor", true);
        let queue = stage.queue.map(|queue| Queue {
            unit: "blocks",
            capacity: Some(self.sources.config().sequencer.blocks_in_flight_max as u64),
            setting: Some("sequencer.blocks_in_flight_max"),
            ..queue
        });
        Stage { queue, ..stage }
    }

    fn writer(&self) -> Stage {
        let stage = self.worker("store-writer", "Writer", true);
        let syncs = self.now.meters.syncs.count - self.before.meters.syncs.count;
        let nanos = self.now.meters.syncs.nanos - self.before.meters.syncs.nanos;
        let sync_ms = (syncs > 0).then(|| rounded(nanos as f64 / syncs as f64 / 1e6));
        Stage {
            sync: Some(SyncShare {
                sync_permille: self.permille(|of| of.meters.syncs.nanos),
                sync_ms,
                syncs_per_s: self.per_s(|of| of.meters.syncs.count),
            }),
            in_per_s: Some(self.per_s(|of| of.height)),
            out_per_s: Some(self.per_s(|of| of.height)),
            ..stage
        }
    }

    fn readers(&self, name: &'static str, title: &'static str, budget: &str) -> Stage {
        let of_budget = |reading: &'a Reading| -> Option<&'a BudgetStatus> {
            reading.budgets.iter().find(|of| of.name == budget)
        };
        let queue = of_budget(self.now).map(|budget| Queue {
            unit: "ms",
            waiting: budget.waiting_ms,
            capacity: Some(budget.capacity_ms),
            setting: budget_setting(budget.name),
            oldest_ms: oldest(budget.waiting, budget.oldest_waiting_ms),
            ..Queue::default()
        });
        let (before, now) = (of_budget(self.before), of_budget(self.now));
        let rejected = now.zip(before).map(|(now, before)| {
            let rejected = now.rejected.saturating_sub(before.rejected);
            rounded(rejected as f64 / self.length.as_secs_f64().max(1e-9))
        });
        Stage {
            rejected_per_s: rejected,
            ..self.with_work(name, title, false, queue)
        }
    }

    fn actor(&self, name: &'static str, title: &'static str, is_on_path: bool) -> Stage {
        let of = |reading: &'a Reading| reading.mailboxes.iter().find(|of| of.actor == name);
        let (Some(now), Some(before)) = (of(self.now), of(self.before)) else {
            return Stage {
                kind: StageKind::Actor,
                ..self.threads_only(name, title)
            };
        };
        let thread = now.thread;
        let handled_nanos = |reading: &Reading, is_counted: &dyn Fn(&MailboxStatus) -> bool| {
            let counted = reading.mailboxes.iter().filter(|of| is_counted(of));
            counted.map(|of| of.handling.sum()).sum::<u64>()
        };
        let own = self.permille(|of| handled_nanos(of, &|of| of.actor == name));
        let all = self.permille(|of| handled_nanos(of, &|of| of.thread == thread));
        let stage = self.threads_only(thread, title);
        let part = |permille: u64| permille * own / all.max(1);
        let sent = |of: &MailboxStatus| of.accepted + of.protocol;
        let rate = |now: u64, before: u64| {
            let increase = now.saturating_sub(before) as f64;
            Some(rounded(increase / self.length.as_secs_f64().max(1e-9)))
        };
        let waited = now.waited.since(&before.waited);
        Stage {
            name,
            kind: StageKind::Actor,
            is_on_path,
            busy_permille: stage.busy_permille.map(part),
            occupied_permille: Some(own.min(1_000)),
            in_per_s: rate(sent(now), sent(before)),
            out_per_s: rate(now.handled, before.handled),
            rejected_per_s: rate(now.refused, before.refused),
            queue: Some(Queue {
                unit: "requests",
                waiting: now.depth as u64,
                capacity: Some(now.capacity as u64),
                setting: mailbox_setting(name),
                oldest_ms: oldest(now.depth, now.oldest_waiting_ms),
                waited_p50_us: waited.quantile(500),
                waited_p99_us: waited.quantile(990),
                was_never_empty: now.depth > 0 && before.depth > 0,
            }),
            ..stage
        }
    }

    fn pool(&self) -> Stage {
        let pool = &self.now.meters.pool;
        let left = |of: &Reading| {
            let pool = &of.meters.pool;
            pool.committed + pool.expired + pool.evicted + pool.replaced + pool.rejected
        };
        let added = |of: &Reading| left(of) + of.meters.pool.transactions as u64;
        let full = |limit: &str| limit.starts_with("mempool.");
        Stage {
            rejected_per_s: Some(self.per_s(|of| of.rejections_of(full))),
            ..set(
                "pool",
                "Pool",
                [self.per_s(added), self.per_s(left)],
                Queue {
                    unit: "transactions",
                    waiting: pool.transactions as u64,
                    capacity: Some(self.sources.config().mempool.capacity_transactions as u64),
                    setting: Some("mempool.capacity_transactions"),
                    oldest_ms: (pool.transactions > 0).then_some(pool.oldest_secs as u64 * 1_000),
                    was_never_empty: pool.transactions > 0
                        && self.before.meters.pool.transactions > 0,
                    ..Queue::default()
                },
            )
        }
    }

    fn waits(&self) -> Stage {
        let waits = &self.now.meters.waits;
        let ended = |of: &Reading| {
            let waits = &of.meters.waits;
            waits.committed + waits.removed + waits.reached + waits.timed_out + waits.disconnected
        };
        let begun = |of: &Reading| ended(of) + of.meters.waits.waiting as u64;
        Stage {
            rejected_per_s: Some(self.per_s(|of| of.meters.waits.refused)),
            ..set(
                "waits",
                "Waiting clients",
                [self.per_s(begun), self.per_s(ended)],
                Queue {
                    unit: "waits",
                    waiting: waits.waiting as u64,
                    capacity: Some(self.sources.node.wait_capacity() as u64),
                    setting: Some("wait.capacity"),
                    ..Queue::default()
                },
            )
        }
    }

    fn relay(&self) -> Stage {
        let rate = |count: fn(&RelayReport) -> u64| {
            Some(self.per_s(|reading| reading.relay.as_ref().map_or(0, count)))
        };
        Stage {
            in_per_s: rate(|relay| {
                let received = &relay.received;
                let sum = received.added + received.known + received.rejected + received.refused;
                sum as u64
            }),
            out_per_s: rate(|relay| relay.sent),
            rejected_per_s: rate(|relay| relay.received.refused as u64),
            ..self.threads_only("relay", "Relay")
        }
    }
}

/// Returns the age of the oldest entry of a queue, or `None` if none waits.
fn oldest(waiting: usize, age_ms: u64) -> Option<u64> {
    (waiting > 0).then_some(age_ms)
}

/// Returns a stage without threads.
fn set(name: &'static str, title: &'static str, rates: [f64; 2], queue: Queue) -> Stage {
    let [in_per_s, out_per_s] = rates;
    Stage {
        name,
        title,
        kind: StageKind::Queue,
        is_on_path: true,
        thread: None,
        threads: 0,
        busy_permille: None,
        core_wait_permille: None,
        occupied_permille: None,
        in_per_s: Some(in_per_s),
        out_per_s: Some(out_per_s),
        rejected_per_s: None,
        queue: Some(queue),
        sync: None,
    }
}

/// Returns the setting of the capacity of an actor's mailbox.
fn mailbox_setting(actor: &str) -> Option<&'static str> {
    match actor {
        "mempool" => Some("actors.mempool.mailbox_capacity"),
        "sequencer" => Some("actors.sequencer.mailbox_capacity"),
        "committer" => Some("actors.committer.mailbox_capacity"),
        "storage" => Some("actors.storage.mailbox_capacity"),
        "pruner" => Some("actors.pruner.mailbox_capacity"),
        _ => None,
    }
}

/// Returns the setting of a budget.
pub fn budget_setting(budget: &str) -> Option<&'static str> {
    match budget {
        "point_reads" => Some("work.point_read_budget_ms"),
        "reads" => Some("work.read_budget_ms"),
        "renderings" => Some("work.render_budget_ms"),
        _ => None,
    }
}

/// Returns a value with one decimal, so that the JSON is short.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
