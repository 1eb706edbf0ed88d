//! Values that several parts of a node share: each is written by one owner and read by others.

pub(crate) mod account_cache;
pub(crate) mod committed;
pub(crate) mod head;
pub(crate) mod prune_horizon;
pub(crate) mod storage_health;
