//! The state: what keys there are, how a value is read, what a transaction changes.

mod key;
mod view;
mod write_set;

pub use key::{StateKey, StateKeyError, StateKeyParts};
pub use view::{StateError, StateView};
pub use write_set::{WriteOp, WriteSet};
