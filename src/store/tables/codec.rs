//! Encoding of rows in BCS, and of the entries of the pruned state.
//!
//! The payload of a pruned state entry begins with a tag: [`DELETION`] or [`VALUE`] and the row of
//! the write, or [`STREAM`] and the stream with the number after its last pruned event.

use crate::{StoreError, tables::schema::Position};
use ledger_types::{AccountAddress, ContractEvent, EventKey, StateKey, WriteOp};
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// Returns the BCS bytes of `value`.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`] if the value has no BCS form.
pub(crate) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, StoreError> {
    bcs::to_bytes(value).map_err(no_form)
}

/// Replaces the content of `row` by the BCS bytes of `value`, so that one buffer serves many rows.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`] if the value has no BCS form.
pub(crate) fn encode_row<T: Serialize>(row: &mut Vec<u8>, value: &T) -> Result<(), StoreError> {
    row.clear();
    bcs::serialize_into(row, value).map_err(no_form)
}

/// Returns the error of a value that cannot be encoded.
#[expect(clippy::needless_pass_by_value, reason = "map_err gives it by value")]
pub(crate) fn no_form(error: bcs::Error) -> StoreError {
    StoreError::Inconsistent(format!("a value has no BCS form: {error}"))
}

/// Decodes a value from BCS bytes.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`], which names the value as `what`, if the bytes encode none.
pub(crate) fn decode<'a, T: Deserialize<'a>>(
    bytes: &'a [u8],
    what: impl Display,
) -> Result<T, StoreError> {
    bcs::from_bytes(bytes)
        .map_err(|error| StoreError::Inconsistent(format!("{what} has unknown bytes: {error}")))
}

/// Tag of a key without a value. A merge reads it without decoding the rest.
pub(crate) const DELETION: u8 = 0;
/// Tag of a key with a value.
pub(crate) const VALUE: u8 = 1;
/// Tag of an event stream.
pub(crate) const STREAM: u8 = 2;

/// Returns whether a payload of the pruned state is that of a key without a value.
pub(crate) fn is_deletion(payload: &[u8]) -> bool {
    payload.first() == Some(&DELETION)
}

/// Decodes key and write from a payload of the pruned state, or returns `None` for a stream.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`] if the payload is damaged.
pub(crate) fn decode_payload(payload: &[u8]) -> Result<Option<(StateKey, WriteOp)>, StoreError> {
    match payload.split_first() {
        Some((&STREAM, _)) => Ok(None),
        _ => decode_write(
            payload.get(1..).unwrap_or_default(),
            "the state below the window",
        )
        .map(Some),
    }
}

/// Decodes key and write from a row.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`], which names the row as `what`, if it is damaged.
pub(crate) fn decode_write(
    bytes: &[u8],
    what: impl Display,
) -> Result<(StateKey, WriteOp), StoreError> {
    decode(bytes, what)
}

/// Decodes a stream and the number after its last pruned event from a payload of the pruned state.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`] if the payload is damaged.
pub(crate) fn decode_stream_end(payload: &[u8]) -> Result<(EventKey, u64), StoreError> {
    decode(
        payload.get(1..).unwrap_or_default(),
        "the end of a pruned stream",
    )
}

/// First byte in the row of an event of a stream.
pub(crate) const VARIANT_V1: u8 = 0;

/// Returns the stream of an event and its number there, or `None` if it belongs to no stream.
///
/// Does not decode the rest of the row of a stream event.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`] if the decoded part of the row is damaged.
pub(crate) fn stream_position(
    row: &[u8],
    position: Position,
) -> Result<Option<(EventKey, u64)>, StoreError> {
    const BYTES: usize = 8 + AccountAddress::LENGTH + 8;
    match row.split_first() {
        Some((&VARIANT_V1, rest)) => {
            let begin = rest.get(..BYTES).unwrap_or(rest);
            decode(begin, format_args!("event {position:?}")).map(Some)
        }
        _ => {
            // Decoded in full, so that a damaged row is an error.
            let event: ContractEvent = decode(row, format_args!("event {position:?}"))?;
            Ok(event.stream_position())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use ledger_types::TypeTag;

    const KEY: EventKey = EventKey {
        creation_number: 3,
        account_address: AccountAddress::ONE,
    };

    #[test]
    fn reads_the_stream_position_of_an_event_without_the_rest() {
        let of_stream = encode(&ContractEvent::V1 {
            key: KEY,
            sequence_number: 7,
            type_tag: "0x1::coin::DepositEvent".parse().unwrap(),
            data: Bytes::from_static(b"a"),
        })
        .unwrap();
        let of_module = encode(&ContractEvent::V2 {
            type_tag: TypeTag::U8,
            data: Bytes::new(),
        })
        .unwrap();
        assert_eq!(stream_position(&of_stream, (7, 0)).unwrap(), Some((KEY, 7)));
        assert_eq!(stream_position(&of_module, (7, 0)).unwrap(), None);
        for damaged in [&of_stream[..48], &of_module[..1], &[], &[9]] {
            assert!(stream_position(damaged, (7, 0)).is_err(), "{damaged:?}");
        }
    }

    #[test]
    fn decodes_the_payload_of_a_stream_as_no_state_key() {
        let stream = EventKey {
            creation_number: 1,
            account_address: AccountAddress::ONE,
        };
        let mut entry = vec![STREAM];
        entry.extend(encode(&(stream, 5u64)).unwrap());
        assert_eq!(decode_payload(&entry).unwrap(), None);
        assert_eq!(decode_stream_end(&entry).unwrap(), (stream, 5));
    }
}
