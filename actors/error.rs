//! Errors of the calls to a node, and the faults that end its work.
//!
//! Each variant has a cause that the caller can act on.

use ledger_crypto::HashValue;
use ledger_limits::REJECTIONS;
use ledger_store::StoreError;
use ledger_types::{Discard, LedgerInfo};
use std::{fmt, path::PathBuf, sync::Arc};

/// The error of a submission: the pool did not accept the transaction.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SubmitError {
    /// Validation rejected the transaction.
    #[error(transparent)]
    Invalid(#[from] Discard),
    /// A block has already taken another transaction with this sequence number from the pool.
    #[error(
        "transaction sequence number is {given}, current sequence number is {current}; used by \
         transaction {used_by}"
    )]
    SequenceNumberTooOld {
        /// Sequence number of the transaction.
        given: u64,
        /// Lowest sequence number that no block has taken.
        current: u64,
        /// Hash of the transaction in the block.
        used_by: HashValue,
    },
    /// The pool holds another transaction with the same sender and sequence number or nonce, which
    /// this transaction may not replace, with the reason.
    #[error("{0}")]
    InvalidUpdate(&'static str),
    /// The pool holds the same transaction with a different signature, and so with a different
    /// hash.
    #[error(
        "Transaction already in mempool with a different signature: wait for the pending transaction {pending}"
    )]
    OtherSignature {
        /// Hash of the transaction in the pool, for which the client can wait.
        pending: HashValue,
    },
    /// The pool is full.
    #[error("{reason}")]
    Full {
        /// The limit that was reached, in words.
        reason: String,
    },
    /// The account is at its own capacity. Transactions of other accounts are accepted.
    #[error("{reason}")]
    AccountFull {
        /// The limit that was reached, in words.
        reason: String,
    },
    /// The node could not process the submission: an actor is overloaded, the node is stopping, the
    /// store could not be read, or the ledger is not written at present.
    #[error(transparent)]
    Node(#[from] NodeError),
}

/// A limit that was reached: on waiting work, on requests in flight, or on their memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("overloaded: {limit} = {value}")]
#[non_exhaustive]
pub struct Overload {
    /// Name of the limit: its setting, if it has one.
    pub limit: &'static str,
    /// Value of the limit, in the unit that its name states.
    pub value: u64,
    /// Time after which a retry is useful, in seconds, at least 1.
    pub retry_after_secs: u64,
}

impl Overload {
    /// Creates an overload that lasts for milliseconds, until a queue drains, or until permits or
    /// memory are released. One second, the minimum of `Retry-After`, is long enough.
    pub fn brief(limit: &'static str, value: usize) -> Self {
        Self::new(limit, value as u64, 1)
    }

    /// Creates the overload of a rejected request, and counts the rejection in [`REJECTIONS`].
    pub fn new(limit: &'static str, value: u64, retry_after_secs: u64) -> Self {
        REJECTIONS.record(limit, value);
        Self {
            limit,
            value,
            retry_after_secs,
        }
    }
}

/// The error of a request to a node.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NodeError {
    /// The mailbox of an actor, or the queue of other threads, is full.
    #[error(transparent)]
    Overloaded(#[from] Overload),
    /// The node is stopping.
    #[error("the node is stopping")]
    Stopping,
    /// The newest block is durable, but the disk was too slow to apply it to the database for this
    /// read.
    #[error("the disk is too slow to read the newest block; retry later")]
    NotApplied,
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another node may know the transaction, and did not answer or is ahead of this one.
    #[error(
        "other nodes may know the transaction, and do not answer or are ahead of this one; retry \
         later"
    )]
    Unresolved,
    /// The ledger is not written at present, so the request cannot be fulfilled.
    #[error(transparent)]
    NotWritable(#[from] NotWritable),
}

/// The reason that the ledger is not written at present.
///
/// Durable blocks are still served, unless the store cannot be read either or its content is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotWritable {
    /// A write or a sync failed, or a file of the store was moved. Lasts until the next start.
    #[error(
        "the ledger cannot be written: {0}; committed data is served; repair the disk, then \
         restart the node"
    )]
    WriteFailed(Arc<str>),
    /// A read failed repeatedly. Lasts until the next start: the database neither reads nor writes,
    /// and serves only data that it has in memory.
    #[error(
        "the ledger can be neither read nor written: {0}; repair the disk, then restart the node"
    )]
    ReadFailed(Arc<str>),
    /// The results of this node differ from the ones that the validators decided. Lasts until
    /// another ledger replaces this one: a restart executes the same blocks and finds the same
    /// difference. Reads are rejected too, because a correct ledger may have other data.
    #[error(
        "the ledger of this node differs from the one of the validators: {0}; nothing is written \
         or served; keep the data directory, and restore the ledger from a backup or another node"
    )]
    Diverged(Arc<str>),
    /// The consensus engine has stopped, so no block is decided here. Lasts until the next start.
    #[error(
        "the consensus engine has stopped: {0}; committed data is served; repair the cause, then \
         restart the node"
    )]
    EngineStopped(Arc<str>),
    /// The disk has little space left. Ends without a restart when it has enough again.
    #[error("writes are paused: {0}; they resume when disk space is free")]
    LowDiskSpace(Arc<str>),
    /// The system clock has been too far ahead of the newest block since the start. Ends without a
    /// restart when the clock is corrected.
    #[error("writes are paused: {0}; they resume when the system clock is correct")]
    ClockUntrusted(Arc<str>),
}

impl NodeError {
    /// Returns the reason that the ledger is not written, if it is the cause of this error.
    ///
    /// A failed read of the disk is [`NotWritable::ReadFailed`]. Returns `None` for every
    /// other error.
    pub fn not_writable(&self) -> Option<NotWritable> {
        match self {
            Self::NotWritable(cause) => Some(cause.clone()),
            Self::Store(error) if error.is_failed_io() => {
                Some(NotWritable::ReadFailed(error.to_string().into()))
            }
            _ => None,
        }
    }
}

/// The error of a wait for a version of the ledger.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the newest version is {}: {cause}", ledger_info.version)]
pub struct VersionNotReached {
    /// Ledger info of the Head, which is below the version.
    pub ledger_info: LedgerInfo,
    /// The reason for which the wait ended or did not begin.
    pub cause: VersionWaitError,
}

/// The reason for which a wait for a version of the ledger ended without it, or did not begin.
#[derive(Debug, Clone, thiserror::Error)]
pub enum VersionWaitError {
    /// The version is more than [`VERSIONS_AHEAD_MAX`](crate::VERSIONS_AHEAD_MAX) above the Head.
    #[error("the version is too far ahead")]
    TooFarAhead,
    /// The Head did not have the version at the deadline.
    #[error("the wait timed out")]
    TimedOut,
    /// The node could not wait: too many clients wait, an actor is overloaded, the ledger is not
    /// written until a restart, or the node is stopping.
    #[error(transparent)]
    Node(#[from] NodeError),
}

/// The error of a change of the capacity of a mailbox or of a budget. The capacity is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TuneError {
    /// No actor has this name.
    #[error("there is no actor {name:?}; the actors are {}", enumerate(actors))]
    UnknownActor {
        /// The name that was given.
        name: String,
        /// Names of all actors.
        actors: Vec<&'static str>,
    },
    /// No budget has this name.
    #[error("there is no budget {name:?}; the budgets are {}", enumerate(budgets))]
    UnknownBudget {
        /// The name that was given.
        name: String,
        /// Names of all budgets.
        budgets: Vec<&'static str>,
    },
    /// The capacity is 0, with which the mailbox or queue would reject every request.
    #[error("a capacity is at least 1")]
    CapacityZero,
}

/// Returns a list of names as part of a sentence: `a, b and c`.
fn enumerate(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// The error of a start. The node is not running.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The caller runs outside an actix system, which the actors' threads need.
    #[error("the node must be started within an actix system")]
    NoSystem,
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file of the saved mempool could not be read. It is unchanged.
    #[error(
        "the saved mempool {} cannot be read: {source}; make it readable, or move it away to start \
         without its transactions",
        path.display()
    )]
    SavedPool {
        /// The file.
        path: PathBuf,
        /// Error of the read.
        source: std::io::Error,
    },
    /// A thread could not be started.
    #[error(
        "cannot start a thread: {0}; raise the limit on processes (`ulimit -u`, `pids.max` of the \
         cgroup)"
    )]
    Thread(#[source] std::io::Error),
}

/// The error of a stop that was not clean. The threads of the node are joined nevertheless.
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    /// A broken invariant had ended the work before the stop.
    #[error(transparent)]
    Failed(#[from] FatalError),
    /// A fault had ended the writing before the stop.
    #[error(transparent)]
    Storage(#[from] StorageFault),
    /// The pool could not be saved, and its transactions are lost.
    #[error(
        "{}{transactions} pending transactions could not be saved to {} and are lost: {source}",
        earlier_error(failed.as_deref()),
        path.display()
    )]
    SavePool {
        /// The file.
        path: PathBuf,
        /// Number of lost transactions.
        transactions: usize,
        /// Error of the save.
        source: std::io::Error,
        /// Description of the error that had ended the work before the stop, if there was one.
        failed: Option<String>,
    },
    /// A thread ended by a panic.
    #[error("the thread {0} panicked")]
    Panicked(String),
}

/// Returns the start of a message that follows an earlier error, or an empty text without one.
fn earlier_error(failed: Option<&str>) -> String {
    failed.map_or_else(String::new, |error| format!("{error}; and then "))
}

/// A broken invariant. Responses could be wrong after it, so the process ends.
///
/// The next start continues from the last durable block.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{thread}: {cause}")]
pub struct FatalError {
    /// Name of the thread or actor that detected it.
    pub thread: &'static str,
    /// Description of the broken invariant.
    pub cause: Arc<str>,
}

/// A fault of the disk, or of the ledger on it. No block becomes durable until the next start. The
/// node serves durable blocks until it is stopped, unless the ledger is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{thread}: {cause}")]
pub struct StorageFault {
    /// Name of the thread or actor whose operation failed.
    pub thread: &'static str,
    /// Its kind.
    pub kind: FaultKind,
    /// Message of the error.
    pub cause: Arc<str>,
}

/// The kind of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// A write or a sync failed. Durable blocks stay readable.
    Write,
    /// The path of the database or of the log leads to it no more, so the next start would not find
    /// what is written. Durable blocks stay readable.
    FileMoved,
    /// A read failed. The database then neither reads nor writes, and serves only data that it has
    /// in memory.
    Read,
    /// The results of this node differ from the ones that the validators decided. The disk works,
    /// and its content is wrong.
    Diverged,
    /// The consensus engine has stopped. Nothing is wrong with the disk.
    EngineStopped,
}

impl StorageFault {
    /// Creates the fault of an error on `thread`, or returns `None` if the disk is not the cause of
    /// the error. `kind` is that of the operation, unless a file was moved.
    pub(crate) fn of(thread: &'static str, kind: FaultKind, error: &StoreError) -> Option<Self> {
        error.is_failed_io().then(|| Self {
            thread,
            kind: match error {
                StoreError::FileMoved { .. } => FaultKind::FileMoved,
                _ => kind,
            },
            cause: error.to_string().into(),
        })
    }

    /// Creates the fault of results on `thread` that differ from the decided ones.
    pub(crate) fn diverged(thread: &'static str, error: &impl fmt::Display) -> Self {
        Self {
            thread,
            kind: FaultKind::Diverged,
            cause: error.to_string().into(),
        }
    }
}

/// The reason that a pending transaction was removed from the pool without being executed.
///
/// Its `Display` ends the message of the 404 for such a transaction
/// (docs/use/interface.md#expiration).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemovalReason {
    /// The transaction's expiration, or the pool's time to live, has passed.
    Expired {
        /// Time of the expiration, in Unix seconds.
        at_secs: u64,
    },
    /// The pool needed its capacity for another transaction, as the text explains.
    Evicted(String),
    /// A transaction with a higher gas price replaced it. Holds the hash of that transaction.
    Replaced(HashValue),
    /// The prologue of a block rejected it.
    Rejected(Discard),
}

impl fmt::Display for RemovalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired { at_secs } => write!(f, "expired at {at_secs}"),
            Self::Evicted(explanation) => write!(f, "evicted {explanation}"),
            Self::Replaced(by) => write!(f, "replaced by {by}"),
            Self::Rejected(discard) => write!(f, "rejected: {}", discard.status),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_the_actors_in_the_error_for_an_unknown_one() {
        let message = |actors: &[&'static str]| {
            let error = TuneError::UnknownActor {
                name: "nobody".to_owned(),
                actors: actors.to_vec(),
            };
            error.to_string()
        };
        assert_eq!(
            message(&["mempool", "sequencer", "committer", "storage", "pruner"]),
            "there is no actor \"nobody\"; the actors are mempool, sequencer, committer, storage \
             and pruner"
        );
        assert!(message(&["mempool"]).ends_with("the actors are mempool"));
    }
}
