//! Certificates and evidence, between the engine's form and the chain's.

use crate::context::{Address, BlockHash, Height, Ledger, Signature};
use arc_malachitebft_app_channel::app::types::MisbehaviorEvidence;
use arc_malachitebft_app_channel::app::types::core::{
    CommitCertificate as EngineCertificate, ExtendedCommitCertificate, ExtendedCommitSignature,
    Round,
};
use ledger_actors::engine::{Equivocation, EquivocationKind};
use ledger_crypto::Ed25519Signature;
use ledger_types::{AccountAddress, CommitCertificate, CommitSignature};

/// Returns the chain's form of a certificate, or `None` if it has no round. The engine decides in
/// rounds only.
pub fn to_ledger(certificate: &EngineCertificate<Ledger>) -> Option<CommitCertificate> {
    let signatures = certificate.commit_signatures.iter();
    Some(CommitCertificate {
        height: certificate.height.0,
        round: certificate.round.as_u32()?,
        block_hash: certificate.value_id.0,
        signatures: signatures
            .map(|signed| CommitSignature {
                validator: signed.address.0,
                signature: Ed25519Signature(signed.signature.0),
            })
            .collect(),
    })
}

/// Returns the form of a certificate in which peers exchange it.
pub fn from_ledger(certificate: &CommitCertificate) -> ExtendedCommitCertificate<Ledger> {
    let signature = |signed: &CommitSignature| {
        ExtendedCommitSignature::new(
            Address(signed.validator),
            Signature(signed.signature.0),
            None,
        )
    };
    ExtendedCommitCertificate {
        height: Height(certificate.height),
        round: Round::new(certificate.round),
        value_id: BlockHash(certificate.block_hash),
        commit_signatures: certificate.signatures.iter().map(signature).collect(),
    }
}

/// Returns the contradictory messages that the engine met, one entry for each pair.
pub fn equivocations(evidence: &MisbehaviorEvidence<Ledger>) -> Vec<Equivocation> {
    let equivocation =
        |validator: AccountAddress, height: Height, round: Round, kind| Equivocation {
            validator,
            height: height.0,
            round: round.as_u32().unwrap_or_default(),
            kind,
        };
    let mut found = Vec::new();
    for (validator, pairs) in evidence.proposals.iter() {
        found.extend(pairs.iter().map(|(first, _)| {
            equivocation(
                validator.0,
                first.height,
                first.round,
                EquivocationKind::Proposal,
            )
        }));
    }
    for (validator, pairs) in evidence.votes.iter() {
        found.extend(pairs.iter().map(|(first, _)| {
            equivocation(
                validator.0,
                first.height,
                first.round,
                EquivocationKind::Vote,
            )
        }));
    }
    found
}
