//! Simulation of several validators in one thread, with a model of the consensus engine.
//!
//! Each validator is the real node of [`super`], with a ledger and a consensus log on disks in
//! memory. Beside it runs an [`engine::Engine`], which sends the requests that Malachite sends. The
//! engines exchange messages over a [`network::Network`] that loses, duplicates, delays and
//! reorders them. An engine follows the rules of [`votes::Consensus`] and has a durable log of one
//! height. One validator may lie: it proposes blocks that break a rule, and signs contradictory
//! votes.
//!
//! A [`world::World`] chooses what happens from a seed: requests of clients, timeouts, partitions,
//! crashes of one validator, several or all, graceful stops, disks that fail, and a machine whose
//! files are replaced by an older copy. One validator may prune. Then the faults end, and the
//! validators must agree on all blocks and reach one height. A [`record::Record`] outlasts all
//! crashes and has what was signed, decided and acknowledged. Its methods check the properties.
//!
//! `cargo test -p ledger-actors --lib simulation::cluster` runs [`world::SEEDS`] seeds, with the
//! environment variables of [`super`].

mod clients;
mod crashes;
mod engine;
mod engine_log;
mod engine_steps;
mod healing;
mod lies;
mod network;
mod peers;
mod record;
mod requests;
mod stops;
mod votes;
mod world;
