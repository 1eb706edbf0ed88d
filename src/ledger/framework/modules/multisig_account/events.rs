//! Events of multisig accounts.
//!
//! Each event has two structs. The module event is emitted. The struct without the account is only
//! the type of an event handle, because every multisig account still has these handles.

use super::transaction::{ExecutionError, MultisigTransaction};
use crate::modules::simple_map::SimpleMap;
use ledger_types::AccountAddress;
use ledger_vm::{MoveStruct, StructDeclaration, move_structs};
use serde_bytes::ByteBuf;

/// Declares an event as the type of a handle, and as a module event that begins with the account.
macro_rules! declare_events {
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
                /// Type of an event handle, never emitted.
                $of_handle as $of_handle_name has ["drop", "store"] {
                    $($(#[$field_doc])* $field: $type,)*
                }

                $(#[$doc])*
                $event as $event_name has ["drop", "store"] event true {
                    /// Address of the multisig account.
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

declare_events! {
    /// Addition of owners.
    AddOwnersEvent "AddOwnersEvent", AddOwners "AddOwners" {
        /// Added owners, in the order of the call.
        owners_added: Vec<AccountAddress>,
    }

    /// Removal of owners.
    RemoveOwnersEvent "RemoveOwnersEvent", RemoveOwners "RemoveOwners" {
        /// Removed owners, without the accounts in the call that were not owners.
        owners_removed: Vec<AccountAddress>,
    }

    /// Change of the number of approvals or rejections that resolve a transaction.
    UpdateSignaturesRequiredEvent "UpdateSignaturesRequiredEvent",
    UpdateSignaturesRequired "UpdateSignaturesRequired" {
        /// Number before the change.
        old_num_signatures_required: u64,
        /// Number after the change.
        new_num_signatures_required: u64,
    }

    /// Proposal of a transaction.
    CreateTransactionEvent "CreateTransactionEvent", CreateTransaction "CreateTransaction" {
        /// Owner that proposed the transaction, and thereby approved it.
        creator: AccountAddress,
        /// Sequence number of the transaction.
        sequence_number: u64,
        /// Proposed transaction.
        transaction: MultisigTransaction,
    }

    /// Vote of an owner on a transaction.
    VoteEvent "VoteEvent", Vote "Vote" {
        /// Owner that voted.
        owner: AccountAddress,
        /// Sequence number of the transaction.
        sequence_number: u64,
        /// `true` if the owner approved the transaction, `false` if it rejected it.
        approved: bool,
    }

    /// Removal of a transaction that enough owners rejected.
    ExecuteRejectedTransactionEvent "ExecuteRejectedTransactionEvent",
    ExecuteRejectedTransaction "ExecuteRejectedTransaction" {
        /// Sequence number of the transaction.
        sequence_number: u64,
        /// Number of owners that rejected the transaction.
        num_rejections: u64,
        /// Owner that removed the transaction.
        executor: AccountAddress,
    }

    /// Successful execution of a transaction.
    TransactionExecutionSucceededEvent "TransactionExecutionSucceededEvent",
    TransactionExecutionSucceeded "TransactionExecutionSucceeded" {
        /// Owner that sent the payload.
        executor: AccountAddress,
        /// Sequence number of the transaction.
        sequence_number: u64,
        /// Payload in its BCS form.
        transaction_payload: ByteBuf,
        /// Number of owners that approved the transaction, including the executor.
        num_approvals: u64,
    }

    /// Failed execution of a transaction. The effects of its payload were rolled back.
    TransactionExecutionFailedEvent "TransactionExecutionFailedEvent",
    TransactionExecutionFailed "TransactionExecutionFailed" {
        /// Owner that sent the payload.
        executor: AccountAddress,
        /// Sequence number of the transaction.
        sequence_number: u64,
        /// Payload in its BCS form.
        transaction_payload: ByteBuf,
        /// Number of owners that approved the transaction, including the executor.
        num_approvals: u64,
        /// Error of the payload.
        execution_error: ExecutionError,
    }

    /// Change of the account's metadata.
    MetadataUpdatedEvent "MetadataUpdatedEvent", MetadataUpdated "MetadataUpdated" {
        /// Metadata before the change.
        old_metadata: SimpleMap<String, Vec<u8>>,
        /// Metadata after the change.
        new_metadata: SimpleMap<String, Vec<u8>>,
    }
}
