//! What helps against a limit. docs/operate/tune.md#from-symptom-to-setting has the reasons.

use super::snapshot::{Consumer, Limit, LimitKind};
use crate::config::{Applies, SETTINGS};

/// Returns what helps against a limit, with the keys of settings between backticks, and which of
/// these settings need a restart.
pub fn remedy(limit: &Limit) -> String {
    let remedy = without_restarts(limit);
    let restarts = restarts(&remedy);
    remedy + &restarts
}

fn without_restarts(limit: &Limit) -> String {
    match limit.kind {
        LimitKind::Busy => {
            let of_stage = limit.stage.and_then(busy);
            of_stage.unwrap_or("more or faster cores").to_owned()
        }
        LimitKind::Disk if limit.stage == Some("store-writer") => {
            "a disk with faster syncs: no setting shortens a sync".to_owned()
        }
        LimitKind::Disk => "more threads that wait for the disk at a time (`storage.readers`), or \
                            more memory for the page cache of the system"
            .to_owned(),
        LimitKind::Processor => processor(limit.consumers.first()),
        LimitKind::Capacity => capacity(limit.setting),
        LimitKind::Clients | LimitKind::Unknown => String::new(),
    }
}

/// Returns the settings of a remedy that apply at the next start, in words.
fn restarts(remedy: &str) -> String {
    let needs_restart = |key: &&str| {
        let mut settings = SETTINGS.iter();
        settings.any(|of| of.key == *key && of.applies == Applies::Restart)
    };
    let keys = named_settings(remedy).filter(needs_restart);
    let keys: Vec<_> = keys.map(|key| format!("`{key}`")).collect();
    match keys.len() {
        0 => String::new(),
        1 => format!("; {} applies at the next start", keys[0]),
        _ => format!("; {} apply at the next start", keys.join(" and ")),
    }
}

/// Returns the texts between backticks.
fn named_settings(remedy: &str) -> impl Iterator<Item = &str> {
    remedy.split('`').skip(1).step_by(2)
}

/// Returns what helps if all cores are busy: mostly, less work of the largest threads.
fn processor(largest: Option<&Consumer>) -> String {
    let less = largest.and_then(|of| Some(format!("for {}: {}", of.thread, busy(&of.thread)?)));
    let less = less.unwrap_or_else(|| "less work of the largest threads".to_owned());
    format!(
        "more cores; {less}; beside other programs, `process.scheduling` = inherit lowers latencies"
    )
}

/// Returns what helps against the busy threads of a stage, if it is known. More of them help only
/// if cores are free.
fn busy(stage: &str) -> Option<&'static str> {
    Some(match stage {
        "http" | "http-api" => {
            "more cores (`api.workers`); clients that keep connections open, and send batches and \
             BCS"
        }
        "signature-check" => {
            "more cores (`signatures.threads`); the page Traffic denies a sender of many \
             signatures (`filter.rules`)"
        }
        "executor" => {
            "a faster core, or less work per transaction; the page Traffic denies a function or a \
             sender (`filter.rules`); without free cores, a higher `signatures.nice`"
        }
        "store-writer" => {
            "fewer and larger transactions, a lower `pruner.batch_versions`, or a faster core"
        }
        "point-reader" | "store-reader" => {
            "more threads if cores are free (`storage.readers`); fewer simulations \
             (`api.simulation_enabled`); a higher `work.nice` if commits are slow beside them"
        }
        "renderer" => {
            "smaller pages and BCS; a larger `api.response_cache_bytes_max` if clients repeat \
             their reads"
        }
        "mempool" | "sequencer" | "committer" | "storage" | "pruner" => {
            "more threads for the actors if cores are free (`actors.threads`)"
        }
        _ => return None,
    })
}

/// Returns what helps against a capacity that rejects although its threads have time.
fn capacity(setting: Option<&str>) -> String {
    match setting {
        Some(key) if key.ends_with("_per_address") => {
            format!(
                "a higher `{key}`; if the address is a proxy, name it in `api.trusted_proxies`; the \
                 page Traffic denies one that floods"
            )
        }
        Some(key) if key.starts_with("mempool.capacity_per_account") => {
            format!(
                "clients that wait for their commits, or a higher `{key}`; the page Traffic denies \
                 a sender that floods (`filter.rules`)"
            )
        }
        // The others are constants, which the sentence names in words.
        Some(key) if key.contains('.') => format!("a higher `{key}`"),
        _ => "clients that send less at a time: the limit is no setting".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn limit(kind: LimitKind, stage: Option<&'static str>, setting: Option<&'static str>) -> Limit {
        Limit {
            kind,
            stage,
            sentence: String::new(),
            remedy: String::new(),
            setting,
            consumers: Vec::new(),
            since_ms: 0,
        }
    }

    #[test]
    fn names_settings_that_exist() {
        let stages = [
            "http",
            "signature-check",
            "mempool",
            "executor",
            "store-writer",
            "store-reader",
            "renderer",
            "store-applier",
        ];
        let stages = stages.map(|stage| limit(LimitKind::Busy, Some(stage), None));
        let others = [
            limit(LimitKind::Disk, Some("store-writer"), None),
            limit(LimitKind::Disk, Some("store-reader"), None),
            limit(LimitKind::Processor, None, None),
        ];
        for limit in stages.into_iter().chain(others) {
            let remedy = remedy(&limit);
            assert!(!remedy.is_empty(), "{limit:?}");
            for key in named_settings(&remedy) {
                assert!(SETTINGS.iter().any(|of| of.key == key), "{key}");
            }
        }
        assert_eq!(remedy(&limit(LimitKind::Clients, None, None)), "");
    }

    #[test]
    fn names_the_setting_of_a_capacity_and_no_constant() {
        for (setting, settings) in [
            ("wait.capacity", &["wait.capacity"][..]),
            (
                "api.max_in_flight_per_address",
                &["api.max_in_flight_per_address", "api.trusted_proxies"],
            ),
            (
                "mempool.capacity_per_account",
                &["filter.rules", "mempool.capacity_per_account"],
            ),
            ("waiting renderings", &[]),
        ] {
            let remedy = remedy(&limit(LimitKind::Capacity, Some("http"), Some(setting)));
            let named: BTreeSet<_> = named_settings(&remedy).collect();
            assert_eq!(Vec::from_iter(named), settings, "{remedy}");
        }
    }

    #[test]
    fn names_what_helps_the_largest_threads_of_a_busy_processor() {
        for (thread, helps) in [
            ("renderer", "for renderer: smaller pages"),
            ("http-api", "for http-api: more cores"),
            ("log-writer", "less work of the largest threads"),
        ] {
            let mut limit = limit(LimitKind::Processor, None, None);
            limit.consumers = vec![Consumer {
                thread: thread.to_owned(),
                share_permille: 600,
            }];
            let remedy = remedy(&limit);
            assert!(remedy.contains(helps), "{remedy}");
        }
    }

    #[test]
    fn says_which_settings_need_a_restart() {
        for (stage, end) in [
            (
                "store-reader",
                "them; `storage.readers` and `work.nice` apply at the next start",
            ),
            (
                "executor",
                "`signatures.nice`; `signatures.nice` applies at the next start",
            ),
        ] {
            let remedy = remedy(&limit(LimitKind::Busy, Some(stage), None));
            assert!(remedy.ends_with(end), "{remedy}");
        }
        let live = limit(LimitKind::Capacity, Some("waits"), Some("wait.capacity"));
        assert_eq!(remedy(&live), "a higher `wait.capacity`");
    }
}
