//! Events inside a transaction; they carry no version of their own.

use super::{Text, value_or_hex};
use ledger::{AccountAddress, Chain, ContractEvent, EventKey, TypeTag};
use serde::Serialize;
use serde_json::Value;

/// An event of a transaction.
#[derive(Serialize)]
pub(crate) struct EventJson<'a> {
    guid: GuidJson,
    sequence_number: Text<u64>,
    r#type: Text<&'a TypeTag>,
    data: Value,
}

#[derive(Serialize)]
struct GuidJson {
    creation_number: Text<u64>,
    account_address: Text<AccountAddress>,
}

/// Where events of modules, which belong to no stream, are said to be: the reference's answer.
const NO_STREAM: EventKey = EventKey {
    creation_number: 0,
    account_address: AccountAddress::ZERO,
};

impl<'a> EventJson<'a> {
    /// The views of a transaction's events.
    pub fn all(chain: &Chain, events: &'a [ContractEvent]) -> Vec<Self> {
        events.iter().map(|event| Self::new(chain, event)).collect()
    }

    fn new(chain: &Chain, event: &'a ContractEvent) -> Self {
        let (key, sequence_number) = event.stream_position().unwrap_or((NO_STREAM, 0));
        Self {
            guid: GuidJson {
                creation_number: Text(key.creation_number),
                account_address: Text(key.account_address),
            },
            sequence_number: Text(sequence_number),
            r#type: Text(event.type_tag()),
            data: value_or_hex(chain, event.type_tag(), event.data()),
        }
    }
}
