//! Reads of the events of a stream, in pages.
//!
//! The rows of a stream begin with the same bytes, and nearly all of its events have one type,
//! which is decoded once. The rest of a row is the number and the data of the event.

use super::{
    pager::{Page, PageEnd, SequencePager},
    snapshot::Snapshot,
};
use crate::{
    StoreError,
    index::{Kind, key::position},
    tables::{
        codec::{VARIANT_V1, decode, encode},
        schema::Position,
    },
};
use bytes::Bytes;
use ledger_types::{ContractEvent, EventKey, TypeTag};
use std::cell::Cell;

/// Events of one stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamEvents {
    /// The stream.
    pub key: EventKey,
    /// Types of the events.
    pub types: Vec<TypeTag>,
    /// The events, ascending.
    pub events: Vec<StreamEvent>,
    /// The rest of the page, if it ended because of its size.
    pub next: Option<StreamPosition>,
}

/// An event of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamEvent {
    /// The version of the transaction that emitted the event.
    pub version: u64,
    /// The number of the event within the stream.
    pub sequence_number: u64,
    /// Index of the type in [`StreamEvents::types`].
    pub type_index: usize,
    /// The data of the event, in BCS.
    pub data: Bytes,
}

/// An event of a stream in BCS.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamRow {
    /// The version of the transaction that emitted the event.
    pub version: u64,
    /// The number of the event within the stream.
    pub sequence_number: u64,
    /// The [`ContractEvent`], in BCS.
    pub event: Vec<u8>,
}

/// Events of one stream in BCS.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamRows {
    /// The events, ascending.
    pub rows: Vec<StreamRow>,
    /// The rest of the page, if it ended because of its size.
    pub next: Option<StreamPosition>,
}

/// A request for a page of a stream's events, or for a part of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamPage {
    /// The end from which events are taken.
    pub from: StreamPosition,
    /// Maximum number of events.
    pub limit: usize,
    /// Size of the rows at which the page ends, in bytes: the row that reaches it is the last one.
    pub bytes_max: usize,
    /// Maximum version of the events.
    pub version_max: u64,
}

/// The first event that a page takes, and the direction of the following ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamPosition {
    /// The event with this number or the next one that is not pruned, then later ones.
    Start(u64),
    /// The event with this number or the last one before it, then earlier ones.
    End(u64),
}

impl StreamPosition {
    /// Returns the position after an event, or `None` if no event can follow.
    fn after(self, sequence_number: u64) -> Option<Self> {
        match self {
            Self::Start(_) => sequence_number.checked_add(1).map(Self::Start),
            Self::End(_) => sequence_number.checked_sub(1).map(Self::End),
        }
    }
}

impl StreamPage {
    /// Creates a request for the page that starts at the number `start`, or for the newest events
    /// without it, of any size.
    pub fn new(start: Option<u64>, limit: usize) -> Self {
        Self {
            from: start.map_or(StreamPosition::End(u64::MAX), StreamPosition::Start),
            limit,
            bytes_max: usize::MAX,
            version_max: u64::MAX,
        }
    }
}

impl StreamEvents {
    /// Returns the events with the versions of their transactions.
    ///
    /// # Panics
    ///
    /// Panics if a `type_index` is out of bounds, which does not occur in events from a store.
    pub fn into_events(self) -> Vec<(u64, ContractEvent)> {
        let Self {
            key, types, events, ..
        } = self;
        let with_version = |event: StreamEvent| {
            let contract_event = ContractEvent::V1 {
                key,
                sequence_number: event.sequence_number,
                type_tag: types[event.type_index].clone(),
                data: event.data,
            };
            (event.version, contract_event)
        };
        events.into_iter().map(with_version).collect()
    }
}

impl Snapshot {
    /// Returns up to `limit` events of a stream with their versions, ascending.
    ///
    /// The page starts at the number `start`, or at the next one that is not pruned. Without
    /// `start`, it has the newest events.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a row is damaged.
    pub fn events(
        &self,
        key: &EventKey,
        start: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, ContractEvent)>, StoreError> {
        let page = StreamPage::new(start, limit);
        Ok(self.stream_events(key, &page)?.into_events())
    }

    /// Returns the events of a page, ascending, decoded only as far as JSON needs it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::events`].
    pub fn stream_events(
        &self,
        key: &EventKey,
        page: &StreamPage,
    ) -> Result<StreamEvents, StoreError> {
        let mut decoder = StreamDecoder::new(key)?;
        let (events, next) = self.stream_page(
            key,
            page,
            |row, position| decoder.decode(row, position),
            |event| event.sequence_number,
        )?;
        Ok(decoder.finish(events, next))
    }

    /// Returns the events of a page, ascending, in BCS with their numbers and the versions of
    /// their transactions.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub fn stream_event_rows(
        &self,
        key: &EventKey,
        page: &StreamPage,
    ) -> Result<StreamRows, StoreError> {
        let decoder = StreamDecoder::new(key)?;
        let (rows, next) = self.stream_page(
            key,
            page,
            |row, (version, _)| Ok(decoder.row(row, version)),
            |row| row.sequence_number,
        )?;
        Ok(StreamRows { rows, next })
    }

    /// Returns the results of `read` for the rows of a page, and the rest of the page if it ended
    /// because of its size. `read` returns `None` for a row of another stream, and `number_of`
    /// returns the number of an event.
    fn stream_page<T>(
        &self,
        key: &EventKey,
        page: &StreamPage,
        mut read: impl FnMut(&[u8], Position) -> Result<Option<T>, StoreError>,
        number_of: impl Fn(&T) -> u64,
    ) -> Result<(Vec<T>, Option<StreamPosition>), StoreError> {
        let (first_number, last_number, end) = match page.from {
            StreamPosition::Start(first) => (first, u64::MAX, PageEnd::Oldest),
            StreamPosition::End(last) => (0, last, PageEnd::Newest),
        };
        let entries = Page {
            first_number,
            last_number,
            versions: 0..=page.version_max,
            end,
            limit: page.limit,
        };
        let read_bytes = Cell::new(0);
        let read_entry = |entry: &[u8]| {
            let Some(position) = position(Kind::Stream, entry) else {
                return Ok(None);
            };
            match self.view.tables.events.get(position)? {
                Some(row) => {
                    let row = row.value();
                    read_bytes.set(read_bytes.get() + row.len());
                    read(row, position)
                }
                None => Ok(None),
            }
        };
        let is_full = || read_bytes.get() >= page.bytes_max;
        let pager = self.stream_pager(key);
        let found = pager.page_until(&entries, read_entry, |_| is_full())?;
        let last = match page.from {
            StreamPosition::Start(_) => found.last(),
            StreamPosition::End(_) => found.first(),
        };
        let next = last.filter(|_| is_full() && found.len() < page.limit);
        let next = next.and_then(|last| page.from.after(number_of(last)));
        Ok((found, next))
    }

    /// Returns the number of a stream's first event that is not pruned, or if all are, the number
    /// of its next event.
    ///
    /// Returns `None` if the stream has had no events, or if all were pruned by a build that did
    /// not record their number.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// an entry of the pruned state is damaged.
    pub fn first_event(&self, key: &EventKey) -> Result<Option<u64>, StoreError> {
        let pager = self.stream_pager(key);
        if let Some(first) = pager.first_retained()? {
            return Ok(Some(first));
        }
        match pager.last_below_window()? {
            Some(last) => Ok(Some(last.saturating_add(1))),
            None => self.view.pruned_events_end(key),
        }
    }

    fn stream_pager(&self, key: &EventKey) -> SequencePager<'_> {
        SequencePager::of_stream(self, self.view.digest_key.stream(key))
    }
}

/// A decoder of the rows of one stream.
struct StreamDecoder {
    key: EventKey,
    /// First bytes in the rows of the stream: the variant and the key.
    prefix: Vec<u8>,
    types: Vec<TypeTag>,
    /// The last of the types, in BCS.
    last_type: Vec<u8>,
}

impl StreamDecoder {
    fn new(key: &EventKey) -> Result<Self, StoreError> {
        Ok(Self {
            key: *key,
            prefix: encode(&(VARIANT_V1, key))?,
            types: Vec::new(),
            last_type: Vec::new(),
        })
    }

    /// Returns a row with its number, or `None` if it belongs to another stream or to none.
    fn row(&self, row: &[u8], version: u64) -> Option<StreamRow> {
        let rest = row.strip_prefix(self.prefix.as_slice())?;
        Some(StreamRow {
            version,
            sequence_number: u64::from_le_bytes(*rest.first_chunk()?),
            event: row.to_vec(),
        })
    }

    /// Decodes the event of a row, or returns `None` if it belongs to another stream or to none.
    fn decode(
        &mut self,
        row: &[u8],
        position: Position,
    ) -> Result<Option<StreamEvent>, StoreError> {
        if let Some(event) = self.decode_same_type(row, position.0) {
            return Ok(Some(event));
        }
        let event: ContractEvent = decode(row, format_args!("event {position:?}"))?;
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
            version: position.0,
            sequence_number,
            type_index: self.types.len() - 1,
            data,
        }))
    }

    /// Decodes the event of a row with the same type as the row before.
    ///
    /// The encoding of a type determines where it ends, so a row that continues with the bytes of
    /// the last type has that type.
    fn decode_same_type(&self, row: &[u8], version: u64) -> Option<StreamEvent> {
        let rest = row.strip_prefix(self.prefix.as_slice())?;
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

    /// Adds the types that were decoded to the events of all rows, and the rest of the page.
    fn finish(self, events: Vec<StreamEvent>, next: Option<StreamPosition>) -> StreamEvents {
        StreamEvents {
            key: self.key,
            types: self.types,
            events,
            next,
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

    fn decode_event(
        decoder: &mut StreamDecoder,
        number: u32,
        event: &ContractEvent,
    ) -> Option<StreamEvent> {
        decoder
            .decode(&encode(event).unwrap(), (7, number))
            .unwrap()
    }

    #[test]
    fn decodes_events_of_several_types() {
        let long = [5; 300];
        let all = [
            event(KEY, 0, "0x1::coin::DepositEvent", b"a"),
            event(KEY, 1, "0x1::coin::DepositEvent", &long),
            event(KEY, 2, "0x1::coin::DepositEvent<u8>", b""),
            event(KEY, 3, "u64", b"b"),
            event(KEY, 4, "u64", b"c"),
            event(KEY, u64::MAX, "0x1::coin::DepositEvent", b"d"),
        ];
        let mut decoder = StreamDecoder::new(&KEY).unwrap();
        let events = (0..).zip(&all);
        let events: Vec<_> = events
            .map(|(number, event)| decode_event(&mut decoder, number, event).unwrap())
            .collect();
        let type_indices: Vec<_> = events.iter().map(|event| event.type_index).collect();
        assert_eq!(type_indices, [0, 0, 1, 2, 2, 3]);
        let expected: Vec<_> = all.into_iter().map(|event| (7, event)).collect();
        assert_eq!(decoder.finish(events, None).into_events(), expected);
    }

    #[test]
    fn skips_events_of_other_streams_and_of_none() {
        let mut decoder = StreamDecoder::new(&KEY).unwrap();
        let of_module = ContractEvent::V2 {
            type_tag: TypeTag::U8,
            data: Bytes::new(),
        };
        let other = EventKey {
            creation_number: 4,
            ..KEY
        };
        for has_decoded in [false, true] {
            assert_eq!(decode_event(&mut decoder, 0, &of_module), None);
            let of_other = event(other, 0, "u8", b"x");
            assert_eq!(decode_event(&mut decoder, 0, &of_other), None);
            for skipped in [&of_module, &of_other] {
                assert_eq!(decoder.row(&encode(skipped).unwrap(), 7), None);
            }
            assert!(
                has_decoded || decode_event(&mut decoder, 0, &event(KEY, 0, "u8", b"x")).is_some()
            );
        }
    }

    #[test]
    fn rejects_a_damaged_row_after_intact_ones() {
        let mut decoder = StreamDecoder::new(&KEY).unwrap();
        let whole = encode(&event(KEY, 1, "u8", b"xyz")).unwrap();
        decoder.decode(&whole, (7, 0)).unwrap();
        let longer = [&whole[..], &[0]].concat();
        for damaged in [&whole[..whole.len() - 1], &longer, &[], &[9]] {
            assert!(decoder.decode(damaged, (7, 1)).is_err(), "{damaged:?}");
        }
    }
}
