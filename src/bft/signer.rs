//! Signatures of votes, proposals and blocks on their way.

use crate::context::{Ledger, Proposal, Signature, Vote};
use crate::parts::{SignedHeader, StreamHeader};
use arc_malachitebft_app_channel::app::types::core::{
    SignedMessage, SignedProposal, SignedVote, ValidatorProof, VoteExtensionScope,
};
use arc_malachitebft_app_channel::{Signer, Verifier};
use arc_malachitebft_signing::{Error, VerificationResult};
use async_trait::async_trait;
use ledger_crypto::{Ed25519PrivateKey, Ed25519PublicKey, Ed25519Signature, HashValue};
use ledger_types::validators::signing_message;
use ledger_types::{AccountAddress, Vendor};
use serde::Serialize;

/// A signed message of a proposer. The variants keep a signature of one kind from being of use as
/// the other.
#[derive(Serialize)]
enum ProposerMessage<'a> {
    Proposal {
        height: u64,
        round: u32,
        block_hash: HashValue,
        valid_round: Option<u32>,
        proposer: AccountAddress,
    },
    Stream(&'a StreamHeader),
}

/// The chain that signatures are for, so that they are of no use on another.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Vendor of the chain, for the prefixes of messages.
    pub vendor: Vendor,
    /// Hash of the genesis block.
    pub genesis_hash: HashValue,
}

impl Domain {
    fn vote_message(&self, vote: &Vote) -> Option<Vec<u8>> {
        let vote = vote.to_ledger()?;
        Some(vote.signing_message(&self.vendor, self.genesis_hash))
    }

    fn proposer_message(&self, message: &ProposerMessage<'_>) -> Vec<u8> {
        let prefix = self.vendor.seeds().proposal.as_bytes();
        signing_message(prefix, self.genesis_hash, message)
    }

    fn proposal_message(&self, proposal: &Proposal) -> Option<Vec<u8>> {
        Some(self.proposer_message(&ProposerMessage::Proposal {
            height: proposal.height.0,
            round: proposal.round.as_u32()?,
            block_hash: proposal.value.0,
            valid_round: proposal.valid_round.as_u32(),
            proposer: proposal.proposer.0,
        }))
    }

    /// Signs the header of a block's stream.
    pub fn sign_stream(&self, key: &Ed25519PrivateKey, header: StreamHeader) -> SignedHeader {
        let signature = key.sign(&self.proposer_message(&ProposerMessage::Stream(&header)));
        SignedHeader { header, signature }
    }

    /// Returns whether the signature of a stream's header verifies.
    pub fn verifies_stream(&self, key: &Ed25519PublicKey, signed: &SignedHeader) -> bool {
        let message = self.proposer_message(&ProposerMessage::Stream(&signed.header));
        key.verify(&[&message], &signed.signature).is_ok()
    }
}

fn verdict(
    message: Option<Vec<u8>>,
    signature: &Signature,
    key: &Ed25519PublicKey,
) -> VerificationResult {
    let signature = Ed25519Signature(signature.0);
    let is_valid = message.is_some_and(|message| key.verify(&[&message], &signature).is_ok());
    VerificationResult::from_bool(is_valid)
}

#[async_trait]
impl Verifier<Ledger> for Domain {
    async fn verify_signed_vote(
        &self,
        vote: &Vote,
        signature: &Signature,
        key: &Ed25519PublicKey,
    ) -> Result<VerificationResult, Error> {
        Ok(verdict(self.vote_message(vote), signature, key))
    }

    async fn verify_signed_proposal(
        &self,
        proposal: &Proposal,
        signature: &Signature,
        key: &Ed25519PublicKey,
    ) -> Result<VerificationResult, Error> {
        Ok(verdict(self.proposal_message(proposal), signature, key))
    }

    // The chain has no vote extensions, so each is invalid.
    async fn verify_signed_vote_extension(
        &self,
        _: &VoteExtensionScope<Ledger>,
        (): &(),
        _: &Signature,
        _: &Ed25519PublicKey,
    ) -> Result<VerificationResult, Error> {
        Ok(VerificationResult::Invalid)
    }

    // Peers are known by their network keys, so no node sends such a proof.
    async fn verify_validator_proof(
        &self,
        _: &ValidatorProof<Ledger>,
    ) -> Result<VerificationResult, Error> {
        Ok(VerificationResult::Invalid)
    }
}

/// The key of this validator. Signs whatever the engine asks for: the engine fails if it cannot
/// sign.
pub struct ValidatorSigner {
    /// The chain.
    pub domain: Domain,
    /// The validator's key.
    pub key: Ed25519PrivateKey,
}

impl ValidatorSigner {
    fn sign(&self, message: Option<Vec<u8>>) -> Result<Signature, Error> {
        let message = message.ok_or_else(|| Error::from_source("a message without a round"))?;
        Ok(Signature(self.key.sign(&message).0))
    }
}

#[async_trait]
impl Signer<Ledger> for ValidatorSigner {
    async fn sign_vote(&self, vote: Vote) -> Result<SignedVote<Ledger>, Error> {
        let signature = self.sign(self.domain.vote_message(&vote))?;
        Ok(SignedMessage::new(vote, signature))
    }

    async fn sign_proposal(&self, proposal: Proposal) -> Result<SignedProposal<Ledger>, Error> {
        let signature = self.sign(self.domain.proposal_message(&proposal))?;
        Ok(SignedMessage::new(proposal, signature))
    }

    async fn sign_vote_extension(
        &self,
        _: VoteExtensionScope<Ledger>,
        (): (),
    ) -> Result<SignedMessage<Ledger, ()>, Error> {
        Err(Error::from_source("the chain has no vote extensions"))
    }

    async fn sign_validator_proof(
        &self,
        _: Vec<u8>,
        _: Vec<u8>,
    ) -> Result<ValidatorProof<Ledger>, Error> {
        Err(Error::from_source("peers are known by their network keys"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate;
    use crate::context::{Address, BlockHash, Height};
    use arc_malachitebft_app_channel::app::types::core::{
        CommitCertificate, Context as _, NilOrVal, Round,
    };
    use ledger_types::{CertificateError, ValidatorSet};
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    /// Returns what a future returns that never waits.
    fn ready<T>(future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => panic!("the future waits"),
        }
    }

    fn domain() -> Domain {
        Domain {
            vendor: Vendor::default(),
            genesis_hash: HashValue::new([3; 32]),
        }
    }

    fn signer(index: u8) -> ValidatorSigner {
        ValidatorSigner {
            domain: domain(),
            key: Ed25519PrivateKey::from_seed(&[index + 1; 32]),
        }
    }

    fn address(signer: &ValidatorSigner) -> Address {
        Address(AccountAddress::from_public_key(&signer.key.public_key()))
    }

    const HASH: BlockHash = BlockHash(HashValue::new([7; 32]));

    fn proposal(signer: &ValidatorSigner) -> Proposal {
        Ledger.new_proposal(
            Height(5),
            Round::new(2),
            HASH,
            Round::new(1),
            address(signer),
        )
    }

    #[test]
    fn a_signed_vote_verifies_as_it_is_only() {
        let signer = signer(0);
        let key = signer.key.public_key();
        let value = NilOrVal::Val(HASH);
        let vote = Ledger.new_prevote(Height(5), Round::new(2), value, address(&signer));
        let signed = ready(signer.sign_vote(vote.clone())).unwrap();
        let verifies = |domain: &Domain, vote: &Vote, key: &Ed25519PublicKey| {
            let verdict = ready(domain.verify_signed_vote(vote, &signed.signature, key));
            verdict.unwrap().is_valid()
        };
        assert!(verifies(&domain(), &vote, &key));
        let precommit = Ledger.new_precommit(Height(5), Round::new(2), value, address(&signer));
        let later = Ledger.new_prevote(Height(6), Round::new(2), value, address(&signer));
        let nil = Ledger.new_prevote(Height(5), Round::new(2), NilOrVal::Nil, address(&signer));
        let none = Ledger.new_prevote(Height(5), Round::Nil, value, address(&signer));
        for other in [precommit, later, nil, none] {
            assert!(!verifies(&domain(), &other, &key));
        }
        let mut other_chain = domain();
        other_chain.genesis_hash = HashValue::new([4; 32]);
        assert!(!verifies(&other_chain, &vote, &key));
    }

    #[test]
    fn a_message_without_a_round_is_not_signed() {
        let signer = signer(0);
        let vote = Ledger.new_prevote(Height(5), Round::Nil, NilOrVal::Nil, address(&signer));
        assert!(ready(signer.sign_vote(vote)).is_err());
    }

    #[test]
    fn a_signed_proposal_verifies_as_it_is_only() {
        let signer = signer(0);
        let key = signer.key.public_key();
        let signed = ready(signer.sign_proposal(proposal(&signer))).unwrap();
        let verifies = |proposal: &Proposal| {
            let verdict = domain();
            let verdict = ready(verdict.verify_signed_proposal(proposal, &signed.signature, &key));
            verdict.unwrap().is_valid()
        };
        assert!(verifies(&proposal(&signer)));
        let mut again = proposal(&signer);
        again.valid_round = Round::Nil;
        assert!(!verifies(&again));
    }

    #[test]
    fn a_certificate_of_the_engine_proves_the_block() {
        let signers: Vec<_> = (0..4).map(signer).collect();
        let set = ValidatorSet::new(signers.iter().map(|signer| signer.key.public_key()));
        let round = Round::new(1);
        let precommit = |signer: &ValidatorSigner| {
            let vote = Ledger.new_precommit(Height(5), round, NilOrVal::Val(HASH), address(signer));
            ready(signer.sign_vote(vote)).unwrap()
        };
        let votes = signers[..3].iter().map(precommit).collect();
        let engine = CommitCertificate::new(Height(5), round, HASH, votes);
        let certificate = certificate::to_ledger(&engine).unwrap();
        let domain = domain();
        let verify = |certificate: &ledger_types::CommitCertificate| {
            certificate.verify(&set, &domain.vendor, domain.genesis_hash)
        };
        assert_eq!(verify(&certificate), Ok(()));
        let exchanged = certificate::from_ledger(&certificate).trim_vote_extensions();
        assert_eq!(
            certificate::to_ledger(&exchanged),
            Some(certificate.clone())
        );
        let mut changed = certificate;
        changed.height = 6;
        assert!(matches!(
            verify(&changed),
            Err(CertificateError::Signature(_))
        ));
    }
}
