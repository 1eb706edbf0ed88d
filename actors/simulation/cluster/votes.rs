//! The rules by which validators agree at one height: Tendermint, as Malachite follows it.
//!
//! The rules are a function of the inputs, in their order. So an engine that applies the inputs of
//! its log again signs the same votes.

use super::super::fixture::VALIDATORS;
use ledger_crypto::HashValue;
use ledger_types::VoteStep;
use std::collections::{BTreeMap, BTreeSet};

/// Number of votes that decide: more than two thirds.
pub(super) const QUORUM: usize = VALIDATORS * 2 / 3 + 1;
/// Number of validators of which at least one is honest.
const HONEST_MIN: usize = VALIDATORS / 3 + 1;

/// A signed vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vote {
    pub(super) height: u64,
    pub(super) round: u32,
    pub(super) step: VoteStep,
    /// Hash of the block, or `None` if the vote is for no block.
    pub(super) block: Option<HashValue>,
    /// Index of the validator.
    pub(super) validator: usize,
}

/// A block that was proposed in a round, with the node's verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Proposal {
    pub(super) round: u32,
    pub(super) valid_round: Option<u32>,
    pub(super) hash: HashValue,
    pub(super) is_valid: bool,
}

/// Something that an engine takes into account.
#[derive(Clone, Copy, Debug)]
pub(super) enum Input {
    Proposal(Proposal),
    Vote(Vote),
    /// The time of a step is over.
    Timeout {
        round: u32,
        step: Step,
    },
    /// A peer has proved that the block is decided.
    Certificate {
        round: u32,
        hash: HashValue,
    },
}

/// Something that an engine does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Output {
    /// A round begins. The engine calls [`Consensus::resume`] after the reply of the node.
    RoundStarted(u32),
    Vote(Vote),
    Decided {
        round: u32,
        hash: HashValue,
    },
}

/// The step of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Propose,
    Prevote,
    Precommit,
}

/// A block with the round in which two thirds prevoted for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Polka {
    pub(super) round: u32,
    pub(super) hash: HashValue,
}

/// Validators with their votes. One that lies may have several: whichever counts elsewhere counts
/// here too, so that a proof of one validator is one for all.
type Votes = BTreeSet<(usize, Option<HashValue>)>;

/// The state of one validator at one height.
#[derive(Debug)]
pub(super) struct Consensus {
    pub(super) height: u64,
    pub(super) round: u32,
    pub(super) step: Step,
    validator: usize,
    /// Whether the votes of this validator count. Otherwise it follows.
    is_signer: bool,
    locked: Option<Polka>,
    pub(super) valid: Option<Polka>,
    /// Blocks by the round of their proposal, in the order of arrival.
    proposals: BTreeMap<u32, Vec<Proposal>>,
    votes: BTreeMap<(u32, VoteStep), Votes>,
    /// Votes that contradict an earlier one of the same validator.
    pub(super) equivocations: Vec<Vote>,
    certificate: Option<Polka>,
    is_decided: bool,
}

impl Consensus {
    pub(super) fn new(height: u64, validator: usize, is_signer: bool) -> Self {
        Self {
            height,
            round: 0,
            step: Step::Propose,
            validator,
            is_signer,
            locked: None,
            valid: None,
            proposals: BTreeMap::new(),
            votes: BTreeMap::new(),
            equivocations: Vec::new(),
            certificate: None,
            is_decided: false,
        }
    }

    /// Applies an input. Returns the outputs in order.
    pub(super) fn apply(&mut self, input: Input) -> Vec<Output> {
        match input {
            Input::Proposal(proposal) => {
                let known = self.proposals.entry(proposal.round).or_default();
                if !known.contains(&proposal) {
                    known.push(proposal);
                }
            }
            Input::Vote(vote) => self.add_vote(vote),
            Input::Certificate { round, hash } => self.certificate = Some(Polka { round, hash }),
            Input::Timeout { round, step } if round == self.round && !self.is_decided => {
                let output = self.time_out(step);
                let has_round_ended = matches!(output, Some(Output::RoundStarted(_)));
                let mut outputs: Vec<_> = output.into_iter().collect();
                if !has_round_ended {
                    outputs.extend(self.resume());
                }
                return outputs;
            }
            Input::Timeout { .. } => {}
        }
        self.resume()
    }

    /// Returns the outputs that the inputs so far cause, up to the begin of a round.
    pub(super) fn resume(&mut self) -> Vec<Output> {
        let mut outputs = Vec::new();
        while let Some(output) = self.next_output() {
            outputs.push(output);
            if matches!(output, Output::RoundStarted(_)) {
                break;
            }
        }
        outputs
    }

    /// Returns the step whose time may be over.
    pub(super) fn open_timeout(&self) -> Option<Step> {
        let has_voters = |step| {
            let voters = self.votes_of(self.round, step);
            let voters: BTreeSet<_> = voters.map(|(validator, _)| validator).collect();
            voters.len() >= QUORUM
        };
        if has_voters(VoteStep::Precommit) {
            return Some(Step::Precommit);
        }
        match self.step {
            Step::Propose => Some(Step::Propose),
            Step::Prevote if has_voters(VoteStep::Prevote) => Some(Step::Prevote),
            Step::Prevote | Step::Precommit => None,
        }
    }

    /// Returns the votes that peers may lack: those of this validator, and those that prove the
    /// newest block for which two thirds prevoted. Their signers may have lost them. Of old rounds,
    /// only commitments to a block still matter.
    pub(super) fn votes_to_repeat(&self) -> Vec<Vote> {
        let votes = self.votes.iter().flat_map(|(&(round, step), votes)| {
            votes.iter().map(move |&(validator, block)| Vote {
                height: self.height,
                round,
                step,
                block,
                validator,
            })
        });
        let is_proof = |vote: &Vote| {
            let polka = vote.block.map(|hash| (vote.round, hash));
            let valid = self.valid.map(|valid| (valid.round, valid.hash));
            vote.step == VoteStep::Prevote && valid.is_some() && polka == valid
        };
        let is_new = |vote: &Vote| {
            let is_commitment = vote.step == VoteStep::Precommit && vote.block.is_some();
            vote.validator == self.validator && (is_commitment || vote.round + 2 > self.round)
        };
        // They show that the round before is over.
        let is_last =
            |vote: &Vote| vote.step == VoteStep::Precommit && vote.round + 1 == self.round;
        votes
            .filter(|vote| is_new(vote) || is_last(vote) || is_proof(vote))
            .collect()
    }

    /// Returns the proposal of a round that came first.
    pub(super) fn proposal(&self, round: u32) -> Option<Proposal> {
        self.proposals.get(&round)?.first().copied()
    }

    /// Returns the validators that precommitted to a block in a round.
    pub(super) fn committers(&self, round: u32, hash: HashValue) -> Vec<usize> {
        let votes = self.votes_of(round, VoteStep::Precommit);
        let committed = votes.filter(|(_, block)| *block == Some(hash));
        committed.map(|(validator, _)| validator).collect()
    }

    fn votes_of(
        &self,
        round: u32,
        step: VoteStep,
    ) -> impl Iterator<Item = (usize, Option<HashValue>)> {
        self.votes
            .get(&(round, step))
            .into_iter()
            .flatten()
            .copied()
    }

    fn has_quorum(&self, round: u32, step: VoteStep, block: Option<HashValue>) -> bool {
        let votes = self.votes_of(round, step);
        votes.filter(|(_, voted)| *voted == block).count() >= QUORUM
    }

    fn add_vote(&mut self, vote: Vote) {
        let votes = self.votes.entry((vote.round, vote.step)).or_default();
        let has_voted = votes
            .iter()
            .any(|&(validator, block)| validator == vote.validator && block != vote.block);
        if votes.insert((vote.validator, vote.block)) && has_voted {
            self.equivocations.push(vote);
        }
    }

    fn next_output(&mut self) -> Option<Output> {
        if self.is_decided {
            return None;
        }
        self.decide()
            .or_else(|| self.skip_round())
            .or_else(|| self.prevote())
            .or_else(|| self.precommit())
    }

    fn decide(&mut self) -> Option<Output> {
        let valid = self.proposals.iter().flat_map(|(&round, proposals)| {
            let valid = proposals.iter().filter(|proposal| proposal.is_valid);
            valid.map(move |proposal| (round, proposal.hash))
        });
        let decided = valid.filter_map(|(round, hash)| match self.certificate {
            Some(certificate) if certificate.hash == hash => Some(certificate),
            _ => self
                .has_quorum(round, VoteStep::Precommit, Some(hash))
                .then_some(Polka { round, hash }),
        });
        let Polka { round, hash } = decided.into_iter().next()?;
        self.is_decided = true;
        Some(Output::Decided { round, hash })
    }

    /// Begins a later round in which an honest validator has voted.
    fn skip_round(&mut self) -> Option<Output> {
        let mut voters: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
        for (&(round, _), votes) in self.votes.range((self.round + 1, VoteStep::Prevote)..) {
            let validators = votes.iter().map(|&(validator, _)| validator);
            voters.entry(round).or_default().extend(validators);
        }
        let begun = voters
            .iter()
            .rfind(|(_, voters)| voters.len() >= HONEST_MIN);
        begun
            .map(|(&round, _)| round)
            .map(|round| self.begin_round(round))
    }

    fn begin_round(&mut self, round: u32) -> Output {
        (self.round, self.step) = (round, Step::Propose);
        Output::RoundStarted(round)
    }

    fn prevote(&mut self) -> Option<Output> {
        if self.step != Step::Propose {
            return None;
        }
        let proposal = self.proposal(self.round)?;
        let hash = proposal.hash;
        let is_unlocked = match (self.locked, proposal.valid_round) {
            (_, Some(valid_round)) if valid_round >= self.round => false,
            (_, Some(valid_round))
                if !self.has_quorum(valid_round, VoteStep::Prevote, Some(hash)) =>
            {
                return None;
            }
            (Some(locked), valid_round) => {
                locked.hash == hash || valid_round.is_some_and(|round| round >= locked.round)
            }
            (None, _) => true,
        };
        let block = (is_unlocked && proposal.is_valid).then_some(hash);
        Some(self.vote(Step::Prevote, block))
    }

    fn precommit(&mut self) -> Option<Output> {
        let is_valid = |proposal: &&Proposal| proposal.is_valid;
        let proposals = self.proposals.get(&self.round).into_iter().flatten();
        let polka = proposals.filter(is_valid).map(|proposal| proposal.hash);
        let mut polka =
            polka.filter(|&hash| self.has_quorum(self.round, VoteStep::Prevote, Some(hash)));
        if self.step != Step::Propose
            && let Some(hash) = polka.next()
        {
            let round = self.round;
            self.valid = Some(Polka { round, hash });
            if self.step == Step::Prevote {
                self.locked = self.valid;
                return Some(self.vote(Step::Precommit, Some(hash)));
            }
        }
        let is_nil = self.has_quorum(self.round, VoteStep::Prevote, None);
        (self.step == Step::Prevote && is_nil).then(|| self.vote(Step::Precommit, None))
    }

    fn time_out(&mut self, step: Step) -> Option<Output> {
        match step {
            Step::Precommit => Some(self.begin_round(self.round + 1)),
            _ if step != self.step => None,
            Step::Propose => Some(self.vote(Step::Prevote, None)),
            Step::Prevote => Some(self.vote(Step::Precommit, None)),
        }
    }

    /// Enters a step with this validator's vote.
    fn vote(&mut self, step: Step, block: Option<HashValue>) -> Output {
        self.step = step;
        let vote = Vote {
            height: self.height,
            round: self.round,
            step: match step {
                Step::Propose | Step::Prevote => VoteStep::Prevote,
                Step::Precommit => VoteStep::Precommit,
            },
            block,
            validator: self.validator,
        };
        if self.is_signer {
            self.add_vote(vote);
        }
        Output::Vote(vote)
    }
}
