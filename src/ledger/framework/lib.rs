//! The framework: native modules at `0x1`, each declared once in Rust.
//!
//! | module | content |
//! |---|---|
//! | [`modules`] | one file or folder for each native module, with one `module()` function |
//! | `registry` | [`new_chain`], [`module_registry`], and [`FRAMEWORK_VERSION`] |
//! | `balance` | [`balance()`], which reads a balance from a state |
//!
//! `src/ledger/framework/README.md` is a guide to adding a module. `docs/use/programs.md` lists the
//! programs for authors of clients, and `docs/internals/execution.md#programs` describes the rules
//! that they follow.
//!
//! # Rules
//!
//! * The crate performs no I/O, reads no clock, and starts no threads.
//! * A module that is added later has the next framework version, so that each chain enables it at
//!   a height of its own.
//!
//! # Example
//!
//! ```
//! use ledger_framework::{AssetType, FRAMEWORK_VERSION, balance, new_chain};
//! use ledger_types::{AccountAddress, Parameters, StateKey, Vendor};
//!
//! let chain = new_chain(4, Vendor::default(), Parameters::default());
//! let registry = chain.registry();
//! let coin = registry.module_id("coin");
//! assert!(registry.has_module(&coin, FRAMEWORK_VERSION));
//! let function = registry.function(&coin, &"balance".parse()?).expect("it is declared");
//! assert!(function.is_view());
//!
//! let empty = |_: &StateKey| Ok(None);
//! let asset = AssetType::FungibleAsset(AccountAddress::NATIVE_ASSET);
//! assert_eq!(balance(&chain, &empty, &AccountAddress::ONE, &asset)?, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Client input must not end the process. A panic is only for a broken invariant, and its message
// names the invariant.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod balance;
pub mod modules;
mod registry;

pub use balance::{AssetType, balance};
pub use registry::{FRAMEWORK_VERSION, module_registry, new_chain};
