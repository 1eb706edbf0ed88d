//! Events of one stream. Their rows begin alike and nearly always have one type, which is decoded once: what is left
//! of a row is its number and its data.

use crate::{
    StoreError,
    tables::{
        codec::{VARIANT_V1, decode, encode},
        schema::Position,
    },
};
use bytes::Bytes;
use ledger_types::{ContractEvent, EventKey, TypeTag};

/// Events of one stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamEvents {
    /// The stream.
    pub key: EventKey,
    /// Their types.
    pub types: Vec<TypeTag>,
    /// The events, ascending.
    pub events: Vec<StreamEvent>,
}

/// An event of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamEvent {
    /// The version of its transaction.
    pub version: u64,
    /// Its number within the stream.
    pub sequence_number: u64,
    /// The place of its type among [`StreamEvents::types`].
    pub type_index: usize,
    /// BCS bytes.
    pub data: Bytes,
}

impl StreamEvents {
    /// Each with the version of its transaction.
    ///
    /// # Panics
    /// When a place is not one of a type, which no event of the store has.
    pub fn into_events(self) -> Vec<(u64, ContractEvent)> {
        let Self { key, types, events } = self;
        let event = |event: StreamEvent| {
            let of_stream = ContractEvent::V1 {
                key,
                sequence_number: event.sequence_number,
                type_tag: types[event.type_index].clone(),
                data: event.data,
            };
            (event.version, of_stream)
        };
        events.into_iter().map(event).collect()
    }
}

/// Reads the rows of one stream.
pub(crate) struct StreamRows {
    key: EventKey,
    /// What the row of an event of the stream begins with: the variant and the key.
    begin: Vec<u8>,
    types: Vec<TypeTag>,
    /// The bytes of the last one of them.
    last_type: Vec<u8>,
}

impl StreamRows {
    /// Of the stream `key`.
    pub(crate) fn new(key: &EventKey) -> Result<Self, StoreError> {
        Ok(Self {
            key: *key,
            begin: encode(&(VARIANT_V1, key))?,
            types: Vec::new(),
            last_type: Vec::new(),
        })
    }

    /// Whether a row is of the stream.
    pub(crate) fn is_of_stream(&self, row: &[u8]) -> bool {
        row.starts_with(&self.begin)
    }

    /// The event of a row; `None` where it is of another stream.
    pub(crate) fn read(
        &mut self,
        row: &[u8],
        place: Position,
    ) -> Result<Option<StreamEvent>, StoreError> {
        if let Some(event) = self.read_alike(row, place.0) {
            return Ok(Some(event));
        }
        let event: ContractEvent = decode(row, format_args!("event {place:?}"))?;
        let ContractEvent::V1 {
            key,
            sequence_number,
            type_tag,
            data,
        } = event
        else {
            return Ok(None);
        };
        if key != self.key {
            return Ok(None);
        }
        self.last_type = encode(&type_tag)?;
        self.types.push(type_tag);
        Ok(Some(StreamEvent {
            version: place.0,
            sequence_number,
            type_index: self.types.len() - 1,
            data,
        }))
    }

    /// The event of a row of the same type as the one before. The bytes of a type tell where they end, so that a row
    /// which goes on with those of another has that type.
    fn read_alike(&self, row: &[u8], version: u64) -> Option<StreamEvent> {
        let rest = row.strip_prefix(self.begin.as_slice())?;
        let (sequence_number, rest) = rest.split_first_chunk()?;
        let type_index = self.types.len().checked_sub(1)?;
        let data: &[u8] = bcs::from_bytes(rest.strip_prefix(self.last_type.as_slice())?).ok()?;
        Some(StreamEvent {
            version,
            sequence_number: u64::from_le_bytes(*sequence_number),
            type_index,
            data: Bytes::copy_from_slice(data),
        })
    }

    /// What was read of the rows.
    pub(crate) fn with(self, events: Vec<StreamEvent>) -> StreamEvents {
        StreamEvents {
            key: self.key,
            types: self.types,
            events,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_types::AccountAddress;

    const KEY: EventKey = EventKey {
        creation_number: 3,
        account_address: AccountAddress::ONE,
    };

    fn event(key: EventKey, sequence_number: u64, type_tag: &str, data: &[u8]) -> ContractEvent {
        ContractEvent::V1 {
            key,
            sequence_number,
            type_tag: type_tag.parse().unwrap(),
            data: Bytes::copy_from_slice(data),
        }
    }

    fn read(rows: &mut StreamRows, number: u32, event: &ContractEvent) -> Option<StreamEvent> {
        rows.read(&encode(event).unwrap(), (7, number)).unwrap()
    }

    #[test]
    fn events_are_read_as_they_were_written_whatever_their_types() {
        let long = [5; 300];
        let all = [
            event(KEY, 0, "0x1::coin::DepositEvent", b"a"),
            event(KEY, 1, "0x1::coin::DepositEvent", &long),
            event(KEY, 2, "0x1::coin::DepositEvent<u8>", b""),
            event(KEY, 3, "u64", b"b"),
            event(KEY, 4, "u64", b"c"),
            event(KEY, u64::MAX, "0x1::coin::DepositEvent", b"d"),
        ];
        let mut rows = StreamRows::new(&KEY).unwrap();
        let events = (0..).zip(&all);
        let events: Vec<_> = events
            .map(|(number, event)| read(&mut rows, number, event).unwrap())
            .collect();
        let places: Vec<_> = events.iter().map(|event| event.type_index).collect();
        assert_eq!(places, [0, 0, 1, 2, 2, 3]);
        let expected: Vec<_> = all.into_iter().map(|event| (7, event)).collect();
        assert_eq!(rows.with(events).into_events(), expected);
    }

    #[test]
    fn what_is_of_another_stream_or_of_none_is_left_out() {
        let mut rows = StreamRows::new(&KEY).unwrap();
        let of_module = ContractEvent::V2 {
            type_tag: TypeTag::U8,
            data: Bytes::new(),
        };
        let other = EventKey {
            creation_number: 4,
            ..KEY
        };
        for has_read in [false, true] {
            assert_eq!(read(&mut rows, 0, &of_module), None);
            let of_other = event(other, 0, "u8", b"x");
            assert_eq!(read(&mut rows, 0, &of_other), None);
            for not_of_it in [&of_module, &of_other] {
                assert!(!rows.is_of_stream(&encode(not_of_it).unwrap()));
            }
            assert!(has_read || read(&mut rows, 0, &event(KEY, 0, "u8", b"x")).is_some());
        }
    }

    #[test]
    fn a_damaged_row_is_an_error_after_rows_that_were_read_too() {
        let mut rows = StreamRows::new(&KEY).unwrap();
        let whole = encode(&event(KEY, 1, "u8", b"xyz")).unwrap();
        rows.read(&whole, (7, 0)).unwrap();
        let longer = [&whole[..], &[0]].concat();
        for damaged in [&whole[..whole.len() - 1], &longer, &[], &[9]] {
            assert!(rows.read(damaged, (7, 1)).is_err(), "{damaged:?}");
        }
    }
}
