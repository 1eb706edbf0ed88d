//! Tests of the source tree: import cycles and layers, citations and links, the names, tests and
//! tables of documents, the wires of a node, tools, and the crates of the workspace.

mod actor_rules;
mod actors;
mod citations;
mod commands;
mod cycles;
mod invariants;
mod layers;
mod links;
mod modules;
mod names;
mod tables;
mod threats;
mod tools;
mod wiring;
mod workspace;

use std::path::Path;

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
