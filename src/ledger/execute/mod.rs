//! Execution: a function of (state, block).
//!
//! `validate` decides whether a transaction is taken at all, `orderless` for one that has a nonce;
//! `signers` says who signed it; `user` runs one, `multisig` one of a multisig account; `block` runs a
//! block; `account_deposit` charges for the account of a sponsored sender; `simulate` and `view` run one without a block; `context` is
//! what functions of the framework see, `change_set` what they read and changed, `environment` the
//! block that they run in where there is none; `gas` and
//! `storage_fee` count.

mod account_deposit;
mod block;
mod block_state;
mod change_set;
mod context;
mod discard;
mod environment;
mod error;
mod finalize;
mod gas;
mod multisig;
mod orderless;
mod signers;
mod simulate;
mod storage_deposit;
mod user;
mod validate;
mod view;

pub use block::{ExecuteError, execute_block};
pub(crate) use block_state::BlockState;
pub use context::Context;
pub(crate) use context::Environment;
pub use discard::{Discard, ValidationStatus};
pub use error::{MiscellaneousStatus, VmError};
pub(crate) use finalize::{ExecutedOutput, Output, finalize};
pub(crate) use gas::gas_schedule;
pub use gas::{cost, intrinsic_units};
pub use multisig::validate_multisig_for_admission;
pub use orderless::NonceSnapshot;
pub use simulate::simulate;
pub use validate::{
    AccountSnapshot, SEQUENCE_NUMBER_MAX, ValidationInputs, validate_for_admission, validate_size,
};
pub use view::{VIEW_GAS_MAX, ViewError, ViewFailure, ViewOutput, view};
