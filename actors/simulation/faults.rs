//! The faults that a seed chooses: of the disk, of its free space, and of the wall clock.

use super::{properties, world::World};
use crate::StorageFault;
use fastrand::Rng;
use ledger_test_support::Fault;
use std::sync::atomic::Ordering::SeqCst;

/// Lead of a wrong clock, in microseconds: a year, which exceeds `sequencer.clock_jump_max_secs`.
pub(super) const CLOCK_FAULT_USECS: u64 = 365 * 86_400 * 1_000_000;

/// Chooses a fault of a disk, and returns the counter of such faults with it.
pub(super) fn choose_disk_fault(random: &mut Rng) -> (&'static str, Fault) {
    let after = random.usize(..25);
    match random.u8(..6) {
        0 => (
            "faults: disk full",
            Fault::Full {
                more_bytes: 4_096 * after,
                failures_max: 1 + random.usize(..8),
            },
        ),
        1 => ("faults: failing write", Fault::Write { after }),
        2 => (
            "faults: failing sync",
            Fault::Sync {
                after: after / 4,
                keeps: random.u64(..),
            },
        ),
        3 => ("faults: one failing read", Fault::Read { after }),
        4 => ("faults: failing reads", Fault::Reads { after }),
        _ => ("faults: disk gone", Fault::Gone { after }),
    }
}

impl World {
    /// Makes disk space low, and sometimes submits transactions that were checked before.
    pub(super) fn run_low_on_disk_space(&mut self) {
        self.set_low_disk_space(true);
        if self.random.bool() {
            self.run_until_idle();
            let now_secs = self.now_secs();
            for _ in 0..self.random.usize(1..4) {
                self.with_node(|world, node| {
                    world
                        .clients
                        .begin_late_submit(&world.scheduler, node, now_secs);
                });
            }
        }
    }

    /// Sets whether disk space is low.
    pub(super) fn set_low_disk_space(&self, is_low: bool) {
        self.with_node(|world, node| {
            let disk_space = &world.oracle.disk_space;
            if is_low != disk_space.is_low() {
                world
                    .scheduler
                    .trace(format_args!("low disk space: {is_low}"));
                world.oracle.count(if is_low {
                    "periods of low disk space"
                } else {
                    "periods of low disk space that ended"
                });
                disk_space.set_low(is_low, world.scheduler.now_steps());
                let shortage = is_low.then(|| "7 bytes are left".into());
                node.handle.report_disk_space(shortage.as_ref());
            }
        });
    }

    /// Moves the wall clock by some seconds, or sets it a year ahead.
    ///
    /// A chain without blocks gets no wrong year, because the node could not recognize it without a
    /// newest block.
    pub(super) fn step_clock(&mut self) {
        if !self.has_clock_fault && self.oracle.model().height() > 0 && self.random.u8(..2) == 0 {
            return self.set_clock_fault(true);
        }
        self.oracle.count("clock steps");
        let usecs = self.random.u64(1..8_000_000);
        if self.random.bool() {
            self.move_clock(|wall_usecs| wall_usecs - usecs, 0);
        } else {
            self.move_clock(|wall_usecs| wall_usecs + 10 * usecs, 0);
        }
        let wall_usecs = self.clock_usecs.load(SeqCst);
        self.scheduler.trace(format_args!(
            "the clock shows {wall_usecs}, it is {}",
            self.now_secs()
        ));
    }

    /// Sets the wall clock a year ahead, or back to the right year.
    pub(super) fn set_clock_fault(&mut self, is_wrong: bool) {
        if self.has_clock_fault == is_wrong {
            return;
        }
        self.scheduler
            .trace(format_args!("the clock is wrong: {is_wrong}"));
        self.has_clock_fault = is_wrong;
        if is_wrong {
            self.oracle.count("clock faults");
            self.move_clock(|wall_usecs| wall_usecs + CLOCK_FAULT_USECS, 0);
        } else {
            self.oracle.add_visible_blocks();
            self.oracle.clear_clock_fault();
            self.move_clock(|wall_usecs| wall_usecs - CLOCK_FAULT_USECS, 0);
        }
    }

    /// Injects a fault into the disk, at most one per node.
    pub(super) fn inject_disk_fault(&mut self) {
        let is_due =
            self.options.fault_rate > 0 && self.random.u32(..100) < self.options.fault_rate;
        let Some(node) = self
            .node
            .as_ref()
            .filter(|_| is_due && !self.is_fault_injected)
        else {
            return;
        };
        let (counter, fault) = choose_disk_fault(&mut self.random);
        node.disk.inject(fault);
        self.is_fault_injected = true;
        self.scheduler.trace(format_args!("{fault:?}"));
        self.oracle.count(counter);
    }

    /// Returns the fault of the node's disk, if there is one.
    ///
    /// The property [`properties::NO_FAILURE`] permits it only after a disk fault, and never
    /// permits a fatal error.
    pub(super) fn check_storage_fault(&self) -> Option<StorageFault> {
        let node = self.node.as_ref()?;
        if let Some(error) = node.failure.get() {
            let verdict = Err(error.to_string());
            self.oracle.report(properties::NO_FAILURE, verdict);
        }
        let fault = node.storage_health.fault()?;
        if node.disk.failures() == 0 {
            let verdict = Err(fault.to_string());
            self.oracle.report(properties::NO_FAILURE, verdict);
        }
        Some(fault)
    }
}
