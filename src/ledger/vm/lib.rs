//! The environment that native modules run in.
//!
//! A module declares its structs and functions once, as Rust types. Dispatch, the ABI, the JSON
//! form of values, and gas follow from the declaration.
//!
//! | module | content |
//! |---|---|
//! | `declare` | declarations of modules, structs, functions, and abort codes |
//! | `registry` | the modules of a chain with their ABI, calls, and types |
//! | `value` | values of declared types as JSON and BCS |
//! | `context` | the state, gas, and events of a running transaction |
//! | `gas`, `storage_deposit` | prices and limits of execution and of storage |
//! | `error` | failures of a function, and the statuses that the ledger records for them |
//! | `chain` | the identity, the parameters, and the modules of a chain |

// Client input must not end the process. A panic means a broken invariant, and its message names
// it.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod abi;
mod block_state;
mod call;
mod chain;
mod change_set;
mod context;
mod declare;
mod environment;
mod error;
mod event_handle;
mod gas;
mod registry;
mod status;
mod storage_deposit;
mod struct_table;
mod type_check;
mod value;

pub use block_state::BlockState;
pub use chain::Chain;
pub use context::{Context, Savepoint};
pub use declare::{
    Category, Constraints, ErrorConstant, Function, Inputs, ModuleDeclaration, MoveStruct,
    MoveType, Signer, StructDeclaration, TypeSignature, Values, decode_resource, with_vendor,
};
pub use environment::Environment;
pub use error::{MiscellaneousStatus, VmError};
pub use event_handle::{EventHandle, Guid, GuidId};
pub use gas::{GasMeter, GasUsed, cost, gas_schedule, intrinsic_gas_units, intrinsic_internal_gas};
pub use registry::{ModuleRegistry, RegisteredModule, SchemaError};
pub use storage_deposit::{SlotChange, StorageFee};
pub use type_check::TypeArgumentError;
pub use value::{CachedType, JsonView};
