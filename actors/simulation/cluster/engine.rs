//! A model of the consensus engine of one validator, on the requests that Malachite sends.

use super::{
    super::{fixture::VALIDATORS, scheduler::preempt},
    engine_log::EngineLog,
    network::{Envelope, Message, Network, ProposedBytes},
    record::{EVERY_REQUEST_ENDS, Record},
    requests::{Reply, Requests, proposal},
    votes::{Consensus, Input, Output, Polka, Proposal, Step, Vote},
};
use crate::engine::{
    DecidedBlock, EncodedBlock, EngineRequest, Equivocation, EquivocationKind, ProposedBlock,
};
use fastrand::Rng;
use ledger_crypto::{Ed25519Signature, HashValue};
use ledger_types::{AccountAddress, CommitCertificate, CommitSignature};
use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, VecDeque},
    fmt::Arguments,
    rc::Rc,
    time::Duration,
};
use tokio::sync::watch;

/// What the world controls and sees of an engine.
#[derive(Default)]
pub(super) struct Control {
    /// Whether the time of the engine's step is over.
    pub(super) is_timeout_due: Cell<bool>,
    /// Whether the process has been killed, or the engine has ended because a reply is missing.
    pub(super) is_dead: Cell<bool>,
    /// Height that begins with the reply to `Finalized`, while it is withheld.
    pub(super) waits_for: Cell<Option<u64>>,
    /// Whether requests other than `Finalized` are open.
    pub(super) is_asking: Cell<bool>,
    /// Height, round and step of the engine.
    pub(super) position: Cell<Option<Position>>,
    /// Whether this validator lies at present.
    pub(super) is_lying: Cell<bool>,
    pub(super) log: RefCell<EngineLog>,
}

/// Where an engine is.
#[derive(Clone, Copy, Debug)]
#[expect(dead_code, reason = "the report of a violation shows it")]
pub(super) struct Position {
    pub(super) height: u64,
    pub(super) round: u32,
    pub(super) step: Step,
    pub(super) phase: Phase,
}

/// The phase of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// A reply decides how to continue. Messages wait.
    Asking,
    /// The height is decided by votes.
    Voting,
    /// The height is decided.
    Decided,
}

/// The engine of a validator.
pub(super) struct Engine {
    pub(super) name: String,
    pub(super) me: usize,
    pub(super) is_signer: bool,
    pub(super) record: Rc<Record>,
    pub(super) network: Rc<Network>,
    pub(super) control: Rc<Control>,
    pub(super) requests: Requests,
    pub(super) work: watch::Receiver<u64>,
    pub(super) phase: Phase,
    pub(super) consensus: Consensus,
    /// Inputs of the log that are applied again after a start.
    pub(super) replay: VecDeque<Input>,
    /// Inputs that follow them.
    pub(super) inputs: VecDeque<Input>,
    /// Messages of the next height.
    pub(super) later: VecDeque<Envelope>,
    /// Decided blocks of a peer.
    pub(super) synced: VecDeque<DecidedBlock>,
    /// Newest round in which this validator has proposed or asked for a block.
    pub(super) proposed_round: Option<u32>,
    /// Newest decided height that peers may request.
    pub(super) tip: u64,
    /// Certificate of the decided height, until `Finalized` is sent.
    pub(super) unfinalized: Option<CommitCertificate>,
    pub(super) announced_height: u64,
    /// Names this start of the engine.
    pub(super) start: u64,
    /// Decided height of each other validator, which a follower requests until it has a quorum.
    pub(super) tips: BTreeMap<usize, u64>,
    pub(super) random: Rng,
}

impl Engine {
    /// Creates the engine, which first asks for the height.
    pub(super) fn new(
        me: usize,
        is_signer: bool,
        record: &Rc<Record>,
        network: &Rc<Network>,
        control: &Rc<Control>,
        (mut requests, work): (Requests, watch::Receiver<u64>),
        random: Rng,
    ) -> Self {
        let ready = |reply| EngineRequest::Ready { is_signer, reply };
        requests.ask("Ready", ready, Reply::Ready);
        Self {
            name: format!("engine {me}"),
            me,
            is_signer,
            record: Rc::clone(record),
            network: Rc::clone(network),
            control: Rc::clone(control),
            requests,
            work,
            phase: Phase::Asking,
            consensus: Consensus::new(0, me, is_signer),
            replay: VecDeque::new(),
            inputs: VecDeque::new(),
            later: VecDeque::new(),
            synced: VecDeque::new(),
            proposed_round: None,
            tip: 0,
            unfinalized: None,
            announced_height: 0,
            start: random.clone().u64(..),
            tips: BTreeMap::new(),
            random,
        }
    }

    pub(super) fn trace(&self, event: Arguments<'_>) {
        let scheduler = &self.record.scheduler;
        scheduler.trace(format_args!("{}: {event}", self.name));
    }

    pub(super) fn proposer(&self, round: u32) -> AccountAddress {
        let validators = self.record.fixture.chain.validators();
        let proposer = validators.proposer(self.consensus.height, round);
        proposer.expect("there are validators").address
    }

    pub(super) fn address(&self, validator: usize) -> AccountAddress {
        self.record.fixture.chain.validators().as_slice()[validator].address
    }

    /// Returns whether this validator proposes in the round and has not begun to.
    pub(super) fn is_turn_open(&self) -> bool {
        let round = self.consensus.round;
        self.is_signer
            && self.proposed_round != Some(round)
            && self.proposer(round) == self.address(self.me)
    }

    fn start_height(&mut self, height: u64) {
        self.control.waits_for.set(None);
        self.consensus = Consensus::new(height, self.me, self.is_signer);
        preempt();
        self.replay = self.control.log.borrow_mut().begin(height).into();
        self.proposed_round = self.control.log.borrow().proposed_round;
        preempt();
        self.inputs.clear();
        self.tip = height - 1;
        let mut inbox = self.network.inboxes[self.me].borrow_mut();
        inbox.extend(self.later.drain(..));
        drop(inbox);
        self.perform(vec![Output::RoundStarted(0)]);
    }

    /// Logs an input and applies it.
    pub(super) fn apply(&mut self, input: Input) {
        self.control.log.borrow_mut().append(input);
        let outputs = self.consensus.apply(input);
        self.perform(outputs);
    }

    pub(super) fn perform(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::RoundStarted(round) => self.begin_round(round),
                Output::Vote(vote) if self.is_signer => self.vote(vote),
                Output::Vote(_) => {}
                Output::Decided { round, hash } => self.decide(round, hash),
            }
        }
    }

    fn begin_round(&mut self, round: u32) {
        self.phase = Phase::Asking;
        self.requests.give_up("Propose");
        let (height, proposer) = (self.consensus.height, self.proposer(round));
        let request = |reply| EngineRequest::RoundStarted {
            height,
            round,
            proposer,
            reply,
        };
        self.requests
            .ask("RoundStarted", request, Reply::RoundStarted);
    }

    /// Makes the log durable before a signature. Returns false if the process was killed meanwhile.
    fn sync_log(&self) -> bool {
        preempt();
        self.control.log.borrow_mut().sync();
        preempt();
        !self.control.is_dead.get()
    }

    fn vote(&mut self, vote: Vote) {
        if self.sync_log() {
            self.trace(format_args!("signs {vote:?}"));
            self.record.sign_vote(vote);
            self.network.broadcast(self.me, &Message::Vote(vote));
            self.lie_about(vote);
        }
    }

    /// Proposes a block, which the node has made durable.
    fn propose(&mut self, block: ProposedBytes) {
        let input = Input::Proposal(Proposal {
            round: block.round,
            valid_round: block.valid_round,
            hash: block.hash,
            is_valid: true,
        });
        self.control.log.borrow_mut().append(input);
        if !self.sync_log() {
            return;
        }
        self.control.log.borrow_mut().proposed_round = Some(block.round);
        self.record.sign_proposal(self.me, &block);
        if !self.lie_instead_of(&block) {
            self.network.broadcast(self.me, &Message::Block(block));
        }
        let outputs = self.consensus.apply(input);
        self.perform(outputs);
    }

    /// Proposes a block for which two thirds have voted, or asks the node for one.
    pub(super) fn take_turn(&mut self) {
        let (height, round) = (self.consensus.height, self.consensus.round);
        self.proposed_round = Some(round);
        let valid = self.consensus.valid;
        if let Some(Polka {
            round: valid_round,
            hash,
        }) = valid.filter(|valid| valid.round < round)
        {
            self.record.count("blocks proposed again");
            return self.request_block(round, Some(valid_round), hash);
        }
        let request = |reply| EngineRequest::Propose {
            height,
            round,
            timeout: Duration::from_secs(1),
            reply,
        };
        let reply = move |block| Reply::Propose {
            height,
            round,
            block,
        };
        self.requests.ask("Propose", request, reply);
    }

    /// Requests a block to send it to the peers.
    fn request_block(&mut self, round: u32, valid_round: Option<u32>, hash: HashValue) {
        let height = self.consensus.height;
        let request = |reply| EngineRequest::GetBlock {
            height,
            hash,
            reply,
        };
        self.requests.ask("GetBlock", request, move |bytes| {
            let block = |bytes| ProposedBytes {
                height,
                round,
                valid_round,
                hash,
                bytes,
            };
            Reply::Block(bytes.map(block))
        });
    }

    fn decide(&mut self, round: u32, hash: HashValue) {
        self.phase = Phase::Decided;
        let height = self.consensus.height;
        self.trace(format_args!("decides {hash} at {height} in round {round}"));
        self.record.decide(height, hash);
        self.requests.give_up("Propose");
        let mut committers = self.consensus.committers(round, hash);
        committers.truncate(VALIDATORS);
        let sign = |validator| CommitSignature {
            validator: self.address(validator),
            signature: Ed25519Signature([validator as u8; 64]),
        };
        let certificate = CommitCertificate {
            height,
            round,
            block_hash: hash,
            signatures: committers.into_iter().map(sign).collect(),
        };
        let is_repeated = self.random.u8(..8) == 0;
        for _ in 0..=usize::from(is_repeated) {
            let certificate = certificate.clone();
            let request = |reply| EngineRequest::Decided { certificate, reply };
            let reply = move |()| Reply::Decided(height);
            self.requests.ask("Decided", request, reply);
        }
        self.control.waits_for.set(Some(height + 1));
        self.unfinalized = Some(certificate);
        if self.random.bool() {
            self.finalize();
        }
    }

    fn finalize(&mut self) {
        let Some(certificate) = self.unfinalized.take() else {
            return;
        };
        let evidence = |vote: &Vote| Equivocation {
            validator: self.address(vote.validator),
            height: vote.height,
            round: vote.round,
            kind: EquivocationKind::Vote,
        };
        let equivocations = self.consensus.equivocations.iter().map(evidence).collect();
        let request = |reply| EngineRequest::Finalized {
            certificate,
            equivocations,
            reply,
        };
        self.requests.ask("Finalized", request, Reply::Finalized);
    }

    pub(super) fn handle_reply(&mut self, reply: Reply) {
        match reply {
            Reply::Ready(height) => self.start_height(height),
            Reply::RoundStarted(known) => {
                for block in &known {
                    self.accept(block);
                }
                self.phase = Phase::Voting;
                let outputs = self.consensus.resume();
                self.perform(outputs);
            }
            Reply::Propose {
                height,
                round,
                block: EncodedBlock { hash, bytes },
            } => {
                let is_open = (height, round) == (self.consensus.height, self.consensus.round);
                self.record.acknowledge_own(self.me, height, round, &bytes);
                if is_open && self.phase == Phase::Voting {
                    self.propose(ProposedBytes {
                        height,
                        round,
                        valid_round: None,
                        hash,
                        bytes,
                    });
                }
            }
            Reply::Checked(block) => {
                if let Some(block) = &block {
                    self.accept(block);
                }
            }
            Reply::Block(block) => self.send_again(block),
            Reply::Decided(height) => {
                self.record.acknowledge_decision(self.me, height);
                self.tip = self.tip.max(height);
                self.finalize();
            }
            Reply::Finalized(height) if height == self.consensus.height + 1 => {
                self.start_height(height);
            }
            Reply::Finalized(height) => {
                let verdict = Err(format!("{height} follows {}", self.consensus.height));
                self.record.report(EVERY_REQUEST_ENDS, verdict);
            }
            Reply::Serve { to, first, blocks } => {
                self.record.check_served(first, &blocks);
                self.network.send(self.me, to, Message::Blocks(blocks));
            }
            Reply::Synced {
                certificate,
                outcome,
            } => self.handle_synced(&certificate, outcome),
            Reply::Dropped(_) if self.record.has_failed_disk(self.me) => {
                self.record.count("engines that a failed disk stopped");
                self.control.is_dead.set(true);
            }
            Reply::Dropped(name) => {
                let verdict = Err(format!("{} has no reply to {name}", self.name));
                self.record.report(EVERY_REQUEST_ENDS, verdict);
            }
        }
    }

    /// Takes a verdict of the node into account.
    fn accept(&mut self, block: &ProposedBlock) {
        self.trace(format_args!("the node knows {block:?}"));
        self.record.acknowledge_value(self.me, block);
        if !block.is_valid {
            self.record.count("invalid blocks");
        }
        if block.height == self.consensus.height {
            self.inputs.push_back(proposal(block));
        }
    }

    fn send_again(&mut self, block: Option<ProposedBytes>) {
        let Some(block) = block.filter(|block| block.height == self.consensus.height) else {
            return;
        };
        let known = self.consensus.proposal(block.round);
        if known.is_some_and(|known| known.hash == block.hash) {
            // Durable before a crash, it may have no signature yet.
            self.record.sign_proposal(self.me, &block);
            self.network.broadcast(self.me, &Message::Block(block));
        } else if block.round == self.consensus.round && self.phase == Phase::Voting {
            self.propose(block);
        }
    }

    /// Sends again what peers may lack, and ends the step.
    pub(super) fn time_out(&mut self) {
        self.network.broadcast(self.me, &Message::Status(self.tip));
        if !self.is_signer && !self.has_quorum() {
            let start = self.start;
            self.network.broadcast(self.me, &Message::GetTip { start });
        }
        for vote in self.consensus.votes_to_repeat() {
            self.network.broadcast(self.me, &Message::Vote(vote));
        }
        let round = self.consensus.round;
        if self.phase != Phase::Voting {
            return;
        }
        if self.random.u8(..4) == 0 {
            self.requests.give_up("Propose");
        }
        let is_own = self.is_signer && self.proposer(round) == self.address(self.me);
        if is_own && let Some(known) = self.consensus.proposal(round) {
            self.request_block(round, known.valid_round, known.hash);
        }
        if let Some(step) = self.consensus.open_timeout() {
            self.record.count("timeouts");
            self.inputs.push_back(Input::Timeout { round, step });
        }
    }

    /// Tells the peers of a height for which the node has transactions.
    pub(super) fn announce(&mut self) {
        let height = *self.work.borrow_and_update();
        self.network.broadcast(self.me, &Message::Work(height));
    }

    pub(super) fn has_announcement(&self) -> bool {
        self.work.has_changed().unwrap_or_default()
    }

    pub(super) fn is_voting(&self) -> bool {
        self.phase == Phase::Voting
    }
}
