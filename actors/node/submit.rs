//! Submission of transactions: filter, capacity, signatures, validation, and the mempool.
//!
//! Validation uses the accounts that are cached at the Head, and reads all others from the store,
//! on the calling thread if possible. The capacity is checked only if the mempool was full before.

use super::handle::{NodeHandle, NodeParts, point_read, request};
use crate::{
    Filtered, Head, Lane, NodeError, SubmitError,
    protocol::mempool::{CheckCapacity, PoolKey, Submit},
    state::account_cache::{AccountCache, read_account_snapshot},
};
use ledger_execution::{
    AccountSnapshot, NonceSnapshot, ValidationInputs, validate_for_admission,
    validate_multisig_for_admission,
};
use ledger_limits::ClientKey;
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
    /// Checks a client's submission against the operator's filter; see [`crate::SubmissionFilter`].
    ///
    /// The check is cheap, so it precedes that of the signatures. The node's own senders skip it.
    ///
    /// # Errors
    ///
    /// Returns [`Filtered`] with the rule that denies the transaction.
    pub fn check_filter(&self, transaction: &SignedTransaction) -> Result<(), Filtered> {
        self.shared.filter.load().check(transaction)
    }

    /// Checks whether the mempool has capacity for a client's transaction.
    ///
    /// The check precedes that of the signatures. It sends a request to the mempool only after the
    /// mempool has rejected a transaction for lack of capacity. A submission that a full mempool
    /// rejects then costs one request instead of a check of its signatures.
    ///
    /// # Errors
    ///
    /// Returns [`SubmitError::Full`] or [`SubmitError::AccountFull`] if there is no capacity, and
    /// [`SubmitError::Node`] if the mempool has too many requests or the node is stopping.
    pub async fn check_capacity(&self, transaction: &SignedTransaction) -> Result<(), SubmitError> {
        if !self.shared.pool_was_full.load(Relaxed) {
            return Ok(());
        }
        let outcome = request(&self.node().mailboxes.mempool, |reply| CheckCapacity {
            key: PoolKey::of(&transaction.raw),
            size_bytes: transaction.size_bytes(),
            reply,
        });
        let outcome = outcome.await?;
        let is_full = is_pool_full(&outcome);
        self.shared.pool_was_full.store(is_full, Relaxed);
        outcome
    }

    /// Checks the signatures of a transaction of `client`, usually in a batch on a
    /// `signature-check` thread. Clients take turns in each lane.
    ///
    /// # Errors
    ///
    /// Returns [`SubmitError::Invalid`] if a signature or the form of the transaction is invalid,
    /// and [`SubmitError::Node`] if the lane is full, the client holds its part of it, or the node
    /// is stopping.
    pub async fn check_signatures(
        &self,
        transaction: SignedTransaction,
        lane: Lane,
        client: ClientKey,
    ) -> Result<CheckedTransaction, SubmitError> {
        let NodeParts { queues, chain, .. } = self.node();
        let checked = queues.signatures.check(chain, transaction, lane, client);
        checked.await
    }

    /// Validates a transaction of `client` against the newest state and adds it to the mempool.
    ///
    /// A transaction that was committed while it was validated is accepted.
    ///
    /// # Errors
    ///
    /// Returns [`SubmitError::Node`] if the ledger is not written at present, an actor has too many
    /// requests, the node is stopping, or the store cannot be read. Any other variant is a
    /// rejection by validation or by the mempool.
    pub async fn submit(
        &self,
        transaction: CheckedTransaction,
        client: ClientKey,
    ) -> Result<Accepted, SubmitError> {
        if let Some(cause) = self.storage_unavailable() {
            return Err(NodeError::from(cause).into());
        }
        let transaction = Arc::new(transaction);
        match self.validate_and_add(&transaction, client).await {
            Ok(accepted) => Ok(accepted),
            Err(rejection) => {
                self.outcome_after_rejection(&transaction, rejection, client)
                    .await
            }
        }
    }

    /// Validates a transaction and adds it to the mempool, as [`Self::submit`] does.
    async fn validate_and_add(
        &self,
        transaction: &Arc<CheckedTransaction>,
        client: ClientKey,
    ) -> Result<Accepted, SubmitError> {
        let (head, inputs) = self.validation_inputs(transaction, client).await?;
        let NodeParts {
            chain,
            clock,
            mailboxes,
            ..
        } = self.node();
        validate_for_admission(chain, &inputs, transaction, clock.now_secs())?;
        if let Ok(Executable::Multisig { .. }) = transaction.raw().payload.executable() {
            let check = CheckMultisig {
                chain: chain.clone(),
                transaction: Arc::clone(transaction),
            };
            self.read(point_read(client), check).await?.1?;
        }
        let outcome = request(&mailboxes.mempool, |reply| Submit {
            transaction: Arc::clone(transaction),
            sequence_number: inputs.sender.sequence_number,
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

    /// Returns the account as validation sees it at the Head, to `client`.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError`] if the storage has too many requests, the node is stopping, or the
    /// store cannot be read.
    pub async fn account_snapshot(
        &self,
        address: AccountAddress,
        client: ClientKey,
    ) -> Result<AccountSnapshot, NodeError> {
        let (version, cached) = self.node().head.with_accounts(|head, accounts| {
            (CacheVersion::of(head, accounts), accounts.get(&address))
        });
        self.account_snapshot_at(&version, address, cached, client)
            .await
    }

    /// Returns `cached`, or the account as the store has it at the version of the cache.
    async fn account_snapshot_at(
        &self,
        version: &CacheVersion,
        address: AccountAddress,
        cached: Option<AccountSnapshot>,
        client: ClientKey,
    ) -> Result<AccountSnapshot, NodeError> {
        if let Some(cached) = cached {
            return Ok(cached);
        }
        let CacheVersion {
            head,
            complete_from,
        } = version;
        let node = self.node();
        let query = ReadAccountSnapshot {
            chain: node.chain.clone(),
            address,
        };
        let read = node
            .inline_reader
            .read_unchanged(query, head.ledger_info(), *complete_from);
        let answer = match read {
            Ok(answer) => answer,
            Err(query) => self.read(point_read(client), query).await,
        };
        Ok(answer?.1)
    }

    /// Returns the Head, and the accounts and the nonce at its version that validation reads.
    async fn validation_inputs(
        &self,
        transaction: &Arc<CheckedTransaction>,
        client: ClientKey,
    ) -> Result<(Head, ValidationInputs), NodeError> {
        let authenticator = &transaction.transaction().authenticator;
        let sender = transaction.raw().sender;
        // The check of the signatures has bounded the number of signers.
        let secondary = authenticator.secondary_signer_addresses();
        let fee_payer = authenticator.fee_payer().map(|(address, _)| address);
        let cached = self.node().head.with_accounts(|head, accounts| {
            let cached_secondary: Vec<_> = secondary
                .iter()
                .map(|address| accounts.get(address))
                .collect();
            let cached_payer = fee_payer.and_then(|address| accounts.get(&address));
            (
                CacheVersion::of(head, accounts),
                accounts.get(&sender),
                cached_secondary,
                cached_payer,
            )
        });
        let (version, cached_sender, cached_secondary, cached_payer) = cached;
        let sender = self
            .account_snapshot_at(&version, sender, cached_sender, client)
            .await?;
        let mut secondary_signers = Vec::with_capacity(secondary.len());
        for (address, cached) in secondary.iter().zip(cached_secondary) {
            let signer = self.account_snapshot_at(&version, *address, cached, client);
            secondary_signers.push(signer.await?);
        }
        let fee_payer = match fee_payer {
            Some(address) => {
                let payer = self.account_snapshot_at(&version, address, cached_payer, client);
                Some(payer.await?)
            }
            None => None,
        };
        // Nonces are not cached.
        let nonce = match transaction.raw().replay_protector() {
            ReplayProtector::Nonce(_) => {
                let query = ReadNonce {
                    chain: self.node().chain.clone(),
                    transaction: Arc::clone(transaction),
                };
                self.read(point_read(client), query).await?.1
            }
            ReplayProtector::SequenceNumber(_) => None,
        };
        let inputs = ValidationInputs {
            sender,
            secondary_signers,
            fee_payer,
            nonce,
        };
        Ok((version.head, inputs))
    }
}

/// The version at which accounts were looked up in the cache.
struct CacheVersion {
    head: Head,
    /// Height of the first block from which on the cache holds every changed account. An account
    /// outside the cache is unchanged since that block.
    complete_from: u64,
}

impl CacheVersion {
    fn of(head: Head, accounts: &AccountCache) -> Self {
        Self {
            head,
            complete_from: accounts.complete_from(),
        }
    }
}

/// Returns whether the mempool would also reject transactions of other accounts. The capacity of
/// one account does not concern them.
fn is_pool_full<T>(outcome: &Result<T, SubmitError>) -> bool {
    matches!(outcome, Err(SubmitError::Full { .. }))
}

/// The query of an account.
struct ReadAccountSnapshot {
    chain: Chain,
    address: AccountAddress,
}

impl Query for ReadAccountSnapshot {
    type Output = AccountSnapshot;

    fn run(self, snapshot: &Snapshot) -> Result<AccountSnapshot, StoreError> {
        read_account_snapshot(&self.chain, snapshot, &self.address)
    }
}

/// The query of the ledger's record of an orderless transaction's nonce.
struct ReadNonce {
    chain: Chain,
    transaction: Arc<CheckedTransaction>,
}

impl Query for ReadNonce {
    type Output = Option<NonceSnapshot>;

    fn run(self, snapshot: &Snapshot) -> Result<Self::Output, StoreError> {
        snapshot.read_state(snapshot.ledger_info().version, |state| {
            NonceSnapshot::read(&self.chain, state, self.transaction.transaction())
        })
    }
}

/// The query whether a multisig account admits a transaction of its owner.
///
/// Only multisig payloads need the state of an account that does not sign.
struct CheckMultisig {
    chain: Chain,
    transaction: Arc<CheckedTransaction>,
}

impl Query for CheckMultisig {
    type Output = Result<(), Discard>;

    fn run(self, snapshot: &Snapshot) -> Result<Self::Output, StoreError> {
        let info = snapshot.ledger_info();
        snapshot.read_state(info.version, |state| {
            validate_multisig_for_admission(&self.chain, state, info, &self.transaction)
        })
    }
}
