//! Execution: a function of (state, block). `validate` is the prologue, `block` runs a block.

mod block;
mod status;
mod validate;

pub use block::{ExecuteError, execute_block};
pub use status::{Discard, ValidationStatus};
pub use validate::{AccountFacts, SEQUENCE_NUMBER_MAX, validate_for_admission};
