//! The measurements from which values of settings are recommended.

use super::context::Admin;
use crate::{
    observe::Stage,
    tunable::{Load, SettingsReport},
};

/// Returns all settings, with the values that the newest 15 minutes suggest.
pub fn settings_report(admin: &Admin) -> SettingsReport {
    admin.settings.report(&loads(admin))
}

/// Returns the measurements of each limit that has rejected requests since its newest change.
fn loads(admin: &Admin) -> Vec<Load> {
    let newest = admin.observer.newest();
    let limits = newest.snapshot.rejections.iter().map(|of| of.limit);
    let loads = limits.filter_map(|key| {
        let change = admin.settings.newest_change(key);
        let behind = stages_behind(&newest.snapshot.stages, key);
        let since_unix_ms = change.map_or(0, |change| change.unix_ms);
        let rejected = admin.observer.rejected(key, since_unix_ms, &behind)?;
        Some(Load {
            key,
            rejected_per_s: rejected.per_s_max,
            busy_permille: rejected.busy_permille,
        })
    });
    loads.collect()
}

/// Returns the names of the stages on the threads behind a limit: those of the stage whose capacity
/// it is, otherwise the HTTP workers. Actors may share one thread.
fn stages_behind(stages: &[Stage], key: &str) -> Vec<&'static str> {
    let is_capacity = |stage: &&Stage| stage.queue.is_some_and(|of| of.setting == Some(key));
    let http = || stages.iter().find(|stage| stage.name == "http");
    let stage = stages.iter().find(is_capacity).or_else(http);
    let Some(thread) = stage.and_then(|stage| stage.thread) else {
        return Vec::new();
    };
    let on_thread = stages.iter().filter(|of| of.thread == Some(thread));
    on_thread.map(|of| of.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{Queue, StageKind};

    fn stage(
        name: &'static str,
        thread: Option<&'static str>,
        setting: Option<&'static str>,
    ) -> Stage {
        Stage {
            name,
            title: name,
            kind: StageKind::Actor,
            is_on_path: true,
            thread,
            threads: 1,
            busy_permille: None,
            core_wait_permille: None,
            occupied_permille: None,
            in_per_s: None,
            out_per_s: None,
            rejected_per_s: None,
            queue: Some(Queue {
                setting,
                ..Queue::default()
            }),
            sync: None,
        }
    }

    #[test]
    fn finds_all_actors_of_the_thread_behind_a_capacity() {
        const MEMPOOL: &str = "actors.mempool.mailbox_capacity";
        let stages = [
            stage("http", Some("http-api"), None),
            stage("mempool", Some("actors"), Some(MEMPOOL)),
            stage("committer", Some("actors"), None),
            stage("waits", None, Some("wait.capacity")),
        ];
        for (key, behind) in [
            (MEMPOOL, &["mempool", "committer"][..]),
            ("wait.capacity", &[]),
            ("api.max_in_flight", &["http"]),
        ] {
            assert_eq!(stages_behind(&stages, key), behind, "{key}");
        }
    }
}
