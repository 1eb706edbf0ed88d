use super::*;
use crate::context::{Address, BlockHash, Height, Ledger, Proposal};
use crate::parts::{Part, SignedHeader, StreamHeader, stream_message};
use crate::sizes;
use arc_malachitebft_app_channel::app::consensus::LivenessMsg;
use arc_malachitebft_app_channel::app::streaming::StreamMessage;
use arc_malachitebft_app_channel::app::types::codec::{Codec, HasEncodedLen};
use arc_malachitebft_app_channel::app::types::core::{
    NilOrVal, PolkaCertificate, PolkaSignature, RoundCertificate, RoundCertificateType,
    RoundSignature, SignedMessage, Validity, VoteType,
};
use arc_malachitebft_app_channel::app::types::{PeerId, ProposedValue, SignedConsensusMsg};
use arc_malachitebft_sync::{
    RawDecidedValue, Request, Response, Status, ValueRequest, ValueResponse,
};
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, CommitCertificate, CommitSignature};
use proptest::collection::vec;
use proptest::prelude::*;

const CODEC: LedgerCodec = LedgerCodec {
    response_bytes_max: 1 << 20,
};

fn hash() -> impl Strategy<Value = HashValue> {
    any::<[u8; 32]>().prop_map(HashValue::new)
}

fn block_hash() -> impl Strategy<Value = BlockHash> {
    hash().prop_map(BlockHash)
}

fn address() -> impl Strategy<Value = Address> {
    any::<[u8; 32]>().prop_map(|bytes| Address(AccountAddress::new(bytes)))
}

fn signed() -> impl Strategy<Value = Signature> {
    any::<[u8; 32]>().prop_map(|bytes| Signature([bytes, bytes].concat().try_into().unwrap()))
}

fn defined_round() -> impl Strategy<Value = Round> {
    (0..=ROUND_MAX).prop_map(Round::new)
}

fn any_round() -> impl Strategy<Value = Round> {
    prop_oneof![Just(Round::Nil), defined_round()]
}

fn value() -> impl Strategy<Value = NilOrVal<BlockHash>> {
    prop_oneof![Just(NilOrVal::Nil), block_hash().prop_map(NilOrVal::Val)]
}

fn vote_type() -> impl Strategy<Value = VoteType> {
    prop_oneof![Just(VoteType::Prevote), Just(VoteType::Precommit)]
}

prop_compose! {
    fn votes()(
        step in vote_type(), height: u64, round in defined_round(), value in value(),
        validator in address(), signature in signed(),
    ) -> SignedMessage<Ledger, Vote> {
        let height = Height(height);
        SignedMessage::new(Vote { step, height, round, value, validator }, signature)
    }
}

prop_compose! {
    fn proposals()(
        height: u64, round in defined_round(), value in block_hash(), valid_round in any_round(),
        proposer in address(), signature in signed(),
    ) -> SignedMessage<Ledger, Proposal> {
        let height = Height(height);
        let proposal = Proposal { height, round, value, valid_round, proposer };
        SignedMessage::new(proposal, signature)
    }
}

prop_compose! {
    fn polkas()(
        height: u64, round in defined_round(), value_id in block_hash(),
        signatures in vec((address(), signed()), 0..5),
    ) -> PolkaCertificate<Ledger> {
        let signature = |(address, signature)| PolkaSignature::new(address, signature);
        PolkaCertificate {
            height: Height(height),
            round,
            value_id,
            polka_signatures: signatures.into_iter().map(signature).collect(),
        }
    }
}

prop_compose! {
    fn round_certificates()(
        height: u64, round in defined_round(), is_skip: bool,
        signatures in vec((vote_type(), value(), address(), signed()), 0..5),
    ) -> RoundCertificate<Ledger> {
        let signature = |(step, value, address, signature)| {
            RoundSignature::new(step, value, address, signature)
        };
        RoundCertificate {
            height: Height(height),
            round,
            cert_type: if is_skip {
                RoundCertificateType::Skip
            } else {
                RoundCertificateType::Precommit
            },
            round_signatures: signatures.into_iter().map(signature).collect(),
        }
    }
}

prop_compose! {
    fn chunks()(
        height: u64, round in 0..=ROUND_MAX, valid_round in proptest::option::of(0..=ROUND_MAX),
        proposer in address(), hashes in (hash(), hash()), block_bytes: u32, index: u32,
        signature in signed(), bytes in vec(any::<u8>(), 0..100),
    ) -> Part {
        let header = StreamHeader {
            height,
            round,
            valid_round,
            proposer: proposer.0,
            block_hash: hashes.0,
            block_bytes,
            digest: hashes.1,
        };
        let signature = Ed25519Signature(signature.0);
        let signed = Box::new(SignedHeader { header, signature });
        Part::Chunk { signed, index, bytes: bytes.into() }
    }
}

prop_compose! {
    fn decided()(
        height: u64, round in 0..=ROUND_MAX, block_hash in hash(),
        signatures in vec((address(), signed()), 0..5), bytes in vec(any::<u8>(), 0..100),
    ) -> RawDecidedValue<Ledger> {
        let signature = |(address, signature): (Address, Signature)| CommitSignature {
            validator: address.0,
            signature: Ed25519Signature(signature.0),
        };
        let certificate = CommitCertificate {
            height,
            round,
            block_hash,
            signatures: signatures.into_iter().map(signature).collect(),
        };
        RawDecidedValue::new(bytes.into(), crate::certificate::from_ledger(&certificate))
    }
}

/// Checks that a message decodes as it was, and that nothing shorter or longer decodes.
fn round_trips<T>(message: &T)
where
    LedgerCodec: Codec<T, Error = CodecError>,
    T: PartialEq + std::fmt::Debug,
{
    let bytes = CODEC.encode(message).unwrap();
    assert_eq!(&CODEC.decode(bytes.clone()).unwrap(), message);
    for length in 0..bytes.len() {
        let decoded: Result<T, _> = CODEC.decode(bytes.slice(..length));
        assert!(decoded.is_err(), "{length} of {} bytes decode", bytes.len());
    }
    let longer = Bytes::from([&bytes[..], &[0]].concat());
    assert!(Codec::<T>::decode(&CODEC, longer).is_err());
}

/// Decodes bytes as each kind of message.
fn decode_all(bytes: &Bytes) {
    fn decode_as<T>(bytes: &Bytes)
    where
        LedgerCodec: Codec<T>,
    {
        let _: Result<T, _> = CODEC.decode(bytes.clone());
    }
    decode_as::<SignedConsensusMsg<Ledger>>(bytes);
    decode_as::<LivenessMsg<Ledger>>(bytes);
    decode_as::<StreamMessage<Part>>(bytes);
    decode_as::<ProposedValue<Ledger>>(bytes);
    decode_as::<PolkaCertificate<Ledger>>(bytes);
    decode_as::<Status<Ledger>>(bytes);
    decode_as::<Request<Ledger>>(bytes);
    decode_as::<Response<Ledger>>(bytes);
}

proptest! {
    #[test]
    fn votes_and_proposals_round_trip(vote in votes(), proposal in proposals()) {
        round_trips(&SignedConsensusMsg::Vote(vote.clone()));
        round_trips(&SignedConsensusMsg::Proposal(proposal));
        round_trips(&LivenessMsg::Vote(vote));
    }

    #[test]
    fn certificates_round_trip(polka in polkas(), round in round_certificates()) {
        round_trips(&polka);
        round_trips(&LivenessMsg::PolkaCertificate(polka));
        round_trips(&LivenessMsg::SkipRoundCertificate(round));
    }

    #[test]
    fn parts_round_trip(part in chunks(), height: u64) {
        round_trips(&part);
        round_trips(&stream_message(part));
        round_trips(&Part::Work { height });
    }

    #[test]
    fn proposed_values_round_trip(proposal in proposals(), is_valid: bool) {
        round_trips(&ProposedValue::<Ledger> {
            height: proposal.height,
            round: proposal.round,
            valid_round: proposal.valid_round,
            proposer: proposal.proposer,
            value: proposal.value,
            validity: Validity::from_bool(is_valid),
        });
    }

    #[test]
    fn sync_messages_round_trip(
        first: u64, last: u64, seed: [u8; 32], values in vec(decided(), 0..4),
    ) {
        let network_key = crate::peers::NetworkKey::from_seed(seed);
        round_trips(&Status::<Ledger> {
            peer_id: PeerId::from_bytes(&network_key.identity().0.to_bytes()).unwrap(),
            tip_height: Height(first),
            history_min_height: Height(last),
        });
        let range = Height(first)..=Height(last);
        round_trips(&Request::<Ledger>::ValueRequest(ValueRequest::new(range)));
        let response = Response::ValueResponse(ValueResponse::new(Height(first), values));
        round_trips(&response);
        let length = CODEC.encoded_len(&response).unwrap();
        prop_assert_eq!(CODEC.encode(&response).unwrap().len(), length);
    }

    #[test]
    fn decoding_is_total(bytes in vec(any::<u8>(), 0..400)) {
        decode_all(&bytes.into());
    }

    #[test]
    fn decoding_of_changed_messages_is_total(
        vote in votes(), round in round_certificates(), part in chunks(), value in decided(),
        position: prop::sample::Index, byte: u8,
    ) {
        let response = Response::ValueResponse(ValueResponse::new(Height(1), vec![value]));
        for bytes in [
            CODEC.encode(&SignedConsensusMsg::Vote(vote)).unwrap(),
            CODEC.encode(&LivenessMsg::SkipRoundCertificate(round)).unwrap(),
            CODEC.encode(&part).unwrap(),
            CODEC.encode(&response).unwrap(),
        ] {
            let mut changed = bytes.to_vec();
            changed[position.index(bytes.len())] = byte;
            decode_all(&changed.into());
        }
    }
}

#[test]
fn messages_above_their_length_are_rejected_first() {
    let decoded: Result<SignedConsensusMsg<Ledger>, _> =
        CODEC.decode(vec![0; SIGNED_BYTES_MAX + 1].into());
    assert!(matches!(decoded, Err(CodecError::Length { .. })));
    let decoded: Result<Part, _> = CODEC.decode(vec![0; PART_BYTES_MAX + 1].into());
    assert!(matches!(decoded, Err(CodecError::Length { .. })));
    let decoded: Result<Response<Ledger>, _> = CODEC.decode(vec![0; (1 << 20) + 1].into());
    assert!(matches!(decoded, Err(CodecError::Length { .. })));
}

#[test]
fn a_length_beyond_the_message_allocates_nothing() {
    // The number of signatures of a polka certificate, as 2^31 - 1.
    let mut bytes = vec![0; 8 + 4 + 32];
    bytes.extend([0xff, 0xff, 0xff, 0xff, 0x07]);
    assert!(Codec::<PolkaCertificate<Ledger>>::decode(&CODEC, bytes.into()).is_err());
}

#[test]
fn lists_and_rounds_are_limited() {
    let value = RawDecidedValue::<Ledger>::new(Bytes::new(), {
        crate::certificate::from_ledger(&CommitCertificate {
            height: 1,
            round: 0,
            block_hash: HashValue::new([0; 32]),
            signatures: Vec::new(),
        })
    });
    let values = vec![value; sizes::SYNC_BATCH_BLOCKS + 1];
    let response = Response::ValueResponse(ValueResponse::new(Height(1), values));
    let bytes = CODEC.encode(&response).unwrap();
    let decoded: Result<Response<Ledger>, _> = CODEC.decode(bytes);
    assert!(matches!(decoded, Err(CodecError::Count("blocks"))));

    let vote = Vote {
        step: VoteType::Prevote,
        height: Height(1),
        round: Round::new(u32::MAX),
        value: NilOrVal::Nil,
        validator: Address(AccountAddress::new([0; 32])),
    };
    let message = SignedConsensusMsg::Vote(SignedMessage::new(vote, Signature([0; 64])));
    let decoded: Result<SignedConsensusMsg<Ledger>, _> =
        CODEC.decode(CODEC.encode(&message).unwrap());
    assert!(matches!(decoded, Err(CodecError::Round)));
}

/// The largest message of each kind is within its limit.
#[test]
fn the_largest_messages_are_within_their_limits() {
    let signature = RoundSignature::<Ledger>::new(
        VoteType::Precommit,
        NilOrVal::Val(BlockHash(HashValue::new([1; 32]))),
        Address(AccountAddress::new([1; 32])),
        Signature([1; 64]),
    );
    let largest = LivenessMsg::SkipRoundCertificate(RoundCertificate {
        height: Height(u64::MAX),
        round: Round::new(ROUND_MAX),
        cert_type: RoundCertificateType::Skip,
        round_signatures: vec![signature; 2 * ValidatorSet::LENGTH_MAX],
    });
    round_trips(&largest);
    let header = StreamHeader {
        height: u64::MAX,
        round: ROUND_MAX,
        valid_round: Some(ROUND_MAX),
        proposer: AccountAddress::new([1; 32]),
        block_hash: HashValue::new([1; 32]),
        block_bytes: u32::MAX,
        digest: HashValue::new([1; 32]),
    };
    let part = Part::Chunk {
        signed: Box::new(SignedHeader {
            header,
            signature: Ed25519Signature([1; 64]),
        }),
        index: u32::MAX,
        bytes: vec![0; CHUNK_BYTES_MAX].into(),
    };
    let bytes = CODEC.encode(&part).unwrap();
    assert_eq!(Codec::<Part>::decode(&CODEC, bytes).unwrap(), part);
}
