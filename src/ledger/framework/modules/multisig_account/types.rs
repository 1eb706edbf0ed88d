//! Resource of a multisig account, its transactions, and the messages that convert an account.

use super::{
    errors::{EACCOUNT_NOT_MULTISIG, EINVALID_SEQUENCE_NUMBER, ENOT_OWNER},
    events::{
        AddOwnersEvent, CreateTransactionEvent, ExecuteRejectedTransactionEvent,
        MetadataUpdatedEvent, RemoveOwnersEvent, TransactionExecutionFailedEvent,
        TransactionExecutionSucceededEvent, UpdateSignaturesRequiredEvent, VoteEvent,
    },
    transaction::MultisigTransaction,
};
use crate::modules::{account::SignerCapability, simple_map::SimpleMap, table::Table};
use ledger_types::AccountAddress;
use ledger_vm::{Context, EventHandle, VmError, move_structs};
use std::collections::BTreeSet;

/// Maximum number of pending transactions, as on the reference node.
pub const PENDING_TRANSACTIONS_MAX: u64 = 20;
/// Maximum number of owners.
///
/// The check before a payload runs reads and counts the owners. It must be fast, because no account
/// pays for a check that rejects the payload.
pub const OWNERS_MAX: usize = 100;
/// Maximum number of metadata pairs.
///
/// The check before a payload runs reads the metadata with the owners, so it must be fast as well.
pub const METADATA_PAIRS_MAX: usize = 100;
/// Maximum total length of all metadata keys and values, in bytes.
///
/// The reason is the same as for [`METADATA_PAIRS_MAX`]. The owners have about as many bytes.
pub const METADATA_BYTES_MAX: usize = 4096;

move_structs! {
    module "multisig_account";

    /// State of a multisig account.
    MultisigAccount as "MultisigAccount" has ["key"] {
        /// Accounts that may propose, vote, and execute.
        owners: Vec<AccountAddress>,
        /// Number of approvals that execute a transaction, and of rejections that remove it.
        num_signatures_required: u64,
        /// Pending transactions by sequence number, which starts at 1.
        transactions: Table<u64, MultisigTransaction>,
        /// Sequence number of the last transaction that was executed or removed.
        last_executed_sequence_number: u64,
        /// Sequence number of the next proposal.
        next_sequence_number: u64,
        /// The right to sign for the account, or `None` if the account had a key before.
        signer_cap: Option<SignerCapability>,
        /// Description of the account.
        metadata: SimpleMap<String, Vec<u8>>,
        /// Event stream without events.
        add_owners_events: EventHandle<AddOwnersEvent>,
        /// Event stream without events.
        remove_owners_events: EventHandle<RemoveOwnersEvent>,
        /// Event stream without events.
        update_signature_required_events: EventHandle<UpdateSignaturesRequiredEvent>,
        /// Event stream without events.
        create_transaction_events: EventHandle<CreateTransactionEvent>,
        /// Event stream without events.
        vote_events: EventHandle<VoteEvent>,
        /// Event stream without events.
        execute_rejected_transaction_events: EventHandle<ExecuteRejectedTransactionEvent>,
        /// Event stream without events.
        execute_transaction_events: EventHandle<TransactionExecutionSucceededEvent>,
        /// Event stream without events.
        transaction_execution_failed_events: EventHandle<TransactionExecutionFailedEvent>,
        /// Event stream without events.
        metadata_updated_events: EventHandle<MetadataUpdatedEvent>,
    }

    /// Message that the key of an account signs to convert it to a multisig account.
    CreationMessage as "MultisigAccountCreationMessage" has ["copy", "drop"] {
        /// ID of the chain on which the message is valid.
        chain_id: u8,
        /// Address of the account.
        account_address: AccountAddress,
        /// Sequence number of the account, which makes the message usable only once.
        sequence_number: u64,
        /// Owners of the multisig account.
        owners: Vec<AccountAddress>,
        /// Number of owners that must approve a transaction.
        num_signatures_required: u64,
    }

    /// Message that the key of an account signs to convert it to a multisig account and to revoke
    /// the key.
    CreationWithAuthKeyRevocationMessage as "MultisigAccountCreationWithAuthKeyRevocationMessage" has ["copy", "drop"] {
        /// ID of the chain on which the message is valid.
        chain_id: u8,
        /// Address of the account.
        account_address: AccountAddress,
        /// Sequence number of the account, which makes the message usable only once.
        sequence_number: u64,
        /// Owners of the multisig account.
        owners: Vec<AccountAddress>,
        /// Number of owners that must approve a transaction.
        num_signatures_required: u64,
    }
}

/// Votes of the current owners on a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tally {
    pub(super) approvals: u64,
    pub(super) rejections: u64,
}

/// Returns the multisig account at `address`.
///
/// # Errors
///
/// Aborts with `EACCOUNT_NOT_MULTISIG` if there is none. Returns [`VmError::State`] if the state
/// cannot be read, and [`VmError::OutOfGas`] if gas runs out.
pub(super) fn load(
    context: &mut Context<'_>,
    address: AccountAddress,
) -> Result<MultisigAccount, VmError> {
    match context.read_resource(address, &[])? {
        Some(multisig) => Ok(multisig),
        None => context.abort("multisig_account", &EACCOUNT_NOT_MULTISIG),
    }
}

/// Returns the multisig account at `address` after checking that `owner` is one of its owners.
///
/// # Errors
///
/// Aborts with `ENOT_OWNER` if it is not. Also returns the errors of [`load`].
pub(super) fn load_for_owner(
    context: &mut Context<'_>,
    address: AccountAddress,
    owner: AccountAddress,
) -> Result<MultisigAccount, VmError> {
    let multisig = load(context, address)?;
    if multisig.owners.contains(&owner) {
        Ok(multisig)
    } else {
        context.abort("multisig_account", &ENOT_OWNER)
    }
}

impl MultisigAccount {
    /// Returns the sequence number of the only transaction that can be executed or removed next.
    pub(super) fn next_to_resolve(&self) -> u64 {
        self.last_executed_sequence_number.saturating_add(1)
    }

    /// Returns the number of transactions that can still be proposed.
    ///
    /// Pending transactions have the sequence numbers after the last resolved one.
    pub(super) fn queue_capacity(&self) -> u64 {
        let pending = self
            .next_sequence_number
            .saturating_sub(self.next_to_resolve());
        PENDING_TRANSACTIONS_MAX.saturating_sub(pending)
    }

    /// Checks that a transaction has, or had, this sequence number.
    ///
    /// # Errors
    ///
    /// Aborts with `EINVALID_SEQUENCE_NUMBER` if none has.
    pub(super) fn check_number(
        &self,
        context: &Context<'_>,
        sequence_number: u64,
    ) -> Result<(), VmError> {
        if (1..self.next_sequence_number).contains(&sequence_number) {
            Ok(())
        } else {
            context.abort("multisig_account", &EINVALID_SEQUENCE_NUMBER)
        }
    }

    /// Records the vote of an owner on a transaction, and returns the previous vote of this owner.
    ///
    /// If there are [`OWNERS_MAX`] votes, removes those of former owners first. This bounds the
    /// number of votes: the check before a payload runs reads all of them, and no account pays for
    /// a check that rejects the payload.
    pub(super) fn vote(
        &self,
        transaction: &mut MultisigTransaction,
        owner: AccountAddress,
        approved: bool,
    ) -> Option<bool> {
        let votes = &mut transaction.votes;
        if votes.data.len() >= OWNERS_MAX {
            let owners = self.owner_set();
            votes.data.retain(|vote| owners.contains(&vote.key));
        }
        votes.upsert(owner, approved)
    }

    fn owner_set(&self) -> BTreeSet<&AccountAddress> {
        self.owners.iter().collect()
    }

    /// Counts the votes of the current owners. Former owners may have left votes.
    pub(super) fn tally(&self, transaction: &MultisigTransaction) -> Tally {
        let owners = self.owner_set();
        let votes = |approves: bool| {
            let counted = transaction
                .votes
                .data
                .iter()
                .filter(|vote| vote.value == approves && owners.contains(&vote.key));
            counted.count() as u64
        };
        Tally {
            approvals: votes(true),
            rejections: votes(false),
        }
    }
}
