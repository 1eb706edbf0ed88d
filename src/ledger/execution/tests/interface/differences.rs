//! The intended differences, each with its reason.

use super::compare::Difference;
use serde::Deserialize;

/// The content of `differences.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowed {
    difference: Vec<Entry>,
}

/// Differences of one kind with one reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    kind: String,
    /// Items; `*` matches all items of the kind.
    items: Vec<String>,
    reason: String,
}

impl Allowed {
    pub fn read(text: &str) -> Self {
        let allowed: Self = toml::from_str(text).unwrap();
        for entry in &allowed.difference {
            assert!(
                !entry.reason.is_empty(),
                "{} {:?} has no reason",
                entry.kind,
                entry.items
            );
        }
        allowed
    }

    /// Returns the reason for this difference, or `None` if it is not listed.
    pub fn reason(&self, difference: &Difference) -> Option<&str> {
        self.difference
            .iter()
            .find(|entry| {
                let fits = |item: &String| matches(item, &difference.item);
                entry.kind == difference.kind && entry.items.iter().any(fits)
            })
            .map(|entry| entry.reason.as_str())
    }

    /// Returns the listed items that are not among `differences`.
    pub fn unused_items(&self, differences: &[Difference]) -> Vec<String> {
        let mut unused = Vec::new();
        for entry in &self.difference {
            for item in &entry.items {
                let found = |difference: &Difference| {
                    entry.kind == difference.kind && matches(item, &difference.item)
                };
                if !differences.iter().any(found) {
                    unused.push(format!("{} {item}", entry.kind));
                }
            }
        }
        unused
    }
}

/// Returns whether a listed item is `item` or matches all items of its kind.
fn matches(listed: &str, item: &str) -> bool {
    listed == "*" || listed == item
}

#[test]
fn matches_an_item_or_all_items_of_a_kind() {
    for (listed, item, fits) in [
        ("a::b", "a::b", true),
        ("a::b", "a::bc", false),
        ("a::*", "a::b", false),
        ("*", "a::b", true),
    ] {
        assert_eq!(matches(listed, item), fits, "{listed} {item}");
    }
}
