//! The kinds of messages, by which mailboxes count. Their names are shown to operators and stay.

use crate::{
    committer::messages::{
        Absent, BlockCommitted, BlocksStored, Connect, Dropped, Execute, Finish, Subscribe,
        SubscribeBlocks,
    },
    mempool::messages::{
        AskAbsent, AskRoom, AskSavedBytes, Batch, Close, EstimateGas, NextBatch, Pause,
        PendingByHash, Submit,
    },
    sequencer::messages::{Start, Stop},
    storage::messages::{Prune, PruneDone, Read},
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
    Absent = "absent",
    AskAbsent = "ask_absent",
    AskRoom = "ask_room",
    AskSavedBytes = "ask_saved_bytes",
    Batch = "batch",
    BlockCommitted = "block_committed",
    BlocksStored = "block_stored",
    Close = "close",
    Connect = "connect",
    Dropped = "dropped",
    EstimateGas = "estimate_gas",
    Execute = "execute",
    Finish = "finish",
    NextBatch = "next_batch",
    Pause = "pause",
    PendingByHash = "pending_by_hash",
    Prune = "prune",
    PruneDone = "prune_done",
    Read<Q> = "read",
    Start = "start",
    Stop = "stop",
    Submit = "submit",
    Subscribe = "subscribe",
    SubscribeBlocks = "subscribe_blocks",
}
