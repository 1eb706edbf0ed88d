//! The kinds of messages, by which mailboxes count. Their names are shown to operators and stay.

use crate::{
    committer::messages::{
        BlockCommitted, BlocksDurable, ExecuteBlock, Finish, NotPending, SetPeers, Subscribe,
        SubscribeBlocks, TransactionsRemoved,
    },
    mempool::messages::{
        Batch, CheckCapacity, CheckPending, Close, GetGasPrice, GetPending, GetSavedSize,
        PullBatch, SetPaused, Submit,
    },
    sequencer::messages::{Start, Stop},
    storage::messages::{PruneDone, PruneStep, Read},
};
use actix::Message;
use ledger_store::Query;

/// What actors tell each other and are asked.
pub(crate) trait Counted: Message<Result = ()> + Send + 'static {
    /// As what it is counted.
    const KIND: Kind;
}

/// Names the kinds, each after the message that is one.
macro_rules! kinds {
    ($($message:ident $(<$query:ident>)? = $name:literal,)*) => {
        /// A kind of message: the place of its count.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Kind {
            $($message,)*
            /// A message of a test.
            #[cfg(test)]
            Test,
        }

        /// The names, in the order of [`Kind`].
        pub(super) const KINDS: &[&str] = &[$($name,)* #[cfg(test)] "test"];

        $(
            impl $(<$query: Query>)? Counted for $message $(<$query>)? {
                const KIND: Kind = Kind::$message;
            }
        )*
    };
}

kinds! {
    NotPending = "absent",
    CheckPending = "ask_absent",
    CheckCapacity = "ask_room",
    GetSavedSize = "ask_saved_bytes",
    Batch = "batch",
    BlockCommitted = "block_committed",
    BlocksDurable = "block_stored",
    Close = "close",
    SetPeers = "connect",
    TransactionsRemoved = "dropped",
    GetGasPrice = "estimate_gas",
    ExecuteBlock = "execute",
    Finish = "finish",
    PullBatch = "next_batch",
    SetPaused = "pause",
    GetPending = "pending_by_hash",
    PruneStep = "prune",
    PruneDone = "prune_done",
    Read<Q> = "read",
    Start = "start",
    Stop = "stop",
    Submit = "submit",
    Subscribe = "subscribe",
    SubscribeBlocks = "subscribe_blocks",
}
