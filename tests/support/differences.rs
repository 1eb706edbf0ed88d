//! Differences from the reference node, and the lists that give each of them a reason.

use serde::Deserialize;
use std::fmt;

/// A fact in which this program differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The kind, such as `field`.
    pub kind: String,
    /// The part that differs, such as `module::name` or the name of a field.
    pub item: String,
    /// Step of a scenario, or empty in a comparison that has none.
    pub step: String,
    /// Values of both sides, if both have one.
    pub detail: String,
}

impl Difference {
    /// Creates a difference without a step and values.
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
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowed {
    difference: Vec<Entry>,
}

/// Differences of one kind with one reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    kind: String,
    /// Items; `*` matches all items of the kind, `_` at the begin any address, and `[_]` at the end
    /// any key.
    items: Vec<String>,
    /// Steps that have all of the items; `*` means all steps except [`Self::except`].
    #[serde(default = "no_step")]
    steps: Vec<String>,
    /// Patterns of steps, instead of [`Self::steps`]: `*` matches any text. Each pattern has one of
    /// the items in a step, and each item is in a step of one of the patterns.
    #[serde(default)]
    among: Vec<String>,
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
        if !self.among.is_empty() {
            let matches = |pattern: &String| matches_text(pattern, step);
            return self.among.iter().any(matches) && !is_listed(&self.except);
        }
        is_listed(&self.steps) || (self.steps == ["*"] && !is_listed(&self.except))
    }

    fn matches(&self, item: &str, difference: &Difference) -> bool {
        self.kind == difference.kind
            && self.has_step(&difference.step)
            && matches(item, &difference.item)
    }

    /// Returns the items and the patterns of steps without a difference.
    fn unused_patterns(&self, differences: &[Difference]) -> Vec<String> {
        let is_found = |item: &String| differences.iter().any(|one| self.matches(item, one));
        let has_step = |pattern: &String| {
            let in_step = |one: &Difference| matches_text(pattern, &one.step);
            let is_listed = |one: &Difference| self.items.iter().any(|i| self.matches(i, one));
            differences.iter().any(|one| in_step(one) && is_listed(one))
        };
        let items = self.items.iter().filter(|item| !is_found(item));
        let patterns = self.among.iter().filter(|pattern| !has_step(pattern));
        let names = items.chain(patterns);
        names.map(|name| format!("{} {name}", self.kind)).collect()
    }
}

impl Allowed {
    /// Parses the content of a file.
    ///
    /// # Panics
    ///
    /// Panics if the content is malformed, or an entry has no reason.
    pub fn read(text: &str) -> Self {
        let allowed: Self = toml::from_str(text).expect("a list of differences");
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
    ///
    /// # Panics
    ///
    /// Panics if one is missing on either side.
    #[allow(clippy::print_stdout, reason = "the list is for the reader of a test")]
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
    pub fn reason(&self, difference: &Difference) -> Option<&str> {
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
    pub fn unused_items(&self, differences: &[Difference], steps: &[&str]) -> Vec<String> {
        let mut unused = Vec::new();
        for entry in &self.difference {
            if !entry.among.is_empty() {
                unused.extend(entry.unused_patterns(differences));
                continue;
            }
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

/// Returns whether `text` matches a pattern, in which `*` stands for any text.
fn matches_text(pattern: &str, text: &str) -> bool {
    let Some((begin, mut rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(begin) else {
        return false;
    };
    while let Some((part, after)) = rest.split_once('*') {
        let Some(at) = text.find(part) else {
            return false;
        };
        (text, rest) = (&text[at + part.len()..], after);
    }
    text.ends_with(rest)
}
