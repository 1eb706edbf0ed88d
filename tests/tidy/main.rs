//! Tests of the source tree: imports between files, and citations of documents.

mod citations;
mod imports;

use std::path::Path;

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
