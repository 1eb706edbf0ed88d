//! Tests of the source tree: import cycles and layers, citations of documents, and the crates of the
//! workspace.

mod citations;
mod cycles;
mod layers;
mod modules;
mod workspace;

use std::path::Path;

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
