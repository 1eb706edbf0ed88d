//! The file in which a graceful stop keeps the pool for the next start.

pub(crate) mod file;
pub(crate) mod restore;
pub(crate) mod save;
