//! Events: inside a transaction, where they carry no version of their own, and in listings, where
//! they do (docs/reference/rest-contract.md#s2-7); and the handle of a stream.

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
    /// In the JSON form of the type; hex where the framework does not know it.
    #[schemars(with = "Value")]
    data: ValueJson<'a>,
}

/// The stream of an event; 0 and `0x0` for events of modules, which have none.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventGuid")]
struct GuidJson {
    creation_number: JsonString<u64>,
    account_address: JsonString<AccountAddress>,
}

/// Where events of modules, which belong to no stream, are said to be: the reference's answer.
const NO_STREAM: EventKey = EventKey {
    creation_number: 0,
    account_address: AccountAddress::ZERO,
};

impl<'a> EventJson<'a> {
    /// The views of a transaction's events.
    pub fn all(chain: &'a Chain, events: &'a [ContractEvent]) -> Vec<Self> {
        events.iter().map(|event| Self::new(chain, event)).collect()
    }

    fn new(chain: &'a Chain, event: &'a ContractEvent) -> Self {
        let place = event.stream_position().unwrap_or((NO_STREAM, 0));
        let name = TypeName::of_type(chain, event.type_tag());
        Self::of_type(chain, place, name, event.data().clone())
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

/// An event in a listing.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VersionedEvent")]
pub(crate) struct VersionedEventJson<'a> {
    version: JsonString<u64>,
    #[serde(flatten)]
    event: EventJson<'a>,
}

impl<'a> VersionedEventJson<'a> {
    /// The views of events of a stream. What is known of their types is looked for once.
    pub fn all(chain: &'a Chain, found: &'a StreamEvents) -> Vec<Self> {
        let names = found.types.iter().map(|tag| TypeName::of_type(chain, tag));
        let names: Vec<_> = names.collect();
        let view = |event: &StreamEvent| {
            let place = (found.key, event.sequence_number);
            let name = names[event.type_index].clone();
            Self {
                version: JsonString(event.version),
                event: EventJson::of_type(chain, place, name, event.data.clone()),
            }
        };
        found.events.iter().map(view).collect()
    }
}

/// The handle of a stream as a field of a resource shows it. Only handles have this form.
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
    /// How many events the stream has had.
    pub fn counter(&self) -> u64 {
        self.counter.0
    }

    /// The name of the stream; its account need not be the one where the handle lies.
    pub fn key(&self) -> EventKey {
        EventKey {
            creation_number: self.guid.id.creation_num.0,
            account_address: self.guid.id.addr.0,
        }
    }
}
