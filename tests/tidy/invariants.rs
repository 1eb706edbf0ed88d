//! Tests that documents name as `path.rs::name`: each exists, and each invariant of ARCHITECTURE.md
//! names one, and so does each closed item of the comparison with a reference node.

use super::{actors::quoted, citations::citing_files, root};
use serde::Deserialize;
use std::fs;

/// The items of the comparison with a reference node.
const ITEMS: &str = "tests/golden/recorded/items.toml";

/// The content of [`ITEMS`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Items {
    item: Vec<Item>,
}

/// A difference from the reference node that was to be removed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    number: u32,
    subject: String,
    /// Tests that fail without it, as `path.rs::name` or `path.mjs::title`.
    #[serde(default)]
    tests: Vec<String>,
    /// The missing part, or absent.
    open: Option<String>,
}

/// Minimum number of invariants. A lower number means that the table was not found.
const INVARIANTS_MIN: usize = 10;

#[test]
fn each_invariant_names_a_test() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = invariants(&page);
    assert!(rows.len() >= INVARIANTS_MIN, "{rows:#?}");
    let without: Vec<_> = rows
        .iter()
        .filter(|row| named_tests(row).count() == 0)
        .collect();
    assert!(
        without.is_empty(),
        "invariants without a test: {without:#?}"
    );
}

#[test]
fn documents_name_existing_tests() {
    let mut missing = Vec::new();
    for document in citing_files() {
        if document.extension().is_some_and(|end| end == "md") {
            let text = fs::read_to_string(&document).unwrap();
            let absent = named_tests(&text).filter(|(file, name)| !is_test(&source(file), name));
            let page = document.strip_prefix(root()).unwrap().display();
            missing.extend(absent.map(|(file, name)| format!("{page}: {file}::{name}")));
        }
    }
    assert!(
        missing.is_empty(),
        "documents name tests that do not exist:\n{}",
        missing.join("\n")
    );
}

#[test]
fn each_closed_item_of_the_comparison_names_an_existing_test() {
    let text = fs::read_to_string(root().join(ITEMS)).unwrap();
    let Items { item: items } = toml::from_str(&text).unwrap();
    assert!(items.iter().is_sorted_by(|a, b| a.number < b.number));
    for item in &items {
        let Item {
            number, subject, ..
        } = item;
        assert!(
            item.open.is_some() || !item.tests.is_empty(),
            "{number}: {subject}"
        );
        for test in &item.tests {
            let (file, name) = test.split_once("::").expect("a path and a name");
            let text = source(file);
            // A test in JavaScript has a title.
            let title = format!("test(\"{name}\"");
            assert!(
                is_test(&text, name) || text.contains(&title),
                "{number}: no test {test}"
            );
        }
    }
}

/// Returns the rows of the table below the heading "Invariants".
fn invariants(page: &str) -> Vec<&str> {
    let section = page.split("\n## Invariants\n").nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with('|'));
    // The first two rows are the head of the table.
    rows.skip(2).collect()
}

/// Returns the tests that a text names as `path.rs::name`, as pairs of path and name.
fn named_tests(text: &str) -> impl Iterator<Item = (&str, &str)> {
    quoted(text).filter_map(|span| {
        let (file, name) = span.split_once("::")?;
        // Commands and prefixes of names have blanks or no name.
        let is_name = !name.is_empty() && !name.contains([' ', ':']);
        (file.ends_with(".rs") && is_name).then_some((file, name))
    })
}

/// Returns the text of a file, or an empty text if it does not exist.
fn source(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_default()
}

/// Returns whether a source has a function of this name with an attribute of a test.
fn is_test(source: &str, name: &str) -> bool {
    let lines: Vec<_> = source.lines().map(str::trim_start).collect();
    let signature = format!("fn {name}(");
    let is_function = |line: &&str| {
        let rest = line.trim_start_matches("async ");
        rest.starts_with(&signature)
    };
    let Some(at) = lines.iter().position(is_function) else {
        return false;
    };
    let above = lines[..at].iter().rev();
    let mut attributes = above.take_while(|line| !line.is_empty() && !line.starts_with('}'));
    attributes.any(|line| line.starts_with("#[") && line.contains("test"))
}

#[test]
fn finds_rows_and_tests_that_are_missing() {
    let page = "# A\n\
                ## Invariants\n\n\
                | invariant | tests |\n\
                |---|---|\n\
                | One. | `src/a.rs::b` |\n\
                | Two. | `c::d` |\n\n\
                ## Next\n\
                | x | y |";
    let rows = invariants(page);
    assert_eq!(rows.len(), 2);
    assert_eq!(
        named_tests(rows[0]).collect::<Vec<_>>(),
        [("src/a.rs", "b")]
    );
    assert_eq!(named_tests(rows[1]).count(), 0);
    let source = "/// Text.\n#[actix::test]\nasync fn b() {}\n\nfn helper() {}\n";
    assert!(is_test(source, "b"));
    assert!(!is_test(source, "helper") && !is_test(source, "absent") && !is_test("", "b"));
}
