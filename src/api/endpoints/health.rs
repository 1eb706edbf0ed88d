//! Whether the node answers, whether it can write its ledger, and whether that is fresh.
//!
//! A node whose disk failed or is full still answers what is committed, but it is not well: whoever spreads
//! requests over nodes by this answer sends submissions elsewhere.
//!
//! With `duration_secs` the newest block must be no older than that, as in the reference. An idle
//! node writes no blocks unless `sequencer.heartbeat_secs` is set, so its newest block ages without
//! anything being wrong: the message of the 503 says so, and whoever wants this check on a quiet
//! chain sets a heartbeat below it.

use crate::{
    answer::Answer,
    call::Call,
    decimal::Decimal,
    error::{ApiError, Problem},
};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// That all is well.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Health {
    /// The vendor word of the chain and `-node:ok`.
    message: String,
}

/// `GET /v1/-/healthy`
pub(crate) async fn healthy(call: Call) -> Result<Answer, ApiError> {
    let age_max_secs: Option<Decimal<u32>> = call.query("duration_secs")?;
    let ledger_info = *call.node().head().ledger_info();
    if let Some(unwritable) = call.node().unwritable() {
        return Err(Problem::HealthCheck(unwritable.to_string()).at(ledger_info));
    }
    if let Some(Decimal(age_max_secs)) = age_max_secs {
        check_age(
            now(),
            Duration::from_micros(ledger_info.timestamp_usecs),
            age_max_secs,
        )
        .map_err(|problem| problem.at(ledger_info))?;
    }
    let health = || Health {
        message: format!("{}-node:ok", call.chain().vendor().lower()),
    };
    call.answer(ledger_info, health, health)
}

/// Time since the Unix epoch; zero on a clock before it.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn check_age(now: Duration, newest_block: Duration, age_max_secs: u32) -> Result<(), Problem> {
    let age = now.saturating_sub(newest_block);
    if age <= Duration::from_secs(u64::from(age_max_secs)) {
        return Ok(());
    }
    Err(Problem::HealthCheck(format!(
        "the newest block is {} seconds old, more than {age_max_secs}; an idle node writes no blocks unless \
         sequencer.heartbeat_secs is set",
        age.as_secs()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

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
