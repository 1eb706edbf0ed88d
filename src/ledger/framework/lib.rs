//! The framework: native modules at `0x1`, each declared once in Rust.
//!
//! A module is one file or folder in `modules/` with one `module()` function. `README.md` is a
//! guide to adding a module. [`new_chain`] creates a chain with these modules, and [`balance`]
//! reads a balance from a state.

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
