//! Tests of the source tree: import cycles and layers, citations of documents, the page on the
//! actors, and the crates of the workspace.

mod actor_rules;
mod actors;
mod citations;
mod cycles;
mod layers;
mod modules;
mod threats;
mod tools;
mod workspace;

use std::path::Path;

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
