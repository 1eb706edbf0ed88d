//! Execution of transactions and blocks, as a function of the state and the block.
//!
//! The crate performs no I/O, reads no clock, and starts no threads.
//!
//! | module | content |
//! |---|---|
//! | `validate`, `orderless` | validation rules of a transaction, and replay protection by nonces |
//! | `user`, `multisig`, `account_deposit` | transactions, multisig payloads, account deposits |
//! | `block`, `finalize` | a block; hashes, infos, and accumulator leaves of its transactions |
//! | `simulate`, `view` | a transaction or a view function without a block |
//! | [`genesis`] | the chain that genesis data describes, and its block 0 |

// Client input must not end the process. A panic is reserved for a broken invariant, and its
// message names the invariant.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod account_deposit;
mod block;
mod entry_function;
mod environment;
mod finalize;
pub mod genesis;
mod multisig;
mod orderless;
mod simulate;
mod user;
mod validate;
mod view;

pub use block::{ExecuteError, execute_block};
pub use genesis::{build_chain, development_accounts, development_genesis, execute_genesis};
pub use multisig::validate_multisig_for_admission;
pub use orderless::NonceSnapshot;
pub use simulate::simulate;
pub use validate::{
    AccountSnapshot, SEQUENCE_NUMBER_MAX, ValidationInputs, validate_for_admission,
};
pub use view::{VIEW_GAS_MAX, ViewError, ViewFailure, ViewOutput, view};
