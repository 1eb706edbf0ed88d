//! Execution of transactions and blocks, as a function of the state and the block.
//!
//! | module | content |
//! |---|---|
//! | [`genesis`] | the chain that genesis data describes, and its block 0 |
//! | `validate`, `orderless` | validation rules of a transaction ([`validate_for_admission`]), and replay protection by nonces |
//! | `account_snapshot` | [`AccountSnapshot`]: the state of an account that validation depends on |
//! | `verdict` | [`Verdict`]: whether a transaction can still be committed |
//! | `user`, `entry_function` | execution of a transaction and of its payload |
//! | `multisig`, `account_deposit` | multisig payloads, account deposits |
//! | `block`, `finalize` | [`execute_block`], [`replay_block`]; hashes, infos, and accumulator leaves of its transactions |
//! | `simulate`, `view` | [`simulate()`] and [`view()`]: a transaction or a view function without a block |
//!
//! `docs/internals/execution.md` describes validation, gas, blocks, views, and simulations.
//!
//! # Rules
//!
//! The crate performs no I/O, reads no clock, and starts no threads. The caller passes the state as
//! a [`StateView`](ledger_types::StateView), and the time as an argument.
//!
//! # Example
//!
//! ```
//! use ledger_execution::{build_chain, development_genesis, execute_genesis, genesis, view};
//! use ledger_types::{EntryFunction, Parameters, StateKey, Vendor};
//! use std::collections::HashMap;
//!
//! let genesis = development_genesis(4, Vendor::default(), Parameters::default());
//! let chain = build_chain(&genesis)?;
//! let block = execute_genesis(&genesis, &chain);
//! assert_eq!((block.tip.height, block.tip.version), (0, 0));
//!
//! let writes = block.transactions[0].writes.iter();
//! let rows: HashMap<_, _> = writes.map(|(key, op)| (key, op.value().cloned())).collect();
//! let state = |key: &StateKey| Ok(rows.get(key).cloned().flatten());
//! let call = EntryFunction {
//!     module: "0x1::coin".parse()?,
//!     function: "balance".parse()?,
//!     type_args: vec![chain.registry().native_coin().clone()],
//!     args: vec![bcs::to_bytes(&genesis.accounts[0].address)?.into()],
//! };
//! let output = view(&chain, &state, &call, None)?;
//! assert_eq!(bcs::from_bytes::<u64>(&output.values[0].1)?, genesis::FAUCET_BALANCE);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Client input must not end the process. A panic is reserved for a broken invariant, and its
// message names the invariant.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod account_deposit;
mod account_snapshot;
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
mod verdict;
mod view;

pub use account_snapshot::{AccountSnapshot, written_account};
pub use block::{ExecuteError, execute_block, replay::replay_block};
pub use genesis::{build_chain, development_accounts, development_genesis, execute_genesis};
pub use multisig::validate_multisig_for_admission;
pub use orderless::NonceSnapshot;
pub use simulate::simulate;
pub use validate::{
    SEQUENCE_NUMBER_MAX, ValidationInputs, max_gas_amount_min, validate_for_admission,
};
pub use verdict::{
    BlockCause, Blocked, CanCommit, Effect, Never, NeverReason, ReplayHistory,
    UncheckedTransaction, Verdict, VerdictInputs, WaitsFor,
};
pub use view::{VIEW_GAS_MAX, ViewError, ViewFailure, ViewOutput, view};
