//! Addresses, transactions, blocks, state keys, and genesis data, with their encodings and hashes.
//!
//! The crate performs no I/O, reads no clock, and starts no threads.
//!
//! | module | content |
//! |---|---|
//! | [`transaction`] | signed transactions, and transactions as the ledger stores them |
//! | [`block`] | ordered and executed blocks, ledger info |
//! | [`state`] | state keys, views of the state, write sets |
//! | [`event`] | events of streams and of modules |
//! | [`accumulator`] | the Merkle accumulator over transaction infos |
//! | [`upgrade`] | framework versions by block height |
//! | [`vendor`] | the vendor word of a chain |

// Client input must not end the process. Only a broken invariant panics, and the message names it.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

pub mod accumulator;
mod address;
pub mod block;
mod chain_identity;
mod discard;
pub mod event;
mod genesis;
mod parameters;
pub mod state;
pub mod transaction;
mod type_tag;
pub mod upgrade;
pub mod vendor;

pub use accumulator::Accumulator;
pub use address::{AccountAddress, AddressError};
pub use block::{
    BlockHeader, BlockInfo, ChainTip, DiscardedTransaction, ExecutedBlock, ExecutedTransaction,
    LedgerInfo, OrderedBlock,
};
pub use chain_identity::ChainIdentity;
pub use discard::{Discard, ValidationStatus};
pub use event::{ContractEvent, EventKey};
pub use genesis::{Genesis, GenesisAccount, GenesisError};
pub use parameters::Parameters;
pub use state::{
    StateError, StateKey, StateKeyParts, StateView, WriteOp, WriteSet, state_key_hashes,
};
pub use transaction::{
    CheckedTransaction, EntryFunction, ExecutionStatus, RawTransaction, ReplayProtector,
    SignedTransaction, Transaction, TransactionInfo, decode_signed_transaction,
};
pub use type_tag::{
    Identifier, IdentifierError, ModuleId, StructTag, TYPE_DEPTH_MAX, TypeParseError, TypeTag,
};
pub use upgrade::{FrameworkUpgrade, UpgradeError};
pub use vendor::{Seeds, Vendor, VendorError};
