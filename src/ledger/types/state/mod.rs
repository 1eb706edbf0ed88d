//! State keys, read access to the state, and the changes of a transaction.

mod group;
mod key;
mod view;
mod write_set;

pub use group::{GroupMembers, ResourceGroup, ResourceGroupError, group_members};
pub use key::{StateKey, StateKeyError, StateKeyParts, state_key_hashes};
pub use view::{StateError, StateView};
pub use write_set::{WriteOp, WriteSet};
