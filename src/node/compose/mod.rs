//! How a configuration becomes a running node: settings -> genesis -> store -> actors -> listeners.

mod admin_token;
mod descriptors;
mod disk_space;
mod error;
mod genesis;
mod ledger;
mod limits;
mod listener;
mod listeners;
mod memory_bound;
mod net;
mod panic_hook;
mod scheduling;
mod service;
mod threads;
mod tls;

pub use admin_token::configured_token;
pub use descriptors::{ConnectionLimits, raise_descriptor_limit};
pub use error::{RunError, with_causes};
pub use genesis::{ConfiguredGenesis, configured_genesis};
pub use ledger::{OpenLedger, open_ledger};
pub use limits::{api_config, node_config};
pub use listener::{Listener, ListenerOptions};
pub use listeners::side_listeners;
pub use net::{ConnectionStatus, OpenListeners};
pub use panic_hook::install_panic_hook;
pub use scheduling::set_scheduling_policy;
pub use service::{ServeError, Service};
pub use tls::configured_tls;
