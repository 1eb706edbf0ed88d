//! Engines of several validators in one process, with a node in memory each.

mod cluster;
mod failures;
mod fake_node;
mod peers;
mod restarts;
mod support;
