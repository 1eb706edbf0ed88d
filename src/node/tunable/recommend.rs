//! Values that the measurements suggest.

use crate::config::{Kind, Setting, Settings};
use serde::Serialize;

/// Busy time of threads, in thousandths, from which a larger queue in front of them only lengthens
/// the wait.
const BUSY_PERMILLE_MAX: u64 = 800;

/// Part of a limit, one in so many, that the limit below it leaves to others.
const OTHERS: u64 = 8;

/// Part of `api.max_in_flight`, one in so many, that one address leaves to others, as the default.
const OTHER_ADDRESSES: u64 = 40;

/// The measurements of a limit while it rejected requests, in the newest 15 minutes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Key of the limit.
    pub key: &'static str,
    /// Maximum number of requests per second that it rejected.
    pub rejected_per_s: f64,
    /// Busy time of the threads behind it, in thousandths of the time of all of them. 0 without
    /// threads.
    pub busy_permille: u64,
}

/// A value that the measurements suggest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recommendation {
    /// The value.
    pub value: u64,
    /// The measurements and the expected effect, in a sentence.
    pub reason: String,
}

/// Returns a larger value of a limit that rejected requests although the threads behind it had
/// time, or `None` if more would not help.
///
/// The value is twice the present one, or the default if that is larger, so that one change is
/// enough for a limit that was set far too low. `is_allowed` says whether the machine has the
/// memory for a value.
pub(super) fn recommend(
    setting: &Setting,
    running: &Settings,
    load: &Load,
    is_allowed: impl Fn(u64) -> bool,
) -> Option<Recommendation> {
    if load.rejected_per_s <= 0.0 || load.busy_permille >= BUSY_PERMILLE_MAX {
        return None;
    }
    let Kind::Integer(range) = &setting.kind else {
        return None;
    };
    let in_flight = running.api.max_in_flight as u64;
    let connections = running.api_listener.max_connections as u64;
    let (max, condition) = match setting.key {
        "wait.capacity" => (
            in_flight - in_flight / OTHERS,
            "while api.max_in_flight leaves more requests".to_owned(),
        ),
        "api.max_in_flight_per_address" => {
            (in_flight - in_flight / OTHER_ADDRESSES, while_busy(load))
        }
        "api.max_in_flight" | "api.max_connections_per_address" => {
            (connections - connections / OTHERS, while_busy(load))
        }
        "work.point_read_budget_ms"
        | "work.read_budget_ms"
        | "work.render_budget_ms"
        | "signatures.queue_capacity" => (*range.end(), while_busy(load)),
        _ if setting.name() == "mailbox_capacity" => (*range.end(), while_busy(load)),
        _ => return None,
    };
    let value = (setting.get)(running).as_integer()?;
    let default = (setting.get)(&Settings::default()).as_integer()?;
    let doubled = value.saturating_mul(2);
    let mut larger = [doubled.max(default).min(max), doubled.min(max)].into_iter();
    let recommended = larger.find(|larger| *larger > value && is_allowed(*larger))?;
    let words = if recommended == default {
        "the default"
    } else {
        "this value"
    };
    Some(Recommendation {
        value: recommended,
        reason: format!(
            "up to {:.1} per second were rejected in the last 15 minutes {condition}: {words} would \
             take the bursts",
            load.rejected_per_s
        ),
    })
}

fn while_busy(load: &Load) -> String {
    let percent = load.busy_permille / 10;
    format!("while the threads behind it were only {percent} % busy")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{SETTINGS, Value};

    fn setting(key: &str) -> &'static Setting {
        SETTINGS.iter().find(|setting| setting.key == key).unwrap()
    }

    fn recommended(key: &'static str, rejected_per_s: f64, busy_permille: u64) -> Option<u64> {
        let load = Load {
            key,
            rejected_per_s,
            busy_permille,
        };
        let recommendation = recommend(setting(key), &Settings::default(), &load, |_| true)?;
        assert!(recommendation.reason.starts_with("up to 3.0 per second"));
        Some(recommendation.value)
    }

    #[test]
    fn doubles_a_capacity_that_rejects_while_its_threads_have_time() {
        for (key, doubled) in [
            ("actors.mempool.mailbox_capacity", 32_768),
            ("work.point_read_budget_ms", 200),
            ("work.read_budget_ms", 2_000),
            ("signatures.queue_capacity", 32_768),
            // Seven eighths of api.max_in_flight.
            ("wait.capacity", 17_500),
            // Seven eighths of api.max_connections.
            ("api.max_in_flight", 21_875),
            ("api.max_connections_per_address", 21_875),
        ] {
            assert_eq!(recommended(key, 3.0, 400), Some(doubled), "{key}");
            assert_eq!(recommended(key, 0.0, 400), None, "{key}");
            assert_eq!(recommended(key, 3.0, 950), None, "{key}");
        }
        // The default is the maximum.
        assert_eq!(recommended("api.max_in_flight_per_address", 3.0, 400), None);
        assert_eq!(recommended("api.max_body_bytes", 3.0, 400), None);
    }

    #[test]
    fn recommends_at_least_the_default() {
        const KEY: &str = "actors.mempool.mailbox_capacity";
        let load = Load {
            key: KEY,
            rejected_per_s: 3.0,
            busy_permille: 20,
        };
        let mut running = Settings::default();
        (setting(KEY).set)(&mut running, &Value::Integer(4)).unwrap();
        let recommended = |max| recommend(setting(KEY), &running, &load, |value| value <= max);
        let value = |max| recommended(max).map(|of| of.value);
        assert_eq!(value(16_384), Some(16_384));
        assert_eq!(value(16_383), Some(8));
        assert_eq!(value(7), None);
        let reason = recommended(16_384).unwrap().reason;
        assert!(
            reason.ends_with(": the default would take the bursts"),
            "{reason}"
        );
    }
}
