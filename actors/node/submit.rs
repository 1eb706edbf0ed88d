//! How a submission is checked before the pool sees it: against what is remembered of accounts, and against the store
//! where that is not enough. No actor is asked, but the mempool for room where it had none.

use super::handle::{NodeHandle, request};
use crate::{
    Filtered, Head, Lane, NodeError, SubmitError,
    protocol::mempool::{CheckCapacity, PoolKey, Submit},
    state::account_cache::{AccountCache, read_account_snapshot},
};
use ledger_execution::{
    AccountSnapshot, NonceSnapshot, ValidationInputs, validate_for_admission,
    validate_multisig_for_admission,
};
use ledger_store::{Query, Snapshot, StoreError};
use ledger_types::{
    AccountAddress, CheckedTransaction, Discard, LedgerInfo, ReplayProtector, SignedTransaction,
    transaction::Executable,
};
use ledger_vm::Chain;
use std::sync::{Arc, atomic::Ordering::Relaxed};

/// A transaction that the mempool has accepted.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// Ledger info of the version that the transaction was validated against.
    pub ledger_info: LedgerInfo,
    /// The mempool's copy of the submitted transaction.
    pub transaction: Arc<CheckedTransaction>,
}

impl NodeHandle {
    /// Whether the operator lets a client's submission in; see [`crate::SubmissionFilter`]. Asked before
    /// the signatures are checked, because it costs next to nothing, and not by the node's own senders.
    ///
    /// # Errors
    /// The rule that keeps it out.
    pub fn check_filter(&self, transaction: &SignedTransaction) -> Result<(), Filtered> {
        self.shared.filter.load().check(transaction)
    }

    /// Whether the pool has room for a client's transaction. Asked before the signatures are checked, and
    /// answered without the pool until it has refused one: so a full pool costs a question for each
    /// submission that it refuses, and not the check of its signatures.
    ///
    /// # Errors
    /// That there is no room; or, without an answer, that the mempool has too many requests or the node is
    /// stopping.
    pub async fn check_capacity(&self, transaction: &SignedTransaction) -> Result<(), SubmitError> {
        if !self.shared.pool_was_full.load(Relaxed) {
            return Ok(());
        }
        let room = request(&self.shared.node.mailboxes.mempool, |reply| CheckCapacity {
            key: PoolKey::of(&transaction.raw),
            size_bytes: transaction.size_bytes(),
            reply,
        });
        let room = room.await?;
        self.shared
            .pool_was_full
            .store(is_pool_full(&room), Relaxed);
        room
    }

    /// Has the signatures of a transaction checked, on a thread that checks those of many at once.
    ///
    /// # Errors
    /// Why the transaction does not pass; or, without a verdict, that the lane is full or the node
    /// stopping.
    pub async fn check_signatures(
        &self,
        transaction: SignedTransaction,
        lane: Lane,
    ) -> Result<CheckedTransaction, SubmitError> {
        self.shared
            .node
            .queues
            .signatures
            .check(&self.shared.node.chain, transaction, lane)
            .await
    }

    /// Checks a transaction against the newest state and hands it to the pool.
    ///
    /// # Errors
    /// Why it is not in the pool.
    pub async fn submit(&self, transaction: CheckedTransaction) -> Result<Accepted, SubmitError> {
        if let Some(cause) = self.storage_unavailable() {
            return Err(NodeError::from(cause).into());
        }
        let transaction = Arc::new(transaction);
        let (head, facts) = self.validation_inputs(&transaction).await?;
        validate_for_admission(
            &self.shared.node.chain,
            &facts,
            &transaction,
            self.shared.node.clock.now_secs(),
        )?;
        if let Ok(Executable::Multisig { .. }) = transaction.raw().payload.executable() {
            let check = CheckMultisig(self.shared.node.chain.clone(), Arc::clone(&transaction));
            self.read(check).await?.1?;
        }
        let outcome = request(&self.shared.node.mailboxes.mempool, |reply| Submit {
            transaction,
            sequence_number: facts.sender.sequence_number,
            reply,
        });
        let outcome = outcome.await?;
        if is_pool_full(&outcome) {
            self.shared.pool_was_full.store(true, Relaxed);
        }
        Ok(Accepted {
            ledger_info: *head.ledger_info(),
            transaction: outcome?,
        })
    }

    /// What validation knows of an account at the newest moment.
    ///
    /// # Errors
    /// When the storage has too many requests, the node is stopping, or the store fails.
    pub async fn account_snapshot(
        &self,
        address: AccountAddress,
    ) -> Result<AccountSnapshot, NodeError> {
        let head = &self.shared.node.head;
        let (moment, known) =
            head.with_accounts(|head, facts| (Moment::of(head, facts), facts.get(&address)));
        self.snapshot_at_head_or_known(&moment, address, known)
            .await
    }

    /// The facts of an account: what is `known` of it at the moment, else the store's word.
    async fn snapshot_at_head_or_known(
        &self,
        Moment {
            head,
            complete_from,
        }: &Moment,
        address: AccountAddress,
        known: Option<AccountSnapshot>,
    ) -> Result<AccountSnapshot, NodeError> {
        if let Some(known) = known {
            return Ok(known);
        }
        let query = ReadAccountSnapshot(self.shared.node.chain.clone(), address);
        let unchanged = self.shared.node.inline_reader.read_unchanged(
            query,
            head.ledger_info(),
            *complete_from,
        );
        let answer = match unchanged {
            Ok(answer) => answer,
            Err(query) => self.read(query).await,
        };
        Ok(answer?.1)
    }

    /// The newest moment, and what validation needs to know then of everybody who signs.
    async fn validation_inputs(
        &self,
        transaction: &Arc<CheckedTransaction>,
    ) -> Result<(Head, ValidationInputs), NodeError> {
        let authenticator = &transaction.transaction().authenticator;
        let sender = transaction.raw().sender;
        // Few: the check of the signatures bounds them.
        let secondary = authenticator.secondary_signer_addresses();
        let fee_payer = authenticator.fee_payer().map(|(address, _)| address);
        let known = self.shared.node.head.with_accounts(|head, facts| {
            let known_secondary: Vec<_> =
                secondary.iter().map(|address| facts.get(address)).collect();
            let known_payer = fee_payer.and_then(|address| facts.get(&address));
            (
                Moment::of(head, facts),
                facts.get(&sender),
                known_secondary,
                known_payer,
            )
        });
        let (moment, known_sender, known_secondary, known_payer) = known;
        let sender = self
            .snapshot_at_head_or_known(&moment, sender, known_sender)
            .await?;
        let mut secondary_signers = Vec::with_capacity(secondary.len());
        for (address, known) in secondary.iter().zip(known_secondary) {
            secondary_signers.push(
                self.snapshot_at_head_or_known(&moment, *address, known)
                    .await?,
            );
        }
        let fee_payer = match fee_payer {
            Some(address) => Some(
                self.snapshot_at_head_or_known(&moment, address, known_payer)
                    .await?,
            ),
            None => None,
        };
        // Nonces are in the store only.
        let nonce = match transaction.raw().replay_protector() {
            ReplayProtector::Nonce(_) => {
                let read = ReadNonce(self.shared.node.chain.clone(), Arc::clone(transaction));
                self.read(read).await?.1
            }
            ReplayProtector::SequenceNumber(_) => None,
        };
        let facts = ValidationInputs {
            sender,
            secondary_signers,
            fee_payer,
            nonce,
        };
        Ok((moment.head, facts))
    }
}

/// A moment at which facts were looked up.
struct Moment {
    head: Head,
    /// Accounts that are not remembered have not changed from this block until the Head.
    complete_from: u64,
}

impl Moment {
    fn of(head: Head, facts: &AccountCache) -> Self {
        let complete_from = facts.complete_from();
        Self {
            head,
            complete_from,
        }
    }
}

/// Whether others would be refused too. An account that has its share says nothing about them.
fn is_pool_full<T>(outcome: &Result<T, SubmitError>) -> bool {
    matches!(outcome, Err(SubmitError::Full { .. }))
}

/// The facts of an account, from the store.
struct ReadAccountSnapshot(Chain, AccountAddress);

impl Query for ReadAccountSnapshot {
    type Output = AccountSnapshot;

    fn run(self, snapshot: &Snapshot) -> Result<AccountSnapshot, StoreError> {
        read_account_snapshot(&self.0, snapshot, &self.1)
    }
}

/// What the ledger remembers that decides about the nonce of an orderless transaction.
struct ReadNonce(Chain, Arc<CheckedTransaction>);

impl Query for ReadNonce {
    type Output = Option<NonceSnapshot>;

    fn run(self, snapshot: &Snapshot) -> Result<Self::Output, StoreError> {
        let state = snapshot.state_at(snapshot.ledger_info().version);
        NonceSnapshot::read(&self.0, &state, self.1.transaction())
            .map_err(|error| StoreError::Inconsistent(error.0))
    }
}

/// Whether a multisig account lets a transaction of its owner run. Only these need the state of
/// another account than their signers'.
struct CheckMultisig(Chain, Arc<CheckedTransaction>);

impl Query for CheckMultisig {
    type Output = Result<(), Discard>;

    fn run(self, snapshot: &Snapshot) -> Result<Self::Output, StoreError> {
        let info = snapshot.ledger_info();
        let state = snapshot.state_at(info.version);
        validate_multisig_for_admission(&self.0, &state, info, &self.1)
            .map_err(|error| StoreError::Inconsistent(error.0))
    }
}
