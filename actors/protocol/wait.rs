//! Identifiers, events and outcomes of waits for transactions.

use crate::{RemovalReason, state::committed::CommittedTransaction};
use ledger_crypto::HashValue;
use ledger_types::{ExecutionStatus, LedgerInfo};
use std::{ops::Deref, slice, sync::Arc};
use tokio::sync::mpsc;

/// Identifier of a waiter in the committer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaiterId {
    /// A wait for one transaction. The committer assigns the number.
    One(u64),
    /// A wait for many transactions. The handle of the node assigns the number.
    Many(u64),
}

/// The hashes of a wait. A single one needs no allocation.
#[derive(Clone, Debug)]
pub(crate) enum Hashes {
    One(HashValue),
    Many(Arc<[HashValue]>),
}

impl Deref for Hashes {
    type Target = [HashValue];

    fn deref(&self) -> &[HashValue] {
        match self {
            Self::One(hash) => slice::from_ref(hash),
            Self::Many(hashes) => hashes,
        }
    }
}

/// Outcome of a wait for one transaction.
#[derive(Debug)]
pub(crate) enum WaitOutcome {
    /// The transaction is durable. The ledger info is that of the first `Head` that includes the
    /// block of the transaction.
    Committed(LedgerInfo, CommittedTransaction),
    /// The transaction was removed from the mempool without being executed.
    Removed(RemovalReason),
    /// The mempool does not hold the transaction. If it was removed and the mempool remembers the
    /// removal, the reason is included. If it was committed, the `Head` or the store has it.
    NotPending(Option<RemovalReason>),
}

/// A transaction that the mempool does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Absent {
    /// Index of its hash in the wait.
    pub(crate) index: u32,
    /// Reason of its removal from the mempool, if that is recorded.
    pub(crate) reason: Option<RemovalReason>,
}

/// A transaction of a wait for many that a block made durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommittedHash {
    /// Index of its hash in the wait.
    pub(crate) index: u32,
    pub(crate) version: u64,
    /// Status of the execution, unless it succeeded. Boxed, because most executions succeed.
    pub(crate) failure: Option<Box<ExecutionStatus>>,
}

impl CommittedHash {
    /// Creates the value with the status of an execution.
    pub(crate) fn new(index: u32, version: u64, status: &ExecutionStatus) -> Self {
        let failure = (!status.is_success()).then(|| Box::new(status.clone()));
        Self {
            index,
            version,
            failure,
        }
    }
}

/// An event of a wait for many transactions. A wait receives its events in the order in which the
/// committer sends them, and each of its hashes in at most one of them.
#[derive(Debug)]
pub(crate) enum WaitEvent {
    /// A block made these transactions durable. The versions ascend, also over all events.
    Committed(Vec<CommittedHash>),
    /// The mempool removed these transactions without their execution.
    Removed(Vec<Absent>),
    /// The mempool has checked all hashes, and does not hold these. Sent once.
    Checked {
        absent: Vec<Absent>,
        /// Version of the `Head`. All commits up to it precede the event, all others follow.
        version: u64,
    },
    /// The committer has forgotten the wait. It has sent all commits up to the version of this
    /// ledger info. The last event, which follows [`Self::Checked`].
    Ended(LedgerInfo),
}

/// The sending side of the events of a wait for many.
///
/// The channel is unbounded, but holds each hash of the wait at most once, and two events more.
pub(crate) type WaitEvents = mpsc::UnboundedSender<WaitEvent>;
