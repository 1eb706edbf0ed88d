//! What can go wrong between a caller and the actors, each with a cause the caller can act on.

use ledger_crypto::HashValue;
use ledger_store::StoreError;
use ledger_types::Discard;
use std::{fmt, path::PathBuf, sync::Arc};

/// Why a transaction is not in the pool.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SubmitError {
    /// Validation refused it.
    #[error(transparent)]
    Invalid(#[from] Discard),
    /// The pool has given this sequence number to a block already.
    #[error("transaction sequence number is {given}, current sequence number is {current}")]
    SequenceNumberTooOld {
        /// The transaction's.
        given: u64,
        /// The lowest that the pool would still take.
        current: u64,
    },
    /// The pool holds another transaction with the same sender and sequence number or nonce, which
    /// this transaction may not replace; the text is the reason.
    #[error("{0}")]
    InvalidUpdate(&'static str),
    /// The pool holds the same transaction with a different signature, hence under a different hash.
    #[error(
        "Transaction already in mempool with a different signature: wait for the pending transaction {pending}"
    )]
    OtherSignature {
        /// Hash of the transaction in the pool, on which the client can wait.
        pending: HashValue,
    },
    /// The pool is full.
    #[error("{reason}")]
    Full {
        /// Which limit was met.
        reason: String,
    },
    /// The account's share of the pool is full; others still come in.
    #[error("{reason}")]
    AccountFull {
        /// Which limit was met.
        reason: String,
    },
    /// The node could not look: an actor is overloaded, the node is stopping, or the store failed.
    #[error(transparent)]
    Node(#[from] NodeError),
}

/// Why a question has no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NodeError {
    /// Too many requests wait for this actor.
    #[error("the {actor} has too many requests waiting; try again soon")]
    Overloaded {
        /// The actor's name.
        actor: &'static str,
    },
    /// The node is stopping.
    #[error("the node is stopping")]
    Stopping,
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing is written at the moment, so what was asked for cannot come about.
    #[error(transparent)]
    StorageUnavailable(#[from] StorageUnavailable),
}

/// Why the ledger is not written at the moment. What is durable is served all the same, unless it cannot be
/// read either.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorageUnavailable {
    /// A write or a sync failed. It stays so until the next start.
    #[error(
        "the ledger cannot be written: {0}; what is committed can be read, and the node needs a restart when its \
         disk is well again"
    )]
    WriteFailed(Arc<str>),
    /// A read failed, again and again. The database then reads and writes no more until the next start, but for
    /// what it has in memory.
    #[error(
        "the ledger can be neither read nor written: {0}; restart the node when its disk is well again"
    )]
    ReadFailed(Arc<str>),
    /// The disk has little room left. It is over by itself when there is room again.
    #[error(
        "the ledger is not written at the moment: {0}; it goes on by itself when there is room"
    )]
    LowDiskSpace(Arc<str>),
    /// The system clock is too far ahead of the newest block to be believed, since the start. Ends by itself when
    /// the clock is right.
    #[error(
        "the ledger is not written at the moment: {0}; the node continues by itself when the clock is right"
    )]
    ClockUnbelieved(Arc<str>),
}

impl NodeError {
    /// What it says of the disk, if that is why there is no answer: the same question has none until the next
    /// start.
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

/// Why a mailbox was not tuned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TuneError {
    /// There is no such actor.
    #[error(
        "there is no actor {0:?}; the actors are mempool, sequencer, committer, storage and pruner"
    )]
    UnknownActor(String),
    /// A capacity of 0 would refuse everything.
    #[error("a mailbox capacity is at least 1")]
    CapacityZero,
}

/// Why a node does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The caller runs outside an actix system, which the actors' threads belong to.
    #[error("the node must be started within an actix system")]
    NoSystem,
    /// A setting is below its smallest value; the text names the key.
    #[error("{key} must be at least 1")]
    ZeroSetting {
        /// The key as it stands in the configuration.
        key: &'static str,
    },
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system did not let the saved mempool be read. The file is unchanged.
    #[error(
        "the saved mempool {} cannot be read: {source}; start again when it can be read, or move it away to start \
         without its transactions",
        path.display()
    )]
    SavedPool {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A thread could not be started.
    #[error(
        "a thread could not be started: {0}; raise the limit on processes (`ulimit -u`, `pids.max` of the cgroup)"
    )]
    Thread(#[source] std::io::Error),
}

/// Why a node did not stop cleanly. Its threads are joined all the same.
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    /// A fatal error had ended the work before.
    #[error(transparent)]
    Failed(#[from] FatalError),
    /// A fault of the disk had ended the writing before.
    #[error(transparent)]
    Storage(#[from] StorageFault),
    /// The pool could not be saved: pending transactions are lost.
    #[error(
        "{}{transactions} pending transactions could not be saved to {} and are lost: {source}",
        before(failed.as_deref()),
        path.display()
    )]
    SavePool {
        /// The file.
        path: PathBuf,
        /// How many are lost.
        transactions: usize,
        /// What the system said.
        source: std::io::Error,
        /// Description of the error that had ended the work before, if one had.
        failed: Option<String>,
    },
    /// A thread ended by a panic.
    #[error("the thread {0} ended by a panic")]
    Panicked(String),
}

/// The words of a failure that came before another.
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

/// The reason why a pending transaction left the pool without being executed. Its `Display` is the end
/// of the message of the 404 of such a transaction (docs/interface.md#rule-18).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemovalReason {
    /// Its own expiration, or the pool's time to live, has passed.
    Expired {
        /// Unix seconds.
        at_secs: u64,
    },
    /// The pool needed its place; the text says for what.
    Evicted(String),
    /// A transaction with a higher gas price took its place.
    Replaced(HashValue),
    /// A block's prologue refused it.
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
