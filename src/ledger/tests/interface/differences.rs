//! The differences that are wanted, each with its reason.

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
    /// Items; `*` stands for any text.
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

    /// Why this difference is there, if it may be.
    pub fn reason(&self, difference: &Difference) -> Option<&str> {
        self.difference
            .iter()
            .find(|entry| {
                let fits = |item: &String| matches(item, &difference.item);
                entry.kind == difference.kind && entry.items.iter().any(fits)
            })
            .map(|entry| entry.reason.as_str())
    }

    /// What is listed and is no difference.
    pub fn without_difference(&self, differences: &[Difference]) -> Vec<String> {
        let mut past = Vec::new();
        for entry in &self.difference {
            for item in &entry.items {
                let found = |difference: &Difference| {
                    entry.kind == difference.kind && matches(item, &difference.item)
                };
                if !differences.iter().any(found) {
                    past.push(format!("{} {item}", entry.kind));
                }
            }
        }
        past
    }
}

/// Whether `text` fits `pattern`, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            (0..=text.len()).any(|from| text.is_char_boundary(from) && matches(rest, &text[from..]))
        }),
    }
}

#[test]
fn a_star_stands_for_any_text() {
    for (pattern, text, fits) in [
        ("a::*", "a::b", true),
        ("a::*", "b::a::b", false),
        ("a::*_b", "a::x_b", true),
        ("*::A*", "m::AB", true),
        ("a", "ab", false),
    ] {
        assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
    }
}
