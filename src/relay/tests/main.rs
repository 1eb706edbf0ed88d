//! Relays of several nodes in one process, and hostile peers.

mod connections;
mod fake_node;
mod hostile;
mod lookups;
mod raw_peer;
mod support;
