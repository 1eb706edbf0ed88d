//! The simulation: the whole node below HTTP in one thread, against a small model, with everything that may
//! happen chosen by a seed.
//!
//! Real are all actors, their wiring, mailboxes and timers, the [`crate::NodeHandle`], execution, and the
//! store on a disk that fails ([`disk`]). Replaced are the threads (a [`scheduler`] runs one step at a time
//! and interrupts steps where a real thread could be), the clocks, and the disk. What must hold stands in
//! [`properties`].
//!
//! `cargo test -p ledger-actors --lib simulation` runs [`runner::SEEDS`] seeds, the same ones every time.
//!
//! | environment variable | |
//! |---|---|
//! | `SIMULATION_SEED` | runs this seed only, as a failed run tells |
//! | `SIMULATION_SEEDS` | runs so many seeds |
//! | `SIMULATION_MINUTES` | runs random seeds for so long, for nights |

mod audit;
mod clients;
mod figures;
mod fixture;
mod host;
mod model;
mod node;
mod options;
mod oracle;
mod pool_rules;
mod properties;
mod reads;
mod room;
mod runner;
mod scheduler;
mod shutdown;
mod world;
