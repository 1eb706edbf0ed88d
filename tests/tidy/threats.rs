//! The tests that the threat table of docs/internals/http.md names.

use super::root;
use std::{fs, path::PathBuf};

#[test]
fn the_threat_table_names_existing_tests() {
    let document = fs::read_to_string(root().join("docs/internals/http.md")).unwrap();
    let named: Vec<_> = test_paths(&document).collect();
    assert!(named.len() > 20, "{named:?}");
    let missing: Vec<_> = named.iter().filter(|path| !exists(path)).collect();
    assert!(
        missing.is_empty(),
        "docs/internals/http.md names tests that tests/it does not have: {missing:#?}"
    );
}

/// Returns the quoted paths of a document, such as `tls::accepts_it`.
fn test_paths(document: &str) -> impl Iterator<Item = &str> {
    let quoted = document.split('`').skip(1).step_by(2);
    quoted.filter(|text| text.contains("::"))
}

/// Returns whether `tests/it` has a test of this path.
fn exists(path: &str) -> bool {
    let Some((module, name)) = path.rsplit_once("::") else {
        return false;
    };
    let file = root()
        .join("tests/it")
        .join(module.split("::").collect::<PathBuf>())
        .with_extension("rs");
    let text = fs::read_to_string(file).unwrap_or_default();
    text.contains(&format!("fn {name}("))
}

#[test]
fn finds_missing_tests() {
    let paths: Vec<_> = test_paths("| `tls::a`, `x` | `hostile::http1::b` |").collect();
    assert_eq!(paths, ["tls::a", "hostile::http1::b"]);
    assert!(exists("tls::prefers_http_2_to_http_1_1"));
    assert!(!exists("tls::prefers_http_2"));
    assert!(!exists("nowhere::prefers_http_2_to_http_1_1"));
}
