//! The steps of an engine: which event it handles next.

use super::{
    super::scheduler::Process,
    engine::{Engine, Phase, Position},
};

impl Process for Engine {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_ready(&self) -> bool {
        let is_inbox_empty = self.network.inboxes[self.me].borrow().is_empty();
        let may_vote = self.is_voting()
            && (!self.replay.is_empty() || !self.inputs.is_empty() || self.is_turn_open());
        let may_receive = self.phase != Phase::Asking
            && (!is_inbox_empty || self.control.is_timeout_due.get() || self.has_announcement());
        self.requests.flag.is_up() || !self.requests.replies.is_empty() || may_vote || may_receive
    }

    fn step(&mut self) -> bool {
        self.requests.poll();
        if let Some(reply) = self.requests.replies.pop_front() {
            self.handle_reply(reply);
        } else if self.phase == Phase::Asking {
            // Waits for the reply.
        } else if self.is_voting()
            && let Some(input) = self.replay.pop_front()
        {
            self.record.count("inputs of engine logs applied again");
            let outputs = self.consensus.apply(input);
            self.perform(outputs);
        } else if self.is_voting() && self.is_turn_open() {
            self.take_turn();
        } else if self.is_voting()
            && let Some(input) = self.inputs.pop_front()
        {
            self.apply(input);
        } else if self.control.is_timeout_due.take() {
            self.time_out();
        } else if self.has_announcement() {
            self.announce();
        } else {
            let envelope = self.network.inboxes[self.me].borrow_mut().pop_front();
            if let Some(envelope) = envelope {
                self.receive(envelope);
            }
            if self.is_voting() {
                self.sync_next();
            }
        }
        let is_asking = self.requests.open().any(|name| name != "Finalized");
        self.control.is_asking.set(is_asking);
        self.control.position.set(Some(Position {
            height: self.consensus.height,
            round: self.consensus.round,
            step: self.consensus.step,
            phase: self.phase,
        }));
        !self.control.is_dead.get()
    }
}
