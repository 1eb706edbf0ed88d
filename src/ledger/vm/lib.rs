//! The environment that native modules run in.
//!
//! A module declares its structs and functions once, as Rust types. Dispatch, the ABI, the JSON
//! form of values, and gas follow from the declaration.
//!
//! | module | content |
//! |---|---|
//! | `declare` | declarations of modules, structs, functions, and abort codes: [`ModuleDeclaration`], [`move_structs!`] |
//! | `registry`, `struct_table` | [`ModuleRegistry`]: the modules of a chain and their types |
//! | `abi`, `call`, `type_check` | the ABI as JSON, calls in JSON, checks of type arguments |
//! | `value` | values of declared types as JSON and BCS |
//! | `chain` | [`Chain`]: its identity, its parameters, and its modules |
//! | `context`, `environment` | [`Context`]: the state, gas, events, and block of a running transaction |
//! | `block_state`, `change_set` | the state within a block, and the changes of a transaction |
//! | `event_handle` | handles of event streams |
//! | `gas`, `storage_deposit` | prices and limits of execution and of storage |
//! | `error`, `status` | [`VmError`]: failures of a function, and the statuses that the ledger records for them |
//!
//! The crate `ledger-framework` declares the modules of a chain. `docs/internals/execution.md`
//! describes programs, values, and gas.
//!
//! # Rules
//!
//! The crate performs no I/O, reads no clock, and starts no threads.
//!
//! # Example
//!
//! ```
//! use ledger_types::{TypeTag, Vendor};
//! use ledger_vm::{
//!     Context, Function, ModuleDeclaration, ModuleRegistry, MoveStruct, RegisteredModule, VmError,
//!     move_structs,
//! };
//!
//! move_structs! {
//!     module "counter";
//!
//!     Counter as "Counter" has ["key"] {
//!         value: u64,
//!     }
//! }
//!
//! fn step(_: &mut Context<'_>, _: &[TypeTag]) -> Result<u64, VmError> {
//!     Ok(1)
//! }
//!
//! let declaration = ModuleDeclaration {
//!     name: "counter",
//!     structs: vec![Counter::declaration()],
//!     functions: vec![Function::view("step", step)],
//!     errors: &[],
//! };
//! let modules = [RegisteredModule { since_version: 1, declaration }];
//! let coin = "0x1::node_coin::NodeCoin".parse()?;
//! let registry = ModuleRegistry::new(&Vendor::default(), coin, modules);
//!
//! let step = registry.function(&registry.module_id("counter"), &"step".parse()?);
//! assert!(step.is_some_and(Function::is_view));
//! let counter = bcs::to_bytes(&Counter { value: 7 })?;
//! let json = registry.value_to_json(&"0x1::counter::Counter".parse()?, &counter)?;
//! assert_eq!(json, serde_json::json!({ "value": "7" }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub use gas::{
    GasMeter, GasUsed, Interrupt, cost, gas_schedule, intrinsic_gas_units, intrinsic_internal_gas,
};
pub use registry::{ModuleRegistry, RegisteredModule, SchemaError};
pub use storage_deposit::{SlotChange, StorageDeposits};
pub use type_check::TypeArgumentError;
pub use value::{CachedType, JsonView};
