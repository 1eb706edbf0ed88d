//! Messages and their form on a connection: the length as 32 bits in little-endian order, then BCS.
//!
//! Decoding is total. The length is checked before the bytes are read, and the number of
//! transactions before their list is allocated. BCS checks each other length against the bytes that
//! are left, so a message takes memory in proportion to its length.

use crate::sizes;
use bytes::Bytes;
use ledger_crypto::HashValue;
use ledger_types::{SignedTransaction, decode_signed_transaction};
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Bytes of the length before a message.
const LENGTH_BYTES: usize = 4;

/// Length of the first message: its variant and a hash.
pub(crate) const HELLO_BYTES_MAX: usize = 33;

/// A message between two nodes. The order of the variants is part of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Message {
    /// The first message in both directions.
    Hello {
        /// Hash of the genesis.
        genesis_hash: HashValue,
    },
    /// Signed transactions in BCS that clients submitted at the sender.
    Transactions(#[serde(deserialize_with = "bounded_list")] Vec<Bytes>),
    /// A look-up of a transaction.
    Find {
        /// Number of the look-up, which the answer repeats.
        id: u64,
        /// Hash of the transaction.
        hash: HashValue,
        /// Whether the receiver asks its other peers if it has no record.
        is_passed_on: bool,
    },
    /// The answer to a look-up.
    Found {
        /// Number of the look-up.
        id: u64,
        /// The answer.
        found: Found,
    },
    /// No content, so that the receiver knows that the sender is reachable.
    Ping,
}

/// The answer to a look-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Found {
    /// Each node that counts has no record.
    Unknown,
    /// The transaction is pending. The bytes are its BCS form.
    Pending(Bytes),
    /// The transaction is committed.
    Committed {
        /// Its version.
        version: u64,
    },
    /// A node that may know the transaction did not answer.
    Unreachable,
}

/// The reason that bytes are no message of the protocol.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CodecError {
    #[error("the message has {length} bytes, at most {length_max} are valid")]
    Length { length: usize, length_max: usize },
    #[error("the message is malformed: {0}")]
    Malformed(#[from] bcs::Error),
    #[error("a transaction has {length} bytes, at most {length_max} are valid")]
    TransactionLength { length: usize, length_max: usize },
    #[error("a transaction is malformed: {0}")]
    Transaction(bcs::Error),
    #[error("the pending transaction has another hash")]
    Hash,
    #[error("the message is not expected now")]
    Unexpected,
}

/// The reason that no message was read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Codec(#[from] CodecError),
}

/// Limits of the messages of a chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Maximum length of a message, in bytes.
    pub frame_bytes_max: usize,
    /// Maximum size of a signed transaction in BCS, in bytes.
    pub transaction_bytes_max: usize,
}

impl Limits {
    /// Returns the limits of a chain with transactions up to this size.
    pub fn new(transaction_bytes_max: usize) -> Self {
        let single = transaction_bytes_max.saturating_add(sizes::FRAME_OVERHEAD_BYTES);
        Self {
            // The length on the wire has 32 bits, and BCS has lengths below 2^31.
            frame_bytes_max: single.clamp(sizes::FRAME_BYTES, i32::MAX as usize),
            transaction_bytes_max,
        }
    }

    /// Decodes a transaction of a message.
    ///
    /// # Errors
    ///
    /// Returns [`CodecError::TransactionLength`] if it is too long, which is checked first because
    /// few bytes may decode to much memory, or [`CodecError::Transaction`] if it is malformed.
    pub fn decode_transaction(&self, bytes: &[u8]) -> Result<SignedTransaction, CodecError> {
        let (length, length_max) = (bytes.len(), self.transaction_bytes_max);
        if length > length_max {
            return Err(CodecError::TransactionLength { length, length_max });
        }
        decode_signed_transaction(bytes).map_err(CodecError::Transaction)
    }
}

/// Returns a message with its length before it.
///
/// # Panics
///
/// Panics if the message has 2 GiB. Callers bound its transactions by [`Limits`].
pub(crate) fn encode(message: &Message) -> Bytes {
    let mut bytes = vec![0; LENGTH_BYTES];
    bcs::serialize_into(&mut bytes, message).expect("a message has a BCS form");
    let length = u32::try_from(bytes.len() - LENGTH_BYTES).expect("messages are bounded");
    bytes[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    bytes.into()
}

/// Decodes a message.
///
/// # Errors
///
/// Returns [`CodecError::Malformed`] if the bytes are no message, or if it has more than
/// [`sizes::FRAME_TRANSACTIONS_MAX`] transactions.
pub(crate) fn decode(bytes: &[u8]) -> Result<Message, CodecError> {
    Ok(bcs::from_bytes(bytes)?)
}

/// Reads a message of at most `length_max` bytes.
///
/// # Errors
///
/// Returns [`ReadError::Io`] if the connection ends, or [`ReadError::Codec`] if the message is
/// longer or malformed.
pub(crate) async fn read(
    reader: &mut (impl AsyncRead + Unpin),
    length_max: usize,
) -> Result<Message, ReadError> {
    let length = reader.read_u32_le().await? as usize;
    if length > length_max {
        return Err(CodecError::Length { length, length_max }.into());
    }
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).await?;
    Ok(decode(&bytes)?)
}

/// Deserializes a list of transactions, and rejects one that is too long before it is allocated.
fn bounded_list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Bytes>, D::Error> {
    struct BoundedList;

    impl<'de> Visitor<'de> for BoundedList {
        type Value = Vec<Bytes>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "up to {} transactions", sizes::FRAME_TRANSACTIONS_MAX)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Bytes>, A::Error> {
            // BCS states the length of each list.
            let length = list.size_hint().unwrap_or(usize::MAX);
            if length > sizes::FRAME_TRANSACTIONS_MAX {
                return Err(A::Error::invalid_length(length, &self));
            }
            let mut transactions = Vec::with_capacity(length);
            while let Some(transaction) = list.next_element()? {
                transactions.push(transaction);
            }
            Ok(transactions)
        }
    }

    deserializer.deserialize_seq(BoundedList)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes() -> impl Strategy<Value = Bytes> {
        prop::collection::vec(any::<u8>(), 0..300).prop_map(Bytes::from)
    }

    fn hash() -> impl Strategy<Value = HashValue> {
        any::<[u8; 32]>().prop_map(HashValue::new)
    }

    fn found() -> impl Strategy<Value = Found> {
        prop_oneof![
            Just(Found::Unknown),
            bytes().prop_map(Found::Pending),
            any::<u64>().prop_map(|version| Found::Committed { version }),
            Just(Found::Unreachable),
        ]
    }

    fn message() -> impl Strategy<Value = Message> {
        prop_oneof![
            hash().prop_map(|genesis_hash| Message::Hello { genesis_hash }),
            prop::collection::vec(bytes(), 0..20).prop_map(Message::Transactions),
            (any::<u64>(), hash(), any::<bool>()).prop_map(|(id, hash, is_passed_on)| {
                Message::Find {
                    id,
                    hash,
                    is_passed_on,
                }
            }),
            (any::<u64>(), found()).prop_map(|(id, found)| Message::Found { id, found }),
            Just(Message::Ping),
        ]
    }

    fn malformed(bytes: &[u8]) -> String {
        decode(bytes).expect_err("malformed").to_string()
    }

    proptest! {
        #[test]
        fn messages_survive_encoding(message in message()) {
            let encoded = encode(&message);
            let (length, content) = encoded.split_at(LENGTH_BYTES);
            prop_assert_eq!(u32::from_le_bytes(length.try_into().unwrap()) as usize, content.len());
            prop_assert_eq!(decode(content).unwrap(), message);
        }

        #[test]
        fn random_bytes_decode_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            // The first byte is the variant, so most random messages fail at it.
            for variant in 0..6 {
                let mut message = vec![variant];
                message.extend_from_slice(&bytes);
                if let Ok(decoded) = decode(&message) {
                    prop_assert_eq!(&encode(&decoded)[LENGTH_BYTES..], &message[..]);
                }
            }
            // It fails, unless the bytes are a transaction.
            let _ = Limits::new(100).decode_transaction(&bytes);
        }
    }

    #[test]
    fn a_message_has_a_maximum_number_of_transactions() {
        let message = |count| Message::Transactions(vec![Bytes::new(); count]);
        let longest = encode(&message(sizes::FRAME_TRANSACTIONS_MAX));
        assert!(decode(&longest[LENGTH_BYTES..]).is_ok());
        let longer = encode(&message(sizes::FRAME_TRANSACTIONS_MAX + 1));
        let error = malformed(&longer[LENGTH_BYTES..]);
        assert!(error.contains("up to 1000 transactions"), "{error}");
    }

    #[test]
    fn lengths_are_checked_before_the_bytes() {
        let huge_list = [1, 0xff, 0xff, 0xff, 0xff, 0x07];
        assert!(malformed(&huge_list).contains("up to 1000 transactions"));
        let huge_transaction = [1, 1, 0xff, 0xff, 0xff, 0xff, 0x07];
        assert!(malformed(&huge_transaction).contains("unexpected end"));
    }

    #[test]
    fn a_message_holds_at_least_one_transaction() {
        for transaction_bytes_max in [10, 64 * 1024, 2 * sizes::FRAME_BYTES] {
            let limits = Limits::new(transaction_bytes_max);
            let transaction = Bytes::from(vec![7; transaction_bytes_max]);
            let found = Found::Pending(transaction.clone());
            for message in [
                Message::Transactions(vec![transaction.clone()]),
                Message::Found {
                    id: u64::MAX,
                    found,
                },
            ] {
                assert!(encode(&message).len() - LENGTH_BYTES <= limits.frame_bytes_max);
            }
        }
    }

    #[test]
    fn the_first_message_has_its_maximum_length() {
        let genesis_hash = HashValue::new([1; 32]);
        let hello = encode(&Message::Hello { genesis_hash });
        assert_eq!(hello.len() - LENGTH_BYTES, HELLO_BYTES_MAX);
    }
}
