//! Persistence of the pool between a graceful stop and the next start.

pub(crate) mod file;
pub(crate) mod restore;
pub(crate) mod save;
