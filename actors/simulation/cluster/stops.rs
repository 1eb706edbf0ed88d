//! Graceful stops of validators.

use super::{
    super::{fixture::VALIDATORS, host::Task, node::encode_saved, shutdown::CrashImage},
    crashes::Files,
    record::EVERY_REQUEST_ENDS,
    world::World,
};
use crate::node::stop::quiesce;
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

impl World {
    /// Stops a validator as a signal does: its engine, and then its node, whose pool the next start
    /// restores. The others continue meanwhile.
    pub(super) fn stop_one(&mut self) {
        let validator = self.random.usize(..VALIDATORS);
        let running = self.validators[validator].running.as_ref();
        let Some((running, victim)) = running.zip(self.victim(validator)) else {
            return;
        };
        self.record.count("graceful stops");
        running.control.is_dead.set(true);
        let pending = Rc::new(RefCell::new(None));
        let node = &running.node;
        let (mailboxes, failure) = (node.mailboxes.clone(), node.failure.clone());
        let (health, quiesced) = (node.storage_health.clone(), Rc::clone(&pending));
        let stop = async move {
            quiesced.replace(quiesce(&mailboxes, &health, &failure).await);
        };
        let name = format!("stop of {validator}");
        let stop = Task::new(name, Rc::new(Cell::new(true)), stop);
        self.scheduler
            .in_group(Self::group(validator), || self.scheduler.add(stop));
        while pending.borrow().is_none() && self.step() {}
        if self.scheduler.is_halted() {
            return;
        }
        let Some(pending) = pending.take() else {
            let verdict = Err(format!("the stop of {validator} is not complete"));
            return self.record.report(EVERY_REQUEST_ENDS, verdict);
        };
        self.check_failures();
        self.record
            .counters()
            .add("transactions saved", pending.len() as u64);
        let content = match self.random.bool() {
            true => CrashImage::Written,
            false => CrashImage::Synced,
        };
        let files = Files {
            saved: encode_saved(self.record.fixture, &pending),
            ..victim.files(content, &self.scheduler)
        };
        self.scheduler.halt();
        self.end(validator, files);
        self.scheduler.resume();
        if self.random.bool() {
            self.start(validator);
        }
    }
}
