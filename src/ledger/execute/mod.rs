//! Execution: a function of (state, block).
//!
//! `validate` decides whether a transaction is taken at all; `user` runs one; `block` runs a block;
//! `context` is what functions of the framework see; `gas` counts.

mod block;
mod context;
mod failure;
mod gas;
mod status;
mod user;
mod validate;

pub use block::{ExecuteError, execute_block};
pub(crate) use block::{Output, commit_output};
pub(crate) use context::BlockState;
pub use context::Context;
pub use failure::{Failure, MiscellaneousStatus};
pub use status::{Discard, ValidationStatus};
pub(crate) use validate::validate_size;
pub use validate::{AccountFacts, SEQUENCE_NUMBER_MAX, validate_for_admission};
