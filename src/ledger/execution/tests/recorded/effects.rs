//! The effects of a committed transaction, in the JSON form of the interface.

use ledger_types::{
    AccountAddress, ContractEvent, ExecutedTransaction, ExecutionStatus, StateKeyParts, StructTag,
    TypeTag, state::group_members,
};
use ledger_vm::Chain;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt;

/// The effects of a committed transaction.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// `vm_status` without the description of an abort, and with the number of a status that has
    /// no location.
    pub status: String,
    /// Fee in the smallest unit of the coin, if the events lack their fee statement.
    pub fee: Option<u64>,
    pub events: Vec<Event>,
    /// Changes in the order of the state keys, one for each member of a resource group.
    pub changes: Vec<Change>,
}

/// An event of a module.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Type of the data. An event of a stream has the key of the stream behind it.
    pub r#type: String,
    pub data: Value,
}

/// A change of a resource or a table item.
#[derive(Clone, Debug)]
pub struct Change {
    pub place: Place,
    /// First digits of the hash of the state key, which members of one slot share. Empty for a
    /// table item.
    pub slot: String,
    /// Fields of the written value, or `None` for a deletion. A table item has one field.
    pub fields: Option<Map<String, Value>>,
}

/// The place of a change in the state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    Resource {
        address: AccountAddress,
        r#type: String,
    },
    TableItem {
        /// Handle of the table, or its name.
        table: String,
        /// Key in hexadecimal.
        key: String,
    },
}

/// Number of characters of a [`Change::slot`].
const SLOT_CHARACTERS: usize = 18;
/// Number of characters of an address or a key in the name of a place.
const NAME_CHARACTERS: usize = 10;

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resource { address, r#type } => write!(f, "{} {type}", short(address)),
            Self::TableItem { table, key } => {
                let end = key.len().min(2 * NAME_CHARACTERS);
                write!(f, "{table}[{}]", &key[..end])
            }
        }
    }
}

/// Returns the whole address of the framework or of the paired asset of the coin, and the first
/// digits of any other one.
pub fn short(address: &AccountAddress) -> String {
    if address.is_reserved() {
        address.to_string()
    } else {
        address.to_long_hex()[..NAME_CHARACTERS].to_owned()
    }
}

/// Removes the description of an abort.
fn without_description(vm_status: &str) -> String {
    match vm_status.split_once("): ") {
        Some((abort, _)) if vm_status.starts_with("Move abort in ") => format!("{abort})"),
        _ => vm_status.to_owned(),
    }
}

impl Effects {
    /// Returns the effects of a transaction that `chain` committed.
    pub fn of(chain: &Chain, executed: &ExecutedTransaction) -> Self {
        let status = &executed.info.v0().status;
        let number = match status {
            ExecutionStatus::MiscellaneousError(Some(number)) => format!(" {number}"),
            _ => String::new(),
        };
        Self {
            status: without_description(&chain.vm_status(status)) + &number,
            fee: None,
            events: executed.events.iter().map(|e| event(chain, e)).collect(),
            changes: changes(chain, executed),
        }
    }
}

fn event(chain: &Chain, event: &ContractEvent) -> Event {
    let tag = event.type_tag();
    let stream = event.stream_position().map(|(key, _)| {
        let owner = short(&key.account_address);
        format!(" in stream {} of {owner}", key.creation_number)
    });
    Event {
        r#type: format!("{tag}{}", stream.unwrap_or_default()),
        data: json(chain, tag, event.data()),
    }
}

fn json(chain: &Chain, tag: &TypeTag, bytes: &[u8]) -> Value {
    let value = chain.registry().value_to_json(tag, bytes);
    value.unwrap_or_else(|error| panic!("{tag}: {error}"))
}

fn changes(chain: &Chain, executed: &ExecutedTransaction) -> Vec<Change> {
    let mut changes = Vec::new();
    for (key, op) in executed.writes.iter() {
        let slot = key.hash(chain.vendor()).to_string()[..SLOT_CHARACTERS].to_owned();
        let resource = |address, tag: StructTag, value: Option<&[u8]>| Change {
            place: Place::Resource {
                address,
                r#type: tag.to_string(),
            },
            slot: slot.clone(),
            fields: value.map(|value| match json(chain, &tag.into(), value) {
                Value::Object(fields) => fields,
                other => panic!("a resource that is no object: {other}"),
            }),
        };
        match key.decode().expect("a state key") {
            StateKeyParts::Resource { address, tag } => {
                changes.push(resource(address, tag, op.value().map(|value| &**value)));
            }
            StateKeyParts::ResourceGroup { address, tag } => match op.value() {
                Some(slot) => {
                    let members = group_members(slot).expect("a resource group");
                    let members = members.into_iter();
                    changes
                        .extend(members.map(|(tag, value)| resource(address, tag, Some(&value))));
                }
                None => changes.push(resource(address, tag, None)),
            },
            StateKeyParts::TableItem { handle, key } => changes.push(table_item(
                handle,
                format!("0x{}", hex::encode(key)),
                op.value().map(|value| format!("0x{}", hex::encode(value))),
            )),
            StateKeyParts::Module(id) => panic!("a write of the module {id}"),
        }
    }
    changes
}

/// Returns the change of a table item with this key and value in hexadecimal.
pub fn table_item(handle: AccountAddress, key: String, value: Option<String>) -> Change {
    Change {
        place: Place::TableItem {
            table: handle.to_string(),
            key,
        },
        slot: String::new(),
        fields: value.map(|value| Map::from_iter([("value".to_owned(), value.into())])),
    }
}
