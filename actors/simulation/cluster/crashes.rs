//! Crashes of validators, and the files that they leave.

use super::{
    super::{
        faults::choose_disk_fault,
        fixture::VALIDATORS,
        scheduler::{Process, Scheduler},
        shutdown::CrashImage,
    },
    engine::Control,
    engine_log::EngineLog,
    world::{Running, World},
};
use ledger_test_support::{Disk, Fault, Image};
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

/// The durable files of a validator.
#[derive(Clone)]
pub(super) struct Files {
    pub(super) ledger: Image,
    pub(super) consensus_log: Image,
    pub(super) engine_log: EngineLog,
    /// The pool that a graceful stop saved.
    pub(super) saved: Option<Vec<u8>>,
}

/// The disks of a running validator.
#[derive(Clone)]
pub(super) struct Disks {
    pub(super) ledger: Disk,
    pub(super) consensus_log: Disk,
}

impl Disks {
    /// Returns whether an operation failed because of an injected fault.
    pub(super) fn have_failed(&self) -> bool {
        self.ledger.failures() + self.consensus_log.failures() > 0
    }
}

/// A validator that ends.
pub(super) struct Victim {
    validator: usize,
    disks: Disks,
    control: Rc<Control>,
}

impl Victim {
    /// Returns the files that the process leaves if it ends now.
    pub(super) fn files(&self, content: CrashImage, scheduler: &Scheduler) -> Files {
        Files {
            ledger: content.of(&self.disks.ledger, scheduler),
            consensus_log: content.of(&self.disks.consensus_log, scheduler),
            engine_log: self.control.log.borrow().crashed(scheduler),
            saved: None,
        }
    }
}

/// Process that ends validators at a random step, between two steps of others or within one.
struct Crash {
    scheduler: Rc<Scheduler>,
    victims: Vec<Victim>,
    content: CrashImage,
    /// Files by validator.
    crashed: Rc<RefCell<Vec<(usize, Files)>>>,
    is_over: Rc<Cell<bool>>,
}

impl Process for Crash {
    fn name(&self) -> &str {
        "crash"
    }

    fn is_ready(&self) -> bool {
        true
    }

    fn step(&mut self) -> bool {
        let mut crashed = self.crashed.borrow_mut();
        for victim in &self.victims {
            let files = victim.files(self.content, &self.scheduler);
            crashed.push((victim.validator, files));
            victim.disks.ledger.inject(Fault::Gone { after: 0 });
            victim.disks.consensus_log.inject(Fault::Gone { after: 0 });
            victim.control.is_dead.set(true);
        }
        self.is_over.set(true);
        // Steps that are interrupted now end without further ones of others.
        self.scheduler.halt();
        false
    }
}

impl World {
    /// Ends validators at one random step. They stay down.
    pub(super) fn crash(&mut self, validators: &[usize]) {
        let (content, counter) = CrashImage::choose(&mut self.random);
        let victims = validators.iter().filter_map(|&it| self.victim(it));
        let victims: Vec<_> = victims.collect();
        self.record.counters().add(counter, victims.len() as u64);
        if victims.len() == self.validators.len() {
            self.record.count("crashes of all validators");
        }
        let (crashed, is_over) = (Rc::default(), Rc::default());
        self.scheduler.add(Box::new(Crash {
            scheduler: Rc::clone(&self.scheduler),
            victims,
            content,
            crashed: Rc::clone(&crashed),
            is_over: Rc::clone(&is_over),
        }));
        while !is_over.get() && self.step() {}
        for (validator, files) in crashed.take() {
            self.end(validator, files);
        }
        self.scheduler.resume();
    }

    /// Returns a validator that runs and ends.
    pub(super) fn victim(&self, validator: usize) -> Option<Victim> {
        let running = self.validators[validator].running.as_ref()?;
        Some(Victim {
            validator,
            disks: running.disks.clone(),
            control: Rc::clone(&running.control),
        })
    }

    /// Ends the processes of a validator, which leave `files`. The scheduler must be halted.
    pub(super) fn end(&mut self, validator: usize, files: Files) {
        self.scheduler.clear_group(Self::group(validator));
        self.network.inboxes[validator].borrow_mut().clear();
        self.record.end_node(validator);
        self.validators[validator].running = None;
        self.validators[validator].files = Some(files);
    }

    /// Makes a disk of a validator fail, at once or some operations later. It has the fault until
    /// the validator starts again.
    pub(super) fn break_disk(&mut self) {
        let validator = self.random.usize(..VALIDATORS);
        let is_ledger = self.random.bool();
        let Some(running) = &mut self.validators[validator].running else {
            return;
        };
        let (counter, fault) = choose_disk_fault(&mut self.random);
        let disk = if is_ledger {
            &running.disks.ledger
        } else {
            &running.disks.consensus_log
        };
        disk.inject(fault);
        running.has_disk_fault = true;
        self.record.count(counter);
        self.scheduler.trace(format_args!(
            "validator {validator}, ledger {is_ledger}: {fault:?}"
        ));
    }

    /// Restarts the validators whose disks have a fault, on disks without one.
    pub(super) fn replace_disks(&mut self) {
        let has_fault = |running: &Running| running.has_disk_fault;
        let broken: Vec<_> = (0..VALIDATORS)
            .filter(|&it| self.validators[it].running.as_ref().is_some_and(has_fault))
            .collect();
        if !broken.is_empty() {
            self.crash(&broken);
        }
        self.start_all();
    }

    /// Starts the validators that are down.
    pub(super) fn start_all(&mut self) {
        for validator in 0..self.validators.len() {
            self.start(validator);
        }
    }

    /// Replaces the files of a validator that is down. It must not sign until it has followed the
    /// others.
    pub(super) fn lose_files(&mut self, validator: usize) {
        let state = &mut self.validators[validator];
        let (Some(files), Some(older)) = (&mut state.files, &state.older) else {
            return;
        };
        // The engine's log is outside of the copies. If it is of the copy's height, it decides
        // blocks that the copy does not have, and the node ends.
        let copied_height = older.engine_log.height.map_or(1, |height| height + 1);
        let has_moved_on = files.engine_log.height > Some(copied_height);
        match self.random.u8(..3) {
            0 => {
                self.record.count("ledgers restored from a copy");
                files.ledger = older.ledger.clone();
            }
            1 => {
                self.record.count("validators replaced");
                files.ledger = older.ledger.clone();
                files.consensus_log = self.new_log.clone();
                files.engine_log = EngineLog::default();
            }
            _ if !has_moved_on => return,
            _ => {
                self.record.count("consensus logs restored from a copy");
                files.ledger = older.ledger.clone();
                files.consensus_log = older.consensus_log.clone();
            }
        }
        state.has_lost_files = true;
        self.record.forget(validator);
    }
}
