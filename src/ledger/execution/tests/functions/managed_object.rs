//! Cases of `0x1::managed_object`.

use crate::functions::{
    Case, Expected, World, args,
    coin::PAID,
    fungible_asset::{METADATA, balance, create_moon},
    object::{CORE, create_named_object, owner},
};
use ledger_framework::modules::object::{guid_address, named_address};
use ledger_types::{AccountAddress, ExecutedTransaction};

const REFS: &str = "0x1::managed_object::ObjectRefs";
const CREATED: Expected = Expected::Success(&["0x1::managed_object::ObjectCreation"]);
const NOT_OWNER: Expected =
    Expected::Abort("0x1::object: ENOT_OBJECT_OWNER(0x50004): the sender does not own this object");
const UNTRANSFERABLE: Expected = Expected::Abort(
    "0x1::object: EOBJECT_NOT_TRANSFERRABLE(0x50009): this object is bound to its owner for ever",
);

/// Returns the address in a field of an event of this transaction.
pub fn event_field(
    world: &World,
    executed: &ExecutedTransaction,
    event: &str,
    field: &str,
) -> AccountAddress {
    let emitted = executed
        .events
        .iter()
        .find(|emitted| emitted.type_tag().to_string() == event)
        .unwrap();
    let registry = world.chain().registry();
    let json = registry
        .value_to_json(emitted.type_tag(), emitted.data())
        .unwrap();
    json[field].as_str().unwrap().parse().unwrap()
}

fn created_object(world: &World, executed: &ExecutedTransaction) -> AccountAddress {
    event_field(
        world,
        executed,
        "0x1::managed_object::ObjectCreation",
        "object",
    )
}

/// Creates an object of account 0 that can be deleted.
fn create_generated(world: &mut World) -> AccountAddress {
    let executed = world.call_ok(0, "0x1::managed_object::create_generated", &[], args![]);
    created_object(world, &executed)
}

fn is_deletable(world: &World, object: AccountAddress) -> bool {
    world.view("0x1::managed_object::is_deletable", &[], args![object])[0] == true
}

pub fn cases() -> Vec<Case> {
    [creations(), deletions(), transfer_flags(), assets()]
        .into_iter()
        .flatten()
        .collect()
}

fn creations() -> Vec<Case> {
    const NAMED: &str = "0x1::managed_object::create_named";
    vec![
        Case::new(
            NAMED,
            "derives the address from the seed",
            CREATED,
            |world| {
                let executed = world.call(0, NAMED, &[], args![b"seed".to_vec()]);
                let object = named_address(world.address(0), b"seed");
                assert_eq!(created_object(world, &executed), object);
                assert_eq!(owner(world, object), world.address(0).to_string());
                assert!(!is_deletable(world, object));
                executed
            },
        ),
        Case::new(
            NAMED,
            "seed already in use",
            Expected::Abort(
                "0x1::object: EOBJECT_EXISTS(0x80001): there is an object at this address",
            ),
            |world| {
                create_named_object(world, b"a");
                world.call(0, NAMED, &[], args![b"a".to_vec()])
            },
        ),
        Case::new(
            "0x1::managed_object::create_generated",
            "derives the address from the creation number",
            CREATED,
            |world| {
                let creator = world.address(0);
                // The streams of the account have the lower numbers.
                let expected = guid_address(creator, 2);
                let executed = world.call(0, "0x1::managed_object::create_generated", &[], args![]);
                assert_eq!(created_object(world, &executed), expected);
                assert_ne!(
                    create_generated(world),
                    expected,
                    "the creation number increases"
                );
                assert!(is_deletable(world, expected));
                executed
            },
        ),
        Case::new(
            "0x1::managed_object::create_sticky",
            "object is not deletable",
            CREATED,
            |world| {
                let executed = world.call(0, "0x1::managed_object::create_sticky", &[], args![]);
                let object = created_object(world, &executed);
                assert!(!is_deletable(world, object));
                executed
            },
        ),
    ]
}

fn deletions() -> Vec<Case> {
    const DELETE: &str = "0x1::managed_object::delete";
    vec![
        Case::new(
            DELETE,
            "refunds the storage deposit",
            Expected::Success(&["0x1::managed_object::ObjectDeletion"]),
            |world| {
                let object = create_generated(world);
                let executed = world.call(0, DELETE, &[], args![object]);
                assert_eq!(
                    world.view("0x1::object::is_object", &[], args![object])[0],
                    false
                );
                assert!(world.net_fee(&executed) < 0, "the refund exceeds the fee");
                executed
            },
        ),
        Case::new(
            DELETE,
            "by an account that is not the owner",
            NOT_OWNER,
            |world| {
                let object = create_generated(world);
                world.call(1, DELETE, &[], args![object])
            },
        ),
        Case::new(
            DELETE,
            "object that is not deletable",
            Expected::Abort("0x1::object: ECANNOT_DELETE(0x50005): this object was made to stay"),
            |world| {
                let object = create_named_object(world, b"a");
                world.call(0, DELETE, &[], args![object])
            },
        ),
        Case::new(
            DELETE,
            "object that holds native coins",
            Expected::Abort(
                "0x1::managed_object: EHOLDS_COINS(0x30001): the chain's coin lies at this object's address \
                 and would be lost; send it on first",
            ),
            |world| {
                let object = create_generated(world);
                world.call_ok(1, "0x1::node_account::transfer", &[], args![object, 1u64]);
                world.call(0, DELETE, &[], args![object])
            },
        ),
        Case::new(
            DELETE,
            "object of another type",
            Expected::Abort(
                "0x1::object: ERESOURCE_DOES_NOT_EXIST(0x60007): the object has no resource of this type",
            ),
            |world| {
                let asset = create_moon(world);
                world.call(0, DELETE, &[], args![asset])
            },
        ),
    ]
}

fn transfer_flags() -> Vec<Case> {
    const UNGATED: &str = "0x1::managed_object::set_ungated_transfer";
    const BIND: &str = "0x1::managed_object::set_untransferable";
    const NOTHING: Expected = Expected::Success(&[]);
    vec![
        Case::new(
            UNGATED,
            "disables and enables ungated transfers",
            NOTHING,
            |world| {
                let object = create_named_object(world, b"a");
                let is_open = |world: &World| {
                    world.view(
                        "0x1::object::ungated_transfer_allowed",
                        &[CORE],
                        args![object],
                    )
                };
                world.call_ok(0, UNGATED, &[], args![object, false]);
                assert_eq!(is_open(world)[0], false);
                let executed = world.call(0, UNGATED, &[], args![object, true]);
                assert_eq!(is_open(world)[0], true);
                executed
            },
        ),
        Case::new(
            UNGATED,
            "by an account that is not the owner",
            NOT_OWNER,
            |world| {
                let object = create_named_object(world, b"a");
                world.call(1, UNGATED, &[], args![object, false])
            },
        ),
        Case::new(UNGATED, "untransferable object", UNTRANSFERABLE, |world| {
            let object = create_named_object(world, b"a");
            world.call_ok(0, BIND, &[], args![object]);
            world.call(0, UNGATED, &[], args![object, true])
        }),
        Case::new(BIND, "later transfers fail", NOTHING, |world| {
            let object = create_named_object(world, b"a");
            let executed = world.call(0, BIND, &[], args![object]);
            let is_untransferable =
                world.view("0x1::object::is_untransferable", &[REFS], args![object]);
            assert_eq!(is_untransferable[0], true);
            let to = world.address(1);
            let transfer = world.call(0, "0x1::object::transfer", &[REFS], args![object, to]);
            assert!(!transfer.info.v0().status.is_success());
            executed
        }),
        Case::new(
            BIND,
            "object that is already untransferable",
            UNTRANSFERABLE,
            |world| {
                let object = create_named_object(world, b"a");
                world.call_ok(0, BIND, &[], args![object]);
                world.call(0, BIND, &[], args![object])
            },
        ),
    ]
}

fn assets() -> Vec<Case> {
    const SEND: &str = "0x1::managed_object::transfer_fungible_assets";
    vec![
        Case::new(
            SEND,
            "asset of the object",
            Expected::Success(&[
                "0x1::fungible_asset::Withdraw",
                "0x1::fungible_asset::Deposit",
            ]),
            |world| {
                let (asset, object) = (create_moon(world), create_named_object(world, b"a"));
                let transfer = "0x1::primary_fungible_store::transfer";
                world.call_ok(0, transfer, &[METADATA], args![asset, object, 10u64]);
                let to = world.address(2);
                let executed = world.call(0, SEND, &[], args![object, asset, to, 4u64]);
                assert_eq!(
                    (balance(world, object, asset), balance(world, to, asset)),
                    (6, 4)
                );
                executed
            },
        ),
        Case::new(
            SEND,
            "native coins of an indirectly owned object",
            PAID,
            |world| {
                let (object, parent) = (
                    create_named_object(world, b"a"),
                    create_named_object(world, b"b"),
                );
                world.call_ok(0, "0x1::object::transfer_call", &[], args![object, parent]);
                world.call_ok(1, "0x1::node_account::transfer", &[], args![object, 10u64]);
                let before = world.balance(2);
                let (to, native) = (world.address(2), AccountAddress::NATIVE_ASSET);
                let executed = world.call(0, SEND, &[], args![object, native, to, 10u64]);
                assert_eq!(world.balance(2), before + 10);
                executed
            },
        ),
        Case::new(
            SEND,
            "by an account that is not the owner",
            NOT_OWNER,
            |world| {
                let object = create_named_object(world, b"a");
                let (to, native) = (world.address(2), AccountAddress::NATIVE_ASSET);
                world.call(1, SEND, &[], args![object, native, to, 1u64])
            },
        ),
        Case::new(
            SEND,
            "amount above the object's balance",
            Expected::Abort(
                "0x1::fungible_asset: EINSUFFICIENT_BALANCE(0x10004): the store holds less than the amount",
            ),
            |world| {
                let (asset, object) = (create_moon(world), create_named_object(world, b"a"));
                let to = world.address(2);
                world.call(0, SEND, &[], args![object, asset, to, 1u64])
            },
        ),
    ]
}
