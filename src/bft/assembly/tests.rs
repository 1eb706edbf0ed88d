use super::*;
use crate::parts::{CHUNK_BYTES_MAX, Part};
use arc_malachitebft_app_channel::app::types::core::ProposalPart as _;
use ledger_crypto::Ed25519PrivateKey;
use ledger_types::Vendor;
use proptest::prelude::*;
use std::sync::LazyLock;

/// Bytes of a block of three chunks, the last of which is not full.
const BLOCK_BYTES: usize = 2 * CHUNK_BYTES_MAX + 1000;

const HEIGHT: u64 = 10;

/// The bytes of all blocks with their digest, which takes long.
static CONTENT: LazyLock<(Bytes, HashValue)> = LazyLock::new(|| {
    let bytes: Bytes = (0..BLOCK_BYTES).map(|position| position as u8).collect();
    let digest = HashValue::sha3_of(&[&bytes]);
    (bytes, digest)
});

fn key(index: usize) -> Ed25519PrivateKey {
    Ed25519PrivateKey::from_seed(&[u8::try_from(index).unwrap() + 1; 32])
}

fn address(index: usize) -> AccountAddress {
    AccountAddress::from_public_key(&key(index).public_key())
}

fn domain() -> Domain {
    Domain {
        vendor: Vendor::default(),
        genesis_hash: HashValue::new([3; 32]),
    }
}

fn validators() -> ValidatorSet {
    ValidatorSet::new((0..4).map(|index| key(index).public_key()))
}

fn assembly() -> Assembly {
    let mut assembly = Assembly::new(domain(), validators(), BLOCK_BYTES);
    assembly.start_round(HEIGHT, 0);
    assembly
}

/// Returns the index of the proposer.
fn proposer(height: u64, round: u32) -> usize {
    let address_of = validators().proposer(height, round).unwrap().address;
    (0..4).find(|index| address(*index) == address_of).unwrap()
}

/// A block with its header, signed by the proposer unless a case changes that.
struct Block {
    signed: SignedHeader,
    bytes: Bytes,
}

impl Block {
    fn of(height: u64, round: u32) -> Self {
        Self::changed(height, round, |_| {})
    }

    /// Changes the header before it is signed.
    fn changed(height: u64, round: u32, change: impl FnOnce(&mut StreamHeader)) -> Self {
        let (bytes, digest) = CONTENT.clone();
        let proposer = proposer(height, round);
        let mut header = StreamHeader {
            height,
            round,
            valid_round: None,
            proposer: address(proposer),
            block_hash: HashValue::new([7; 32]),
            block_bytes: BLOCK_BYTES.try_into().unwrap(),
            digest,
        };
        change(&mut header);
        let signed = domain().sign_stream(&key(proposer), header);
        Self { signed, bytes }
    }

    fn parts(&self, publisher: usize) -> Vec<ReceivedPart> {
        let received = |part| match part {
            Part::Chunk {
                signed,
                index,
                bytes,
            } => ReceivedPart {
                publisher: Some(address(publisher)),
                signed: *signed,
                index,
                bytes,
            },
            Part::Work { .. } => unreachable!(),
        };
        self.signed.parts(&self.bytes).map(received).collect()
    }

    fn own_parts(&self) -> Vec<ReceivedPart> {
        let header = &self.signed.header;
        self.parts(proposer(header.height, header.round))
    }
}

fn insert_all(assembly: &mut Assembly, parts: Vec<ReceivedPart>) -> Option<ReceivedBlock> {
    let inserted = parts.into_iter().map(|part| assembly.insert(part));
    inserted.filter_map(Result::unwrap).next()
}

#[test]
fn a_block_has_a_first_and_a_last_part() {
    let block = Block::of(HEIGHT, 0);
    let parts: Vec<_> = block.signed.parts(&block.bytes).collect();
    let flags: Vec<_> = parts
        .iter()
        .map(|part| (part.is_first(), part.is_last()))
        .collect();
    assert_eq!(flags, [(true, false), (false, false), (false, true)]);
}

#[test]
fn parts_in_any_order_make_the_block() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let mut assembly = assembly();
        let block = Block::of(HEIGHT, 0);
        let parts = || block.own_parts();
        let part = |index: usize| parts().into_iter().nth(index).unwrap();
        let ordered = order.map(part);
        let received = insert_all(&mut assembly, ordered.into_iter().collect()).unwrap();
        assert_eq!(received.bytes, block.bytes);
        assert_eq!(received.header, block.signed.header);
        assert_eq!(assembly.bytes(), 0);
        assert_eq!(assembly.finished_header(HEIGHT, 0), Some(&block.signed));
        // Further parts are ignored.
        assert_eq!(insert_all(&mut assembly, parts()), None);
    }
}

#[test]
fn parts_that_break_a_rule_are_rejected() {
    let first = |block: Block| block.own_parts().remove(0);
    let cases = [
        (first(Block::of(HEIGHT - 1, 0)), Rejection::Height),
        (
            first(Block::of(HEIGHT + Assembly::HEIGHTS, 0)),
            Rejection::Height,
        ),
        (first(Block::of(u64::MAX, 0)), Rejection::Height),
        (
            ReceivedPart {
                publisher: None,
                ..first(Block::of(HEIGHT, 0))
            },
            Rejection::Publisher,
        ),
        (
            first(Block::changed(HEIGHT, 0, |header| {
                header.proposer = address((proposer(HEIGHT, 0) + 1) % 4);
            })),
            Rejection::Proposer,
        ),
        (
            {
                let mut part = first(Block::of(HEIGHT, 0));
                part.signed.header.block_hash = HashValue::new([8; 32]);
                part
            },
            Rejection::Signature,
        ),
        (
            first(Block::changed(HEIGHT, 0, |header| header.block_bytes += 1)),
            Rejection::BlockLength,
        ),
        (
            first(Block::changed(HEIGHT, 0, |header| {
                header.block_bytes = u32::MAX;
            })),
            Rejection::BlockLength,
        ),
        (
            first(Block::changed(HEIGHT, 0, |header| header.block_bytes = 0)),
            Rejection::ChunkLength,
        ),
        (
            ReceivedPart {
                index: 3,
                ..first(Block::of(HEIGHT, 0))
            },
            Rejection::ChunkLength,
        ),
        (
            ReceivedPart {
                index: u32::MAX,
                ..first(Block::of(HEIGHT, 0))
            },
            Rejection::ChunkLength,
        ),
        (
            {
                let mut part = first(Block::of(HEIGHT, 0));
                part.bytes = part.bytes.slice(1..);
                part
            },
            Rejection::ChunkLength,
        ),
    ];
    let mut assembly = assembly();
    for (part, expected) in cases {
        assert_eq!(assembly.insert(part), Err(expected));
        assert_eq!(assembly.bytes(), 0);
    }
}

#[test]
fn a_block_of_another_chain_is_rejected() {
    let mut other = domain();
    other.genesis_hash = HashValue::new([4; 32]);
    let mut assembly = Assembly::new(other, validators(), BLOCK_BYTES);
    assembly.start_round(HEIGHT, 0);
    let part = Block::of(HEIGHT, 0).own_parts().remove(0);
    assert_eq!(assembly.insert(part), Err(Rejection::Signature));
}

/// A validator repeats the signed header of another with wrong bytes. Only its own stream is lost.
#[test]
fn wrong_bytes_of_another_validator_harm_only_its_stream() {
    let mut assembly = assembly();
    let block = Block::of(HEIGHT, 0);
    let other = (proposer(HEIGHT, 0) + 1) % 4;
    let mut wrong = block.parts(other);
    for part in &mut wrong {
        part.bytes = vec![0; part.bytes.len()].into();
    }
    let results: Vec<_> = wrong
        .into_iter()
        .map(|part| assembly.insert(part))
        .collect();
    assert_eq!(results, [Ok(None), Ok(None), Err(Rejection::Digest)]);
    assert_eq!(assembly.bytes(), 0);
    let received = insert_all(&mut assembly, block.own_parts());
    assert_eq!(received.unwrap().bytes, block.bytes);
}

#[test]
fn a_second_header_of_a_publisher_is_rejected() {
    let mut assembly = assembly();
    let first = Block::of(HEIGHT, 0);
    let second = Block::changed(HEIGHT, 0, |header| {
        header.block_hash = HashValue::new([9; 32]);
    });
    assembly.insert(first.own_parts().remove(0)).unwrap();
    let result = assembly.insert(second.own_parts().remove(1));
    assert_eq!(result, Err(Rejection::SecondHeader));
}

#[test]
fn streams_of_earlier_heights_are_dropped() {
    let mut assembly = assembly();
    for height in [HEIGHT, HEIGHT + 1] {
        assembly
            .insert(Block::of(height, 0).own_parts().remove(0))
            .unwrap();
    }
    assert_eq!(assembly.bytes(), 2 * CHUNK_BYTES_MAX);
    assembly.start_round(HEIGHT + 1, 0);
    assert_eq!(assembly.bytes(), CHUNK_BYTES_MAX);
    assembly.start_round(HEIGHT + 2, 0);
    assert_eq!(assembly.bytes(), 0);
}

#[test]
fn a_publisher_has_a_few_streams() {
    let mut assembly = assembly();
    let publisher = 2;
    for round in 0..20 {
        let part = Block::of(HEIGHT, round).parts(publisher).remove(2);
        assembly.insert(part).unwrap();
        assert!(assembly.bytes() <= Assembly::STREAMS_PER_PUBLISHER_MAX * 1000);
    }
}

/// All validators but the proposer fill the assembly with blocks that never end. The block of the
/// current round is assembled, whichever round that is.
#[test]
fn unfinished_blocks_do_not_displace_the_current_one() {
    let mut assembly = assembly();
    let bytes_max = Assembly::OPEN_BLOCKS_MAX * BLOCK_BYTES;
    for round in 0..12 {
        assembly.start_round(HEIGHT, round);
        let proposer = proposer(HEIGHT, round);
        for other in (0..4).filter(|other| *other != proposer) {
            for (height, round) in [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (3, 0)] {
                let block = Block::of(HEIGHT + height, assembly_round(round, height, other));
                for part in block.parts(other).into_iter().take(2) {
                    let _ = assembly.insert(part);
                    assert!(assembly.bytes() <= bytes_max);
                }
            }
        }
        let block = Block::of(HEIGHT, round);
        let received = insert_all(&mut assembly, block.own_parts());
        assert_eq!(received.unwrap().bytes, block.bytes, "round {round}");
    }
}

/// Returns a round of which the validator may or may not be the proposer.
fn assembly_round(round: u32, height: u64, other: usize) -> u32 {
    round + u32::try_from(height).unwrap() + u32::try_from(other).unwrap()
}

proptest! {
    #[test]
    fn memory_is_bounded_whatever_arrives(
        parts in proptest::collection::vec((0..6_u64, 0..9_u32, 0..4_usize, 0..3_usize), 1..60),
        rounds in proptest::collection::vec((0..3_u64, 0..4_u32), 1..6),
    ) {
        let mut assembly = assembly();
        let bytes_max = Assembly::OPEN_BLOCKS_MAX * BLOCK_BYTES;
        for (step, (height, round, publisher, index)) in parts.into_iter().enumerate() {
            let block = Block::of(HEIGHT + height, round);
            let _ = assembly.insert(block.parts(publisher).remove(index));
            prop_assert!(assembly.bytes() <= bytes_max);
            if step % 10 == 9 {
                let (height, round) = rounds[step / 10 % rounds.len()];
                assembly.start_round(HEIGHT + height, round);
            }
        }
        assembly.start_round(HEIGHT + 100, 0);
        prop_assert_eq!(assembly.bytes(), 0);
    }
}
