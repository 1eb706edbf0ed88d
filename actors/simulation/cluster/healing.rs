//! The end of a simulation: without faults, the validators must continue.

use super::{super::fixture::VALIDATORS, record::LIVENESS, world::World};
use crate::simulation::{audit, properties::REPLAY};
use ledger_store::ConsensusLog;
use ledger_test_support::Disk;

/// Maximum number of times that the world ends all steps of the engines until the validators
/// continue after the faults. A seed needs a few.
const HEAL_ATTEMPTS_MAX: usize = 60;
impl World {
    /// Ends all faults, and waits until all validators sign and reach one height.
    pub(super) async fn heal(&mut self) {
        self.network.heal();
        self.replace_disks();
        for running in self.running() {
            running.control.is_lying.set(false);
        }
        let faulty_height = self.record.model().height();
        for _ in 0..HEAL_ATTEMPTS_MAX {
            self.run_until_idle();
            self.check_failures();
            if self.scheduler.is_halted() || self.is_healed(faulty_height) {
                return;
            }
            self.submit();
            let followers: Vec<_> = (0..VALIDATORS)
                .filter(|&validator| self.may_sign_again(validator))
                .collect();
            if !followers.is_empty() {
                self.crash(&followers);
                self.start_all();
            }
            for running in self.running() {
                running.control.is_timeout_due.set(true);
            }
            self.advance_time(1_000).await;
        }
        let states = self.running().map(|running| {
            let control = &running.control;
            format!("{:?}, signs: {}", control.position.get(), running.is_signer)
        });
        let verdict = Err(states.collect::<Vec<_>>().join(", "));
        self.record.report(LIVENESS, verdict);
    }

    /// Returns whether a follower has recorded a height that it has followed, so that it signs
    /// after a restart.
    fn may_sign_again(&self, validator: usize) -> bool {
        let running = self.validators[validator].running.as_ref();
        running
            .filter(|running| !running.is_signer)
            .is_some_and(|running| {
                let disk = Disk::new(running.disks.consensus_log.synced());
                let log = ConsensusLog::open_backend(disk);
                let recorded = log.and_then(|log| log.signed_height());
                recorded.is_ok_and(|recorded| recorded <= self.record.model().height())
            })
    }

    /// Returns whether all validators sign, and show one height above `faulty_height`.
    fn is_healed(&self, faulty_height: u64) -> bool {
        let height = self.record.model().height();
        height > faulty_height
            && self.running().count() == VALIDATORS
            && self.running().all(|running| {
                let shown = running.node.head.load().ledger_info().block_height;
                running.is_signer && shown == height
            })
    }

    /// Restarts all validators, compares their files, and executes the chain again.
    pub(super) fn finish(&mut self) {
        self.crash(&[0, 1, 2, 3]);
        self.start_all();
        let verdict = audit::replay(self.record.fixture, &self.record.model());
        self.record.report(REPLAY, verdict);
        self.record.check_acknowledged();
    }
}
