//! Cases of `0x1::object`, with objects that `0x1::managed_object` creates.

use crate::functions::{Case, Expected, World, args};
use ledger_framework::modules::object::named_address;
use ledger_types::AccountAddress;

/// Type argument that fits every object.
pub const CORE: &str = "0x1::object::ObjectCore";
const METADATA: &str = "0x1::fungible_asset::Metadata";
const UNKNOWN_ADDRESS: AccountAddress = AccountAddress::from_low_u64(0xabcdef);
const TRANSFER: Expected = Expected::Success(&["0x1::object::Transfer"]);
const NOT_OWNER: Expected =
    Expected::Abort("0x1::object: ENOT_OBJECT_OWNER(0x50004): the sender does not own this object");
const NO_OBJECT: Expected = Expected::Abort(
    "0x1::object: EOBJECT_DOES_NOT_EXIST(0x60002): there is no object at this address",
);
const NO_RESOURCE: Expected = Expected::Abort(
    "0x1::object: ERESOURCE_DOES_NOT_EXIST(0x60007): the object has no resource of this type",
);
const GATED: Expected = Expected::Abort(
    "0x1::object: ENO_UNGATED_TRANSFERS(0x50003): owners may not give this object away, or not one of the \
     objects that own it",
);

/// Creates the object of account 0 that is named `seed`.
pub fn create_named_object(world: &mut World, seed: &[u8]) -> AccountAddress {
    world.call_ok(0, "0x1::managed_object::create_named", &[], args![seed]);
    named_address(world.address(0), seed)
}

/// Returns the owner of an object, by the view function.
pub fn owner(world: &World, object: AccountAddress) -> String {
    let owner = world.view("0x1::object::owner", &[CORE], args![object]);
    owner[0].as_str().unwrap().to_owned()
}

fn view_flag(world: &World, view: &str, object: AccountAddress) -> bool {
    world.view(view, &[CORE], args![object])[0] == true
}

/// Creates a chain of `length` objects and returns the last. Account 0 owns the first object, and
/// each object owns the next.
fn create_chain(world: &mut World, length: u8) -> AccountAddress {
    let mut last = create_named_object(world, &[0]);
    for seed in 1..length {
        let next = create_named_object(world, &[seed]);
        world.call_ok(0, "0x1::object::transfer_call", &[], args![next, last]);
        last = next;
    }
    last
}

pub fn cases() -> Vec<Case> {
    [transfers(), rejected_transfers(), burns()]
        .into_iter()
        .flatten()
        .collect()
}

fn transfers() -> Vec<Case> {
    const CALL: &str = "0x1::object::transfer_call";
    vec![
        Case::new(
            "0x1::object::transfer",
            "changes the owner",
            TRANSFER,
            |world| {
                let object = create_named_object(world, b"a");
                let to = world.address(1);
                let executed = world.call(0, "0x1::object::transfer", &[CORE], args![object, to]);
                assert_eq!(owner(world, object), to.to_string());
                let owns = |account| {
                    world.view("0x1::object::is_owner", &[CORE], args![object, account])[0] == true
                };
                assert!(owns(to) && !owns(world.address(0)));
                executed
            },
        ),
        Case::new(
            "0x1::object::transfer",
            "transfer to the owner emits no event",
            Expected::Success(&[]),
            |world| {
                let object = create_named_object(world, b"a");
                let to = world.address(0);
                world.call(0, "0x1::object::transfer", &[CORE], args![object, to])
            },
        ),
        Case::new(
            CALL,
            "by an indirect owner at the maximum nesting depth",
            TRANSFER,
            |world| {
                let object = create_chain(world, 8);
                let sender = world.address(0);
                let owns = world.view("0x1::object::owns", &[CORE], args![object, sender]);
                assert_eq!(owns[0], true);
                let root = world.view("0x1::object::root_owner", &[CORE], args![object]);
                assert_eq!(root[0], sender.to_string());
                let executed = world.call(0, CALL, &[], args![object, sender]);
                assert_eq!(owner(world, object), sender.to_string());
                executed
            },
        ),
        Case::new(
            "0x1::object::transfer_to_object",
            "object becomes the owner",
            TRANSFER,
            |world| {
                let (object, to) = (
                    create_named_object(world, b"a"),
                    create_named_object(world, b"b"),
                );
                let function = "0x1::object::transfer_to_object";
                let executed = world.call(0, function, &[CORE, CORE], args![object, to]);
                assert_eq!(owner(world, object), to.to_string());
                executed
            },
        ),
        Case::new(
            "0x1::object::transfer_to_object",
            "to an address without an object",
            NO_OBJECT,
            |world| {
                let object = create_named_object(world, b"a");
                let function = "0x1::object::transfer_to_object";
                world.call(0, function, &[CORE, CORE], args![object, UNKNOWN_ADDRESS])
            },
        ),
    ]
}

fn rejected_transfers() -> Vec<Case> {
    const CALL: &str = "0x1::object::transfer_call";
    vec![
        Case::new(CALL, "address without an object", NO_OBJECT, |world| {
            world.call(0, CALL, &[], args![UNKNOWN_ADDRESS, UNKNOWN_ADDRESS])
        }),
        Case::new(
            "0x1::object::transfer",
            "address without an object",
            NO_OBJECT,
            |world| {
                world.call(
                    0,
                    "0x1::object::transfer",
                    &[CORE],
                    args![UNKNOWN_ADDRESS, UNKNOWN_ADDRESS],
                )
            },
        ),
        Case::new(
            "0x1::object::transfer",
            "object of another type",
            NO_RESOURCE,
            |world| {
                let object = create_named_object(world, b"a");
                world.call(
                    0,
                    "0x1::object::transfer",
                    &[METADATA],
                    args![object, UNKNOWN_ADDRESS],
                )
            },
        ),
        Case::new(
            "0x1::object::transfer",
            "by an account that is not the owner",
            NOT_OWNER,
            |world| {
                let object = create_named_object(world, b"a");
                world.call(
                    1,
                    "0x1::object::transfer",
                    &[CORE],
                    args![object, UNKNOWN_ADDRESS],
                )
            },
        ),
        Case::new(
            "0x1::object::transfer",
            "ungated transfers of the object disabled",
            GATED,
            |world| {
                let object = create_named_object(world, b"a");
                let function = "0x1::managed_object::set_ungated_transfer";
                world.call_ok(0, function, &[], args![object, false]);
                assert!(!view_flag(
                    world,
                    "0x1::object::ungated_transfer_allowed",
                    object
                ));
                world.call(
                    0,
                    "0x1::object::transfer",
                    &[CORE],
                    args![object, UNKNOWN_ADDRESS],
                )
            },
        ),
        Case::new(
            "0x1::object::transfer",
            "ungated transfers of an owning object disabled",
            GATED,
            |world| {
                let (object, parent) = (
                    create_named_object(world, b"a"),
                    create_named_object(world, b"b"),
                );
                world.call_ok(0, CALL, &[], args![object, parent]);
                let function = "0x1::managed_object::set_ungated_transfer";
                world.call_ok(0, function, &[], args![parent, false]);
                world.call(
                    0,
                    "0x1::object::transfer",
                    &[CORE],
                    args![object, UNKNOWN_ADDRESS],
                )
            },
        ),
        Case::new(
            CALL,
            "nesting depth above the maximum",
            Expected::Abort(
                "0x1::object: EMAXIMUM_NESTING(0x20006): the chain of objects that own each other is too long",
            ),
            |world| {
                let (first, owned) = (create_chain(world, 8), create_named_object(world, b"last"));
                world.call_ok(0, CALL, &[], args![owned, first]);
                let (sender, function) = (world.address(0), "0x1::object::owns");
                assert!(
                    world
                        .try_view(function, &[CORE], args![owned, sender])
                        .is_err()
                );
                world.call(0, CALL, &[], args![owned, sender])
            },
        ),
    ]
}

fn burns() -> Vec<Case> {
    const BURN: &str = "0x1::object::burn";
    const UNBURN: &str = "0x1::object::unburn";
    const NOTHING: Expected = Expected::Success(&[]);
    vec![
        Case::new(
            BURN,
            "adds a tombstone and keeps the owner",
            NOTHING,
            |world| {
                let object = create_named_object(world, b"a");
                let executed = world.call(0, BURN, &[CORE], args![object]);
                assert!(view_flag(world, "0x1::object::is_burnt", object));
                assert_eq!(owner(world, object), world.address(0).to_string());
                executed
            },
        ),
        Case::new(BURN, "by an indirect owner", NOT_OWNER, |world| {
            let object = create_chain(world, 2);
            world.call(0, BURN, &[CORE], args![object])
        }),
        Case::new(
            BURN,
            "burned object",
            Expected::Abort(
                "0x1::object: EOBJECT_ALREADY_BURNT(0xa): this object is burnt already",
            ),
            |world| {
                let object = create_named_object(world, b"a");
                world.call_ok(0, BURN, &[CORE], args![object]);
                world.call(0, BURN, &[CORE], args![object])
            },
        ),
        Case::new(UNBURN, "removes the tombstone", NOTHING, |world| {
            let object = create_named_object(world, b"a");
            world.call_ok(0, BURN, &[CORE], args![object]);
            let executed = world.call(0, UNBURN, &[CORE], args![object]);
            assert!(!view_flag(world, "0x1::object::is_burnt", object));
            executed
        }),
        Case::new(
            UNBURN,
            "by an account that is not the owner",
            NOT_OWNER,
            |world| {
                let object = create_named_object(world, b"a");
                world.call_ok(0, BURN, &[CORE], args![object]);
                world.call(1, UNBURN, &[CORE], args![object])
            },
        ),
        Case::new(
            UNBURN,
            "object that is not burned",
            Expected::Abort("0x1::object: EOBJECT_NOT_BURNT(0x10008): this object is not burnt"),
            |world| {
                let object = create_named_object(world, b"a");
                world.call(0, UNBURN, &[CORE], args![object])
            },
        ),
    ]
}

#[test]
fn views_derive_addresses_and_check_existence() {
    let mut world = World::new();
    let object = create_named_object(&mut world, b"a");
    let sender = world.address(0);
    let derived = world.view(
        "0x1::object::create_object_address",
        &[],
        args![sender, b"a".to_vec()],
    );
    assert_eq!(derived[0], object.to_string());
    for (function, number) in [
        (
            "0x1::object::create_user_derived_object_address",
            args![sender, object],
        ),
        (
            "0x1::object::create_guid_object_address",
            args![sender, 3u64],
        ),
    ] {
        let derived = world.view(function, &[], number);
        assert_ne!(derived[0], object.to_string());
    }
    for (address, is_expected) in [(object, true), (UNKNOWN_ADDRESS, false)] {
        let is_object = world.view("0x1::object::is_object", &[], args![address]);
        assert_eq!(is_object[0], is_expected);
        let exists = world.view("0x1::object::object_exists", &[CORE], args![address]);
        assert_eq!(exists[0], is_expected);
    }
    let exists = world.view("0x1::object::object_exists", &[METADATA], args![object]);
    assert_eq!(exists[0], false);
    assert!(!view_flag(&world, "0x1::object::is_untransferable", object));
}

/// Two objects can become owners of each other. Views of such objects end with an error.
#[test]
fn views_fail_for_a_cycle_of_owners() {
    let mut world = World::new();
    let (a, b) = (
        create_named_object(&mut world, b"a"),
        create_named_object(&mut world, b"b"),
    );
    world.call_ok(0, "0x1::object::transfer_call", &[], args![a, b]);
    world.call_ok(0, "0x1::object::transfer_call", &[], args![b, a]);
    let sender = world.address(0);
    for failed in [
        world.try_view("0x1::object::root_owner", &[CORE], args![a]),
        world.try_view("0x1::object::owns", &[CORE], args![a, sender]),
    ] {
        assert!(failed.unwrap_err().contains("EMAXIMUM_NESTING"));
    }
}
