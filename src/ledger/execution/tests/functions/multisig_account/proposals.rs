//! Cases of proposed transactions.

use super::{
    EACCOUNT_NOT_MULTISIG, EINVALID_PAYLOAD_HASH, EMAX_PENDING_TRANSACTIONS_EXCEEDED, ENOT_OWNER,
    EPAYLOAD_CANNOT_BE_EMPTY, UNKNOWN_ADDRESS, call, create_vault, propose, view,
};
use crate::functions::{Case, Expected, args};
use serde_json::{Value, json};

pub(super) fn proposals() -> Vec<Case> {
    [with_payload(), with_hash()]
        .into_iter()
        .flatten()
        .collect()
}

fn with_payload() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::create_transaction",
            "stores the payload with its creator's approval",
            Expected::Success(&["0x1::multisig_account::CreateTransaction"]),
            |world| {
                let vault = create_vault(world, 2);
                let executed = call(world, 1, "create_transaction", args![vault, vec![1u8, 2]]);
                let waiting = view(world, "get_transaction", args![vault, 1u64]);
                assert_eq!(waiting["payload"], json!({"vec": ["0x0102"]}));
                assert_eq!(waiting["payload_hash"], json!({"vec": []}));
                assert_eq!(waiting["creator"], json!(world.address(1).to_string()));
                assert_eq!(
                    waiting["votes"],
                    json!({"data": [{"key": world.address(1).to_string(), "value": true}]})
                );
                let pending = view(world, "get_pending_transactions", args![vault]);
                assert_eq!(pending, json!([waiting]));
                let payload = view(
                    world,
                    "get_next_transaction_payload",
                    args![vault, vec![9u8]],
                );
                assert_eq!(payload, json!("0x0102"));
                assert_eq!(
                    view(world, "can_be_executed", args![vault, 1u64]),
                    json!(false)
                );
                let can = |account| {
                    view(
                        world,
                        "can_execute",
                        args![world.address(account), vault, 1u64],
                    )
                };
                assert_eq!(
                    [can(0), can(1), can(3)],
                    [true, false, false].map(Value::from)
                );
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::create_transaction",
            "empty payload",
            EPAYLOAD_CANNOT_BE_EMPTY,
            |world| {
                let vault = create_vault(world, 2);
                call(
                    world,
                    0,
                    "create_transaction",
                    args![vault, Vec::<u8>::new()],
                )
            },
        ),
        Case::new(
            "0x1::multisig_account::create_transaction",
            "account that is not a multisig account",
            EACCOUNT_NOT_MULTISIG,
            |world| {
                call(
                    world,
                    0,
                    "create_transaction",
                    args![UNKNOWN_ADDRESS, vec![1u8]],
                )
            },
        ),
        Case::new(
            "0x1::multisig_account::create_transaction",
            "by an account that is not an owner",
            ENOT_OWNER,
            |world| {
                let vault = create_vault(world, 2);
                call(world, 3, "create_transaction", args![vault, vec![1u8]])
            },
        ),
        Case::new(
            "0x1::multisig_account::create_transaction",
            "more than 20 pending transactions",
            EMAX_PENDING_TRANSACTIONS_EXCEEDED,
            |world| {
                let vault = create_vault(world, 2);
                for waiting in 0..20 {
                    let capacity =
                        view(world, "available_transaction_queue_capacity", args![vault]);
                    assert_eq!(capacity, json!((20 - waiting).to_string()));
                    propose(world, vault);
                }
                call(world, 0, "create_transaction", args![vault, vec![1u8]])
            },
        ),
    ]
}

fn with_hash() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::create_transaction_with_hash",
            "stores the hash",
            Expected::Success(&["0x1::multisig_account::CreateTransaction"]),
            |world| {
                let vault = create_vault(world, 2);
                let hash = vec![3u8; 32];
                let executed = call(world, 0, "create_transaction_with_hash", args![vault, hash]);
                let waiting = view(world, "get_transaction", args![vault, 1u64]);
                assert_eq!(waiting["payload"], json!({"vec": []}));
                let hash = format!("0x{}", "03".repeat(32));
                assert_eq!(waiting["payload_hash"], json!({"vec": [hash]}));
                let payload = view(
                    world,
                    "get_next_transaction_payload",
                    args![vault, vec![9u8]],
                );
                assert_eq!(payload, json!("0x09"));
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::create_transaction_with_hash",
            "hash of 31 bytes",
            EINVALID_PAYLOAD_HASH,
            |world| {
                let vault = create_vault(world, 2);
                call(
                    world,
                    0,
                    "create_transaction_with_hash",
                    args![vault, vec![3u8; 31]],
                )
            },
        ),
    ]
}
