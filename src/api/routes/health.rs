//! Whether the node answers, whether it can write its ledger, and whether that is fresh.
//!
//! A node whose disk failed or is full, or whose clock is not believed, still serves what is committed, but it is
//! unhealthy: a load balancer then sends submissions elsewhere. A node that takes submissions although the system
//! clock and the ledger's time differ is healthy, and says so.
//!
//! With `duration_secs` the newest block must be no older than that, as in the reference. An idle
//! node writes no blocks unless `sequencer.heartbeat_secs` is set, so its newest block ages without
//! anything being wrong: the message of the 503 says so, and whoever wants this check on a quiet
//! chain sets a heartbeat below it.

use crate::{
    context::{LedgerResponse, RequestContext},
    error::{ApiError, ErrorKind},
    model::DecimalText,
};
use ledger_actors::{ClockState, ClockStatus};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// The response of a healthy node.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Health {
    /// The vendor word of the chain and `-node:ok`.
    message: String,
    /// How the system clock differs from the ledger's time; absent if they agree, and in BCS.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<String>,
}

/// `GET /v1/-/healthy`
pub(crate) async fn healthy(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let age_max_secs: Option<DecimalText<u32>> = cx.query("duration_secs")?;
    let ledger_info = *cx.node().head().ledger_info();
    if let Some(cause) = cx.node().storage_unavailable() {
        return Err(ErrorKind::HealthCheck(cause.to_string()).at(ledger_info));
    }
    if let Some(DecimalText(age_max_secs)) = age_max_secs {
        check_age(
            Duration::from_micros(cx.node().now_usecs()),
            Duration::from_micros(ledger_info.timestamp_usecs),
            age_max_secs,
        )
        .map_err(|problem| problem.at(ledger_info))?;
    }
    let health = |clock| Health {
        message: format!("{}-node:ok", cx.chain().vendor().lower()),
        clock,
    };
    let json = || health(drift_words(cx.node().clock_status()));
    cx.answer(ledger_info, json, || health(None))
}

/// Returns in words how the system clock differs from the ledger's time, or `None` if they agree.
fn drift_words(status: ClockStatus) -> Option<String> {
    let secs = status.drift_usecs.unsigned_abs() / 1_000_000;
    match status.state {
        ClockState::InStep | ClockState::Unbelieved => None,
        ClockState::Ahead => Some(format!(
            "the system clock is {secs} s ahead of block time, which follows it if that lasts"
        )),
        ClockState::TooFarAhead => Some(format!(
            "the system clock is {secs} s ahead of block time, more than sequencer.clock_jump_max_secs: block \
             time advances without it"
        )),
        ClockState::Behind => Some(format!("the system clock is {secs} s behind block time")),
    }
}

fn check_age(now: Duration, newest_block: Duration, age_max_secs: u32) -> Result<(), ErrorKind> {
    let age = now.saturating_sub(newest_block);
    if age <= Duration::from_secs(u64::from(age_max_secs)) {
        return Ok(());
    }
    Err(ErrorKind::HealthCheck(format!(
        "the newest block is {} seconds old, more than {age_max_secs}; an idle node writes no blocks unless \
         sequencer.heartbeat_secs is set",
        age.as_secs()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_drift_of_a_clock_that_is_not_in_step() {
        let words = |state, drift_usecs| drift_words(ClockStatus { state, drift_usecs });
        assert_eq!(words(ClockState::InStep, 4_000_000), None);
        for (state, drift_usecs, part) in [
            (ClockState::Ahead, 3_600_000_000, "3600 s ahead"),
            (
                ClockState::TooFarAhead,
                3_600_000_000,
                "clock_jump_max_secs",
            ),
            (ClockState::Behind, -7_000_000, "7 s behind"),
        ] {
            let words = words(state, drift_usecs).unwrap();
            assert!(words.contains(part), "{words}");
        }
    }

    #[test]
    fn a_block_may_be_as_old_as_asked() {
        let secs = Duration::from_secs;
        assert!(check_age(secs(110), secs(100), 10).is_ok());
        assert!(
            check_age(secs(90), secs(100), 0).is_ok(),
            "block time may run ahead of the clock"
        );
        let problem = check_age(secs(111), secs(100), 10).unwrap_err();
        assert!(
            problem.to_string().contains("11 seconds old, more than 10"),
            "{problem}"
        );
    }
}
