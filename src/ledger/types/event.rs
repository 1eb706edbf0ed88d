//! Events of streams and of modules.
//!
//! A stream is an event handle with a creation number and a counter.

use crate::{AccountAddress, TypeTag};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// The key of an event stream: an account and the stream's creation number in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct EventKey {
    /// Number of the stream within the account.
    pub creation_number: u64,
    /// Address of the account that owns the stream.
    pub account_address: AccountAddress,
}

/// An event of a transaction. The wire format fixes the order of the variants.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ContractEvent {
    /// An event of a stream.
    V1 {
        /// Key of the stream.
        key: EventKey,
        /// Number of the event within the stream, from 0.
        sequence_number: u64,
        /// Type of the data.
        type_tag: TypeTag,
        /// Data in BCS.
        data: Bytes,
    },
    /// An event of a module, which belongs to no stream.
    V2 {
        /// Type of the data.
        type_tag: TypeTag,
        /// Data in BCS.
        data: Bytes,
    },
}

impl ContractEvent {
    /// Returns the type of the data.
    pub fn type_tag(&self) -> &TypeTag {
        match self {
            Self::V1 { type_tag, .. } | Self::V2 { type_tag, .. } => type_tag,
        }
    }

    /// Returns the data in BCS.
    pub fn data(&self) -> &Bytes {
        match self {
            Self::V1 { data, .. } | Self::V2 { data, .. } => data,
        }
    }

    /// Returns the key of the event's stream and the event's number in it.
    ///
    /// Returns `None` for an event of a module.
    pub fn stream_position(&self) -> Option<(EventKey, u64)> {
        match self {
            Self::V1 {
                key,
                sequence_number,
                ..
            } => Some((*key, *sequence_number)),
            Self::V2 { .. } => None,
        }
    }
}
