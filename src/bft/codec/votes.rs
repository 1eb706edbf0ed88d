//! Votes, proposals and certificates of votes.

use super::{
    CERTIFICATE_BYTES_MAX, CodecError, LedgerCodec, SIGNED_BYTES_MAX, SMALL_BYTES_MAX, at_most,
    decode, encode, number, round, signature, valid_round, vote, wire_signature, wire_vote,
};
use crate::context::{Address, BlockHash, Height, Ledger, Proposal};
use arc_malachitebft_app_channel::app::consensus::LivenessMsg;
use arc_malachitebft_app_channel::app::types::codec::Codec;
use arc_malachitebft_app_channel::app::types::core::{
    NilOrVal, PolkaCertificate, PolkaSignature, RoundCertificate, RoundCertificateType,
    RoundSignature, SignedMessage, ValidatorProof, Validity, VoteType,
};
use arc_malachitebft_app_channel::app::types::{ProposedValue, SignedConsensusMsg};
use bytes::Bytes;
use ledger_crypto::{Ed25519Signature, HashValue};
use ledger_types::{AccountAddress, ValidatorSet, VoteStep};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct WireProposal {
    height: u64,
    round: u32,
    block_hash: HashValue,
    valid_round: Option<u32>,
    proposer: AccountAddress,
}

#[derive(Serialize, Deserialize)]
enum WireConsensus {
    Vote(ledger_types::Vote, Ed25519Signature),
    Proposal(WireProposal, Ed25519Signature),
}

#[derive(Serialize, Deserialize)]
struct WirePolka {
    height: u64,
    round: u32,
    block_hash: HashValue,
    signatures: Vec<(AccountAddress, Ed25519Signature)>,
}

#[derive(Serialize, Deserialize)]
struct WireRoundSignature {
    step: VoteStep,
    block_hash: Option<HashValue>,
    validator: AccountAddress,
    signature: Ed25519Signature,
}

#[derive(Serialize, Deserialize)]
struct WireRound {
    height: u64,
    round: u32,
    is_skip: bool,
    signatures: Vec<WireRoundSignature>,
}

#[derive(Serialize, Deserialize)]
enum WireLiveness {
    Vote(ledger_types::Vote, Ed25519Signature),
    Polka(WirePolka),
    Round(WireRound),
}

#[derive(Serialize, Deserialize)]
struct WireProposedValue {
    height: u64,
    round: u32,
    valid_round: Option<u32>,
    proposer: AccountAddress,
    block_hash: HashValue,
    is_valid: bool,
}

impl Codec<SignedConsensusMsg<Ledger>> for LedgerCodec {
    type Error = CodecError;

    fn encode(&self, message: &SignedConsensusMsg<Ledger>) -> Result<Bytes, CodecError> {
        encode(&match message {
            SignedConsensusMsg::Vote(signed) => WireConsensus::Vote(
                wire_vote(&signed.message)?,
                wire_signature(signed.signature),
            ),
            SignedConsensusMsg::Proposal(signed) => {
                let proposal = WireProposal {
                    height: signed.height.0,
                    round: number(signed.round)?,
                    block_hash: signed.value.0,
                    valid_round: signed.valid_round.as_u32(),
                    proposer: signed.proposer.0,
                };
                WireConsensus::Proposal(proposal, wire_signature(signed.signature))
            }
        })
    }

    fn decode(&self, bytes: Bytes) -> Result<SignedConsensusMsg<Ledger>, CodecError> {
        Ok(match decode(&bytes, SIGNED_BYTES_MAX)? {
            WireConsensus::Vote(wire, signed) => {
                SignedConsensusMsg::Vote(SignedMessage::new(vote(&wire)?, signature(&signed)))
            }
            WireConsensus::Proposal(wire, signed) => {
                let proposal = Proposal {
                    height: Height(wire.height),
                    round: round(wire.round)?,
                    value: BlockHash(wire.block_hash),
                    valid_round: valid_round(wire.valid_round)?,
                    proposer: Address(wire.proposer),
                };
                SignedConsensusMsg::Proposal(SignedMessage::new(proposal, signature(&signed)))
            }
        })
    }
}

fn wire_polka(polka: &PolkaCertificate<Ledger>) -> Result<WirePolka, CodecError> {
    let signatures = polka.polka_signatures.iter();
    Ok(WirePolka {
        height: polka.height.0,
        round: number(polka.round)?,
        block_hash: polka.value_id.0,
        signatures: signatures
            .map(|signed| (signed.address.0, wire_signature(signed.signature)))
            .collect(),
    })
}

fn polka(wire: &WirePolka) -> Result<PolkaCertificate<Ledger>, CodecError> {
    at_most(&wire.signatures, ValidatorSet::LENGTH_MAX, "signatures")?;
    let signatures = wire.signatures.iter();
    Ok(PolkaCertificate {
        height: Height(wire.height),
        round: round(wire.round)?,
        value_id: BlockHash(wire.block_hash),
        polka_signatures: signatures
            .map(|(address, signed)| PolkaSignature::new(Address(*address), signature(signed)))
            .collect(),
    })
}

impl Codec<PolkaCertificate<Ledger>> for LedgerCodec {
    type Error = CodecError;

    fn encode(&self, message: &PolkaCertificate<Ledger>) -> Result<Bytes, CodecError> {
        encode(&wire_polka(message)?)
    }

    fn decode(&self, bytes: Bytes) -> Result<PolkaCertificate<Ledger>, CodecError> {
        polka(&decode(&bytes, CERTIFICATE_BYTES_MAX)?)
    }
}

fn wire_round(certificate: &RoundCertificate<Ledger>) -> Result<WireRound, CodecError> {
    let wire = |signed: &RoundSignature<Ledger>| WireRoundSignature {
        step: match signed.vote_type {
            VoteType::Prevote => VoteStep::Prevote,
            VoteType::Precommit => VoteStep::Precommit,
        },
        block_hash: match signed.value_id {
            NilOrVal::Nil => None,
            NilOrVal::Val(hash) => Some(hash.0),
        },
        validator: signed.address.0,
        signature: wire_signature(signed.signature),
    };
    Ok(WireRound {
        height: certificate.height.0,
        round: number(certificate.round)?,
        is_skip: certificate.cert_type == RoundCertificateType::Skip,
        signatures: certificate.round_signatures.iter().map(wire).collect(),
    })
}

fn round_certificate(wire: &WireRound) -> Result<RoundCertificate<Ledger>, CodecError> {
    at_most(&wire.signatures, 2 * ValidatorSet::LENGTH_MAX, "signatures")?;
    let signed = |wire: &WireRoundSignature| RoundSignature {
        vote_type: match wire.step {
            VoteStep::Prevote => VoteType::Prevote,
            VoteStep::Precommit => VoteType::Precommit,
        },
        value_id: match wire.block_hash {
            None => NilOrVal::Nil,
            Some(hash) => NilOrVal::Val(BlockHash(hash)),
        },
        address: Address(wire.validator),
        signature: signature(&wire.signature),
    };
    Ok(RoundCertificate {
        height: Height(wire.height),
        round: round(wire.round)?,
        cert_type: if wire.is_skip {
            RoundCertificateType::Skip
        } else {
            RoundCertificateType::Precommit
        },
        round_signatures: wire.signatures.iter().map(signed).collect(),
    })
}

impl Codec<LivenessMsg<Ledger>> for LedgerCodec {
    type Error = CodecError;

    fn encode(&self, message: &LivenessMsg<Ledger>) -> Result<Bytes, CodecError> {
        encode(&match message {
            LivenessMsg::Vote(signed) => WireLiveness::Vote(
                wire_vote(&signed.message)?,
                wire_signature(signed.signature),
            ),
            LivenessMsg::PolkaCertificate(polka) => WireLiveness::Polka(wire_polka(polka)?),
            LivenessMsg::SkipRoundCertificate(round) => WireLiveness::Round(wire_round(round)?),
        })
    }

    fn decode(&self, bytes: Bytes) -> Result<LivenessMsg<Ledger>, CodecError> {
        Ok(match decode(&bytes, CERTIFICATE_BYTES_MAX)? {
            WireLiveness::Vote(wire, signed) => {
                LivenessMsg::Vote(SignedMessage::new(vote(&wire)?, signature(&signed)))
            }
            WireLiveness::Polka(wire) => LivenessMsg::PolkaCertificate(polka(&wire)?),
            WireLiveness::Round(wire) => {
                LivenessMsg::SkipRoundCertificate(round_certificate(&wire)?)
            }
        })
    }
}

impl Codec<ValidatorProof<Ledger>> for LedgerCodec {
    type Error = CodecError;

    fn encode(&self, _: &ValidatorProof<Ledger>) -> Result<Bytes, CodecError> {
        Err(CodecError::Unused("validator proofs"))
    }

    fn decode(&self, _: Bytes) -> Result<ValidatorProof<Ledger>, CodecError> {
        Err(CodecError::Unused("validator proofs"))
    }
}

impl Codec<ProposedValue<Ledger>> for LedgerCodec {
    type Error = CodecError;

    fn encode(&self, message: &ProposedValue<Ledger>) -> Result<Bytes, CodecError> {
        encode(&WireProposedValue {
            height: message.height.0,
            round: number(message.round)?,
            valid_round: message.valid_round.as_u32(),
            proposer: message.proposer.0,
            block_hash: message.value.0,
            is_valid: message.validity.is_valid(),
        })
    }

    fn decode(&self, bytes: Bytes) -> Result<ProposedValue<Ledger>, CodecError> {
        let wire: WireProposedValue = decode(&bytes, SMALL_BYTES_MAX)?;
        Ok(ProposedValue {
            height: Height(wire.height),
            round: round(wire.round)?,
            valid_round: valid_round(wire.valid_round)?,
            proposer: Address(wire.proposer),
            value: BlockHash(wire.block_hash),
            validity: Validity::from_bool(wire.is_valid),
        })
    }
}
