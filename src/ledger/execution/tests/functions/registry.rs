//! Cases of `0x1::registry`: records that are set and removed, with their table and event streams.

use crate::functions::{Case, Expected, World, args};
use ledger_framework::modules::account::Account;
use ledger_types::{ContractEvent, StateKey};
use serde_json::{Value, json};

const INITIALIZE: &str = "0x1::registry::initialize";
const SET: &str = "0x1::registry::set";
const REMOVE: &str = "0x1::registry::remove";
const SET_EVENT: &str = "0x1::registry::SetEvent";
const REMOVED_EVENT: &str = "0x1::registry::RemovedEvent";
const NO_REGISTRY: &str = "0x1::registry: EREGISTRY_NOT_FOUND(0x60002): the account has no registry: it must initialize one first";
const NAME_LENGTH: &str = "0x1::registry: ENAME_LENGTH(0x10004): a name has 1 to 256 bytes";

fn record(world: &World, name: &str) -> Value {
    world
        .view("0x1::registry::get", &[], args![world.address(0), name])
        .remove(0)
}

fn size(world: &World) -> Value {
    world
        .view("0x1::registry::size", &[], args![world.address(0)])
        .remove(0)
}

/// Returns the creation number of the stream of an event, and the sequence number of the event.
fn stream_position(event: &ContractEvent) -> (u64, u64) {
    match event {
        ContractEvent::V1 {
            key,
            sequence_number,
            ..
        } => (key.creation_number, *sequence_number),
        ContractEvent::V2 { .. } => panic!("an event without a handle"),
    }
}

pub(crate) fn cases() -> Vec<Case> {
    [initialize(), set(), remove()]
        .into_iter()
        .flatten()
        .collect()
}

fn initialize() -> Vec<Case> {
    vec![
        Case::new(
            INITIALIZE,
            "creates an empty registry",
            Expected::Success(&[]),
            |world| {
                let owner = world.address(0);
                let is_initialized =
                    |world: &World| world.view("0x1::registry::is_initialized", &[], args![owner]);
                assert_eq!(is_initialized(world), [json!(false)]);
                assert_eq!(
                    (size(world), record(world, "a")),
                    (json!("0"), json!({"vec": []}))
                );
                let executed = world.call(0, INITIALIZE, &[], args![]);
                assert_eq!(is_initialized(world), [json!(true)]);
                assert_eq!(size(world), "0");
                executed
            },
        ),
        Case::new(
            INITIALIZE,
            "existing registry",
            Expected::Abort(
                "0x1::registry: EREGISTRY_EXISTS(0x80001): the account has a registry already",
            ),
            |world| {
                world.call_ok(0, INITIALIZE, &[], args![]);
                world.call(0, INITIALIZE, &[], args![])
            },
        ),
        Case::new(
            INITIALIZE,
            "creation numbers exhausted",
            Expected::Status("Execution failed in 0x1::registry::initialize at code offset 0"),
            |world| {
                use_up_creation_numbers(world);
                world.call(0, INITIALIZE, &[], args![])
            },
        ),
    ]
}

fn set() -> Vec<Case> {
    vec![
        Case::new(
            SET,
            "creates a record",
            Expected::Success(&[SET_EVENT]),
            |world| {
                world.call_ok(0, INITIALIZE, &[], args![]);
                let executed = world.call(0, SET, &[], args!["a.b", vec![1u8, 2]]);
                let time = ledger_time(world);
                let expected = json!({"content": "0x0102", "revision": "1", "updated_usecs": time});
                assert_eq!(record(world, "a.b"), json!({"vec": [expected]}));
                assert_eq!(size(world), "1");
                assert_eq!(stream_position(&executed.events[0]).1, 0);
                let other = world.address(1);
                let contains =
                    |owner, name| world.view("0x1::registry::contains", &[], args![owner, name]);
                assert_eq!(contains(world.address(0), "a.b"), [json!(true)]);
                assert_eq!(contains(world.address(0), "a"), [json!(false)]);
                assert_eq!(contains(other, "a.b"), [json!(false)]);
                executed
            },
        ),
        Case::new(
            SET,
            "updates the content",
            Expected::Success(&[SET_EVENT]),
            |world| {
                world.call_ok(0, INITIALIZE, &[], args![]);
                world.call_ok(0, SET, &[], args!["a", vec![1u8]]);
                let executed = world.call(0, SET, &[], args!["a", Vec::<u8>::new()]);
                let record = record(world, "a");
                assert_eq!(record["vec"][0]["content"], "0x");
                assert_eq!(record["vec"][0]["revision"], "2");
                assert_eq!(size(world), "1");
                assert_eq!(
                    stream_position(&executed.events[0]).1,
                    1,
                    "the sequence numbers of the stream continue"
                );
                executed
            },
        ),
        Case::new(
            SET,
            "maximum lengths of name and content",
            Expected::Success(&[SET_EVENT]),
            |world| {
                world.call_ok(0, INITIALIZE, &[], args![]);
                world.call(0, SET, &[], args!["x".repeat(256), vec![7u8; 8192]])
            },
        ),
        Case::new(SET, "empty name", Expected::Abort(NAME_LENGTH), |world| {
            world.call_ok(0, INITIALIZE, &[], args![]);
            world.call(0, SET, &[], args!["", vec![1u8]])
        }),
        Case::new(
            SET,
            "name too long",
            Expected::Abort(NAME_LENGTH),
            |world| {
                world.call_ok(0, INITIALIZE, &[], args![]);
                // The limit counts bytes, not characters.
                world.call(0, SET, &[], args!["é".repeat(129), vec![1u8]])
            },
        ),
        Case::new(
            SET,
            "content too long",
            Expected::Abort(
                "0x1::registry: ECONTENT_TOO_LONG(0x10005): a record's content has at most 8192 bytes",
            ),
            |world| {
                world.call_ok(0, INITIALIZE, &[], args![]);
                world.call(0, SET, &[], args!["a", vec![7u8; 8193]])
            },
        ),
        Case::new(
            SET,
            "account without a registry",
            Expected::Abort(NO_REGISTRY),
            |world| {
                world.call_ok(1, INITIALIZE, &[], args![]);
                world.call(0, SET, &[], args!["a", vec![1u8]])
            },
        ),
        Case::new(
            SET,
            "recreates a removed record",
            Expected::Success(&[SET_EVENT]),
            |world| {
                world.call_ok(0, INITIALIZE, &[], args![]);
                world.call_ok(0, SET, &[], args!["a", vec![1u8]]);
                world.call_ok(0, REMOVE, &[], args!["a"]);
                let executed = world.call(0, SET, &[], args!["a", vec![3u8]]);
                assert_eq!(
                    record(world, "a")["vec"][0]["revision"],
                    "1",
                    "the revision restarts"
                );
                executed
            },
        ),
    ]
}

fn remove() -> Vec<Case> {
    vec![
        Case::new(
            REMOVE,
            "removes the record",
            Expected::Success(&[REMOVED_EVENT]),
            |world| {
                world.call_ok(0, INITIALIZE, &[], args![]);
                let set = world.call_ok(0, SET, &[], args!["a", vec![1u8]]);
                world.call_ok(0, SET, &[], args!["b", vec![2u8]]);
                let executed = world.call(0, REMOVE, &[], args!["a"]);
                assert_eq!(record(world, "a"), json!({"vec": []}));
                assert_eq!(record(world, "b")["vec"][0]["content"], "0x02");
                assert_eq!(size(world), "1");
                let ((set_stream, _), removed) = (
                    stream_position(&set.events[0]),
                    stream_position(&executed.events[0]),
                );
                assert_eq!(
                    removed,
                    (set_stream + 1, 0),
                    "removals have a separate stream"
                );
                executed
            },
        ),
        Case::new(
            REMOVE,
            "unknown record",
            Expected::Abort(
                "0x1::registry: ERECORD_NOT_FOUND(0x60003): the registry has no record of this name",
            ),
            |world| {
                world.call_ok(0, INITIALIZE, &[], args![]);
                world.call(0, REMOVE, &[], args!["a"])
            },
        ),
        Case::new(
            REMOVE,
            "account without a registry",
            Expected::Abort(NO_REGISTRY),
            |world| world.call(0, REMOVE, &[], args!["a"]),
        ),
    ]
}

/// Returns the time of the newest block in JSON form.
fn ledger_time(world: &World) -> String {
    world.chain.tip.timestamp_usecs.to_string()
}

/// Leaves account 0 one creation number, although a registry needs two.
fn use_up_creation_numbers(world: &mut World) {
    let key = StateKey::resource(&world.address(0), &"0x1::account::Account".parse().unwrap());
    let mut account: Account = bcs::from_bytes(&world.chain.state[&key]).unwrap();
    account.guid_creation_num = u64::MAX - 1;
    world
        .chain
        .state
        .insert(key, bcs::to_bytes(&account).unwrap().into());
}
