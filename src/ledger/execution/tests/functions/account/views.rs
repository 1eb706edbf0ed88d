//! Views of accounts without a resource, and of capabilities that are not offered.

use crate::functions::{World, args};
use ledger_types::AccountAddress;
use serde_json::{Value, json};

fn view(world: &World, name: &str, address: AccountAddress) -> Value {
    let mut values = world.view(&format!("0x1::account::{name}"), &[], args![address]);
    assert_eq!(values.len(), 1);
    values.remove(0)
}

#[test]
fn returns_defaults_for_an_account_without_a_resource() {
    let world = World::new();
    let unknown = AccountAddress::from_low_u64(0xabcdef);
    assert_eq!(view(&world, "exists_at", unknown), true);
    assert_eq!(view(&world, "get_sequence_number", unknown), "0");
    assert_eq!(view(&world, "get_guid_next_creation_num", unknown), "0");
    assert_eq!(
        view(&world, "get_authentication_key", unknown),
        unknown.to_long_hex()
    );
    assert_eq!(
        view(&world, "is_rotation_capability_offered", unknown),
        false
    );
    assert_eq!(view(&world, "is_signer_capability_offered", unknown), false);
    assert_eq!(
        view(&world, "originating_address", unknown),
        json!({"vec": []})
    );
}

#[test]
fn returns_the_fields_of_an_account_resource() {
    let mut world = World::new();
    world.call_ok(
        0,
        "0x1::account::rotate_authentication_key_call",
        &[],
        args![world.address(0).as_bytes().to_vec()],
    );
    let address = world.address(0);
    assert_eq!(view(&world, "exists_at", address), true);
    assert_eq!(view(&world, "get_sequence_number", address), "1");
    // The account has two streams.
    assert_eq!(view(&world, "get_guid_next_creation_num", address), "2");
    assert_eq!(
        view(&world, "get_authentication_key", address),
        address.to_long_hex()
    );
}

#[test]
fn rejects_queries_of_absent_capability_offers() {
    let world = World::new();
    let unknown = AccountAddress::from_low_u64(0xabcdef);
    let offered = "ENO_SIGNER_CAPABILITY_OFFERED(0x60013): the right is offered to nobody";
    let not_offered_to_address = "ENO_SUCH_ROTATION_CAPABILITY_OFFER(0x60012): the right to change the key is not offered to this address";
    for (name, address, error) in [
        (
            "get_rotation_capability_offer_for",
            world.address(0),
            offered,
        ),
        ("get_signer_capability_offer_for", world.address(0), offered),
        (
            "get_rotation_capability_offer_for",
            unknown,
            not_offered_to_address,
        ),
        ("get_signer_capability_offer_for", unknown, offered),
    ] {
        let failed = world.try_view(&format!("0x1::account::{name}"), &[], args![address]);
        assert_eq!(
            failed,
            Err(format!("Move abort in 0x1::account: {error}")),
            "{name}"
        );
    }
}
