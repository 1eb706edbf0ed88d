//! Encoding of rows, and of the entries of the pruned state.

use crate::{StoreError, tables::schema::Position};
use ledger_types::{AccountAddress, ContractEvent, EventKey, StateKey, WriteOp};
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// BCS bytes of `value`.
pub(crate) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, StoreError> {
    bcs::to_bytes(value).map_err(no_form)
}

/// Writes the BCS bytes of `value` into `row`, in the place of what it held: one buffer serves many rows.
pub(crate) fn encode_row<T: Serialize>(row: &mut Vec<u8>, value: &T) -> Result<(), StoreError> {
    row.clear();
    bcs::serialize_into(row, value).map_err(no_form)
}

#[expect(clippy::needless_pass_by_value, reason = "map_err gives it by value")]
pub(crate) fn no_form(error: bcs::Error) -> StoreError {
    StoreError::Inconsistent(format!("a value has no BCS form: {error}"))
}

/// The value of BCS bytes; `what` names it should they be none.
pub(crate) fn decode<'a, T: Deserialize<'a>>(
    bytes: &'a [u8],
    what: impl Display,
) -> Result<T, StoreError> {
    bcs::from_bytes(bytes)
        .map_err(|error| StoreError::Inconsistent(format!("{what} has unknown bytes: {error}")))
}

/// Begins the payload of a key that holds nothing; a merge need not decode the rest to know.
pub(crate) const DELETION: u8 = 0;
/// Begins the payload of a key that holds a value.
pub(crate) const VALUE: u8 = 1;
/// Begins the payload of a stream of events.
pub(crate) const STREAM: u8 = 2;

/// Whether a base entry says that the key holds nothing.
pub(crate) fn is_deletion(payload: &[u8]) -> bool {
    payload.first() == Some(&DELETION)
}

/// The key and the write of a base entry; `None` of one that is a stream's.
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

/// The key and the write of a row; `what` names it should the bytes be none.
pub(crate) fn decode_write(
    bytes: &[u8],
    what: impl Display,
) -> Result<(StateKey, WriteOp), StoreError> {
    decode(bytes, what)
}

/// The stream and the number after its last pruned event, of a stream's entry.
pub(crate) fn decode_stream_end(payload: &[u8]) -> Result<(EventKey, u64), StoreError> {
    decode(
        payload.get(1..).unwrap_or_default(),
        "the end of a pruned stream",
    )
}

/// How the row of an event of a stream begins.
pub(crate) const VARIANT_V1: u8 = 0;

/// The stream of an event's row and its number there, without decoding the rest; `None` of an event of no stream.
pub(crate) fn stream_position(
    row: &[u8],
    place: Position,
) -> Result<Option<(EventKey, u64)>, StoreError> {
    const BYTES: usize = 8 + AccountAddress::LENGTH + 8;
    match row.split_first() {
        Some((&VARIANT_V1, rest)) => {
            let begin = rest.get(..BYTES).unwrap_or(rest);
            decode(begin, format_args!("event {place:?}")).map(Some)
        }
        _ => {
            // None of a stream: decoded whole, so that a damaged row is told.
            let event: ContractEvent = decode(row, format_args!("event {place:?}"))?;
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
    fn the_place_in_a_stream_is_read_without_the_rest() {
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
    fn the_entry_of_a_stream_is_no_state_key() {
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
