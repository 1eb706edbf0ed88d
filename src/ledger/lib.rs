//! What a ledger is: its bytes and hashes, its programs, and the execution of blocks.
//!
//! Pure: no I/O, no clock, no threads, no async. The other crates of the node build on this one.
//!
//! | to find | look in |
//! |---|---|
//! | addresses, hashes, type names, the vendor word | [`AccountAddress`], [`HashValue`], [`TypeTag`], [`Vendor`] |
//! | what clients sign and the ledger keeps | [`transaction`], [`event`], [`block`] |
//! | the state and changes of it | [`state`] |
//! | modules, their ABI and the JSON of values | [`framework`] |
//! | validation and execution | [`execute`] |
//! | maps for the keys of clients | [`map`] |
//! | a chain's identity and first state, its framework's versions | [`chain`], [`genesis`], [`upgrade`] |

// What a client sends must not end the process: a panic is for a broken invariant, and says which.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

pub mod accumulator;
mod address;
mod array_32;
pub mod block;
pub mod chain;
pub mod crypto;
pub mod event;
pub mod execute;
pub mod framework;
pub mod genesis;
mod hash;
mod hex_text;
pub mod map;
pub mod state;
pub mod transaction;
mod types;
pub mod upgrade;
mod vendor;

pub use accumulator::Accumulator;
pub use address::{AccountAddress, AddressError};
pub use block::{
    BlockHeader, BlockInfo, ChainTip, DiscardedTransaction, ExecutedBlock, ExecutedTransaction,
    LedgerInfo, OrderedBlock,
};
pub use chain::{Chain, Parameters};
pub use event::{ContractEvent, EventKey};
pub use execute::{AccountSnapshot, Discard, ExecuteError, ValidationInputs, ValidationStatus};
pub use framework::{AssetType, ModuleRegistry, SchemaError};
pub use genesis::{Genesis, GenesisAccount, GenesisError};
pub use hash::{HashError, HashValue, Seed, state_key_hashes};
pub use hex_text::{HexText, hex_text};
pub use state::{StateError, StateKey, StateKeyParts, StateView, WriteOp, WriteSet};
pub use transaction::{
    CheckedTransaction, EntryFunction, ExecutionStatus, RawTransaction, ReplayProtector,
    SignedTransaction, Transaction, TransactionInfo, decode_signed_transaction,
};
pub use types::{
    Identifier, IdentifierError, ModuleId, StructTag, TYPE_DEPTH_MAX, TypeParseError, TypeTag,
};
pub use upgrade::{FrameworkUpgrade, UpgradeError};
pub use vendor::{Seeds, Vendor, VendorError};
