//! Calls with the most expensive arguments that fit into a transaction of 64 KB.
//!
//! They take many steps over the same slots, or have the longest type names or the largest values.
//! Gas must follow their cost too.

use crate::{Case, Expected, World, args};
use ledger_types::{AccountAddress, ExecutedTransaction, transaction::MultisigPayload};

/// Number of transfers that nearly fill a transaction.
const TRANSFERS: usize = 1_500;
/// Maximum number of type arguments with which the name of the type can still be parsed.
const TYPE_ARGUMENTS: usize = 38;
/// Size of a multisig payload that nearly fills a transaction, in bytes.
const PAYLOAD_BYTES: usize = 60_000;

/// Returns the cases. The bench measures the function of each case.
pub fn cases() -> Vec<Case> {
    let succeeds = Expected::Success(&[]);
    vec![
        Case::new(
            "0x1::node_account::batch_transfer",
            "1,500 transfers to one account",
            succeeds,
            |world| {
                let to = world.address(1);
                world.call(
                    0,
                    "0x1::node_account::batch_transfer",
                    &[],
                    args![vec![to; TRANSFERS], vec![1u64; TRANSFERS]],
                )
            },
        ),
        Case::new(
            "0x1::node_account::batch_transfer_coins",
            "1,400 transfers of a coin with a long type",
            succeeds,
            |world| {
                let (coin, to) = (create_long_coin(world), world.address(1));
                let recipients = vec![to; TRANSFERS - 100];
                let amounts = vec![1u64; TRANSFERS - 100];
                let function = "0x1::node_account::batch_transfer_coins";
                world.call(0, function, &[&coin], args![recipients, amounts])
            },
        ),
        Case::new(
            "0x1::node_account::batch_transfer_fungible_assets",
            "1,500 transfers of an asset with a long type",
            succeeds,
            |world| transfer_long_assets(world, 1),
        ),
        Case::new(
            "0x1::node_account::batch_transfer_fungible_assets",
            "1,500 transfers of zero units",
            succeeds,
            |world| transfer_long_assets(world, 0),
        ),
        Case::new("0x1::registry::set", "content of 8 KB", succeeds, |world| {
            world.call_ok(0, "0x1::registry::initialize", &[], args![]);
            let (name, content) = ("n".repeat(256), vec![7u8; 8_192]);
            world.call(0, "0x1::registry::set", &[], args![name, content])
        }),
        Case::new(
            "0x1::multisig_account::vote_transactions",
            "20 proposals of 60 KB",
            succeeds,
            |world| {
                let multisig = multisig_with_large_proposals(world);
                let function = "0x1::multisig_account::vote_transactions";
                world.call(0, function, &[], args![multisig, 1u64, 20u64, false])
            },
        ),
        Case::new(
            "0x1::multisig_account::execute_rejected_transactions",
            "20 proposals of 60 KB",
            succeeds,
            |world| {
                let multisig = multisig_with_large_proposals(world);
                let function = "0x1::multisig_account::execute_rejected_transactions";
                world.call(0, function, &[], args![multisig, 20u64])
            },
        ),
    ]
}

/// Creates a coin with a type name of maximum length, held by accounts 0 and 1, and returns the
/// name.
fn create_long_coin(world: &mut World) -> String {
    let markers = vec!["0x5::a::b"; TYPE_ARGUMENTS].join(", ");
    let coin = format!("{}::m::C<{markers}>", world.address(0));
    let (me, to) = (world.address(0), world.address(1));
    world.call_ok(
        0,
        "0x1::managed_coin::initialize",
        &[&coin],
        args!["C", "C", 2u8, true],
    );
    world.call_ok(
        0,
        "0x1::managed_coin::mint",
        &[&coin],
        args![me, 1_000_000u64],
    );
    world.call_ok(0, "0x1::coin::transfer", &[&coin], args![to, 1u64]);
    coin
}

fn transfer_long_assets(world: &mut World, amount: u64) -> ExecutedTransaction {
    let coin = create_long_coin(world);
    let metadata = world.view("0x1::coin::paired_metadata", &[&coin], args![]);
    let metadata: AccountAddress = metadata[0]["vec"][0]["inner"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    let recipients = vec![world.address(1); TRANSFERS];
    let function = "0x1::node_account::batch_transfer_fungible_assets";
    let arguments = args![metadata, recipients, vec![amount; TRANSFERS]];
    world.call(0, function, &[], arguments)
}

/// Creates a multisig account of account 0 with the maximum number of pending proposals, all large,
/// and returns its address.
fn multisig_with_large_proposals(world: &mut World) -> AccountAddress {
    let next = "0x1::multisig_account::get_next_multisig_account_address";
    let made = world.view(next, &[], args![world.address(0)]);
    let multisig: AccountAddress = made[0].as_str().unwrap().parse().unwrap();
    let no_metadata = Vec::<Vec<u8>>::new();
    world.call_ok(
        0,
        "0x1::multisig_account::create",
        &[],
        args![1u64, no_metadata, no_metadata],
    );
    let call = world.entry(
        "0x1::node_account::transfer",
        &[],
        vec![vec![7; PAYLOAD_BYTES]],
    );
    let payload = bcs::to_bytes(&MultisigPayload::EntryFunction(call)).unwrap();
    for _ in 0..20 {
        let create = "0x1::multisig_account::create_transaction";
        world.call_ok(0, create, &[], args![multisig, payload]);
    }
    multisig
}
