//! The engine's view of the chain: heights, addresses, votes and proposals.
//!
//! The engine is generic over these types. Each is a wrapper of a type of `ledger-types`, because
//! neither the engine's traits nor those types belong to this crate.

use crate::parts::Part;
use arc_malachitebft_app_channel::app::types::core::{
    self, Context, LinearTimeouts, NilOrVal, Round, SignedExtension, VoteType,
};
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature, HashValue};
use ledger_types::{AccountAddress, ValidatorSet, VoteStep};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A height. The first block of a chain of validators has height 1.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Height(pub u64);

impl fmt::Display for Height {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl core::Height for Height {
    const ZERO: Self = Self(0);
    // The engine's log counts height 0 as started, so it would neither reset nor replay it.
    const INITIAL: Self = Self(1);

    // A peer's status may state any height, so the sum must not overflow.
    fn increment_by(&self, heights: u64) -> Self {
        Self(self.0.saturating_add(heights))
    }

    fn decrement_by(&self, heights: u64) -> Option<Self> {
        self.0.checked_sub(heights).map(Self)
    }

    fn as_u64(&self) -> u64 {
        self.0
    }
}

/// Address of a validator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Address(pub AccountAddress);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl core::Address for Address {}

/// Hash of a block. Blocks themselves travel as [`Part`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BlockHash(pub HashValue);

impl fmt::Display for BlockHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl core::Value for BlockHash {
    type Id = Self;

    fn id(&self) -> Self {
        *self
    }
}

/// A proposal to decide a block, without its transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// Height of the block.
    pub height: Height,
    /// Round of the proposal.
    pub round: Round,
    /// Hash of the block.
    pub value: BlockHash,
    /// Round in which two thirds voted for the block, or [`Round::Nil`].
    pub valid_round: Round,
    /// Proposer of the round.
    pub proposer: Address,
}

impl core::Proposal<Ledger> for Proposal {
    fn height(&self) -> Height {
        self.height
    }

    fn round(&self) -> Round {
        self.round
    }

    fn value(&self) -> &BlockHash {
        &self.value
    }

    fn take_value(self) -> BlockHash {
        self.value
    }

    fn pol_round(&self) -> Round {
        self.valid_round
    }

    fn validator_address(&self) -> &Address {
        &self.proposer
    }
}

/// A vote of a validator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vote {
    /// Step of the round.
    pub step: VoteType,
    /// Height of the block.
    pub height: Height,
    /// Round of the height.
    pub round: Round,
    /// Hash of the block, or nil for a vote against all blocks of the round.
    pub value: NilOrVal<BlockHash>,
    /// The validator.
    pub validator: Address,
}

impl Vote {
    /// Returns the vote in the form that validators sign, or `None` if it has no round.
    pub fn to_ledger(&self) -> Option<ledger_types::Vote> {
        Some(ledger_types::Vote {
            step: match self.step {
                VoteType::Prevote => VoteStep::Prevote,
                VoteType::Precommit => VoteStep::Precommit,
            },
            height: self.height.0,
            round: self.round.as_u32()?,
            block_hash: match self.value {
                NilOrVal::Nil => None,
                NilOrVal::Val(hash) => Some(hash.0),
            },
            validator: self.validator.0,
        })
    }

    /// Creates the engine's form of a vote.
    pub fn from_ledger(vote: &ledger_types::Vote) -> Self {
        Self {
            step: match vote.step {
                VoteStep::Prevote => VoteType::Prevote,
                VoteStep::Precommit => VoteType::Precommit,
            },
            height: Height(vote.height),
            round: Round::new(vote.round),
            value: match vote.block_hash {
                None => NilOrVal::Nil,
                Some(hash) => NilOrVal::Val(BlockHash(hash)),
            },
            validator: Address(vote.validator),
        }
    }
}

impl core::Vote<Ledger> for Vote {
    fn height(&self) -> Height {
        self.height
    }

    fn round(&self) -> Round {
        self.round
    }

    fn value(&self) -> &NilOrVal<BlockHash> {
        &self.value
    }

    fn take_value(self) -> NilOrVal<BlockHash> {
        self.value
    }

    fn vote_type(&self) -> VoteType {
        self.step
    }

    fn validator_address(&self) -> &Address {
        &self.validator
    }

    // The chain has no vote extensions.
    fn extension(&self) -> Option<&SignedExtension<Ledger>> {
        None
    }

    fn take_extension(&mut self) -> Option<SignedExtension<Ledger>> {
        None
    }

    fn extend(self, _: SignedExtension<Ledger>) -> Self {
        self
    }
}

/// A validator. All have the same weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validator {
    address: Address,
    public_key: Ed25519PublicKey,
}

impl core::Validator<Ledger> for Validator {
    fn address(&self) -> &Address {
        &self.address
    }

    fn public_key(&self) -> &Ed25519PublicKey {
        &self.public_key
    }

    fn voting_power(&self) -> core::VotingPower {
        1
    }
}

/// The validators of the chain. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validators {
    set: Arc<ValidatorSet>,
    // In the order of the set.
    list: Arc<[Validator]>,
}

impl Validators {
    /// Creates the engine's form of a validator set, or `None` if the set is empty.
    pub fn new(set: ValidatorSet) -> Option<Self> {
        let validator = |one: &ledger_types::Validator| Validator {
            address: Address(one.address),
            public_key: one.public_key.clone(),
        };
        let list: Arc<[_]> = set.as_slice().iter().map(validator).collect();
        (!list.is_empty()).then(|| Self {
            set: Arc::new(set),
            list,
        })
    }

    /// Returns the set.
    pub fn set(&self) -> &ValidatorSet {
        &self.set
    }
}

impl core::ValidatorSet<Ledger> for Validators {
    fn count(&self) -> usize {
        self.list.len()
    }

    fn total_voting_power(&self) -> core::VotingPower {
        self.list.len() as u64
    }

    fn get_by_address(&self, address: &Address) -> Option<&Validator> {
        self.list.iter().find(|one| one.address == *address)
    }

    fn get_by_index(&self, index: usize) -> Option<&Validator> {
        self.list.get(index)
    }
}

/// A signature of a vote or a proposal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signature(pub [u8; 64]);

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ed25519Signature(self.0).fmt(f)
    }
}

/// Ed25519, as all signatures of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheme;

impl core::SigningScheme for Scheme {
    type DecodingError = std::array::TryFromSliceError;
    type Signature = Signature;
    type PublicKey = Ed25519PublicKey;
    // The engine holds no key: it calls a signer.
    type PrivateKey = ();

    fn decode_signature(bytes: &[u8]) -> Result<Signature, Self::DecodingError> {
        bytes.try_into().map(Signature)
    }

    fn encode_signature(signature: &Signature) -> Vec<u8> {
        signature.0.to_vec()
    }

    fn decode_public_key(bytes: &[u8]) -> Result<Ed25519PublicKey, Self::DecodingError> {
        bytes.try_into().map(Ed25519PublicKey)
    }

    fn encode_public_key(key: &Ed25519PublicKey) -> Vec<u8> {
        key.0.to_vec()
    }
}

/// The engine's context.
#[derive(Clone, Debug)]
pub struct Ledger;

impl Context for Ledger {
    type Address = Address;
    type Height = Height;
    type ProposalPart = Part;
    type Proposal = Proposal;
    type Validator = Validator;
    type ValidatorSet = Validators;
    type Timeouts = LinearTimeouts;
    type Value = BlockHash;
    type Vote = Vote;
    type Extension = ();
    type SigningScheme = Scheme;

    fn select_proposer<'a>(
        &self,
        validators: &'a Validators,
        height: Height,
        round: Round,
    ) -> &'a Validator {
        let proposer = validators
            .set
            .proposer(height.0, round.as_u32().unwrap_or_default())
            .and_then(|one| core::ValidatorSet::get_by_address(validators, &Address(one.address)));
        proposer.expect("a set of validators is not empty")
    }

    fn new_proposal(
        &self,
        height: Height,
        round: Round,
        value: BlockHash,
        valid_round: Round,
        proposer: Address,
    ) -> Proposal {
        Proposal {
            height,
            round,
            value,
            valid_round,
            proposer,
        }
    }

    fn new_prevote(
        &self,
        height: Height,
        round: Round,
        value: NilOrVal<BlockHash>,
        validator: Address,
    ) -> Vote {
        Vote {
            step: VoteType::Prevote,
            height,
            round,
            value,
            validator,
        }
    }

    fn new_precommit(
        &self,
        height: Height,
        round: Round,
        value: NilOrVal<BlockHash>,
        validator: Address,
    ) -> Vote {
        Vote {
            step: VoteType::Precommit,
            height,
            round,
            value,
            validator,
        }
    }
}

impl core::ProposalPart<Ledger> for Part {
    fn is_first(&self) -> bool {
        !matches!(self, Self::Chunk { index: 1.., .. })
    }

    fn is_last(&self) -> bool {
        match self {
            Self::Chunk { signed, index, .. } => *index as usize + 1 >= signed.header.chunk_count(),
            Self::Work { .. } => true,
        }
    }
}
