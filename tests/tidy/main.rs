//! Tests of the source tree: imports between files, citations of documents, the page on the actors,
//! and the crates of the workspace.

mod actors;
mod citations;
mod imports;
mod workspace;

use std::path::Path;

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
