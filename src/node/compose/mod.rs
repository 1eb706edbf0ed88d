//! The composition root of a node: settings -> genesis -> store -> actors -> listeners.

mod addresses;
mod admin_gate;
mod admin_token;
mod checked_config;
mod consensus;
mod descriptors;
mod disk_space;
mod error;
mod final_flight;
mod genesis;
mod greeting;
mod ledger;
mod listeners;
mod overload_log;
mod panic_hook;
mod rejected_head;
mod reload;
mod scheduling;
mod service;
mod start_check;
mod threads;
mod tls;

pub use checked_config::{check_config, check_settings};
pub use error::{RunError, with_causes};
pub use greeting::{FundedAccount, Greeting};
pub use service::{RunFailure, RunHooks, run};
pub use start_check::{StartCheck, check_start};
