//! The resource of a multisig account, its transactions, and the messages that turn an account into
//! one.

use super::{
    errors::{EACCOUNT_NOT_MULTISIG, EINVALID_SEQUENCE_NUMBER, ENOT_OWNER},
    events::{
        AddOwnersEvent, CreateTransactionEvent, ExecuteRejectedTransactionEvent,
        MetadataUpdatedEvent, RemoveOwnersEvent, TransactionExecutionFailedEvent,
        TransactionExecutionSucceededEvent, UpdateSignaturesRequiredEvent, VoteEvent,
    },
};
use crate::modules::{account::SignerCapability, simple_map::SimpleMap, table::Table};
use ledger_types::AccountAddress;
use ledger_vm::{Context, EventHandle, VmError, move_structs};
use serde_bytes::ByteBuf;
use std::collections::BTreeSet;

/// The most transactions that may wait; the reference's.
pub const PENDING_TRANSACTIONS_MAX: u64 = 20;
/// The most owners. The check before a payload runs reads and counts them, and nobody pays for a check
/// that refuses, so it must be quick.
pub const OWNERS_MAX: usize = 100;
/// The most pairs of metadata, for the same reason: they are read with the owners.
pub const METADATA_PAIRS_MAX: usize = 100;
/// The most bytes of all keys and values of metadata, for the same reason: about as many as those of the
/// owners.
pub const METADATA_BYTES_MAX: usize = 4096;

move_structs! {
    module "multisig_account";

    /// A multisig account.
    MultisigAccount as "MultisigAccount" has ["key"] {
        /// Who may propose, vote and execute.
        owners: Vec<AccountAddress>,
        /// How many approvals execute a transaction, and how many rejections drop it.
        num_signatures_required: u64,
        /// The transactions that wait, by their numbers, the first of which is 1.
        transactions: Table<u64, MultisigTransaction>,
        /// The number of the last transaction that was executed or dropped.
        last_executed_sequence_number: u64,
        /// The number of the next transaction.
        next_sequence_number: u64,
        /// The right to sign for the account; absent where it was an account with a key before.
        signer_cap: Option<SignerCapability>,
        /// What describes the account.
        metadata: SimpleMap<String, Vec<u8>>,
        /// A stream without events.
        add_owners_events: EventHandle<AddOwnersEvent>,
        /// A stream without events.
        remove_owners_events: EventHandle<RemoveOwnersEvent>,
        /// A stream without events.
        update_signature_required_events: EventHandle<UpdateSignaturesRequiredEvent>,
        /// A stream without events.
        create_transaction_events: EventHandle<CreateTransactionEvent>,
        /// A stream without events.
        vote_events: EventHandle<VoteEvent>,
        /// A stream without events.
        execute_rejected_transaction_events: EventHandle<ExecuteRejectedTransactionEvent>,
        /// A stream without events.
        execute_transaction_events: EventHandle<TransactionExecutionSucceededEvent>,
        /// A stream without events.
        transaction_execution_failed_events: EventHandle<TransactionExecutionFailedEvent>,
        /// A stream without events.
        metadata_updated_events: EventHandle<MetadataUpdatedEvent>,
    }

    /// A transaction that waits for votes.
    MultisigTransaction as "MultisigTransaction" has ["copy", "drop", "store"] {
        /// The payload in its BCS form, if it was proposed whole.
        payload: Option<ByteBuf>,
        /// The SHA3-256 hash of the payload, if only that was proposed.
        payload_hash: Option<Vec<u8>>,
        /// Who approves (true) and who rejects (false), in the order of the first votes. Votes of
        /// those who are owners no more do not count, and go where a hundred stand.
        votes: SimpleMap<AccountAddress, bool>,
        /// The owner who proposed it.
        creator: AccountAddress,
        /// When it was proposed, in seconds since 1970.
        creation_time_secs: u64,
    }

    /// How a payload failed.
    ExecutionError as "ExecutionError" has ["copy", "drop", "store"] {
        /// The module in which it failed; empty where it was none.
        abort_location: String,
        /// `MoveAbort`, `MoveExecutionFailure` or `VMError`.
        error_type: String,
        /// The abort code, else the number of the status.
        error_code: u64,
    }

    /// What the holder of an account's key signs to turn it into a multisig account.
    CreationMessage as "MultisigAccountCreationMessage" has ["copy", "drop"] {
        /// The chain that it is for.
        chain_id: u8,
        /// The account.
        account_address: AccountAddress,
        /// The account's sequence number, so that the message is of use once.
        sequence_number: u64,
        /// Who will be the owners.
        owners: Vec<AccountAddress>,
        /// How many of them a transaction will need.
        num_signatures_required: u64,
    }

    /// What the holder of an account's key signs to turn it into a multisig account and give up the
    /// key.
    CreationWithAuthKeyRevocationMessage as "MultisigAccountCreationWithAuthKeyRevocationMessage" has ["copy", "drop"] {
        /// The chain that it is for.
        chain_id: u8,
        /// The account.
        account_address: AccountAddress,
        /// The account's sequence number, so that the message is of use once.
        sequence_number: u64,
        /// Who will be the owners.
        owners: Vec<AccountAddress>,
        /// How many of them a transaction will need.
        num_signatures_required: u64,
    }
}

/// How many of the owners approve and reject a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tally {
    pub(super) approvals: u64,
    pub(super) rejections: u64,
}

/// Reads the multisig account at `address`.
///
/// # Errors
/// `EACCOUNT_NOT_MULTISIG`; when the state cannot be read or gas runs out.
pub(super) fn load(
    context: &mut Context<'_>,
    address: AccountAddress,
) -> Result<MultisigAccount, VmError> {
    match context.read_resource(address, &[])? {
        Some(multisig) => Ok(multisig),
        None => context.abort("multisig_account", &EACCOUNT_NOT_MULTISIG),
    }
}

/// Reads the multisig account at `address` for one of its owners.
///
/// # Errors
/// `ENOT_OWNER`, and those of [`load`].
pub(super) fn load_for(
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
    /// The number of the only transaction that can be executed or dropped next.
    pub(super) fn next_to_resolve(&self) -> u64 {
        self.last_executed_sequence_number.saturating_add(1)
    }

    /// How many more transactions may be proposed. Those that wait have the numbers after the last
    /// resolved one.
    pub(super) fn queue_capacity(&self) -> u64 {
        let pending = self
            .next_sequence_number
            .saturating_sub(self.next_to_resolve());
        PENDING_TRANSACTIONS_MAX.saturating_sub(pending)
    }

    /// Whether a transaction has or had this number.
    ///
    /// # Errors
    /// `EINVALID_SEQUENCE_NUMBER` if not.
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

    /// Has an owner approve or reject a transaction; gives what it said before. Where as many have
    /// voted as can be owners, the votes of former owners make room: a transaction that waits is read
    /// with all its votes by a check that nobody pays for.
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

    /// Counts the votes of those who are owners now. Former owners may have left votes.
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
