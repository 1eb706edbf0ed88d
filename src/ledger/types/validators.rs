//! The validators of a chain, their votes, and the certificate of a decided block.

use crate::{AccountAddress, Vendor};
use bytes::Bytes;
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature, HashValue};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A validator. All have the same weight.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Validator {
    /// Address of the account with this key.
    pub address: AccountAddress,
    /// Key that the validator signs proposals and votes with.
    pub public_key: Ed25519PublicKey,
}

impl Validator {
    /// Creates the validator with this key.
    pub fn new(public_key: Ed25519PublicKey) -> Self {
        Self {
            address: AccountAddress::from_public_key(&public_key),
            public_key,
        }
    }
}

/// The validators of a chain, in the order of the genesis. Empty on a chain of one node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ValidatorSet(Vec<Validator>);

impl ValidatorSet {
    /// Maximum number of validators, so that certificates and bit sets of voters stay small. Each
    /// validator verifies two votes of every other one for each block.
    pub const LENGTH_MAX: usize = 100;

    /// Creates the set of the validators with these keys.
    pub fn new(keys: impl IntoIterator<Item = Ed25519PublicKey>) -> Self {
        Self(keys.into_iter().map(Validator::new).collect())
    }

    /// Returns whether this is the set of a chain of one node.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the validators in order.
    pub fn as_slice(&self) -> &[Validator] {
        &self.0
    }

    /// Returns the validator with this address.
    pub fn get(&self, address: &AccountAddress) -> Option<&Validator> {
        self.0
            .iter()
            .find(|validator| validator.address == *address)
    }

    /// Returns the number of votes that decide: more than two thirds.
    pub fn quorum(&self) -> usize {
        self.0.len() * 2 / 3 + 1
    }

    /// Returns the proposer of a round: the validators take turns, one in each round and one in
    /// each height. Returns `None` if the set is empty.
    pub fn proposer(&self, height: u64, round: u32) -> Option<&Validator> {
        let turn = height.wrapping_add(u64::from(round));
        let index = turn.checked_rem(self.0.len() as u64)?;
        self.0.get(usize::try_from(index).ok()?)
    }
}

/// The step of a round in which a validator votes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
pub enum VoteStep {
    /// The first vote, after the proposal.
    Prevote,
    /// The second vote, after two thirds of the prevotes. Two thirds of these decide.
    Precommit,
}

/// A vote, without the signature.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Vote {
    /// Step of the round.
    pub step: VoteStep,
    /// Height of the block.
    pub height: u64,
    /// Round of the height, from 0.
    pub round: u32,
    /// Hash of the block, or `None` for a vote against all blocks of the round.
    pub block_hash: Option<HashValue>,
    /// Address of the validator.
    pub validator: AccountAddress,
}

impl Vote {
    /// Returns the bytes that the validator signs: the prefix of votes, the hash of the genesis
    /// block, and the vote in BCS. So a vote is of no use on another chain with the same keys.
    pub fn signing_message(&self, vendor: &Vendor, genesis_hash: HashValue) -> Vec<u8> {
        signing_message(vendor.seeds().vote.as_bytes(), genesis_hash, self)
    }
}

/// Returns `prefix`, the hash of the genesis block, and `value` in BCS.
///
/// # Panics
///
/// Panics if `value` has no BCS form. All signed types have one.
pub fn signing_message(
    prefix: &[u8; 32],
    genesis_hash: HashValue,
    value: &impl Serialize,
) -> Vec<u8> {
    let mut message = [&prefix[..], genesis_hash.as_bytes()].concat();
    bcs::serialize_into(&mut message, value).expect("signed types have a BCS form");
    message
}

/// A validator's signature of its precommit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CommitSignature {
    /// Address of the validator.
    pub validator: AccountAddress,
    /// Signature of the [`Vote`].
    pub signature: Ed25519Signature,
}

/// The precommits that decided a block.
///
/// Validators may have different ones for a block, because any two thirds suffice. So no hash
/// covers it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CommitCertificate {
    /// Height of the block.
    pub height: u64,
    /// Round of the votes, at or after the round of the block's header.
    pub round: u32,
    /// Hash of the block.
    pub block_hash: HashValue,
    /// Signatures, each of another validator.
    pub signatures: Vec<CommitSignature>,
}

/// The reason that a certificate does not prove a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CertificateError {
    /// A signer is no validator.
    #[error("{0} is no validator")]
    NoValidator(AccountAddress),
    /// A validator signed twice.
    #[error("validator {0} is listed twice")]
    Duplicate(AccountAddress),
    /// A signature does not verify.
    #[error("the signature of validator {0} does not verify")]
    Signature(AccountAddress),
    /// Too few validators signed.
    #[error("{found} validators signed, {quorum} are needed")]
    Quorum {
        /// Number of signatures.
        found: usize,
        /// Number that is needed.
        quorum: usize,
    },
}

impl CommitCertificate {
    /// Returns the form in which a block stores the certificate.
    ///
    /// # Panics
    ///
    /// Panics if the certificate has no BCS form. Every one has.
    pub fn to_bytes(&self) -> Bytes {
        bcs::to_bytes(self)
            .expect("certificates have a BCS form")
            .into()
    }

    /// Decodes the form in which a block stores the certificate.
    ///
    /// # Errors
    ///
    /// Returns the error of BCS if the bytes encode no certificate.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, bcs::Error> {
        bcs::from_bytes(bytes)
    }

    /// Returns the vote that `validator` signed.
    pub fn vote(&self, validator: AccountAddress) -> Vote {
        Vote {
            step: VoteStep::Precommit,
            height: self.height,
            round: self.round,
            block_hash: Some(self.block_hash),
            validator,
        }
    }

    /// Checks that more than two thirds of `validators` signed.
    ///
    /// # Errors
    ///
    /// * [`CertificateError::NoValidator`] or [`CertificateError::Duplicate`] for a signer that is
    ///   not in the set, or is listed twice.
    /// * [`CertificateError::Quorum`] if there are too few signatures.
    /// * [`CertificateError::Signature`] for the first signature that does not verify.
    pub fn verify(
        &self,
        validators: &ValidatorSet,
        vendor: &Vendor,
        genesis_hash: HashValue,
    ) -> Result<(), CertificateError> {
        let mut signers = BTreeSet::new();
        for CommitSignature { validator, .. } in &self.signatures {
            if validators.get(validator).is_none() {
                return Err(CertificateError::NoValidator(*validator));
            }
            if !signers.insert(*validator) {
                return Err(CertificateError::Duplicate(*validator));
            }
        }
        let (found, quorum) = (signers.len(), validators.quorum());
        if found < quorum {
            return Err(CertificateError::Quorum { found, quorum });
        }
        let does_verify = |signed: &CommitSignature| {
            let message = self
                .vote(signed.validator)
                .signing_message(vendor, genesis_hash);
            validators.get(&signed.validator).is_some_and(|validator| {
                validator
                    .public_key
                    .verify(&[&message], &signed.signature)
                    .is_ok()
            })
        };
        match self.signatures.iter().find(|signed| !does_verify(signed)) {
            Some(signed) => Err(CertificateError::Signature(signed.validator)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_crypto::Ed25519PrivateKey;

    fn keys(count: u8) -> Vec<Ed25519PrivateKey> {
        let key = |number| Ed25519PrivateKey::from_seed(&[number; 32]);
        (1..=count).map(key).collect()
    }

    fn set_of(keys: &[Ed25519PrivateKey]) -> ValidatorSet {
        ValidatorSet::new(keys.iter().map(Ed25519PrivateKey::public_key))
    }

    const GENESIS: HashValue = HashValue::new([9; 32]);

    fn certificate(signers: &[Ed25519PrivateKey]) -> CommitCertificate {
        let mut certificate = CommitCertificate {
            height: 7,
            round: 1,
            block_hash: HashValue::new([1; 32]),
            signatures: Vec::new(),
        };
        for key in signers {
            let validator = Validator::new(key.public_key()).address;
            let message = certificate
                .vote(validator)
                .signing_message(&Vendor::default(), GENESIS);
            certificate.signatures.push(CommitSignature {
                validator,
                signature: key.sign(&message),
            });
        }
        certificate
    }

    fn verify(certificate: &CommitCertificate, set: &ValidatorSet) -> Result<(), CertificateError> {
        certificate.verify(set, &Vendor::default(), GENESIS)
    }

    #[test]
    fn more_than_two_thirds_are_a_quorum() {
        let quorum = |count| set_of(&keys(count)).quorum();
        let quorums: Vec<_> = [1, 2, 3, 4, 5, 6, 7, 100].map(quorum).into();
        assert_eq!(quorums, [1, 2, 3, 3, 4, 5, 5, 67]);
    }

    #[test]
    fn validators_propose_in_turns() {
        let keys = keys(4);
        let set = set_of(&keys);
        let index = |height, round| {
            let proposer = set.proposer(height, round).unwrap();
            set.as_slice().iter().position(|one| one == proposer)
        };
        let first: Vec<_> = (1..6).map(|height| index(height, 0)).collect();
        assert_eq!(first, [1, 2, 3, 0, 1].map(Some));
        assert_eq!(index(1, 1), Some(2));
        assert_eq!(index(u64::MAX, u32::MAX), Some(2));
        assert_eq!(ValidatorSet::default().proposer(1, 0), None);
    }

    #[test]
    fn a_quorum_of_signatures_proves_a_block() {
        let keys = keys(4);
        let set = set_of(&keys);
        assert_eq!(verify(&certificate(&keys[..3]), &set), Ok(()));
        assert_eq!(
            verify(&certificate(&keys[..2]), &set),
            Err(CertificateError::Quorum {
                found: 2,
                quorum: 3
            })
        );
    }

    #[test]
    fn strangers_duplicates_and_other_votes_prove_nothing() {
        let keys = keys(5);
        let set = set_of(&keys[..4]);
        let address = |key: &Ed25519PrivateKey| Validator::new(key.public_key()).address;
        assert_eq!(
            verify(&certificate(&keys[2..]), &set),
            Err(CertificateError::NoValidator(address(&keys[4])))
        );
        let mut twice = certificate(&keys[..3]);
        twice.signatures[1] = twice.signatures[0].clone();
        assert_eq!(
            verify(&twice, &set),
            Err(CertificateError::Duplicate(address(&keys[0])))
        );
        let valid = certificate(&keys[..3]);
        let first = Err(CertificateError::Signature(address(&keys[0])));
        let other_block = CommitCertificate {
            block_hash: HashValue::new([2; 32]),
            ..valid.clone()
        };
        assert_eq!(verify(&other_block, &set), first);
        let other_round = CommitCertificate {
            round: 2,
            ..valid.clone()
        };
        assert_eq!(verify(&other_round, &set), first);
        let other_chain = valid.verify(&set, &Vendor::default(), HashValue::new([8; 32]));
        assert_eq!(other_chain, first);
    }
}
