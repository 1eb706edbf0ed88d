//! Denials: rules of the submission filter, and denied addresses, one at a time.

use super::{
    error::ChangeError,
    state::{Change, RunTimeSettings, Terms},
};
use crate::config::{RawValue, Settings, Value};
use ledger_actors::{FilterError, FilterRule, FilterRules};
use ledger_limits::Networks;

/// The setting with the rules of the filter.
const RULES: &str = "filter.rules";

/// The setting with the denied addresses.
const ADDRESSES: &str = "api.denied_addresses";

/// What is denied, or allowed again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// The submissions that a rule matches.
    Rule(FilterRule),
    /// The requests of these addresses.
    Addresses(Networks),
}

impl RunTimeSettings {
    /// Denies submissions or addresses. A rule becomes the first one of the filter.
    ///
    /// # Errors
    ///
    /// Returns [`ChangeError::NotAllowed`] if there are too many rules or networks, and the errors
    /// of [`Self::change`]. Nothing is changed then.
    pub fn deny(&self, denial: &Denial, terms: Terms, author: &str) -> Result<(), ChangeError> {
        self.change_from(terms, author, |running| match denial {
            Denial::Rule(rule) => {
                let others = running.node.filter.iter().filter(|other| *other != rule);
                rules([rule].into_iter().chain(others))
            }
            Denial::Addresses(networks) => {
                let denied = &running.api.denied_addresses;
                addresses(&networks.with(denied))
            }
        })
    }

    /// Removes a rule of the filter, or denied addresses.
    ///
    /// # Errors
    ///
    /// Returns [`ChangeError::NotDenied`] if there is no such rule or network, and the errors of
    /// [`Self::change`]. Nothing is changed then.
    pub fn allow(&self, denial: &Denial, terms: Terms, author: &str) -> Result<(), ChangeError> {
        self.change_from(terms, author, |running| match denial {
            Denial::Rule(rule) => {
                let filter = &running.node.filter;
                if !filter.contains(rule) {
                    return Err(ChangeError::NotDenied(rule.to_string()));
                }
                rules(filter.iter().filter(|other| *other != rule))
            }
            Denial::Addresses(networks) => {
                let denied = &running.api.denied_addresses;
                let rest = denied.without(networks);
                if rest == *denied {
                    return Err(ChangeError::NotDenied(networks.to_string()));
                }
                addresses(&rest)
            }
        })
    }

    /// Changes a setting to a value that follows from the values in force.
    fn change_from(
        &self,
        terms: Terms,
        author: &str,
        change: impl FnOnce(&Settings) -> Result<(&'static str, Value), ChangeError>,
    ) -> Result<(), ChangeError> {
        let mut state = self.state();
        let (key, value) = change(&state.running)?;
        let set = vec![(key.to_owned(), RawValue::Typed(value))];
        self.change_in(&mut state, &Change { set, terms }, author)
    }
}

/// Returns the setting and the value of these rules.
fn rules<'a>(
    rules: impl Iterator<Item = &'a FilterRule>,
) -> Result<(&'static str, Value), ChangeError> {
    let not_allowed = |error: FilterError| ChangeError::NotAllowed {
        key: RULES,
        value: "a further rule".to_owned(),
        message: error.to_string(),
    };
    let rules = FilterRules::new(rules.cloned().collect()).map_err(not_allowed)?;
    Ok((RULES, Value::Text(rules.to_string())))
}

/// Returns the setting and the value of these addresses. The setting checks their number.
fn addresses(networks: &Networks) -> Result<(&'static str, Value), ChangeError> {
    Ok((ADDRESSES, Value::Text(networks.to_string())))
}
