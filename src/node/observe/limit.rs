//! The rule that names the stage that limits the throughput.
//!
//! Its input are the stages of a window of some seconds. The first case that holds is named:
//!
//! 1. **The disk**: syncs take [`SYNC_PERMILLE`] of the writer's time, and the writer was occupied.
//! 2. **Busy threads**: a stage whose threads were occupied, and used a core or waited for one
//!    [`BUSY_PERMILLE`] of the time. Of several such stages the last one on the way of a
//!    transaction is named, because the queues before it fill behind it. Of the actors of a thread,
//!    the one that takes most of it is named, if messages waited.
//! 3. **A capacity**: a limit rejects requests, although no stage is busy.
//! 4. **HTTP workers**: they have no queue that the node could observe, only the kernel's, so
//!    [`BUSY_PERMILLE`] of the whole time is enough.
//! 5. **Threads that wait for the disk**: they were occupied, and most of the time neither used a
//!    core nor waited for one.
//! 6. **The processor**: all cores are busy, and no stage is at its limit. The largest consumers
//!    are named. Cores that other programs keep busy count if this process wants half of them.
//! 7. **The clients**: nothing of this.
//!
//! Threads are *occupied* if jobs take [`OCCUPIED_PERMILLE`] of their time, so that their queue is
//! hardly ever empty. A stage that is named stays named until it is [`HYSTERESIS_PERMILLE`] below
//! the limit, so that the name does not change to and fro.

use super::{
    remedy,
    snapshot::{
        Consumer, Limit, LimitKind, Processor, Queue, Rejection, Stage, StageKind, ThreadGroup,
    },
};

/// Share of the time on a core, in thousandths, from which threads are busy. It includes the time
/// for which they wait for a core, because that is what the machine gives them.
const BUSY_PERMILLE: u64 = 900;

/// Share of the time in jobs, in thousandths, from which threads are occupied. On a machine without
/// a free core, a tenth may pass between the arrival of a job and the wake-up of a thread.
const OCCUPIED_PERMILLE: u64 = 900;

/// Share of the writer's time in syncs, in thousandths, from which the disk is the limit.
const SYNC_PERMILLE: u64 = 850;

/// Share of the time of all cores, in thousandths, from which the processor is the limit.
const CORES_PERMILLE: u64 = 950;

/// Share of the time of all cores that the threads of the process used or waited for, in
/// thousandths, from which a machine that others keep busy limits it.
const WANTED_PERMILLE: u64 = 500;

/// Share in thousandths by which a named stage may be below the limit that named it.
const HYSTERESIS_PERMILLE: u64 = 50;

/// Rate from which rejections count. A limit that rejects less limits no throughput.
const REJECTED_PER_S_MIN: f64 = 1.0;

/// First words of the limits whose rejections limit the throughput of the REST interface. The
/// others are those of the admin listener and the faucet.
const LIMITS: [&str; 11] = [
    "api.max_connections_per_address",
    "api.max_in_flight",
    "api.answers_bytes_max",
    "api.bodies_bytes_max",
    "actors.",
    "mempool.capacity",
    "signatures.",
    "storage.",
    "wait.",
    "waiting renderings",
    "work.",
];

/// Number of consumers that are named.
const CONSUMERS_MAX: usize = 4;

/// The input of the rule: figures of the last seconds.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    /// The stages, those on the way of a transaction in its order.
    pub stages: &'a [Stage],
    /// Use of the processor.
    pub processor: Processor,
    /// The threads by name.
    pub threads: &'a [ThreadGroup],
    /// The limits that have rejected requests.
    pub rejections: &'a [Rejection],
}

/// Returns the limit of a window. `named` is the one of the window before.
pub fn find(window: Window<'_>, named: Option<&Limit>) -> Limit {
    let rule = Rule { window, named };
    let found = rule
        .disk()
        .or_else(|| rule.busy())
        .or_else(|| rule.capacity())
        .or_else(|| rule.http())
        .or_else(|| rule.waits_for_disk())
        .or_else(|| rule.processor())
        .unwrap_or_else(|| rule.clients());
    Limit {
        remedy: remedy::remedy(&found),
        ..found
    }
}

struct Rule<'a> {
    window: Window<'a>,
    named: Option<&'a Limit>,
}

impl Rule<'_> {
    fn limit(kind: LimitKind, stage: Option<&'static str>, sentence: String) -> Limit {
        Limit {
            kind,
            stage,
            sentence,
            remedy: String::new(),
            setting: None,
            consumers: Vec::new(),
            since_ms: 0,
        }
    }

    /// Returns the limit lowered by the hysteresis if this kind and stage are named.
    fn threshold(&self, permille: u64, kind: LimitKind, stage: Option<&str>) -> u64 {
        let is_named = |named: &&Limit| named.kind == kind && named.stage == stage;
        match self.named.filter(is_named) {
            Some(_) => permille - HYSTERESIS_PERMILLE,
            None => permille,
        }
    }

    /// Returns whether jobs take nearly all of the time of a stage's threads.
    fn is_occupied(&self, stage: &Stage, kind: LimitKind) -> bool {
        let threshold = self.threshold(OCCUPIED_PERMILLE, kind, Some(stage.name));
        stage.occupied_permille >= Some(threshold)
    }

    fn stage(&self, name: &str) -> Option<&Stage> {
        self.window.stages.iter().find(|stage| stage.name == name)
    }

    fn disk(&self) -> Option<Limit> {
        let writer = self.stage("store-writer")?;
        let sync = writer.sync?;
        let threshold = self.threshold(SYNC_PERMILLE, LimitKind::Disk, Some(writer.name));
        if sync.sync_permille < threshold || !self.is_occupied(writer, LimitKind::Disk) {
            return None;
        }
        let share = percent(sync.sync_permille.min(1_000));
        let sentence = match sync.sync_ms {
            Some(ms) => format!("the disk: {ms} ms per sync, {share} % of the writer"),
            None => format!("the disk: {share} % of the writer in one sync"),
        };
        Some(Self::limit(LimitKind::Disk, Some(writer.name), sentence))
    }

    fn busy(&self) -> Option<Limit> {
        let is_busy = |stage: &&Stage| {
            let threshold = self.threshold(BUSY_PERMILLE, LimitKind::Busy, Some(stage.name));
            match stage.kind {
                StageKind::Actor => {
                    self.is_largest_of_thread(stage)
                        && self.actors_of(stage.thread).any(was_never_empty)
                        && self.busy_of_thread(stage) >= Some(threshold)
                }
                _ => {
                    self.is_occupied(stage, LimitKind::Busy)
                        && runnable_permille(stage) >= Some(threshold)
                }
            }
        };
        let stages = self.window.stages;
        let on_path = stages.iter().rev().filter(|stage| stage.is_on_path);
        let beside = stages.iter().filter(|stage| !stage.is_on_path);
        let stage = on_path.chain(beside).find(is_busy)?;
        let sentence = match stage.kind {
            StageKind::Actor => format!(
                "{} {} % busy, the largest part of its thread, which is {} busy",
                stage.name,
                percent(stage.busy_permille.unwrap_or(0)),
                self.thread_busy(stage)
            ),
            _ => format!("{}, {}", busy_words(stage), queue_words(stage)),
        };
        Some(Self::limit(LimitKind::Busy, Some(stage.name), sentence))
    }

    /// Returns the actors that a thread runs.
    fn actors_of(&self, thread: Option<&'static str>) -> impl Iterator<Item = &Stage> {
        let stages = self.window.stages.iter();
        stages.filter(move |of| of.kind == StageKind::Actor && of.thread == thread)
    }

    /// Returns whether no other actor of the stage's thread takes more of its time.
    fn is_largest_of_thread(&self, stage: &Stage) -> bool {
        let of_thread = self.actors_of(stage.thread);
        of_thread
            .max_by_key(|of| of.busy_permille)
            .map(|of| of.name)
            == Some(stage.name)
    }

    /// Returns the threads of a stage.
    fn group(&self, stage: &Stage) -> Option<&ThreadGroup> {
        let mut groups = self.window.threads.iter();
        groups.find(|group| Some(&*group.name) == stage.thread)
    }

    /// Returns the share of processor time in the time that the thread of an actor could get, with
    /// all actors that it runs.
    fn busy_of_thread(&self, stage: &Stage) -> Option<u64> {
        let group = self.group(stage)?;
        Some(share_of_possible(
            group.cpu_permille,
            group.core_wait_permille,
        ))
    }

    fn capacity(&self) -> Option<Limit> {
        let rejects = |of: &&Rejection| {
            of.per_s >= REJECTED_PER_S_MIN
                && LIMITS.iter().any(|start| of.limit.starts_with(start))
                && !self.has_changed(of)
        };
        let rejecting = self.window.rejections.iter().filter(rejects);
        let Rejection {
            limit,
            value,
            per_s,
            ..
        } = *rejecting.max_by(|one, other| one.per_s.total_cmp(&other.per_s))?;
        let stage = self.stage_of_limit(limit);
        let per_s = per_s.round();
        let sentence = match stage {
            Some(stage) if stage.kind == StageKind::Actor => format!(
                "{} rejects {per_s} per second: its mailbox of {value} is full, its thread is {} \
                 busy",
                stage.name,
                self.thread_busy(stage)
            ),
            Some(stage) => format!(
                "{} rejects {per_s} per second: {limit} = {value} is reached{}",
                stage.name,
                busy_clause(stage)
            ),
            None => format!("{per_s} per second are rejected: {limit} = {value}"),
        };
        let found = Self::limit(
            LimitKind::Capacity,
            Some(stage.map_or("http", |stage| stage.name)),
            sentence,
        );
        Some(Limit {
            setting: Some(limit),
            ..found
        })
    }

    /// Returns the stage whose queue a limit bounds.
    fn stage_of_limit(&self, limit: &str) -> Option<&Stage> {
        // The pool has several limits, and its queue shows one of them.
        let pool = || self.stage("pool").filter(|_| limit.starts_with("mempool."));
        self.stage_with_setting(limit).or_else(pool)
    }

    /// Returns whether a limit has another value than at its newest rejection. Its rejections end
    /// with the change, though the window still has them.
    fn has_changed(&self, rejection: &Rejection) -> bool {
        let stage = self.stage_with_setting(rejection.limit);
        let capacity = stage.and_then(|stage| queue(stage).capacity);
        capacity.is_some_and(|capacity| capacity != rejection.value)
    }

    fn stage_with_setting(&self, setting: &str) -> Option<&Stage> {
        let mut stages = self.window.stages.iter();
        stages.find(|stage| queue(stage).setting == Some(setting))
    }

    /// Returns the busy share of the thread of an actor, with all actors that it runs.
    fn thread_busy(&self, stage: &Stage) -> String {
        self.group(stage).map_or_else(
            || "not measurably".to_owned(),
            |group| format!("{} %", percent(group.cpu_permille)),
        )
    }

    fn http(&self) -> Option<Limit> {
        let http = self.stage("http")?;
        let threshold = self.threshold(BUSY_PERMILLE, LimitKind::Busy, Some(http.name));
        (http.busy_permille >= Some(threshold)).then(|| {
            let sentence = format!("{}, and only the kernel has their queue", busy_words(http));
            Self::limit(LimitKind::Busy, Some(http.name), sentence)
        })
    }

    fn waits_for_disk(&self) -> Option<Limit> {
        let sleeps = |stage: &&Stage| {
            // The share of syncs in the writer's time decides whether the disk is its limit.
            stage.sync.is_none()
                && stage.kind == StageKind::Threads
                && runnable_permille(stage).is_some_and(|share| share < OCCUPIED_PERMILLE / 2)
                // Without this figure the threads may as well wait for a core.
                && (stage.core_wait_permille.is_some() || !self.are_cores_busy())
        };
        let is_occupied = |stage: &&Stage| self.is_occupied(stage, LimitKind::Disk);
        let mut stages = self.window.stages.iter().filter(sleeps);
        let stage = stages.find(is_occupied)?;
        let sentence = format!(
            "{}, {}: it waits for the disk",
            busy_words(stage),
            queue_words(stage)
        );
        Some(Self::limit(LimitKind::Disk, Some(stage.name), sentence))
    }

    fn are_cores_busy(&self) -> bool {
        let Processor {
            busy_permille,
            core_wait_permille,
            machine_busy_permille,
            ..
        } = self.window.processor;
        let threshold = self.threshold(CORES_PERMILLE, LimitKind::Processor, None);
        let busy = busy_permille.unwrap_or(0);
        let wanted = busy + core_wait_permille.unwrap_or(0);
        busy >= threshold || (wanted >= WANTED_PERMILLE && machine_busy_permille >= Some(threshold))
    }

    fn processor(&self) -> Option<Limit> {
        if !self.are_cores_busy() {
            return None;
        }
        let processor = self.window.processor;
        let consumers = consumers(self.window.threads);
        let named: Vec<_> = consumers
            .iter()
            .map(|of| format!("{} {} %", of.thread, percent(of.share_permille)))
            .collect();
        let own = percent(processor.busy_permille.unwrap_or(0));
        let others = match processor.busy_permille >= Some(CORES_PERMILLE / 2) {
            true => String::new(),
            false => format!(", mostly with other programs: this one has {own} %"),
        };
        let sentence = format!(
            "the processor: all {} cores are busy{others}, no stage is at its limit; the node's \
             largest threads: {}",
            processor.cores,
            named.join(", ")
        );
        Some(Limit {
            consumers,
            ..Self::limit(LimitKind::Processor, None, sentence)
        })
    }

    fn clients(&self) -> Limit {
        let pool = self.stage("pool").and_then(|pool| pool.in_per_s);
        let sentence = format!(
            "no stage is at its limit: clients send {} transactions per second",
            pool.unwrap_or(0.0).round()
        );
        Self::limit(LimitKind::Clients, None, sentence)
    }
}

fn queue(stage: &Stage) -> Queue {
    stage.queue.unwrap_or_default()
}

fn was_never_empty(stage: &Stage) -> bool {
    queue(stage).was_never_empty
}

/// Returns the share of the time in which the threads of a stage used a core or waited for one, in
/// thousandths.
fn runnable_permille(stage: &Stage) -> Option<u64> {
    Some(stage.busy_permille? + stage.core_wait_permille.unwrap_or(0))
}

/// Returns how often the queue of threads was empty that were occupied.
fn queue_words(stage: &Stage) -> &'static str {
    if was_never_empty(stage) {
        "its queue never empty"
    } else {
        "its queue hardly ever empty"
    }
}

/// Returns the share of `busy` in the time without that of waiting for a core, in thousandths.
fn share_of_possible(busy_permille: u64, core_wait_permille: Option<u64>) -> u64 {
    // Less than a tenth of a core says nothing about the stage.
    let possible = 1_000u64
        .saturating_sub(core_wait_permille.unwrap_or(0))
        .max(100);
    (busy_permille * 1_000 / possible).min(1_000)
}

/// Returns name and busy share of a stage, and the time for which it waited for a core if that is
/// more than a little.
fn busy_words(stage: &Stage) -> String {
    let busy = percent(stage.busy_permille.unwrap_or(0).min(1_000));
    match stage.core_wait_permille {
        Some(wait) if wait >= 1_000 - BUSY_PERMILLE => format!(
            "{} {busy} % busy, {} % waiting for a core",
            stage.name,
            percent(wait)
        ),
        _ => format!("{} {busy} % busy", stage.name),
    }
}

fn busy_clause(stage: &Stage) -> String {
    stage.busy_permille.map_or_else(String::new, |busy| {
        format!(", its threads are {} % busy", percent(busy))
    })
}

/// Returns thousandths in whole hundredths.
fn percent(permille: u64) -> u64 {
    (permille + 5) / 10
}

/// Returns the groups of threads with the most processor time, and their shares.
fn consumers(threads: &[ThreadGroup]) -> Vec<Consumer> {
    let all: u64 = threads.iter().map(|group| group.cpu_permille).sum();
    let mut sorted: Vec<_> = threads.iter().collect();
    sorted.sort_by_key(|group| std::cmp::Reverse(group.cpu_permille));
    let largest = sorted.into_iter().take(CONSUMERS_MAX);
    largest
        .map(|group| Consumer {
            thread: group.name.clone(),
            share_permille: group.cpu_permille * 1_000 / all.max(1),
        })
        .collect()
}

#[cfg(test)]
mod tests;
