//! JSON forms of events and event handles (docs/reference/rest-contract.md#s2-7).
//!
//! An event inside a transaction has no version of its own; an event in a listing has one.

use super::{JsonString, TypeName, ValueJson};
use crate::model::DecimalText;
use bytes::Bytes;
use ledger_store::{StreamEvent, StreamEvents};
use ledger_types::{AccountAddress, ContractEvent, EventKey, TypeTag};
use ledger_vm::Chain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An event of a transaction.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Event")]
pub(crate) struct EventJson<'a> {
    guid: GuidJson,
    sequence_number: JsonString<u64>,
    #[schemars(with = "JsonString<TypeTag>")]
    r#type: TypeName<'a>,
    /// Value in the JSON form of its type, or in hexadecimal if it does not decode.
    #[schemars(with = "Value")]
    data: ValueJson<'a>,
}

/// Stream of an event. A module event has no stream: creation number 0 and address `0x0`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventGuid")]
struct GuidJson {
    creation_number: JsonString<u64>,
    account_address: JsonString<AccountAddress>,
}

/// Stream in the JSON form of module events, which belong to no stream. The reference node returns
/// the same values.
const MODULE_EVENT_KEY: EventKey = EventKey {
    creation_number: 0,
    account_address: AccountAddress::ZERO,
};

impl<'a> EventJson<'a> {
    /// Creates the views of a transaction's events, in order.
    pub fn all(chain: &'a Chain, events: &'a [ContractEvent]) -> Vec<Self> {
        events.iter().map(|event| Self::new(chain, event)).collect()
    }

    fn new(chain: &'a Chain, event: &'a ContractEvent) -> Self {
        let position = event.stream_position().unwrap_or((MODULE_EVENT_KEY, 0));
        let name = TypeName::of_type(chain, event.type_tag());
        Self::of_type(chain, position, name, event.data().clone())
    }

    fn of_type(
        chain: &'a Chain,
        (key, sequence_number): (EventKey, u64),
        name: TypeName<'a>,
        data: Bytes,
    ) -> Self {
        Self {
            guid: GuidJson {
                creation_number: JsonString(key.creation_number),
                account_address: JsonString(key.account_address),
            },
            sequence_number: JsonString(sequence_number),
            data: name.value(chain, data),
            r#type: name,
        }
    }
}

/// An event in a listing, with the version of its transaction.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VersionedEvent")]
pub(crate) struct VersionedEventJson<'a> {
    version: JsonString<u64>,
    #[serde(flatten)]
    event: EventJson<'a>,
}

impl<'a> VersionedEventJson<'a> {
    /// Creates the views of a stream's events, in order. Each type name is looked up once.
    pub fn all(chain: &'a Chain, stream: &'a StreamEvents) -> Vec<Self> {
        let names = stream.types.iter().map(|tag| TypeName::of_type(chain, tag));
        let names: Vec<_> = names.collect();
        let view = |event: &StreamEvent| {
            let position = (stream.key, event.sequence_number);
            let name = names[event.type_index].clone();
            Self {
                version: JsonString(event.version),
                event: EventJson::of_type(chain, position, name, event.data.clone()),
            }
        };
        stream.events.iter().map(view).collect()
    }
}

/// The handle of an event stream, in the JSON form of a resource's field.
///
/// Only event handles have this form, because unknown members are rejected.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventHandleJson {
    counter: DecimalText<u64>,
    guid: HandleGuidJson,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HandleGuidJson {
    id: HandleIdJson,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HandleIdJson {
    addr: JsonString<AccountAddress>,
    creation_num: DecimalText<u64>,
}

impl EventHandleJson {
    /// Returns the number of events that the stream has had.
    pub fn counter(&self) -> u64 {
        self.counter.0
    }

    /// Returns the key of the stream. Its account need not be the account that stores the handle.
    pub fn key(&self) -> EventKey {
        EventKey {
            creation_number: self.guid.id.creation_num.0,
            account_address: self.guid.id.addr.0,
        }
    }
}
