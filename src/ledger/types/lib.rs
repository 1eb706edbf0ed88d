//! Addresses, transactions, blocks, state keys, and genesis data, with their encodings and hashes.
//!
//! | module | content |
//! |---|---|
//! | `address`, `type_tag` | [`AccountAddress`]; [`TypeTag`], [`StructTag`], [`ModuleId`] and their parser |
//! | [`vendor`], `chain_identity` | the vendor word of a chain, with its hash prefixes; [`ChainIdentity`] |
//! | `parameters`, [`upgrade`], `genesis` | [`Parameters`]; framework versions by block height; [`Genesis`] |
//! | [`transaction`] | signed transactions, and transactions as the ledger stores them |
//! | `discard` | [`Discard`], the rejection of a transaction by validation |
//! | [`block`] | ordered and executed blocks, ledger info |
//! | `ledger_root` | [`LedgerRoot`], the result of a block in the header of a later one |
//! | [`validators`] | the validators of a chain, their votes, the certificate of a decided block |
//! | [`state`] | state keys, views of the state, write sets |
//! | [`event`] | events of streams and of modules |
//! | [`accumulator`] | the Merkle accumulator over transaction infos |
//!
//! `docs/internals/execution.md` describes the use of these types by execution, and
//! `docs/reference/rest-contract.md` their JSON and BCS forms.
//!
//! # Rules
//!
//! The crate performs no I/O, reads no clock, and starts no threads.
//!
//! # Example
//!
//! ```
//! use ledger_crypto::Ed25519PrivateKey;
//! use ledger_types::{
//!     AccountAddress, EntryFunction, RawTransaction, SignedTransaction, TypeTag, Vendor,
//!     decode_signed_transaction,
//!     transaction::{TransactionAuthenticator, TransactionPayload},
//! };
//!
//! let coin: TypeTag = "0x1::node_coin::NodeCoin".parse()?;
//! let key = Ed25519PrivateKey::from_seed(&[7; 32]);
//! let raw = RawTransaction {
//!     sender: AccountAddress::from_public_key(&key.public_key()),
//!     sequence_number: 0,
//!     payload: TransactionPayload::EntryFunction(EntryFunction {
//!         module: "0x1::coin".parse()?,
//!         function: "transfer".parse()?,
//!         type_args: vec![coin],
//!         args: vec![bcs::to_bytes(&AccountAddress::ONE)?.into(), bcs::to_bytes(&10u64)?.into()],
//!     }),
//!     max_gas_amount: 2_000,
//!     gas_unit_price: 100,
//!     expiration_timestamp_secs: 4_000_000_000,
//!     chain_id: 4,
//! };
//! let authenticator = TransactionAuthenticator::Ed25519 {
//!     public_key: key.public_key(),
//!     signature: key.sign(&raw.signing_message(&Vendor::default())),
//! };
//! let signed = SignedTransaction { raw, authenticator };
//! assert_eq!(decode_signed_transaction(&bcs::to_bytes(&signed)?)?, signed);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
mod ledger_root;
mod parameters;
pub mod state;
pub mod transaction;
mod type_tag;
pub mod upgrade;
pub mod validators;
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
pub use genesis::{Genesis, GenesisAccount, GenesisError, GenesisPlace};
pub use ledger_root::{LedgerRoot, RecentRoots};
pub use parameters::Parameters;
pub use state::{
    StateError, StateKey, StateKeyParts, StateView, WriteOp, WriteSet, state_key_hashes,
};
pub use transaction::{
    CheckedTransaction, EntryFunction, ExecutionStatus, RawTransaction, ReplayProtector,
    SignedTransaction, Transaction, TransactionInfo, decode_signed_transaction,
};
pub use type_tag::{
    FunctionId, FunctionIdError, Identifier, IdentifierError, ModuleId, StructTag, TYPE_DEPTH_MAX,
    TypeParseError, TypeTag,
};
pub use upgrade::{FrameworkUpgrade, UpgradeError};
pub use validators::{
    CertificateError, CommitCertificate, CommitSignature, Validator, ValidatorSet, Vote, VoteStep,
};
pub use vendor::{Seeds, Vendor, VendorError};
