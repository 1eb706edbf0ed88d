//! Values that the measurements suggest.

use crate::config::{Kind, Setting, Settings};
use serde::Serialize;

/// Busy time of threads, in thousandths, from which a larger queue in front of them only lengthens
/// the wait.
const BUSY_PERMILLE_MAX: u64 = 800;

/// Part of `api.max_in_flight`, one in so many, that waits leave to other requests.
const OTHER_REQUESTS: u64 = 8;

/// The measurements of a capacity in the newest seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Key of the capacity.
    pub key: &'static str,
    /// Requests per second that the capacity rejects.
    pub rejected_per_s: f64,
    /// Busy time of the threads that take from the queue, in thousandths of the time of all of
    /// them. 0 without threads.
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

/// Returns a larger value of a capacity that rejects requests although the threads behind it have
/// time, or `None` if more would not help.
///
/// The value is twice the present one, or the default if that is larger, so that one change is
/// enough for a capacity that was set far too low. `is_allowed` says whether the machine has the
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
    let (max, condition) = match setting.key {
        "wait.capacity" => {
            let in_flight = running.api.max_in_flight as u64;
            (
                in_flight - in_flight / OTHER_REQUESTS,
                "while api.max_in_flight leaves more requests".to_owned(),
            )
        }
        "work.read_budget_ms" | "work.render_budget_ms" | "signatures.queue_capacity" => {
            (*range.end(), while_busy(load))
        }
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
        "twice as many"
    };
    Some(Recommendation {
        value: recommended,
        reason: format!(
            "{:.1} per second are rejected {condition}: {words} would take the bursts",
            load.rejected_per_s
        ),
    })
}

fn while_busy(load: &Load) -> String {
    let percent = load.busy_permille / 10;
    format!("while the threads behind it are only {percent} % busy")
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
        assert!(recommendation.reason.starts_with("3.0 per second"));
        Some(recommendation.value)
    }

    #[test]
    fn doubles_a_capacity_that_rejects_while_its_threads_have_time() {
        for (key, doubled) in [
            ("actors.mempool.mailbox_capacity", 32_768),
            ("work.read_budget_ms", 2_000),
            ("signatures.queue_capacity", 32_768),
            // Below api.max_in_flight.
            ("wait.capacity", 17_500),
        ] {
            assert_eq!(recommended(key, 3.0, 400), Some(doubled), "{key}");
            assert_eq!(recommended(key, 0.0, 400), None, "{key}");
            assert_eq!(recommended(key, 3.0, 950), None, "{key}");
        }
        assert_eq!(recommended("api.max_in_flight", 3.0, 400), None);
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
