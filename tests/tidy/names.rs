//! Names in the documents: paths, settings, types, constants and functions in backticks exist.
//!
//! `actors.rs` checks docs/internals/actors.md likewise, with its tables.

use super::{
    actors::{CODE, quoted},
    root,
};
use std::fs;

/// The documents, each with the folders that its paths may begin at, beside the root and the folder
/// of the document.
const DOCUMENTS: [(&str, &[&str]); 7] = [
    ("ARCHITECTURE.md", &["actors", "src/api", "src/node"]),
    ("docs/internals/api.md", &["src/api"]),
    (
        "docs/internals/execution.md",
        &["src/ledger", "src/ledger/crypto"],
    ),
    ("docs/internals/glossary.md", &[]),
    ("docs/internals/http.md", &["src/http", "tests/it"]),
    ("docs/internals/testing.md", &["actors/simulation"]),
    ("docs/operate/tune.md", &[]),
];

/// Spans that name other programs or match several names.
const FOREIGN: [&str; 4] = [
    "ledger_connections_*",
    "npm run golden --prefix tests/sdk",
    "pids.max",
    "vmstat",
];

#[test]
fn documents_name_what_the_code_has() {
    let mut unknown = Vec::new();
    for (document, folders) in DOCUMENTS {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let spans = quoted(&text).filter(|span| !is_known(span, folders));
        unknown.extend(spans.map(|span| format!("{document}: {span}")));
    }
    unknown.sort_unstable();
    unknown.dedup();
    assert!(
        unknown.is_empty(),
        "documents name what the code does not have:\n{}",
        unknown.join("\n")
    );
}

/// Returns whether the code has what a span in backticks names. `folders` are those that a path may
/// begin at.
fn is_known(span: &str, folders: &[&str]) -> bool {
    let is_path = span.contains(['/', '.']) && !span.starts_with('/');
    let mut folders = folders.iter().map(|folder| root().join(folder));
    FOREIGN.contains(&span)
        || is_path && folders.any(|folder| folder.join(span).exists())
        || CODE.knows(span)
}

#[test]
fn alert_rules_and_dashboard_name_listed_metrics() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let rules = read("config/alerts.yml") + &read("config/grafana/ledger-node.json");
    let listed = fs::read_to_string(root().join("config/metrics.md")).unwrap();
    let listed: Vec<_> = quoted(&listed).collect();
    let lines = rules.lines().map(str::trim_start);
    let words = lines
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .map(|word| word.strip_suffix("_bucket").unwrap_or(word));
    let metrics: Vec<_> = words
        .filter(|word| word.starts_with("ledger_") || word.starts_with("process_"))
        .collect();
    assert!(metrics.len() > 20, "{metrics:?}");
    let unknown: Vec<_> = metrics
        .iter()
        .filter(|name| !listed.contains(name))
        .collect();
    assert!(unknown.is_empty(), "no such metrics: {unknown:#?}");
}

#[test]
fn the_glossary_is_in_alphabetical_order() {
    let page = fs::read_to_string(root().join("docs/internals/glossary.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let terms: Vec<_> = rows
        .skip(1)
        .map(|row| row.split('|').nth(1).unwrap().trim().to_lowercase())
        .collect();
    assert!(terms.len() > 20, "{terms:?}");
    assert!(terms.is_sorted(), "{terms:#?}");
}

#[test]
fn finds_names_that_the_code_does_not_have() {
    // Composed, because the code that is read includes this file.
    let absent = ["Absent", "Type"].concat();
    let rows = [
        ("StoreWriter", true),
        ("api.max_in_flight", true),
        ("src/store/wal/mod.rs", true),
        ("wal/mod.rs", true),
        ("tests/tidy/main.rs::root", true),
        (absent.as_str(), false),
        ("api.absent", false),
        ("wal/absent.rs", false),
    ];
    for (span, expected) in rows {
        assert_eq!(is_known(span, &["src/store"]), expected, "{span}");
    }
}
