//! Middleware around the handlers of all routes.

pub(crate) mod admission;
pub(crate) mod compression;
pub(crate) mod cors;
pub(crate) mod head;
pub(crate) mod trace;
pub(crate) mod vary;
