//! Transactions: reading, submission, simulation and encoding.

pub(crate) mod auxiliary_info;
pub(crate) mod batch;
pub(crate) mod encode;
pub(crate) mod list;
pub(crate) mod read;
pub(crate) mod simulate;
pub(crate) mod submit;
pub(crate) mod summaries;
