//! Events: of a stream (a handle with a creation number and a counter) or of a module.

use crate::{AccountAddress, TypeTag};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// Names an event stream: the account and the number under which it was created there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct EventKey {
    /// The number of the stream within the account.
    pub creation_number: u64,
    /// The account the events are emitted to.
    pub account_address: AccountAddress,
}

/// An event of a transaction. The order of the variants is the wire's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ContractEvent {
    /// An event of a stream.
    V1 {
        /// The stream.
        key: EventKey,
        /// Its number within the stream, from 0.
        sequence_number: u64,
        /// The type of the data.
        type_tag: TypeTag,
        /// BCS bytes.
        data: Bytes,
    },
    /// An event of a module; it belongs to no stream.
    V2 {
        /// The type of the data.
        type_tag: TypeTag,
        /// BCS bytes.
        data: Bytes,
    },
}

impl ContractEvent {
    /// The type of the data.
    pub fn type_tag(&self) -> &TypeTag {
        match self {
            Self::V1 { type_tag, .. } | Self::V2 { type_tag, .. } => type_tag,
        }
    }

    /// The BCS bytes of the data.
    pub fn data(&self) -> &Bytes {
        match self {
            Self::V1 { data, .. } | Self::V2 { data, .. } => data,
        }
    }

    /// The stream and the number within it, for an event of a stream.
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
