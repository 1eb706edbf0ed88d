//! The findings of one simulation: its model, its counters, and the first violation of a property.

use super::{counters::Counters, fixture::Fixture, model::Model, scheduler::Scheduler};
use std::{
    cell::{RefCell, RefMut},
    rc::Rc,
};

/// The model of a chain and the counters of a simulation, in which an oracle records what it
/// observes.
pub(super) struct Findings {
    pub(super) scheduler: Rc<Scheduler>,
    pub(super) fixture: &'static Fixture,
    model: RefCell<Model>,
    counters: RefCell<Counters>,
}

impl Findings {
    pub(super) fn new(scheduler: &Rc<Scheduler>, fixture: &'static Fixture) -> Self {
        Self {
            scheduler: Rc::clone(scheduler),
            fixture,
            model: RefCell::new(Model::new(fixture)),
            counters: RefCell::default(),
        }
    }

    pub(super) fn model(&self) -> RefMut<'_, Model> {
        self.model.borrow_mut()
    }

    /// Adds 1 to a counter.
    pub(super) fn count(&self, counter: &'static str) {
        self.counters.borrow_mut().count(counter);
    }

    pub(super) fn counters(&self) -> RefMut<'_, Counters> {
        self.counters.borrow_mut()
    }

    /// Reports a violation of `property` if the verdict is an error.
    pub(super) fn report(&self, property: &'static str, verdict: Result<(), String>) {
        if let Err(message) = verdict {
            self.scheduler.record_violation(property, message);
        }
    }
}
