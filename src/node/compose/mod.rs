//! How a configuration becomes a running node: settings -> genesis -> store -> actors -> listeners.

mod descriptors;
mod disk_space;
mod genesis;
mod ledger;
mod limits;
mod listeners;
mod memory_bound;
mod panic_hook;
mod scheduling;
mod service;
mod threads;
mod tls;

pub use descriptors::{ConnectionLimits, raise_descriptor_limit};
pub use genesis::{ConfiguredGenesis, configured_genesis};
pub use ledger::{OpenLedger, open_ledger};
pub use limits::{api_config, node_config};
pub use panic_hook::tell_of_damage;
pub use scheduling::set_scheduling_policy;
pub use service::{ServeError, Service};
pub use tls::configured_tls;
