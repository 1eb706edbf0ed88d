//! What multisig accounts tell: module events, which are emitted, and the forms of the same events
//! without the account, which name the types of the handles that every multisig account still has.

use super::types::{ExecutionError, MultisigTransaction};
use crate::modules::simple_map::SimpleMap;
use ledger_types::AccountAddress;
use ledger_vm::{MoveStruct, StructDeclaration, move_structs};
use serde_bytes::ByteBuf;

/// Declares an event twice: as the type of a handle, and as the module event with the account first.
macro_rules! told_twice {
    ($(
        $(#[$doc:meta])*
        $of_handle:ident $of_handle_name:literal, $event:ident $event_name:literal {
            $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
        }
    )*) => {
        move_structs! {
            module "multisig_account";
            $(
                $(#[$doc])*
                ///
                /// The type of a handle; not emitted.
                $of_handle as $of_handle_name has ["drop", "store"] {
                    $($(#[$field_doc])* $field: $type,)*
                }

                $(#[$doc])*
                $event as $event_name has ["drop", "store"] event true {
                    /// The account.
                    multisig_account: AccountAddress,
                    $($(#[$field_doc])* $field: $type,)*
                }
            )*
        }

        pub(super) fn event_declarations() -> Vec<StructDeclaration> {
            vec![$($of_handle::declaration(), $event::declaration(),)*]
        }
    };
}

told_twice! {
    /// Accounts became owners.
    AddOwnersEvent "AddOwnersEvent", AddOwners "AddOwners" {
        /// Which, in the order in which they were named.
        owners_added: Vec<AccountAddress>,
    }

    /// Accounts ceased to be owners.
    RemoveOwnersEvent "RemoveOwnersEvent", RemoveOwners "RemoveOwners" {
        /// Which of the named ones were owners.
        owners_removed: Vec<AccountAddress>,
    }

    /// Another number of approvals or rejections resolves a transaction from now on.
    UpdateSignaturesRequiredEvent "UpdateSignaturesRequiredEvent",
    UpdateSignaturesRequired "UpdateSignaturesRequired" {
        /// The number until then.
        old_num_signatures_required: u64,
        /// The number from then on.
        new_num_signatures_required: u64,
    }

    /// A transaction was proposed.
    CreateTransactionEvent "CreateTransactionEvent", CreateTransaction "CreateTransaction" {
        /// By this owner, who approves it.
        creator: AccountAddress,
        /// Its number.
        sequence_number: u64,
        /// What is proposed.
        transaction: MultisigTransaction,
    }

    /// An owner approved or rejected a transaction.
    VoteEvent "VoteEvent", Vote "Vote" {
        /// The owner.
        owner: AccountAddress,
        /// The number of the transaction.
        sequence_number: u64,
        /// Whether the owner approves it.
        approved: bool,
    }

    /// A transaction was dropped, as owners wanted.
    ExecuteRejectedTransactionEvent "ExecuteRejectedTransactionEvent",
    ExecuteRejectedTransaction "ExecuteRejectedTransaction" {
        /// Its number.
        sequence_number: u64,
        /// How many owners rejected it.
        num_rejections: u64,
        /// The owner who dropped it.
        executor: AccountAddress,
    }

    /// A transaction was executed.
    TransactionExecutionSucceededEvent "TransactionExecutionSucceededEvent",
    TransactionExecutionSucceeded "TransactionExecutionSucceeded" {
        /// The owner who sent the payload.
        executor: AccountAddress,
        /// Its number.
        sequence_number: u64,
        /// The payload in its BCS form.
        transaction_payload: ByteBuf,
        /// How many owners approved it, the executor included.
        num_approvals: u64,
    }

    /// A transaction was executed and failed; all that is left of it is this event.
    TransactionExecutionFailedEvent "TransactionExecutionFailedEvent",
    TransactionExecutionFailed "TransactionExecutionFailed" {
        /// The owner who sent the payload.
        executor: AccountAddress,
        /// Its number.
        sequence_number: u64,
        /// The payload in its BCS form.
        transaction_payload: ByteBuf,
        /// How many owners approved it, the executor included.
        num_approvals: u64,
        /// How it failed.
        execution_error: ExecutionError,
    }

    /// The account is described otherwise from now on.
    MetadataUpdatedEvent "MetadataUpdatedEvent", MetadataUpdated "MetadataUpdated" {
        /// The description until then.
        old_metadata: SimpleMap<String, Vec<u8>>,
        /// The description from then on.
        new_metadata: SimpleMap<String, Vec<u8>>,
    }
}
