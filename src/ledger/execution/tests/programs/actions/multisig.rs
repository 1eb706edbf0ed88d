//! Random calls on multisig accounts: proposals, votes and changes of the common account, and the
//! creation of other accounts.

use super::{random_account, random_amount, random_owner_address};
use crate::programs::program::{ACCOUNTS, CallRequest, Program, account, args};
use ledger_types::{AccountAddress, EntryFunction, transaction::MultisigPayload};
use serde_json::Value;

/// An empty list of metadata keys or values.
const NO_METADATA: &[Vec<u8>] = &[];
/// Permanent owners of the common multisig account.
const PERMANENT_OWNERS: [usize; 3] = [0, 1, 2];

/// Returns a call that creates a multisig account without coins.
///
/// Only account [`ACCOUNTS`], which takes no other part, converts itself into a multisig account.
pub(super) fn creations(program: &mut Program) -> Option<CallRequest> {
    let (number, other) = (random_account(program), account(random_account(program)));
    let owners = vec![other];
    Some(match program.random.u8(..3) {
        0 => program.request(
            number,
            "0x1::multisig_account::create",
            &[],
            args![1u64, NO_METADATA, NO_METADATA],
        ),
        1 => program.request(
            number,
            "0x1::multisig_account::create_with_owners_then_remove_bootstrapper",
            &[],
            args![owners, 1u64, NO_METADATA, NO_METADATA],
        ),
        _ => program.request(
            ACCOUNTS,
            "0x1::multisig_account::create_with_existing_account_call",
            &[],
            args![owners, 1u64, NO_METADATA, NO_METADATA],
        ),
    })
}

fn number_of(program: &Program, view: &str) -> u64 {
    let view = format!("0x1::multisig_account::{view}");
    let number = &program.view(&view, &[], args![program.multisig])[0];
    number.as_str().unwrap().parse().unwrap()
}

/// Returns the execution of a change of owners, required signatures or metadata.
///
/// Before that, the owners reject all pending proposals, and propose and approve the change.
pub(super) fn changes(program: &mut Program) -> Option<CallRequest> {
    let multisig = program.multisig;
    let (first, next) = (
        number_of(program, "last_resolved_sequence_number") + 1,
        number_of(program, "next_sequence_number"),
    );
    let vote = "0x1::multisig_account::vote_transactions";
    if first < next {
        for owner in PERMANENT_OWNERS {
            program.call_successfully(owner, vote, &[], args![multisig, first, next - 1, false]);
        }
        let execute_rejected = "0x1::multisig_account::execute_rejected_transactions";
        program.call_successfully(0, execute_rejected, &[], args![multisig, next - 1]);
    }
    let proposer = program.random.choice(PERMANENT_OWNERS).unwrap();
    let payload = MultisigPayload::EntryFunction(change(program));
    let create = "0x1::multisig_account::create_transaction";
    let payload = bcs::to_bytes(&payload).unwrap();
    program.call_successfully(proposer, create, &[], args![multisig, payload]);
    for owner in PERMANENT_OWNERS {
        program.call_successfully(owner, vote, &[], args![multisig, next, next, true]);
    }
    Some(program.multisig_request(proposer, None))
}

/// Returns a change that retains the permanent owners and requires at most two signatures.
fn change(program: &mut Program) -> EntryFunction {
    let new = AccountAddress::from_low_u64(0x7_0000 + program.chain.tip.height);
    let removed_owner = newest_temporary_owner(program);
    let required = program.random.u64(1..=2);
    let (name, args) = match program.random.u8(..10) {
        0 => ("add_owner", args![new]),
        1 => ("add_owners", args![vec![new]]),
        2 => (
            "add_owners_and_update_signatures_required",
            args![vec![new], required],
        ),
        3 => ("remove_owner", args![removed_owner]),
        4 => ("remove_owners", args![vec![removed_owner]]),
        5 => ("swap_owner", args![new, removed_owner]),
        6 => ("swap_owners", args![vec![new], vec![removed_owner]]),
        7 => (
            "swap_owners_and_update_signatures_required",
            args![vec![new], vec![removed_owner], required],
        ),
        8 => ("update_signatures_required", args![required]),
        _ => ("update_metadata", args![vec!["name"], vec![vec![7u8]]]),
    };
    program.call(&format!("0x1::multisig_account::{name}"), &[], args)
}

/// Returns the newest owner that is not permanent, or an address without an account if there is
/// none.
fn newest_temporary_owner(program: &Program) -> AccountAddress {
    let owners = program.view(
        "0x1::multisig_account::owners",
        &[],
        args![program.multisig],
    );
    let parse = |owner: &Value| owner.as_str().unwrap().parse().unwrap();
    let mut owners = owners[0].as_array().unwrap().iter().map(parse);
    let is_permanent = |owner: &AccountAddress| {
        PERMANENT_OWNERS
            .iter()
            .any(|number| account(*number) == *owner)
    };
    owners
        .rfind(|owner| !is_permanent(owner))
        .unwrap_or(AccountAddress::from_low_u64(0x7_0000))
}

/// Returns a call that creates, votes on, drops or executes a proposal of the multisig account.
///
/// Stored payloads transfer the chain's coin.
pub(super) fn proposals(program: &mut Program) -> Option<CallRequest> {
    let number = random_account(program);
    let multisig = program.multisig;
    let next = number_of(program, "last_resolved_sequence_number") + 1;
    Some(match program.random.u8(..11) {
        7 => {
            let votes = ["vote_transaction", "vote_transanction"];
            let vote = program.random.choice(votes).unwrap();
            let vote = format!("0x1::multisig_account::{vote}");
            let approved = program.random.bool();
            program.request(number, &vote, &[], args![multisig, next, approved])
        }
        8 => program.request(
            number,
            "0x1::multisig_account::vote_transactions",
            &[],
            args![
                multisig,
                next,
                next,
                program.chain.tip.height.is_multiple_of(2)
            ],
        ),
        9 => program.request(
            number,
            "0x1::multisig_account::execute_rejected_transactions",
            &[],
            args![multisig, next],
        ),
        10 => program.request(
            number,
            "0x1::multisig_account::create_transaction_with_hash",
            &[],
            args![multisig, vec![7u8; 32]],
        ),
        0 | 1 => {
            let (to, amount) = (
                random_owner_address(program),
                random_amount(&mut program.random),
            );
            let call = program.call("0x1::node_account::transfer", &[], args![to, amount]);
            let payload = MultisigPayload::EntryFunction(call);
            let payload = bcs::to_bytes(&payload).unwrap();
            let create = "0x1::multisig_account::create_transaction";
            program.request(number, create, &[], args![multisig, payload])
        }
        2 | 3 => program.request(
            number,
            "0x1::multisig_account::approve_transaction",
            &[],
            args![multisig, next],
        ),
        4 => program.request(
            number,
            "0x1::multisig_account::reject_transaction",
            &[],
            args![multisig, next],
        ),
        5 => program.request(
            number,
            "0x1::multisig_account::execute_rejected_transaction",
            &[],
            args![multisig],
        ),
        _ => program.multisig_request(number, None),
    })
}
