//! `SIGHUP` at a fixed rate.

use super::attacker::{Attacker, Pace, Preparation, prepared};
use rustix::process::{Pid, Signal, kill_process};
use std::sync::Arc;

/// Signals per second. The node writes at most one line per signal into its log.
const PER_SECOND: f64 = 100.0;

/// Signals to the node, and the lines about them.
pub fn hangups(attacker: Arc<Attacker>) -> Preparation {
    prepared(async move {
        let target = &attacker.target;
        let node = Pid::from_raw(target.process_id().try_into().unwrap()).unwrap();
        let logged = || target.log().matches("SIGHUP").count();
        let before = logged();
        let pace = Pace::new(&attacker, PER_SECOND);
        while pace.next().await.is_some() {
            attacker.count_sent();
            kill_process(node, Signal::HUP).unwrap();
        }
        attacker.count_many("line of the log", u64::try_from(logged() - before).unwrap());
    })
}
