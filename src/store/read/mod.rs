//! The read path: views of the database, snapshots, and queries on them.

pub(crate) mod accounts;
pub(crate) mod committed;
pub(crate) mod decided;
pub(crate) mod events;
pub(crate) mod load;
pub(crate) mod pager;
pub(crate) mod query;
pub(crate) mod reader;
pub(crate) mod snapshot;
pub(crate) mod state_keys;
pub(crate) mod transactions;
pub(crate) mod usage;
pub(crate) mod view;
