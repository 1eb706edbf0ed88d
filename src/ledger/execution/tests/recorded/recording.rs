//! The steps of the recording (`tests/golden/recorded/writes.jsonl.zst`).

use super::effects::{Change, Effects, Event, Place, table_item};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use ledger_types::{
    AccountAddress, GenesisAccount, SignedTransaction, TypeTag, decode_signed_transaction,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

/// The recording of a scenario.
pub struct Recording {
    /// The account that funds all others.
    pub bank: GenesisAccount,
    /// The tables that genesis of the reference node creates, by handle, with the names of the
    /// fields that hold them.
    pub tables: BTreeMap<AccountAddress, String>,
    pub steps: Vec<Step>,
}

/// A step of the scenario: one transaction.
pub struct Step {
    pub name: String,
    /// Block time in microseconds, or `None` if the step was recorded without its result.
    pub time_usecs: Option<u64>,
    pub action: Action,
    /// The recorded effects. A step that needs bytecode has only the changes of coin balances.
    pub effects: Effects,
}

/// The execution of a step on a node without bytecode.
pub enum Action {
    /// Execute the transaction, and compare as much as [`Compared`] says.
    Execute(Box<SignedTransaction>, Compared),
    /// The step needs bytecode. Write this state instead, if later steps use it.
    Plant(Vec<Change>),
}

/// The part of a result that was recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    All,
    /// The first events and changes.
    Begin,
    /// Only that the transaction succeeded.
    Success,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    bank: GenesisAccount,
    tables: BTreeMap<String, String>,
}

/// A line of the file. [`ChangeLine`] says which fields of a resource it has.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    step: String,
    time: Option<u64>,
    signed: Option<String>,
    status: Option<String>,
    /// Fee of a step whose events and changes are cut.
    fee: Option<u64>,
    #[serde(default)]
    events: Vec<Event>,
    #[serde(default)]
    changes: Vec<ChangeLine>,
    #[serde(default)]
    planted: Vec<ChangeLine>,
}

/// A change. A resource has the fields that differ from its last write in the file.
#[derive(Deserialize)]
#[serde(untagged)]
enum ChangeLine {
    Resource {
        address: String,
        r#type: String,
        slot: Option<String>,
        data: Option<Map<String, Value>>,
    },
    TableItem {
        handle: String,
        key: String,
        value: Option<String>,
    },
}

impl Recording {
    /// Reads the file.
    ///
    /// # Panics
    ///
    /// Panics if a line does not have the form that `derive.py` writes.
    pub fn read() -> Self {
        let packed = include_bytes!("../../../../../tests/golden/recorded/writes.jsonl.zst");
        let text = zstd::decode_all(&packed[..]).expect("the compressed file");
        let text = String::from_utf8(text).expect("text");
        let mut lines = text.lines();
        let header = lines.next().expect("a header");
        let header: Header = serde_json::from_str(header).expect("the header");
        let mut written = HashMap::new();
        let steps = lines
            .map(|line| {
                let line: Line =
                    serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
                Step::new(line, &mut written)
            })
            .collect();
        let tables = header.tables.into_iter();
        Self {
            bank: header.bank,
            tables: tables
                .map(|(name, handle)| (address(&handle), name))
                .collect(),
            steps,
        }
    }
}

/// The last write of each resource.
type Written = HashMap<Place, Change>;

impl Step {
    fn new(line: Line, written: &mut Written) -> Self {
        let compared = match (&line.status, line.fee) {
            (Some(_), None) => Compared::All,
            (Some(_), Some(_)) => Compared::Begin,
            (None, _) => Compared::Success,
        };
        // The order of the file: a planted change comes before the changes of its step.
        let planted = all_changes(line.planted, written);
        let changes = all_changes(line.changes, written);
        let action = match line.signed {
            Some(signed) => {
                let bytes = BASE64_STANDARD.decode(signed).expect("base64");
                let transaction = decode_signed_transaction(&bytes);
                let transaction = Box::new(transaction.expect("a signed transaction"));
                Action::Execute(transaction, compared)
            }
            None => Action::Plant(planted),
        };
        let events = line.events.into_iter().map(|event| Event {
            r#type: type_text(&event.r#type),
            ..event
        });
        Self {
            name: line.step,
            time_usecs: line.time,
            action,
            effects: Effects {
                status: line.status.unwrap_or_default(),
                fee: line.fee,
                events: events.collect(),
                changes,
            },
        }
    }
}

fn all_changes(lines: Vec<ChangeLine>, written: &mut Written) -> Vec<Change> {
    let changes = lines.into_iter();
    changes.map(|line| change(line, written)).collect()
}

fn change(line: ChangeLine, written: &mut Written) -> Change {
    let (place, slot, data) = match line {
        ChangeLine::TableItem { handle, key, value } => {
            return table_item(address(&handle), key, value);
        }
        ChangeLine::Resource {
            address: of,
            r#type,
            slot,
            data,
        } => {
            let place = Place::Resource {
                address: address(&of),
                r#type: type_text(&r#type),
            };
            (place, slot, data)
        }
    };
    let Some(data) = data else {
        let slot = slot.expect("a deletion names its slot");
        return Change {
            place,
            slot,
            fields: None,
        };
    };
    let change = written.entry(place.clone()).or_insert_with(|| Change {
        place,
        slot: slot.expect("the first write of a resource names its slot"),
        fields: Some(Map::new()),
    });
    if let Some(fields) = &mut change.fields {
        fields.extend(data);
    }
    change.clone()
}

fn address(text: &str) -> AccountAddress {
    text.parse().expect("an address")
}

/// Returns the type in the form in which this program prints it.
fn type_text(text: &str) -> String {
    let tag: TypeTag = text.parse().expect("a type");
    tag.to_string()
}
