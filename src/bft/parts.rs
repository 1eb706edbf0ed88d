//! Blocks on their way between validators, in parts.
//!
//! A block is split into chunks. Each part has the signed header of the whole block beside its
//! chunk, so parts may arrive in any order, and no byte is kept before its proposer is known. The
//! engine's own authentication would not suffice: it identifies the peer that sent a part, but a
//! validator also sends blocks of others again.

use arc_malachitebft_app_channel::app::streaming::{StreamContent, StreamId, StreamMessage};
use bytes::Bytes;
use ledger_crypto::{Ed25519Signature, HashValue};
use ledger_types::AccountAddress;
use serde::{Deserialize, Serialize};

/// Maximum length of a chunk. Larger messages would delay votes on the same connection, and smaller
/// ones cost a stream of the transport for less.
pub const CHUNK_BYTES_MAX: usize = 256 << 10;

/// The block that a stream of parts has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamHeader {
    /// Height of the block.
    pub height: u64,
    /// Round of the proposal.
    pub round: u32,
    /// Round in which two thirds voted for the block, if it is proposed again.
    pub valid_round: Option<u32>,
    /// Proposer of the round.
    pub proposer: AccountAddress,
    /// Block hash, as the proposer states it.
    pub block_hash: HashValue,
    /// Length of the block in bytes.
    pub block_bytes: u32,
    /// Hash of the bytes, so that only those that the proposer signed are assembled.
    pub digest: HashValue,
}

impl StreamHeader {
    /// Returns the number of chunks.
    pub fn chunk_count(&self) -> usize {
        (self.block_bytes as usize).div_ceil(CHUNK_BYTES_MAX)
    }

    /// Returns the length of a chunk, or `None` if the block has no such chunk.
    pub fn chunk_bytes(&self, index: u32) -> Option<usize> {
        let start = (index as usize).checked_mul(CHUNK_BYTES_MAX)?;
        let rest = (self.block_bytes as usize).checked_sub(start)?;
        (rest > 0).then(|| rest.min(CHUNK_BYTES_MAX))
    }
}

/// The header of a stream, signed by its proposer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedHeader {
    /// The header.
    pub header: StreamHeader,
    /// The proposer's signature.
    pub signature: Ed25519Signature,
}

impl SignedHeader {
    /// Returns the parts of the block with these bytes.
    pub fn parts(&self, bytes: &Bytes) -> impl Iterator<Item = Part> {
        let indices = 0_u32..;
        let starts = (0..bytes.len()).step_by(CHUNK_BYTES_MAX);
        indices.zip(starts).map(move |(index, start)| Part::Chunk {
            signed: Box::new(self.clone()),
            index,
            bytes: bytes.slice(start..bytes.len().min(start + CHUNK_BYTES_MAX)),
        })
    }
}

/// A message on the engine's channel of proposals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// A part of a block.
    Chunk {
        /// The header of the whole block.
        signed: Box<SignedHeader>,
        /// Number of the chunk, from 0.
        index: u32,
        /// The chunk.
        bytes: Bytes,
    },
    /// The publisher has transactions for this height.
    Work {
        /// The height.
        height: u64,
    },
}

/// Returns the engine's envelope of a part.
pub fn stream_message(part: Part) -> StreamMessage<Part> {
    let id = StreamId::new(Bytes::new());
    StreamMessage::new(id, 0, StreamContent::Data(part))
}
