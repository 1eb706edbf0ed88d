//! `0x1::multisig_account`: accounts that act when enough of their owners want it
//! (framework-notes section 1).
//!
//! Owners propose transactions and vote on them; a proposal is executed by a multisig payload, whose
//! rules and bookkeeping are in `execution`, or dropped by a call when enough owners reject it. Either
//! happens in the order of the proposals' numbers. What changes the account itself is a function that
//! the account must sign, that is, an executed proposal.

mod creation;
mod errors;
mod events;
mod execution;
mod owners;
mod proposals;
mod types;
mod views;

pub use errors::*;
pub use events::*;
pub(crate) use execution::{check_payload, close_failed, close_succeeded, next_payload};
pub use types::{
    CreationMessage, CreationWithAuthKeyRevocationMessage, ExecutionError, METADATA_BYTES_MAX,
    METADATA_PAIRS_MAX, MultisigAccount, MultisigTransaction, OWNERS_MAX, PENDING_TRANSACTIONS_MAX,
};

use crate::framework::declare::{ModuleDeclaration, MoveStruct};

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
