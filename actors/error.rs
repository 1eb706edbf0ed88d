//! Errors of the node. Each variant has a cause that the caller can act on.

use ledger_crypto::HashValue;
use ledger_store::StoreError;
use ledger_types::Discard;
use std::{fmt, path::PathBuf, sync::Arc};

/// The reason why a submission was not added to the mempool.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SubmitError {
    /// Validation rejected the transaction.
    #[error(transparent)]
    Invalid(#[from] Discard),
    /// A block already holds another transaction with this sequence number.
    #[error("transaction sequence number is {given}, current sequence number is {current}")]
    SequenceNumberTooOld {
        /// Sequence number of the transaction.
        given: u64,
        /// Lowest sequence number that the mempool accepts.
        current: u64,
    },
    /// A pending transaction has the same sender and sequence number or nonce, and this one may not
    /// replace it, for this reason.
    #[error("{0}")]
    InvalidUpdate(&'static str),
    /// The same transaction is pending with a different signature, hence with a different hash.
    #[error(
        "Transaction already in mempool with a different signature: wait for the pending transaction {pending}"
    )]
    OtherSignature {
        /// Hash of the pending transaction, for which the client can wait.
        pending: HashValue,
    },
    /// The mempool is full.
    #[error("{reason}")]
    Full {
        /// The limit that is reached.
        reason: String,
    },
    /// The account has the maximum number of pending transactions. Other accounts are not affected.
    #[error("{reason}")]
    AccountFull {
        /// The limit that is reached.
        reason: String,
    },
    /// The node could not decide.
    #[error(transparent)]
    Node(#[from] NodeError),
}

/// The reason why a request has no response.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NodeError {
    /// Too many requests wait for an actor or for the threads of a queue.
    #[error("the {actor} has too many requests waiting; try again soon")]
    Overloaded {
        /// Name of the actor or of the threads.
        actor: &'static str,
    },
    /// The node is stopping.
    #[error("the node is stopping")]
    Stopping,
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The ledger is not written at the moment, so the request cannot be fulfilled.
    #[error(transparent)]
    StorageUnavailable(#[from] StorageUnavailable),
}

/// The reason why the ledger is not written at the moment. Durable data is served, unless it cannot be
/// read either.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorageUnavailable {
    /// A write or a sync failed. Lasts until the next start.
    #[error(
        "the ledger cannot be written: {0}; what is committed can be read, and the node needs a restart when its \
         disk is well again"
    )]
    WriteFailed(Arc<str>),
    /// A read failed, also when it was repeated. Until the next start the database neither reads nor
    /// writes, except for what it has in memory.
    #[error(
        "the ledger can be neither read nor written: {0}; restart the node when its disk is well again"
    )]
    ReadFailed(Arc<str>),
    /// The disk has little space left. Ends by itself when there is space again.
    #[error(
        "the ledger is not written at the moment: {0}; it goes on by itself when there is room"
    )]
    LowDiskSpace(Arc<str>),
    /// The system clock has been too far ahead of the newest block to be believed since the start. Ends
    /// by itself when the clock is right.
    #[error(
        "the ledger is not written at the moment: {0}; the node continues by itself when the clock is right"
    )]
    ClockUnbelieved(Arc<str>),
}

impl NodeError {
    /// Returns the state of the storage, if it is the reason of the error. After a fault of the disk, the
    /// same request fails until the next start.
    pub fn storage_unavailable(&self) -> Option<StorageUnavailable> {
        match self {
            Self::StorageUnavailable(cause) => Some(cause.clone()),
            Self::Store(error) if error.is_failed_io() => {
                Some(StorageUnavailable::ReadFailed(error.to_string().into()))
            }
            _ => None,
        }
    }
}

/// The reason why the capacity of a mailbox was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TuneError {
    /// There is no actor with this name.
    #[error(
        "there is no actor {0:?}; the actors are mempool, sequencer, committer, storage and pruner"
    )]
    UnknownActor(String),
    /// A capacity of 0 would reject every request.
    #[error("a mailbox capacity is at least 1")]
    CapacityZero,
}

/// The reason why a node does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The caller runs outside an actix system, to which the threads of actors belong.
    #[error("the node must be started within an actix system")]
    NoSystem,
    /// A setting is 0 and must not be.
    #[error("{key} must be at least 1")]
    ZeroSetting {
        /// Key of the setting in the configuration.
        key: &'static str,
    },
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system rejected a read of the saved mempool. The file is unchanged.
    #[error(
        "the saved mempool {} cannot be read: {source}; start again when it can be read, or move it away to start \
         without its transactions",
        path.display()
    )]
    SavedPool {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A thread could not be started.
    #[error(
        "a thread could not be started: {0}; raise the limit on processes (`ulimit -u`, `pids.max` of the cgroup)"
    )]
    Thread(#[source] std::io::Error),
}

/// The reason why a node did not stop cleanly. Its threads are joined in any case.
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    /// A broken invariant had ended the work before.
    #[error(transparent)]
    Failed(#[from] FatalError),
    /// A fault of the disk had ended writing before.
    #[error(transparent)]
    Storage(#[from] StorageFault),
    /// The mempool could not be saved, and its transactions are lost.
    #[error(
        "{}{transactions} pending transactions could not be saved to {} and are lost: {source}",
        before(failed.as_deref()),
        path.display()
    )]
    SavePool {
        /// Path of the file.
        path: PathBuf,
        /// Number of lost transactions.
        transactions: usize,
        /// Error of the system.
        source: std::io::Error,
        /// Description of the error that had ended the work before, if one had.
        failed: Option<String>,
    },
    /// A thread ended by a panic.
    #[error("the thread {0} ended by a panic")]
    Panicked(String),
}

/// Returns the text for an error that came before another one.
fn before(failed: Option<&str>) -> String {
    failed.map_or_else(String::new, |error| format!("{error}; and then "))
}

/// A broken invariant. Nothing that the node would respond can be trusted, so the process ends.
///
/// The next start continues from the last durable block.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{thread}: {cause}")]
pub struct FatalError {
    /// Name of the thread or actor that found it.
    pub thread: &'static str,
    /// Description of the broken invariant.
    pub cause: Arc<str>,
}

/// A fault of the disk. Nothing becomes durable until the next start, but the node serves what is
/// durable until it is stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{thread}: {cause}")]
pub struct StorageFault {
    /// Name of the thread or actor that met it.
    pub thread: &'static str,
    /// The operation that failed.
    pub kind: FaultKind,
    /// Error of the store in words.
    pub cause: Arc<str>,
}

/// The operation that failed by a fault of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// A write or a sync. What is durable stays readable.
    Write,
    /// A read. The database then neither reads nor writes, except for what it has in memory.
    Read,
}

impl StorageFault {
    /// Creates the fault of an error that `thread` met, or returns `None` if the disk is not its
    /// cause.
    pub(crate) fn of(thread: &'static str, kind: FaultKind, error: &StoreError) -> Option<Self> {
        error.is_failed_io().then(|| Self {
            thread,
            kind,
            cause: error.to_string().into(),
        })
    }
}

/// The reason why a pending transaction was removed without being executed. Its `Display` is the end
/// of the message of the 404 of such a transaction (docs/interface.md#rule-18).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemovalReason {
    /// Its expiration time, or the mempool's time to live, has passed.
    Expired {
        /// Time at which it expired, in seconds since the Unix epoch.
        at_secs: u64,
    },
    /// The mempool needed its capacity for another transaction, which the text describes.
    Evicted(String),
    /// A transaction with a higher gas price replaced it.
    Replaced(HashValue),
    /// The prologue of a block rejected it.
    Rejected(Discard),
}

impl fmt::Display for RemovalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired { at_secs } => write!(f, "expired at {at_secs}"),
            Self::Evicted(why) => write!(f, "evicted {why}"),
            Self::Replaced(by) => write!(f, "replaced by {by}"),
            Self::Rejected(discard) => write!(f, "rejected: {}", discard.status),
        }
    }
}
