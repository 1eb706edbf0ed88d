//! Cases of votes, and of the removal of transactions that enough owners reject.

use super::{
    EINVALID_SEQUENCE_NUMBER, ENOT_ENOUGH_REJECTIONS, ENOT_OWNER, ETRANSACTION_NOT_FOUND, call,
    create_vault, propose, view,
};
use crate::functions::{Case, Expected, World, args};
use ledger_types::{AccountAddress, ExecutedTransaction};
use serde_json::{Value, json};

/// Votes with account 1 on the first of two proposals of account 0. Returns the transaction and the
/// vote.
fn vote_on_first(
    world: &mut World,
    name: &str,
    more: Vec<Vec<u8>>,
) -> (ExecutedTransaction, Value) {
    let vault = create_vault(world, 2);
    propose(world, vault);
    propose(world, vault);
    let args = [args![vault], more].concat();
    let executed = call(world, 1, name, args);
    let vote = view(world, "vote", args![vault, 1u64, world.address(1)]);
    let other = view(world, "vote", args![vault, 1u64, world.address(2)]);
    assert_eq!(other, json!([false, false]));
    (executed, vote)
}

const VOTE: Expected = Expected::Success(&["0x1::multisig_account::Vote"]);

pub(super) fn votes() -> Vec<Case> {
    [votes_on_one(), votes_on_many()]
        .into_iter()
        .flatten()
        .collect()
}

fn votes_on_one() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::approve_transaction",
            "records an approval",
            VOTE,
            |world| {
                let (executed, vote) = vote_on_first(world, "approve_transaction", args![1u64]);
                assert_eq!(vote, json!([true, true]));
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::reject_transaction",
            "records a rejection",
            VOTE,
            |world| {
                let (executed, vote) = vote_on_first(world, "reject_transaction", args![1u64]);
                assert_eq!(vote, json!([true, false]));
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::vote_transanction",
            "records the given vote",
            VOTE,
            |world| {
                let (executed, vote) =
                    vote_on_first(world, "vote_transanction", args![1u64, false]);
                assert_eq!(vote, json!([true, false]));
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::vote_transaction",
            "second vote replaces the first",
            VOTE,
            |world| {
                let vault = create_vault(world, 2);
                propose(world, vault);
                let reject = args![vault, 1u64];
                world.call_ok(1, "0x1::multisig_account::reject_transaction", &[], reject);
                let executed = call(world, 1, "vote_transaction", args![vault, 1u64, true]);
                let vote = view(world, "vote", args![vault, 1u64, world.address(1)]);
                assert_eq!(vote, json!([true, true]));
                assert_eq!(
                    view(world, "can_be_executed", args![vault, 1u64]),
                    json!(true)
                );
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::vote_transaction",
            "no pending transaction",
            ETRANSACTION_NOT_FOUND,
            |world| {
                let vault = create_vault(world, 2);
                call(world, 0, "vote_transaction", args![vault, 1u64, true])
            },
        ),
        Case::new(
            "0x1::multisig_account::vote_transaction",
            "by an account that is not an owner",
            ENOT_OWNER,
            |world| {
                let vault = create_vault(world, 2);
                propose(world, vault);
                call(world, 3, "vote_transaction", args![vault, 1u64, true])
            },
        ),
    ]
}

fn votes_on_many() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::vote_transactions",
            "votes on each transaction of the range",
            Expected::Success(&["0x1::multisig_account::Vote", "0x1::multisig_account::Vote"]),
            |world| {
                let (executed, vote) =
                    vote_on_first(world, "vote_transactions", args![1u64, 2u64, true]);
                assert_eq!(vote, json!([true, true]));
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::vote_transactions",
            "range beyond the pending transactions",
            ETRANSACTION_NOT_FOUND,
            |world| vote_on_first(world, "vote_transactions", args![1u64, u64::MAX, true]).0,
        ),
        Case::new(
            "0x1::multisig_account::vote_transactions",
            "empty range",
            Expected::Success(&[]),
            |world| vote_on_first(world, "vote_transactions", args![2u64, 1u64, true]).0,
        ),
    ]
}

/// Creates a vault whose first two transactions account 1 rejects.
fn create_rejected_vault(world: &mut World) -> AccountAddress {
    let vault = create_vault(world, 2);
    propose(world, vault);
    propose(world, vault);
    let votes = args![vault, 1u64, 2u64, false];
    world.call_ok(1, "0x1::multisig_account::vote_transactions", &[], votes);
    vault
}

pub(super) fn rejections() -> Vec<Case> {
    [rejection_of_one(), rejection_of_many()]
        .into_iter()
        .flatten()
        .collect()
}

fn rejection_of_one() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::execute_rejected_transaction",
            "caller's vote completes the required rejections",
            Expected::Success(&[
                "0x1::multisig_account::Vote",
                "0x1::multisig_account::ExecuteRejectedTransaction",
            ]),
            |world| {
                let vault = create_rejected_vault(world);
                assert_eq!(
                    view(world, "can_be_rejected", args![vault, 1u64]),
                    json!(false)
                );
                let can = |account| {
                    view(
                        world,
                        "can_reject",
                        args![world.address(account), vault, 1u64],
                    )
                };
                assert_eq!(
                    [can(1), can(2), can(3)],
                    [false, true, false].map(Value::from)
                );
                let executed = call(world, 2, "execute_rejected_transaction", args![vault]);
                assert_eq!(
                    view(world, "last_resolved_sequence_number", args![vault]),
                    json!("1")
                );
                let removed_transaction = world.try_view(
                    "0x1::multisig_account::get_transaction",
                    &[],
                    args![vault, 1u64],
                );
                assert_eq!(
                    removed_transaction.unwrap_err(),
                    "Move abort in 0x1::table: 0x6507"
                );
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::execute_rejected_transaction",
            "too few rejections",
            ENOT_ENOUGH_REJECTIONS,
            |world| {
                let vault = create_vault(world, 2);
                propose(world, vault);
                call(world, 1, "execute_rejected_transaction", args![vault])
            },
        ),
        Case::new(
            "0x1::multisig_account::execute_rejected_transaction",
            "no pending transaction",
            ETRANSACTION_NOT_FOUND,
            |world| {
                let vault = create_vault(world, 2);
                call(world, 0, "execute_rejected_transaction", args![vault])
            },
        ),
    ]
}

fn rejection_of_many() -> Vec<Case> {
    vec![
        Case::new(
            "0x1::multisig_account::execute_rejected_transactions",
            "removes all transactions up to the given number",
            Expected::Success(&[
                "0x1::multisig_account::Vote",
                "0x1::multisig_account::ExecuteRejectedTransaction",
                "0x1::multisig_account::Vote",
                "0x1::multisig_account::ExecuteRejectedTransaction",
            ]),
            |world| {
                let vault = create_rejected_vault(world);
                let executed = call(
                    world,
                    2,
                    "execute_rejected_transactions",
                    args![vault, 2u64],
                );
                assert_eq!(
                    view(world, "get_pending_transactions", args![vault]),
                    json!([])
                );
                executed
            },
        ),
        Case::new(
            "0x1::multisig_account::execute_rejected_transactions",
            "number above the pending transactions",
            EINVALID_SEQUENCE_NUMBER,
            |world| {
                let vault = create_rejected_vault(world);
                call(
                    world,
                    2,
                    "execute_rejected_transactions",
                    args![vault, 3u64],
                )
            },
        ),
        Case::new(
            "0x1::multisig_account::execute_rejected_transactions",
            "number of a resolved transaction",
            EINVALID_SEQUENCE_NUMBER,
            |world| {
                let vault = create_rejected_vault(world);
                call(
                    world,
                    2,
                    "execute_rejected_transactions",
                    args![vault, 0u64],
                )
            },
        ),
    ]
}
