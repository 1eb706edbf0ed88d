//! `0x1::multisig_account`: accounts that act on the approval of enough owners
//! (docs/reference/framework.md#f4).
//!
//! Owners propose transactions and vote on them. A multisig payload executes a proposal
//! (`execution` has the rules), and a call removes one that enough owners reject. Both resolve
//! proposals in the order of their sequence numbers. Functions that change the account itself
//! require its signature, so they run as executed proposals.

mod creation;
mod errors;
mod events;
mod execution;
mod owners;
mod proposals;
mod transaction;
mod types;
mod views;

pub use errors::*;
pub use events::*;
pub use execution::{check_payload, next_payload, resolve_failed, resolve_succeeded};
pub use transaction::{ExecutionError, MultisigTransaction};
pub use types::{
    CreationMessage, CreationWithAuthKeyRevocationMessage, METADATA_BYTES_MAX, METADATA_PAIRS_MAX,
    MultisigAccount, OWNERS_MAX, PENDING_TRANSACTIONS_MAX,
};

use ledger_vm::{ModuleDeclaration, MoveStruct};

pub(super) fn module() -> ModuleDeclaration {
    let mut structs = vec![
        MultisigAccount::declaration(),
        MultisigTransaction::declaration(),
        ExecutionError::declaration(),
        CreationMessage::declaration(),
        CreationWithAuthKeyRevocationMessage::declaration(),
    ];
    structs.extend(event_declarations());
    let mut functions = creation::functions();
    functions.extend(owners::functions());
    functions.extend(proposals::functions());
    functions.extend(views::functions());
    ModuleDeclaration {
        name: "multisig_account",
        structs,
        functions,
        errors: ALL_ERRORS,
    }
}
