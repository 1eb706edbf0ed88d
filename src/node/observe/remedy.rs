//! What helps against a limit. docs/operate/tune.md#from-symptom-to-setting has the reasons.

use super::snapshot::{Limit, LimitKind};

/// Returns what helps against a limit, with the keys of settings between backticks.
pub fn remedy(limit: &Limit) -> String {
    match limit.kind {
        LimitKind::Busy => busy(limit.stage).to_owned(),
        LimitKind::Disk if limit.stage == Some("store-writer") => {
            "a disk with faster syncs: no setting shortens a sync".to_owned()
        }
        LimitKind::Disk => "more threads that wait for the disk at a time (`storage.readers`), or \
                            more memory for the page cache of the system"
            .to_owned(),
        LimitKind::Processor => "more cores, or less work of the largest threads; beside other \
                                 programs, `process.scheduling` = inherit lowers latencies"
            .to_owned(),
        LimitKind::Capacity => capacity(limit.setting),
        LimitKind::Clients | LimitKind::Unknown => String::new(),
    }
}

/// Returns what helps against busy threads. More of them help only if cores are free.
fn busy(stage: Option<&str>) -> &'static str {
    match stage {
        Some("http") => {
            "more cores (`api.workers`); clients that keep connections open, and send batches and \
             BCS"
        }
        Some("signature-check") => {
            "more cores (`signatures.threads`); the page Traffic denies a sender of many \
             signatures (`filter.rules`)"
        }
        Some("executor") => {
            "a faster core, or less work per transaction; the page Traffic denies a function or a \
             sender (`filter.rules`); without free cores, a higher `signatures.nice`"
        }
        Some("store-writer") => {
            "fewer and larger transactions, a lower `pruner.batch_versions`, or a faster core"
        }
        Some("point-reader" | "store-reader") => {
            "more threads if cores are free (`storage.readers`); fewer simulations \
             (`api.simulation_enabled`); a higher `work.nice` if commits are slow beside them"
        }
        Some("renderer") => {
            "smaller pages and BCS; a larger `api.response_cache_bytes_max` if clients repeat \
             their reads"
        }
        Some("mempool" | "sequencer" | "committer" | "storage" | "pruner") => {
            "more threads for the actors if cores are free (`actors.threads`)"
        }
        _ => "more or faster cores",
    }
}

/// Returns what helps against a capacity that rejects although its threads have time.
fn capacity(setting: Option<&str>) -> String {
    match setting {
        Some(key) if key.ends_with("_per_address") => {
            format!("a higher `{key}`; if the address is a proxy, name it in `api.trusted_proxies`")
        }
        Some(key) if key.starts_with("mempool.capacity_per_account") => {
            format!("a higher `{key}`, or clients that wait for their commits")
        }
        // The others are constants, which the sentence names in words.
        Some(key) if key.contains('.') => format!("a higher `{key}`"),
        _ => "clients that send less at a time: the limit is no setting".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SETTINGS;

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

    /// Returns the texts between backticks.
    fn named_settings(remedy: &str) -> Vec<&str> {
        remedy.split('`').skip(1).step_by(2).collect()
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
                &["mempool.capacity_per_account"],
            ),
            ("waiting renderings", &[]),
        ] {
            let remedy = remedy(&limit(LimitKind::Capacity, Some("http"), Some(setting)));
            assert_eq!(named_settings(&remedy), settings, "{remedy}");
        }
    }
}
