//! Messages to each actor, and the types that several actors share.

pub(crate) mod broadcast;
pub(crate) mod commit_queue;
pub(crate) mod committer;
pub(crate) mod consensus;
pub(crate) mod durable_reader;
pub(crate) mod mempool;
pub(crate) mod notifier;
pub(crate) mod proposed_block;
pub(crate) mod pruner;
pub(crate) mod sequencer;
pub(crate) mod storage;
pub(crate) mod wait;
