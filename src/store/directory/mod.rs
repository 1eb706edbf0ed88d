//! The data directory: names and their sync, lock, format, and checksum verification.

pub(crate) mod error;
pub(crate) mod flight_files;
pub(crate) mod format;
pub(crate) mod inspect;
pub(crate) mod lock;
pub(crate) mod names;
pub(crate) mod open;
