//! The form in which nodes exchange the engine's messages, and in which the engine's log has them.
//!
//! A message is the BCS form of one of the types below. Decoding is total: it fails for any bytes
//! that no message has. It checks the length of the whole message first, and BCS checks the length
//! of each field against the bytes that are left before it allocates the field, so a message needs
//! memory in proportion to its own length only.

mod blocks;
#[cfg(test)]
mod tests;
mod votes;

use crate::context::{Signature, Vote};
use crate::parts::CHUNK_BYTES_MAX;
use arc_malachitebft_app_channel::app::types::core::Round;
use bytes::Bytes;
use ledger_crypto::Ed25519Signature;
use ledger_types::ValidatorSet;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum length of a signed vote or proposal. Both are of constant size, below 300 bytes.
const SIGNED_BYTES_MAX: usize = 512;

/// Maximum length of a certificate of votes: a signature with its vote has up to 131 bytes, and a
/// round certificate may have the prevote and the precommit of each validator.
const CERTIFICATE_BYTES_MAX: usize = 2 * ValidatorSet::LENGTH_MAX * 131 + 1024;

/// Maximum length of a status or a request of decided blocks.
const SMALL_BYTES_MAX: usize = 256;

/// Maximum length of a message with a part of a block: the chunk, and its header.
pub const PART_BYTES_MAX: usize = CHUNK_BYTES_MAX + 1024;

/// Highest round that a message may have. The engine adds one to rounds.
const ROUND_MAX: u32 = u32::MAX - 1;

/// The reason that bytes are no message, or that a message has no bytes.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    /// The message is longer than any of its kind.
    #[error("the message has {length} bytes, at most {length_max} are valid")]
    Length {
        /// Length of the message.
        length: usize,
        /// Maximum length of its kind.
        length_max: usize,
    },
    /// The bytes are not the BCS form of the kind.
    #[error("the message is malformed: {0}")]
    Malformed(#[from] bcs::Error),
    /// A round is missing or too high.
    #[error("the message has no valid round")]
    Round,
    /// A list has too many entries.
    #[error("the message lists too many {0}")]
    Count(&'static str),
    /// A peer's identity is malformed.
    #[error("the message has no valid peer")]
    Peer,
    /// The chain has no messages of this kind.
    #[error("the chain has no {0}")]
    Unused(&'static str),
}

/// The codec of all messages.
#[derive(Clone, Copy, Debug)]
pub struct LedgerCodec {
    /// Maximum length of a response with decided blocks.
    pub response_bytes_max: usize,
}

fn encode(value: &impl Serialize) -> Result<Bytes, CodecError> {
    Ok(Bytes::from(bcs::to_bytes(value)?))
}

fn decode<T: DeserializeOwned>(bytes: &[u8], length_max: usize) -> Result<T, CodecError> {
    let length = bytes.len();
    if length > length_max {
        return Err(CodecError::Length { length, length_max });
    }
    Ok(bcs::from_bytes(bytes)?)
}

fn number(round: Round) -> Result<u32, CodecError> {
    round.as_u32().ok_or(CodecError::Round)
}

fn round(number: u32) -> Result<Round, CodecError> {
    if number > ROUND_MAX {
        return Err(CodecError::Round);
    }
    Ok(Round::new(number))
}

fn valid_round(number: Option<u32>) -> Result<Round, CodecError> {
    number.map_or(Ok(Round::Nil), round)
}

fn at_most<T>(list: &[T], length_max: usize, name: &'static str) -> Result<(), CodecError> {
    if list.len() > length_max {
        return Err(CodecError::Count(name));
    }
    Ok(())
}

fn wire_signature(signature: Signature) -> Ed25519Signature {
    Ed25519Signature(signature.0)
}

fn signature(wire: &Ed25519Signature) -> Signature {
    Signature(wire.0)
}

fn wire_vote(vote: &Vote) -> Result<ledger_types::Vote, CodecError> {
    vote.to_ledger().ok_or(CodecError::Round)
}

fn vote(wire: &ledger_types::Vote) -> Result<Vote, CodecError> {
    round(wire.round)?;
    Ok(Vote::from_ledger(wire))
}
