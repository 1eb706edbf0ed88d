//! Assembly of blocks from parts, within limits.
//!
//! An [`Assembly`] keeps the streams of parts that are of use: of a few heights from its own on, of
//! the proposer of their round, of known validators' peers. Memory is bounded by
//! [`Assembly::OPEN_BLOCKS_MAX`] blocks. When it is full, the stream that is farthest from the
//! current round is dropped, and one that its proposer does not send itself before one that it
//! does. So no validator can displace the block of the current round.

#[cfg(test)]
mod tests;

use crate::parts::{SignedHeader, StreamHeader};
use crate::signer::Domain;
use bytes::{Bytes, BytesMut};
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, ValidatorSet};
use std::collections::BTreeMap;

/// The reason that a part is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The height is over, or too far ahead. Parts that are late have such a height, so this breaks
    /// no rule.
    #[error("the height is not of use")]
    Height,
    /// The publisher is no validator.
    #[error("the publisher is no validator")]
    Publisher,
    /// The proposer of the header is not the one of its round.
    #[error("the proposer is not the one of the round")]
    Proposer,
    /// The signature of the header does not verify.
    #[error("the signature of the header does not verify")]
    Signature,
    /// The block is empty or too long.
    #[error("the length of the block is not valid")]
    BlockLength,
    /// The block has no such chunk, or the chunk has another length.
    #[error("the length of the chunk is not valid")]
    ChunkLength,
    /// The publisher sent another header for this round before.
    #[error("the publisher sent two headers for a round")]
    SecondHeader,
    /// The bytes are not those that the proposer signed.
    #[error("the bytes do not have the signed digest")]
    Digest,
    /// Other streams are closer to the current round.
    #[error("too many blocks are on their way")]
    Full,
}

impl Rejection {
    /// Returns whether only a faulty publisher sends such a part.
    pub fn is_fault(self) -> bool {
        !matches!(self, Self::Height | Self::Full)
    }
}

/// A block that all parts arrived of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedBlock {
    /// Its signed header.
    pub header: StreamHeader,
    /// Its bytes.
    pub bytes: Bytes,
}

/// A part of a block, with the validator whose peer sent it.
pub struct ReceivedPart {
    /// The validator that sent the part. `None` if the peer is no validator's.
    pub publisher: Option<AccountAddress>,
    /// The signed header.
    pub signed: SignedHeader,
    /// Number of the chunk.
    pub index: u32,
    /// The chunk.
    pub bytes: Bytes,
}

/// Height and round of a stream, in the order of heights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    height: u64,
    round: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct StreamKey {
    turn: Turn,
    publisher: AccountAddress,
}

#[derive(Debug)]
struct Stream {
    signed: SignedHeader,
    chunks: Vec<Option<Bytes>>,
    bytes: usize,
}

impl Stream {
    fn is_complete(&self) -> bool {
        self.bytes == self.signed.header.block_bytes as usize
    }

    /// Returns the block, unless its digest differs.
    fn into_block(self) -> Result<(SignedHeader, Bytes), Rejection> {
        let mut bytes = BytesMut::with_capacity(self.bytes);
        for chunk in self.chunks.iter().flatten() {
            bytes.extend_from_slice(chunk);
        }
        if HashValue::sha3_of(&[&bytes]) != self.signed.header.digest {
            return Err(Rejection::Digest);
        }
        Ok((self.signed, bytes.freeze()))
    }
}

/// The blocks that are on their way.
#[derive(Debug)]
pub struct Assembly {
    domain: Domain,
    validators: ValidatorSet,
    block_bytes_max: usize,
    current: Turn,
    streams: BTreeMap<StreamKey, Stream>,
    // Sum of the bytes of all streams.
    bytes: usize,
    finished: BTreeMap<Turn, SignedHeader>,
}

impl Assembly {
    /// Number of heights from the current one on whose blocks are assembled. A validator may be
    /// some heights behind the others while it waits for its disk.
    pub const HEIGHTS: u64 = 4;

    /// Maximum size of all streams, in blocks: that of the current round, one of an earlier round
    /// whose votes may still decide it, and two ahead.
    pub const OPEN_BLOCKS_MAX: usize = 4;

    /// Maximum number of streams of a publisher. The oldest is dropped for a new one.
    pub const STREAMS_PER_PUBLISHER_MAX: usize = 4;

    /// Maximum number of assembled blocks whose headers are kept, to ignore further parts and to
    /// send the block again.
    pub const FINISHED_MAX: usize = 64;

    /// Creates an assembly of blocks of at most `block_bytes_max` bytes.
    pub fn new(domain: Domain, validators: ValidatorSet, block_bytes_max: usize) -> Self {
        Self {
            domain,
            validators,
            block_bytes_max,
            current: Turn {
                height: 1,
                round: 0,
            },
            streams: BTreeMap::new(),
            bytes: 0,
            finished: BTreeMap::new(),
        }
    }

    /// Returns the number of bytes that are kept.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Begins a round, and drops the streams of earlier heights.
    pub fn start_round(&mut self, height: u64, round: u32) {
        self.current = Turn { height, round };
        self.finished.retain(|turn, _| turn.height >= height);
        while let Some(entry) = self.streams.first_entry() {
            if entry.key().turn.height >= height {
                break;
            }
            self.bytes -= entry.remove().bytes;
        }
    }

    /// Returns the signed header of a block that was assembled, while its height lasts.
    pub fn finished_header(&self, height: u64, round: u32) -> Option<&SignedHeader> {
        self.finished.get(&Turn { height, round })
    }

    /// Keeps a part. Returns the block if all its parts have arrived.
    ///
    /// # Errors
    ///
    /// Each [`Rejection`] drops the part. [`Rejection::Digest`] also drops the stream.
    pub fn insert(&mut self, part: ReceivedPart) -> Result<Option<ReceivedBlock>, Rejection> {
        let header = &part.signed.header;
        let turn = Turn {
            height: header.height,
            round: header.round,
        };
        let publisher = part.publisher.ok_or(Rejection::Publisher)?;
        self.check_height(turn.height)?;
        if self.finished.contains_key(&turn) {
            return Ok(None);
        }
        if header.chunk_bytes(part.index) != Some(part.bytes.len()) {
            return Err(Rejection::ChunkLength);
        }
        let key = StreamKey { turn, publisher };
        match self.streams.get(&key) {
            Some(stream) if stream.signed != part.signed => return Err(Rejection::SecondHeader),
            Some(stream) if stream.chunks[part.index as usize].is_some() => return Ok(None),
            Some(_) => {}
            None => self.check_header(&part.signed)?,
        }
        self.make_room(key, part.bytes.len())?;
        self.keep(key, part)
    }

    fn check_height(&self, height: u64) -> Result<(), Rejection> {
        match height.checked_sub(self.current.height) {
            Some(ahead) if ahead < Self::HEIGHTS => Ok(()),
            _ => Err(Rejection::Height),
        }
    }

    fn check_header(&self, signed: &SignedHeader) -> Result<(), Rejection> {
        let header = &signed.header;
        if header.block_bytes == 0 || header.block_bytes as usize > self.block_bytes_max {
            return Err(Rejection::BlockLength);
        }
        let proposer = self.validators.proposer(header.height, header.round);
        let proposer = proposer.filter(|one| one.address == header.proposer);
        let proposer = proposer.ok_or(Rejection::Proposer)?;
        let key = &proposer.public_key;
        if !self.domain.verifies_stream(key, signed) {
            return Err(Rejection::Signature);
        }
        Ok(())
    }

    /// Returns the order in which streams are of use: the lowest first.
    fn rank(&self, key: StreamKey) -> (u64, u32, bool) {
        let Turn { height, round } = key.turn;
        // A round that is over comes after all rounds ahead, because the subtraction wraps.
        let rounds = if height == self.current.height {
            round.wrapping_sub(self.current.round)
        } else {
            round
        };
        let proposer = self.validators.proposer(height, round);
        let is_sent_by_another = proposer.is_none_or(|one| one.address != key.publisher);
        (height, rounds, is_sent_by_another)
    }

    fn make_room(&mut self, key: StreamKey, chunk_bytes: usize) -> Result<(), Rejection> {
        if !self.streams.contains_key(&key) {
            let own = self.streams.keys();
            let own: Vec<_> = own.filter(|one| one.publisher == key.publisher).collect();
            if own.len() >= Self::STREAMS_PER_PUBLISHER_MAX {
                let oldest = *own[0];
                self.remove(oldest);
            }
        }
        let bytes_max = Self::OPEN_BLOCKS_MAX.saturating_mul(self.block_bytes_max);
        while self.bytes + chunk_bytes > bytes_max {
            let others = self.streams.keys().copied().filter(|one| *one != key);
            let last = others.max_by_key(|one| self.rank(*one));
            let last = last.filter(|one| self.rank(*one) > self.rank(key));
            self.remove(last.ok_or(Rejection::Full)?);
        }
        Ok(())
    }

    fn remove(&mut self, key: StreamKey) -> Option<Stream> {
        let stream = self.streams.remove(&key)?;
        self.bytes -= stream.bytes;
        Some(stream)
    }

    fn keep(
        &mut self,
        key: StreamKey,
        part: ReceivedPart,
    ) -> Result<Option<ReceivedBlock>, Rejection> {
        let stream = self.streams.entry(key).or_insert_with(|| Stream {
            chunks: vec![None; part.signed.header.chunk_count()],
            signed: part.signed,
            bytes: 0,
        });
        stream.bytes += part.bytes.len();
        self.bytes += part.bytes.len();
        stream.chunks[part.index as usize] = Some(part.bytes);
        if !stream.is_complete() {
            return Ok(None);
        }
        let Some(stream) = self.remove(key) else {
            return Ok(None);
        };
        let (signed, bytes) = stream.into_block()?;
        let header = signed.header.clone();
        self.finish(key.turn, signed);
        Ok(Some(ReceivedBlock { header, bytes }))
    }

    fn finish(&mut self, turn: Turn, signed: SignedHeader) {
        // Streams of other publishers for this round are of no use any more.
        let same_turn = self.streams.keys().copied().filter(|key| key.turn == turn);
        for key in same_turn.collect::<Vec<_>>() {
            self.remove(key);
        }
        self.finished.insert(turn, signed);
        if self.finished.len() > Self::FINISHED_MAX {
            self.finished.pop_first();
        }
    }
}
