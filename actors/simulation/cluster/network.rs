//! A network that loses, duplicates, delays and reorders messages.

use super::{
    super::{
        fixture::VALIDATORS,
        scheduler::{Process, Scheduler},
    },
    votes::Vote,
};
use crate::engine::DecidedBlock;
use bytes::Bytes;
use ledger_crypto::HashValue;
use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
};

/// Maximum number of messages on their way. Later ones are lost, as in a full buffer.
const MESSAGES_MAX: usize = 1_000;

/// A message of one engine to another.
#[derive(Clone, Debug)]
pub(super) enum Message {
    /// A block that the sender proposes.
    Block(ProposedBytes),
    Vote(Vote),
    /// The sender has decided and stored all heights up to this one.
    Status(u64),
    /// The sender has transactions for a height.
    Work(u64),
    /// Request for decided blocks.
    GetBlocks {
        first: u64,
        last: u64,
    },
    Blocks(Vec<DecidedBlock>),
    /// Request for the newest decided height, of this start of an engine.
    GetTip {
        start: u64,
    },
    /// The newest decided height of the sender.
    Tip {
        start: u64,
        height: u64,
    },
}

/// A block in a round.
#[derive(Clone, Debug)]
pub(super) struct ProposedBytes {
    pub(super) height: u64,
    pub(super) round: u32,
    pub(super) valid_round: Option<u32>,
    pub(super) hash: HashValue,
    pub(super) bytes: Bytes,
}

/// A message on its way.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) message: Message,
}

/// The network between the validators.
pub(super) struct Network {
    scheduler: Rc<Scheduler>,
    messages: RefCell<Vec<Envelope>>,
    /// Messages that have arrived at each validator.
    pub(super) inboxes: [RefCell<VecDeque<Envelope>>; VALIDATORS],
    /// Validators that are cut off: their messages are lost in both directions.
    pub(super) is_isolated: [Cell<bool>; VALIDATORS],
    /// Probability that a message is lost, in thousandths.
    pub(super) loss_rate: Cell<u32>,
    /// Probability that a message arrives twice, in thousandths.
    pub(super) duplication_rate: Cell<u32>,
}

impl Network {
    pub(super) fn new(scheduler: &Rc<Scheduler>) -> Rc<Self> {
        Rc::new(Self {
            scheduler: Rc::clone(scheduler),
            messages: RefCell::default(),
            inboxes: Default::default(),
            is_isolated: Default::default(),
            loss_rate: Cell::new(0),
            duplication_rate: Cell::new(0),
        })
    }

    pub(super) fn send(&self, from: usize, to: usize, message: Message) {
        let mut messages = self.messages.borrow_mut();
        if messages.len() < MESSAGES_MAX {
            messages.push(Envelope { from, to, message });
        }
    }

    /// Sends a message to all other validators.
    pub(super) fn broadcast(&self, from: usize, message: &Message) {
        for to in (0..VALIDATORS).filter(|&to| to != from) {
            self.send(from, to, message.clone());
        }
    }

    /// Ends all faults.
    pub(super) fn heal(&self) {
        self.loss_rate.set(0);
        self.is_isolated
            .iter()
            .for_each(|is_isolated| is_isolated.set(false));
    }

    fn deliver_one(&self) {
        let envelope = {
            let mut messages = self.messages.borrow_mut();
            if messages.is_empty() {
                return;
            }
            let index = self.scheduler.random_below(messages.len());
            match self.scheduler.chance(self.duplication_rate.get()) {
                true => messages[index].clone(),
                false => messages.swap_remove(index),
            }
        };
        let is_isolated = [envelope.from, envelope.to]
            .iter()
            .any(|&validator| self.is_isolated[validator].get());
        if !is_isolated && !self.scheduler.chance(self.loss_rate.get()) {
            let mut inbox = self.inboxes[envelope.to].borrow_mut();
            if inbox.len() < MESSAGES_MAX {
                inbox.push_back(envelope);
            }
        }
    }
}

/// The process that delivers messages.
pub(super) struct Delivery(pub(super) Rc<Network>);

impl Process for Delivery {
    fn name(&self) -> &str {
        "network"
    }

    fn is_ready(&self) -> bool {
        !self.0.messages.borrow().is_empty()
    }

    /// Delivers one message to three, which costs fewer steps than one at a time.
    fn step(&mut self) -> bool {
        for _ in 0..=self.0.scheduler.random_below(3) {
            self.0.deliver_one();
        }
        true
    }
}
