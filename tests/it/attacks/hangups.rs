//! `SIGHUP` at a fixed rate.

use super::attacker::{Attacker, Preparation, prepared};
use ledger_test_support::node::OpenLoop;
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
        let turns = OpenLoop::new(PER_SECOND);
        let signals = async {
            loop {
                turns.next().await;
                attacker.count_sent();
                kill_process(node, Signal::HUP).unwrap();
            }
        };
        attacker.until_ended(signals).await;
        attacker.count_many("line of the log", u64::try_from(logged() - before).unwrap());
    })
}
