//! What happened in all simulations together, so that a run that tests nothing is noticed.

use std::collections::BTreeMap;

/// How often something happened, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures(BTreeMap<&'static str, u64>);

impl Figures {
    pub(super) fn count(&mut self, what: &'static str) {
        self.add(what, 1);
    }

    pub(super) fn add(&mut self, what: &'static str, count: u64) {
        if count > 0 {
            *self.0.entry(what).or_default() += count;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (what, count) in &other.0 {
            self.add(what, *count);
        }
    }

    pub(super) fn get(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or_default()
    }

    /// One line for each.
    pub(super) fn lines(&self) -> String {
        let lines = self.0.iter().map(|(what, count)| format!("{count:>12} {what}\n"));
        lines.collect()
    }
}
