//! End-to-end tests of the real binary over HTTP, in one test binary, which links once.

#![allow(
    clippy::disallowed_methods,
    reason = "the lint protects threads of the node; a test may use the blocking pool"
)]

mod account_cli;
mod admin;
#[cfg(target_os = "linux")]
mod attacks;
mod bench;
mod clock;
#[cfg(feature = "bft")]
mod cluster;
mod coin_events;
mod config;
mod console;
mod crash;
mod disk;
mod documents;
mod expectations;
mod faucet;
mod filter;
mod flight;
mod genesis;
mod golden;
mod graphql;
mod half_closed;
mod hostile;
mod hostile_bodies;
mod hostile_pool;
mod http2;
mod http_1_0;
mod in_memory;
mod keep_alive;
mod late_starts;
mod log_reader;
mod metrics;
#[cfg(target_os = "linux")]
mod nice;
mod observe;
mod overload;
mod prometheus;
mod pruned;
mod pty;
mod read_your_writes;
mod recorded;
mod rejected_heads;
mod run;
mod second_signature;
mod security;
#[cfg(target_os = "linux")]
mod service_manager;
mod settings;
mod signals;
mod small_bodies;
mod stop;
#[cfg(target_os = "linux")]
mod threads;
mod tls;
mod tls_clients;
mod tls_reload;
mod traffic;
mod upgrades;
mod verify;
mod version;
