//! Simulation of the whole node below HTTP in one thread, compared with a small model.
//!
//! A seed chooses the order of steps, the requests of clients, the time, and the faults. The
//! simulation runs the real actors with their wiring, mailboxes and timers, the
//! [`crate::NodeHandle`], execution, and the store. No signatures are checked and no responses are
//! rendered. The simulation replaces these parts:
//!
//! * Threads: the [`scheduler`] runs one step at a time, and interrupts a step at points at
//!   which the operating system could interrupt a real thread.
//! * Clocks: time passes only between steps.
//! * The disk: a [`ledger_test_support::Disk`] in memory, with injected faults.
//!
//! [`properties`] lists the properties that must hold. Two terms are used throughout:
//!
//! * A block is *visible* once the published [`crate::Head`] includes it.
//! * The node is *idle* if no process is ready, so that only time or a client can cause a step.
//!
//! `cargo test -p ledger-actors --lib simulation` runs [`runner::SEEDS`] seeds, the same in every
//! run. [`cluster`] simulates several validators.
//!
//! | environment variable | effect |
//! |---|---|
//! | `SIMULATION_SEED` | runs only this seed, which a failed run prints |
//! | `SIMULATION_SEEDS` | runs this number of seeds, from `SIMULATION_SEED` on |
//! | `SIMULATION_MINUTES` | runs random seeds for this time, for example overnight |
//! | `SHARES_SEED` | runs only this seed of [`shares`] |
//! | `SHARES_SEEDS` | runs this number of seeds of [`shares`] instead of [`shares::SEEDS`] |

mod audit;
mod batches;
mod clients;
mod cluster;
mod counters;
mod faults;
mod findings;
mod fixture;
mod host;
mod low_disk_space;
mod many_waits;
mod model;
mod node;
mod options;
mod oracle;
mod pool_rules;
mod properties;
mod reads;
mod responses;
mod retries;
mod runner;
mod scheduler;
mod shares;
mod shutdown;
mod verdicts;
mod world;
