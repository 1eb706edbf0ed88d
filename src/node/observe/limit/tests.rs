use super::*;
use crate::observe::snapshot::SyncShare;

/// The figures of a window that a case varies.
struct Figures {
    stages: Vec<Stage>,
    processor: Processor,
    threads: Vec<ThreadGroup>,
    rejections: Vec<Rejection>,
}

impl Figures {
    /// Returns a node that clients keep little busy.
    fn idle() -> Self {
        let threads = |name| Stage {
            thread: Some(name),
            threads: 2,
            busy_permille: Some(120),
            core_wait_permille: Some(10),
            ..stage(name, StageKind::Threads)
        };
        let actor = |name| Stage {
            thread: Some("actors"),
            threads: 1,
            busy_permille: Some(40),
            core_wait_permille: Some(10),
            ..stage(name, StageKind::Actor)
        };
        let beside = |stage| Stage {
            is_on_path: false,
            ..stage
        };
        let stages = vec![
            threads("http"),
            threads("signature-check"),
            actor("mempool"),
            Stage {
                in_per_s: Some(812.3),
                ..stage("pool", StageKind::Queue)
            },
            actor("sequencer"),
            threads("executor"),
            Stage {
                sync: Some(SyncShare {
                    sync_permille: 300,
                    sync_ms: Some(4.1),
                    syncs_per_s: 73.0,
                }),
                ..threads("store-writer")
            },
            actor("committer"),
            beside(threads("store-reader")),
            beside(threads("renderer")),
        ];
        let group = |name: &str, cpu_permille| ThreadGroup {
            name: name.to_owned(),
            threads: 1,
            cpu_permille,
            core_wait_permille: Some(20),
        };
        Self {
            stages,
            processor: Processor {
                cores: 2,
                busy_permille: Some(300),
                core_wait_permille: Some(20),
                machine_busy_permille: Some(400),
            },
            threads: vec![
                group("actors", 120),
                group("http-api", 240),
                group("signature-check", 500),
            ],
            rejections: Vec::new(),
        }
    }

    fn stage(&mut self, name: &str) -> &mut Stage {
        let mut stages = self.stages.iter_mut();
        stages.find(|stage| stage.name == name).unwrap()
    }

    fn group(&mut self, name: &str) -> &mut ThreadGroup {
        let mut groups = self.threads.iter_mut();
        groups.find(|group| group.name == name).unwrap()
    }

    /// Makes threads busy and their queue never empty.
    fn saturate(&mut self, name: &str, busy_permille: u64) {
        let stage = self.stage(name);
        stage.busy_permille = Some(busy_permille);
        occupy(stage);
    }

    fn rejects(&mut self, limit: &'static str, value: u64) {
        self.rejections.push(Rejection {
            limit,
            value,
            per_s: 312.4,
            total: 10_000,
        });
    }

    fn limit_after(&self, named: Option<&Limit>) -> Limit {
        let window = Window {
            stages: &self.stages,
            processor: self.processor,
            threads: &self.threads,
            rejections: &self.rejections,
        };
        find(window, named)
    }

    fn limit(&self) -> Limit {
        self.limit_after(None)
    }

    /// Checks kind, stage and sentence of the limit.
    #[track_caller]
    fn check(&self, kind: LimitKind, stage: Option<&str>, sentence: &str) {
        let limit = self.limit();
        assert_eq!(
            (limit.kind, limit.stage, &*limit.sentence),
            (kind, stage, sentence)
        );
    }
}

fn stage(name: &'static str, kind: StageKind) -> Stage {
    Stage {
        name,
        title: name,
        kind,
        is_on_path: true,
        thread: None,
        threads: 0,
        busy_permille: None,
        core_wait_permille: None,
        occupied_permille: None,
        in_per_s: None,
        out_per_s: None,
        rejected_per_s: None,
        queue: Some(Queue {
            unit: "jobs",
            ..Queue::default()
        }),
        sync: None,
    }
}

fn occupy(stage: &mut Stage) {
    stage.occupied_permille = Some(990);
    never_empty(stage);
}

fn never_empty(stage: &mut Stage) {
    stage.queue.as_mut().unwrap().was_never_empty = true;
}

#[test]
fn names_the_clients_if_no_stage_is_at_its_limit() {
    Figures::idle().check(
        LimitKind::Clients,
        None,
        "no stage is at its limit: clients send 812 transactions per second",
    );
}

#[test]
fn names_busy_threads_whose_queue_was_never_empty() {
    for name in ["signature-check", "executor", "store-reader", "renderer"] {
        let mut figures = Figures::idle();
        figures.stage(name).busy_permille = Some(970);
        assert_eq!(figures.limit().kind, LimitKind::Clients, "{name}: a burst");
        figures.saturate(name, 970);
        let sentence = format!("{name} 97 % busy, its queue never empty");
        figures.check(LimitKind::Busy, Some(name), &sentence);
    }
}

#[test]
fn names_threads_that_use_all_of_the_time_that_the_machine_gives_them() {
    let mut figures = Figures::idle();
    figures.saturate("signature-check", 620);
    assert_eq!(figures.limit().kind, LimitKind::Clients);
    figures.stage("signature-check").core_wait_permille = Some(360);
    figures.check(
        LimitKind::Busy,
        Some("signature-check"),
        "signature-check 62 % busy, 36 % waiting for a core, its queue never empty",
    );
    let stage = figures.stage("signature-check");
    stage.occupied_permille = Some(930);
    stage.queue.as_mut().unwrap().was_never_empty = false;
    figures.check(
        LimitKind::Busy,
        Some("signature-check"),
        "signature-check 62 % busy, 36 % waiting for a core, its queue hardly ever empty",
    );
    figures.stage("signature-check").occupied_permille = Some(890);
    assert_ne!(figures.limit().stage, Some("signature-check"));
}

#[test]
fn names_the_last_busy_stage_because_the_queues_before_it_fill() {
    let mut figures = Figures::idle();
    figures.saturate("signature-check", 990);
    figures.saturate("store-reader", 990);
    figures.saturate("executor", 930);
    assert_eq!(figures.limit().stage, Some("executor"));
    figures.stage("executor").busy_permille = Some(500);
    assert_eq!(
        figures.limit().stage,
        Some("signature-check"),
        "before a stage beside the way of a transaction"
    );
}

#[test]
fn names_the_actor_that_takes_most_of_a_busy_thread() {
    let mut figures = Figures::idle();
    figures.group("actors").cpu_permille = 960;
    figures.stage("mempool").busy_permille = Some(710);
    figures.stage("committer").busy_permille = Some(200);
    assert_eq!(
        figures.limit().kind,
        LimitKind::Clients,
        "no message waited"
    );
    never_empty(figures.stage("committer"));
    figures.check(
        LimitKind::Busy,
        Some("mempool"),
        "mempool 71 % busy, the largest part of its thread, which is 96 % busy",
    );
}

#[test]
fn names_the_disk_before_all_others() {
    let mut figures = Figures::idle();
    figures.saturate("executor", 950);
    figures.rejects("mempool.capacity_transactions", 2_000);
    figures
        .stage("store-writer")
        .sync
        .as_mut()
        .unwrap()
        .sync_permille = 930;
    assert_eq!(
        figures.limit().stage,
        Some("executor"),
        "the queue of the writer was empty"
    );
    occupy(figures.stage("store-writer"));
    figures.check(
        LimitKind::Disk,
        Some("store-writer"),
        "the disk: 4.1 ms per sync, 93 % of the writer",
    );
}

#[test]
fn names_a_full_mailbox_whose_thread_has_time() {
    let mut figures = Figures::idle();
    figures.stage("mempool").queue = Some(Queue {
        setting: Some("actors.mempool.mailbox_capacity"),
        ..Queue::default()
    });
    figures.rejects("actors.mempool.mailbox_capacity", 4);
    figures.check(
        LimitKind::Capacity,
        Some("mempool"),
        "mempool rejects 312 per second: its mailbox of 4 is full, its thread is 12 % busy",
    );
    assert_eq!(
        figures.limit().setting,
        Some("actors.mempool.mailbox_capacity")
    );
    figures.saturate("executor", 950);
    assert_eq!(figures.limit().stage, Some("executor"));
}

#[test]
fn names_no_capacity_that_has_changed_since_it_rejected() {
    let mut figures = Figures::idle();
    figures.rejects("wait.capacity", 64);
    for (capacity, kind) in [(64, LimitKind::Capacity), (128, LimitKind::Clients)] {
        figures.stage("pool").queue = Some(Queue {
            setting: Some("wait.capacity"),
            capacity: Some(capacity),
            ..Queue::default()
        });
        assert_eq!(figures.limit().kind, kind, "{capacity}");
    }
}

#[test]
fn names_the_pool_for_each_of_its_limits() {
    let mut figures = Figures::idle();
    figures.rejects("mempool.capacity_per_account", 2);
    figures.check(
        LimitKind::Capacity,
        Some("pool"),
        "pool rejects 312 per second: mempool.capacity_per_account = 2 is reached",
    );
    let remedy = figures.limit().remedy;
    assert!(
        remedy.contains("`mempool.capacity_per_account`"),
        "{remedy}"
    );
}

#[test]
fn names_the_limit_that_rejects_most_and_ignores_those_of_other_listeners() {
    let mut figures = Figures::idle();
    figures.rejects("event streams", 16);
    assert_eq!(figures.limit().kind, LimitKind::Clients);
    figures.rejects("api.max_in_flight", 100);
    figures.check(
        LimitKind::Capacity,
        Some("http"),
        "312 per second are rejected: api.max_in_flight = 100",
    );
    figures.rejects("wait.capacity", 8);
    figures.rejections[1].per_s = 0.4;
    assert_eq!(figures.limit().setting, Some("wait.capacity"));
}

#[test]
fn names_http_workers_that_are_busy_without_a_visible_queue() {
    let mut figures = Figures::idle();
    figures.stage("http").busy_permille = Some(930);
    figures.check(
        LimitKind::Busy,
        Some("http"),
        "http 93 % busy, and only the kernel has their queue",
    );
}

#[test]
fn names_the_disk_for_threads_that_are_occupied_and_not_busy() {
    let mut figures = Figures::idle();
    figures.saturate("store-reader", 200);
    figures.check(
        LimitKind::Disk,
        Some("store-reader"),
        "store-reader 20 % busy, its queue never empty: it waits for the disk",
    );
    figures.processor.core_wait_permille = Some(400);
    figures.processor.machine_busy_permille = Some(990);
    assert_eq!(figures.limit().stage, Some("store-reader"));
    figures.stage("store-reader").core_wait_permille = None;
    assert_eq!(
        figures.limit().kind,
        LimitKind::Processor,
        "they may as well wait for a core"
    );
}

#[test]
fn names_the_largest_consumers_of_a_busy_processor() {
    let mut figures = Figures::idle();
    figures.processor.busy_permille = Some(970);
    figures.check(
        LimitKind::Processor,
        None,
        "the processor: all 2 cores are busy, no stage is at its limit; the node's largest \
         threads: signature-check 58 %, http-api 28 %, actors 14 %",
    );
    assert_eq!(figures.limit().consumers[0].share_permille, 581);
    figures.processor.busy_permille = Some(300);
    figures.processor.machine_busy_permille = Some(990);
    assert_eq!(
        figures.limit().kind,
        LimitKind::Clients,
        "others keep the cores busy, and this process does not want them"
    );
    figures.processor.core_wait_permille = Some(300);
    let sentence = figures.limit().sentence;
    assert!(
        sentence.contains("mostly with other programs: this one has 30 %"),
        "{sentence}"
    );
}

#[test]
fn keeps_the_name_until_the_stage_is_clearly_below_its_limit() {
    let mut figures = Figures::idle();
    figures.saturate("executor", 910);
    let named = figures.limit();
    for (busy_permille, is_named) in [(889, true), (840, true), (839, false)] {
        figures.stage("executor").busy_permille = Some(busy_permille);
        let limit = figures.limit_after(Some(&named));
        assert_eq!(limit.kind == LimitKind::Busy, is_named, "{busy_permille}");
        assert_ne!(figures.limit().kind, LimitKind::Busy, "{busy_permille}");
    }
}

#[test]
fn names_no_stage_without_figures_of_the_kernel() {
    let mut figures = Figures::idle();
    for stage in &mut figures.stages {
        stage.busy_permille = None;
        stage.core_wait_permille = None;
    }
    figures.processor = Processor::default();
    figures.threads.clear();
    assert_eq!(figures.limit().kind, LimitKind::Clients);
}
