//! The measurements from which values of settings are recommended.

use super::context::Admin;
use crate::{
    observe::Stage,
    tunable::{Load, SettingsReport},
};

/// Returns all settings, with the values that the newest snapshot suggests.
pub fn settings_report(admin: &Admin) -> SettingsReport {
    let newest = admin.observer.newest();
    admin.settings.report(&loads(&newest.snapshot.stages))
}

/// Returns the measurements of each capacity that is a setting.
fn loads(stages: &[Stage]) -> Vec<Load> {
    let with_setting = stages.iter().filter_map(|stage| {
        Some(Load {
            key: stage.queue?.setting?,
            rejected_per_s: stage.rejected_per_s?,
            busy_permille: busy_permille(stages, stage),
        })
    });
    with_setting.collect()
}

/// Returns the busy time of the threads of a stage. Actors may share one thread.
fn busy_permille(stages: &[Stage], stage: &Stage) -> u64 {
    let on_threads = stages.iter().filter(|other| other.thread == stage.thread);
    match stage.thread {
        Some(_) => on_threads.filter_map(|other| other.busy_permille).sum(),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{Queue, StageKind};

    fn stage(
        name: &'static str,
        thread: Option<&'static str>,
        busy_permille: u64,
        setting: Option<&'static str>,
    ) -> Stage {
        Stage {
            name,
            title: name,
            kind: StageKind::Actor,
            is_on_path: true,
            thread,
            threads: 1,
            busy_permille: Some(busy_permille),
            core_wait_permille: None,
            occupied_permille: None,
            in_per_s: None,
            out_per_s: None,
            rejected_per_s: Some(7.0),
            queue: Some(Queue {
                setting,
                ..Queue::default()
            }),
            sync: None,
        }
    }

    #[test]
    fn counts_the_busy_time_of_all_actors_of_a_thread() {
        const MEMPOOL: &str = "actors.mempool.mailbox_capacity";
        let load = |key, busy_permille| Load {
            key,
            rejected_per_s: 7.0,
            busy_permille,
        };
        let stages = [
            stage("mempool", Some("actors"), 300, Some(MEMPOOL)),
            stage("committer", Some("actors"), 400, None),
            stage("renderer", Some("renderer"), 100, None),
            stage("waits", None, 0, Some("wait.capacity")),
        ];
        let expected = [load(MEMPOOL, 700), load("wait.capacity", 0)];
        assert_eq!(loads(&stages), expected);
    }
}
