//! Published state, which has one owner and many readers, and the blocks and transactions in it.

pub(crate) mod account_cache;
pub(crate) mod committed;
pub(crate) mod directory_size;
pub(crate) mod flight_recorder;
pub(crate) mod head;
pub(crate) mod prune_horizon;
pub(crate) mod storage_health;
