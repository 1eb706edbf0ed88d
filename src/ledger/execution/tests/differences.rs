//! Differences from the reference node, and the lists that give each of them a reason.

use serde::Deserialize;
use std::fmt;

/// A fact in which this program differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub kind: String,
    /// The part that differs, such as `module::name` or the name of a field.
    pub item: String,
    /// Step of a scenario, or empty in a comparison that has none.
    pub step: String,
    /// Values of both sides, if both have one.
    pub detail: String,
}

impl Difference {
    pub fn new(kind: &str, item: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            item: item.to_owned(),
            step: String::new(),
            detail: String::new(),
        }
    }

    /// Returns kind and item.
    pub fn name(&self) -> String {
        format!("{} {}", self.kind, self.item)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.step.is_empty() {
            write!(f, "{}: ", self.step)?;
        }
        f.write_str(&self.name())?;
        f.write_str(&self.detail)
    }
}

/// The content of a `differences.toml`.
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
    /// Items; `*` matches all items of the kind, `_` at the begin any address, and `[_]` at the end
    /// any key.
    items: Vec<String>,
    /// Steps that have all of the items; `*` means all steps except [`Self::except`].
    #[serde(default = "no_step")]
    steps: Vec<String>,
    /// Steps that have none of the items.
    #[serde(default)]
    except: Vec<String>,
    reason: String,
}

/// Returns the step of a comparison without steps.
fn no_step() -> Vec<String> {
    vec![String::new()]
}

impl Entry {
    fn has_step(&self, step: &str) -> bool {
        let is_listed = |steps: &[String]| steps.iter().any(|listed| listed == step);
        is_listed(&self.steps) || (self.steps == ["*"] && !is_listed(&self.except))
    }

    fn matches(&self, item: &str, difference: &Difference) -> bool {
        self.kind == difference.kind
            && self.has_step(&difference.step)
            && matches(item, &difference.item)
    }
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

    /// Asserts that each difference is listed, and that each listed item differs in each of its
    /// steps. `steps` are all steps of the comparison, one empty one if it has none.
    ///
    /// Prints each difference with its reason.
    #[allow(clippy::print_stdout)]
    pub fn assert_complete(&self, file: &str, differences: &[Difference], steps: &[&str]) {
        let unlisted: Vec<String> = differences
            .iter()
            .filter(|difference| self.reason(difference).is_none())
            .map(Difference::to_string)
            .collect();
        assert!(
            unlisted.is_empty(),
            "{} differences without a reason in {file}:\n{}",
            unlisted.len(),
            unlisted.join("\n")
        );
        let unused = self.unused_items(differences, steps);
        assert!(
            unused.is_empty(),
            "entries of {file} without a difference:\n{}",
            unused.join("\n")
        );
        for difference in differences {
            println!(
                "{difference}: {}",
                self.reason(difference).unwrap_or_default()
            );
        }
    }

    /// Returns the reason for this difference, or `None` if it is not listed.
    fn reason(&self, difference: &Difference) -> Option<&str> {
        self.difference
            .iter()
            .find(|entry| {
                entry
                    .items
                    .iter()
                    .any(|item| entry.matches(item, difference))
            })
            .map(|entry| entry.reason.as_str())
    }

    /// Returns the listed items that are not among `differences`, each with its step.
    fn unused_items(&self, differences: &[Difference], steps: &[&str]) -> Vec<String> {
        let mut unused = Vec::new();
        for entry in &self.difference {
            let listed = entry.steps.iter().chain(&entry.except);
            let unknown = listed.filter(|step| *step != "*" && !steps.contains(&step.as_str()));
            unused.extend(unknown.map(|step| format!("{step}: no such step")));
            for item in &entry.items {
                for step in steps.iter().filter(|step| entry.has_step(step)) {
                    let is_found = differences
                        .iter()
                        .any(|found| found.step == *step && entry.matches(item, found));
                    if !is_found {
                        unused.push(format!("{step}: {} {item}", entry.kind));
                    }
                }
            }
        }
        unused
    }
}

/// Returns whether a listed item is `item`, or stands for it.
fn matches(listed: &str, item: &str) -> bool {
    let of_any_address = || {
        let (listed, (_, item)) = (listed.strip_prefix("_ ")?, item.split_once(' ')?);
        Some(listed == item)
    };
    let of_any_key = || {
        let (listed, (item, _)) = (listed.strip_suffix("[_]")?, item.split_once('[')?);
        Some(listed == item)
    };
    listed == "*" || listed == item || of_any_address() == Some(true) || of_any_key() == Some(true)
}

#[test]
fn matches_an_item_or_all_items_of_a_kind() {
    for (listed, item, fits) in [
        ("a::b", "a::b", true),
        ("a::b", "a::bc", false),
        ("a::*", "a::b", false),
        ("*", "a::b", true),
        ("_ a::b", "0x1 a::b", true),
        ("_ a::b", "a::b", false),
        ("0x2 a::b", "0x1 a::b", false),
        ("a::b[_]", "a::b[0x1]", true),
        ("a::b[_]", "a::b", false),
        ("a::b[_]", "a::c[0x1]", false),
    ] {
        assert_eq!(matches(listed, item), fits, "{listed} {item}");
    }
}

#[test]
fn names_unlisted_steps_and_entries_without_a_difference() {
    let difference = |step: &str| Difference {
        step: step.to_owned(),
        ..Difference::new("event absent", "a::b")
    };
    let (found, steps) = (
        [difference("one"), difference("two")],
        ["one", "two", "three"],
    );
    let entry = |steps: &str| {
        Allowed::read(&format!(
            "[[difference]]\nkind = \"event absent\"\nitems = [\"a::b\"]\n{steps}\nreason = \"r\""
        ))
    };
    for (listed, unlisted, unused) in [
        ("steps = ['one', 'two']", vec![], vec![]),
        ("steps = ['*']\nexcept = ['three']", vec![], vec![]),
        ("steps = ['one']", vec!["two"], vec![]),
        ("steps = ['*']", vec![], vec!["three: event absent a::b"]),
        (
            "steps = ['one', 'two', 'four']",
            vec![],
            vec!["four: no such step"],
        ),
    ] {
        let allowed = entry(listed);
        let without_reason = found.iter().filter(|found| allowed.reason(found).is_none());
        let without_reason: Vec<_> = without_reason.map(|found| found.step.as_str()).collect();
        assert_eq!(without_reason, unlisted, "{listed}");
        assert_eq!(allowed.unused_items(&found, &steps), unused, "{listed}");
    }
}
