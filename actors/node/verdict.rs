//! Verdicts: whether a transaction is committed, pending, or can still be committed
//! (docs/use/interface.md#verdicts).
//!
//! The order of the look-ups makes a verdict sound:
//!
//! 1. A transaction that is committed needs no check of its signatures, because its hash covers
//!    them.
//! 2. The mempool is asked before the snapshot is taken. A transaction that leaves the mempool by
//!    its commit is in every later snapshot, because the committer publishes the Head before it
//!    notifies the mempool.
//! 3. One snapshot decides everything else. Its Head is durable, so a final verdict holds after
//!    every crash. A block that is executed and not yet published is in no snapshot, and later
//!    than all of them.

use super::{
    handle::{NodeHandle, point_read, request},
    lookup::recently_committed,
};
use crate::{
    Head, Lane, NodeError, SubmitError, TransactionStatus,
    node::resubmit::NONCE_SEARCH_ROWS_MAX,
    protocol::mempool::{GetPending, PendingStatus},
};
use ledger_crypto::HashValue;
use ledger_execution::{
    BlockCause, Blocked, ReplayHistory, UncheckedTransaction, Verdict, VerdictInputs,
};
use ledger_limits::{ClientKey, Demand, Work, WorkKind};
use ledger_store::{OutcomeLookup, Query, Snapshot, StoreError};
use ledger_types::{
    CheckedTransaction, ExecutionStatus, LedgerInfo, ReplayProtector, SignedTransaction,
    transaction::Executable,
};
use ledger_vm::Chain;
use std::sync::Arc;

/// Number of rows that a verdict reads beside those of accounts: the hash, the oldest block, and
/// the user of the sequence number.
const FEW_ROWS: usize = 4;

/// Number of rows of an account that validation reads: the account and its coins.
const ACCOUNT_ROWS: usize = 2;

/// Maximum number of accounts that are read on the requesting thread: a sender and a fee payer.
const INLINE_ACCOUNTS_MAX: usize = 2;

/// The verdict about a transaction, at one version of the ledger.
#[derive(Clone, Debug)]
pub enum TransactionVerdict {
    /// The transaction is committed inside the window.
    Committed {
        /// Version of the transaction.
        version: u64,
        /// Status of its execution.
        status: ExecutionStatus,
    },
    /// The transaction is in the mempool, or its block is not durable yet.
    Pending,
    /// The transaction is neither committed nor pending.
    Uncommitted(Verdict),
    /// The transaction was committed at a version that is pruned, or may have been.
    Pruned {
        /// Version of the transaction, if it is known.
        version: Option<u64>,
    },
}

impl NodeHandle {
    /// Returns the verdict about a transaction at the version of the returned ledger info, to
    /// `client`. Its signatures are checked in `lane`, unless it is committed.
    ///
    /// `hash` is that of the transaction, or `None` if [`Self::may_be_committed`] excluded a
    /// commit.
    ///
    /// # Errors
    ///
    /// Returns [`SubmitError::Node`] if an actor, the lane or the storage has too many requests,
    /// the node is stopping, or the store cannot be read.
    pub async fn verdict(
        &self,
        transaction: SignedTransaction,
        hash: Option<HashValue>,
        lane: Lane,
        client: ClientKey,
    ) -> Result<(LedgerInfo, TransactionVerdict), SubmitError> {
        if let Some(hash) = hash
            && let Some(found) = self.verdict_of_committed(hash, client).await?
        {
            return Ok(found);
        }
        let unchecked = UncheckedTransaction::from(&transaction);
        match self.check_signatures(transaction, lane, client).await {
            Ok(checked) => Ok(self.verdict_of_checked(Arc::new(checked), client).await?),
            Err(SubmitError::Invalid(discard)) => {
                let ledger_info = *self.head().ledger_info();
                let verdict = unchecked.decide(self.chain(), &discard, &ledger_info);
                Ok((ledger_info, TransactionVerdict::Uncommitted(verdict)))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the verdict about the transaction `hash` if it is committed.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::read_few`].
    pub(crate) async fn verdict_of_committed(
        &self,
        hash: HashValue,
        client: ClientKey,
    ) -> Result<Option<(LedgerInfo, TransactionVerdict)>, NodeError> {
        let head = self.head();
        if let Some(verdict) = of_recent(&head, &hash)? {
            return Ok(Some((*head.ledger_info(), verdict)));
        }
        let find = move |snapshot: &Snapshot| snapshot.outcome_by_hash(&hash);
        let (ledger_info, outcome) = self.read_few(point_read(client), find).await?;
        Ok(outcome.map(|outcome| (ledger_info, outcome.into())))
    }

    /// Returns the verdict about a transaction with valid signatures.
    ///
    /// The filter applies last: what the ledger has decided is not the node's to change, and a
    /// pending transaction stays when the filter changes. A transaction that can still commit is
    /// pending if another node of the chain holds it.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError`] if an actor has too many requests, the node is stopping, or the store
    /// cannot be read.
    pub async fn verdict_of_checked(
        &self,
        transaction: Arc<CheckedTransaction>,
        client: ClientKey,
    ) -> Result<(LedgerInfo, TransactionVerdict), NodeError> {
        let (ledger_info, verdict) = self.verdict_here(&transaction, client).await?;
        let is_undecided = matches!(
            verdict,
            TransactionVerdict::Uncommitted(Verdict::CanCommit(_) | Verdict::Blocked(_))
        );
        // The verdict of this node holds whatever the others know, so one that cannot be reached
        // is no error.
        let is_elsewhere = is_undecided
            && match self.is_elsewhere(transaction.hash(), client).await {
                Err(NodeError::Unresolved) => false,
                asked => asked?,
            };
        if !is_elsewhere {
            return Ok((ledger_info, verdict));
        }
        let (ledger_info, verdict) = self.verdict_here(&transaction, client).await?;
        Ok(match verdict {
            TransactionVerdict::Uncommitted(Verdict::CanCommit(_) | Verdict::Blocked(_)) => {
                (ledger_info, TransactionVerdict::Pending)
            }
            decided => (ledger_info, decided),
        })
    }

    /// Returns the verdict about a transaction with valid signatures, as this node alone knows it.
    async fn verdict_here(
        &self,
        transaction: &Arc<CheckedTransaction>,
        client: ClientKey,
    ) -> Result<(LedgerInfo, TransactionVerdict), NodeError> {
        let hash = transaction.hash();
        let pending = request(&self.node().mailboxes.mempool, |reply| GetPending {
            hash,
            reply,
        });
        let is_pending = matches!(pending.await?, PendingStatus::Pending(_));
        let (ledger_info, found) = self.decide(transaction, client).await?;
        let undecided = match found {
            TransactionVerdict::Uncommitted(Verdict::CanCommit(_) | Verdict::Blocked(_))
                if is_pending =>
            {
                return Ok((ledger_info, TransactionVerdict::Pending));
            }
            TransactionVerdict::Uncommitted(Verdict::CanCommit(can_commit)) => can_commit,
            decided => return Ok((ledger_info, decided)),
        };
        let verdict = match self.check_filter(transaction.transaction()) {
            Ok(()) => Verdict::CanCommit(undecided),
            Err(filtered) => Verdict::Blocked(Blocked::new(BlockCause::Filter, &filtered)),
        };
        Ok((ledger_info, TransactionVerdict::Uncommitted(verdict)))
    }

    /// Returns the verdict of one snapshot.
    async fn decide(
        &self,
        transaction: &Arc<CheckedTransaction>,
        client: ClientKey,
    ) -> Result<(LedgerInfo, TransactionVerdict), NodeError> {
        let query = Decide {
            chain: self.chain().clone(),
            transaction: Arc::clone(transaction),
            clock_secs: self.node().clock.now_secs(),
        };
        let raw = transaction.raw();
        let authenticator = &transaction.transaction().authenticator;
        let signers = 1 + authenticator.secondary_signer_addresses().len();
        let accounts = signers + usize::from(authenticator.fee_payer().is_some());
        let rows = accounts.saturating_mul(ACCOUNT_ROWS) + FEW_ROWS;
        if let ReplayProtector::Nonce(_) = raw.replay_protector() {
            let demand = Demand::rows(rows + NONCE_SEARCH_ROWS_MAX);
            let work = Work {
                client,
                ..Work::of_node(WorkKind::Page, demand)
            };
            return self.read(work, query).await;
        }
        let work = Work {
            demand: Demand::rows(rows),
            ..point_read(client)
        };
        let is_multisig = matches!(raw.payload.executable(), Ok(Executable::Multisig { .. }));
        if accounts > INLINE_ACCOUNTS_MAX || is_multisig {
            return self.read(work, query).await;
        }
        self.read_few(work, query).await
    }
}

/// Returns the verdict about the transaction `hash` if one of the Head's recent blocks holds it.
fn of_recent(head: &Head, hash: &HashValue) -> Result<Option<TransactionVerdict>, StoreError> {
    let Some((_, TransactionStatus::Committed(committed))) = recently_committed(head, hash) else {
        return Ok(None);
    };
    Ok(Some(TransactionVerdict::Committed {
        version: committed.version,
        status: committed.content()?.info.v0().status.clone(),
    }))
}

impl From<OutcomeLookup> for TransactionVerdict {
    fn from(outcome: OutcomeLookup) -> Self {
        match outcome {
            OutcomeLookup::InWindow { version, status } => Self::Committed { version, status },
            OutcomeLookup::Pruned { version } => Self::Pruned {
                version: Some(version),
            },
        }
    }
}

/// The query of the verdict about a transaction with valid signatures.
struct Decide {
    chain: Chain,
    transaction: Arc<CheckedTransaction>,
    /// The ledger's time before the snapshot is taken, in Unix seconds.
    clock_secs: u64,
}

impl Query for Decide {
    type Output = TransactionVerdict;

    fn run(self, snapshot: &Snapshot) -> Result<TransactionVerdict, StoreError> {
        let Self {
            chain,
            transaction,
            clock_secs,
        } = self;
        if let Some(outcome) = snapshot.outcome_by_hash(&transaction.hash())? {
            return Ok(outcome.into());
        }
        let (info, raw) = (snapshot.ledger_info(), transaction.raw());
        let inputs = snapshot.read_state(info.version, |state| {
            VerdictInputs::read(&chain, state, info, &transaction)
        })?;
        let user = if inputs.is_protector_used(raw) {
            let protector = raw.replay_protector();
            snapshot.hash_by_protector(&raw.sender, protector, NONCE_SEARCH_ROWS_MAX)?
        } else {
            None
        };
        let history = ReplayHistory {
            user,
            oldest_secs: oldest_secs(snapshot)?,
        };
        let verdict = inputs.decide(&chain, &transaction, &history, clock_secs);
        let pruned = TransactionVerdict::Pruned { version: None };
        Ok(verdict.map_or(pruned, TransactionVerdict::Uncommitted))
    }
}

/// Returns the time of the oldest readable block, in Unix seconds, or `None` if no version is
/// pruned.
fn oldest_secs(snapshot: &Snapshot) -> Result<Option<u64>, StoreError> {
    let info = snapshot.ledger_info();
    if info.oldest_version == 0 {
        return Ok(None);
    }
    let height = info.oldest_block_height;
    let missing = || StoreError::Inconsistent(format!("the oldest block {height} is missing"));
    let block = snapshot.block(height)?.ok_or_else(missing)?;
    Ok(Some(block.header.timestamp_usecs / 1_000_000))
}
