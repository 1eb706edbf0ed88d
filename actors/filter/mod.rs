//! Which submissions the operator lets in: rules on sender, module and function.
//!
//! The first rule that matches decides; a transaction that none matches is let in. So a list of those who
//! are let in ends with `deny all`. What is called is seen through every form of payload: as the sender,
//! as a multisig account, with a nonce. Only what a multisig account has stored on the ledger before is not
//! named by the transaction that runs it; who denies a function to everybody denies
//! `0x1::multisig_account::create_transaction` with it.
//!
//! A filter is for what clients submit. What the pool has taken stays, also over a restart, and what the
//! node itself sends (the faucet) is not filtered.

mod rule;

pub use rule::{FilterAction, FilterRule, FilterRuleError, FilterSubject};

use ledger_types::{AccountAddress, Identifier, ModuleId, SignedTransaction};
use std::{collections::HashMap, fmt};

/// Rules with a look-up for each kind of subject, so that a decision costs as much with thousands of rules
/// as with one.
#[derive(Clone, Debug, Default)]
pub struct SubmissionFilter {
    rules: Vec<FilterRule>,
    senders: HashMap<AccountAddress, RuleIndex>,
    modules: HashMap<ModuleId, OfModule>,
    all: Option<RuleIndex>,
}

/// Where a rule stands among the others, from 0.
type RuleIndex = usize;

/// The first rules about one module.
#[derive(Clone, Debug, Default)]
struct OfModule {
    any_function: Option<RuleIndex>,
    functions: HashMap<Identifier, RuleIndex>,
}

/// Rules that are no filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// More rules than the filter takes.
    #[error("a filter has at most {max} rules, not {0}", max = SubmissionFilter::RULES_MAX)]
    TooMany(usize),
    /// A text that is no rule.
    #[error("rule {number}, {text:?}, is no rule: {cause}")]
    Rule {
        /// Which, from 1.
        number: usize,
        /// Its text, cut where it is long.
        text: String,
        /// Why.
        cause: FilterRuleError,
    },
    /// A rule that nothing reaches; most likely its author meant another order.
    #[error("rule {number} never decides, because rule {all} matches everything before it")]
    Unreachable {
        /// Which, from 1.
        number: usize,
        /// Where the rule about all stands.
        all: usize,
    },
}

/// A transaction that the filter does not let in. It names the rule, which says nothing that the
/// transaction does not say itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Transaction rejected by the submission filter of this node, rule {number}: {rule}")]
pub struct Filtered {
    /// Where the rule stands in the filter, from 1.
    pub number: usize,
    /// The rule.
    pub rule: Box<FilterRule>,
}

/// How much of a text that is no rule an error repeats, in characters: more than the longest address.
const SHOWN_CHARS_MAX: usize = 100;

impl SubmissionFilter {
    /// The most rules: some MB in memory, and as many as fit into one change on the operator's listener.
    pub const RULES_MAX: usize = 10_000;

    /// A filter of these rules.
    ///
    /// # Errors
    /// When they are more than [`Self::RULES_MAX`], or one stands behind a rule about all.
    pub fn new(rules: Vec<FilterRule>) -> Result<Self, FilterError> {
        if rules.len() > Self::RULES_MAX {
            return Err(FilterError::TooMany(rules.len()));
        }
        let mut filter = Self::default();
        for (index, rule) in rules.iter().enumerate() {
            if let Some(all) = filter.all {
                let (number, all) = (index + 1, all + 1);
                return Err(FilterError::Unreachable { number, all });
            }
            filter.index_rule(&rule.subject, index);
        }
        filter.rules = rules;
        Ok(filter)
    }

    /// A filter of rules in the form of a text each.
    ///
    /// # Errors
    /// As [`Self::new`], and when a text is no rule.
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self, FilterError> {
        if texts.len() > Self::RULES_MAX {
            return Err(FilterError::TooMany(texts.len()));
        }
        let rules = texts.iter().enumerate().map(|(index, text)| {
            let text = text.as_ref();
            text.parse().map_err(|cause| FilterError::Rule {
                number: index + 1,
                text: text.chars().take(SHOWN_CHARS_MAX).collect(),
                cause,
            })
        });
        Self::new(rules.collect::<Result<_, _>>()?)
    }

    /// A filter of rules with commas between, as in the configuration. An empty text has none; a comma may
    /// follow the last.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_list(text: &str) -> Result<Self, FilterError> {
        let text = text.trim();
        let text = text.strip_suffix(',').unwrap_or(text);
        if text.is_empty() {
            return Ok(Self::default());
        }
        let texts: Vec<_> = text.split(',').map(str::trim).collect();
        Self::parse(&texts)
    }

    /// The rules, in the order in which they are tried.
    pub fn rules(&self) -> &[FilterRule] {
        &self.rules
    }

    /// Whether the transaction is let in.
    ///
    /// # Errors
    /// The rule that denies it.
    pub fn check(&self, transaction: &SignedTransaction) -> Result<(), Filtered> {
        let Some(index) = self.first_match(transaction) else {
            return Ok(());
        };
        match self.rules[index].action {
            FilterAction::Allow => Ok(()),
            FilterAction::Deny => Err(Filtered {
                number: index + 1,
                rule: Box::new(self.rules[index].clone()),
            }),
        }
    }

    fn first_match(&self, transaction: &SignedTransaction) -> Option<RuleIndex> {
        let raw = &transaction.raw;
        let sender = self.senders.get(&raw.sender).copied();
        let (module, function) = self.first_about_call(transaction).unwrap_or_default();
        [sender, module, function, self.all]
            .into_iter()
            .flatten()
            .min()
    }

    /// The first rule about the module of what is called, and the first about the function.
    fn first_about_call(
        &self,
        transaction: &SignedTransaction,
    ) -> Option<(Option<RuleIndex>, Option<RuleIndex>)> {
        let call = transaction.raw.entry_function()?;
        let of_module = self.modules.get(&call.module)?;
        let function = of_module.functions.get(&call.function).copied();
        Some((of_module.any_function, function))
    }

    /// Remembers the first place of a subject: a later rule about the same never decides.
    fn index_rule(&mut self, subject: &FilterSubject, index: RuleIndex) {
        match subject {
            FilterSubject::Sender(address) => {
                self.senders.entry(*address).or_insert(index);
            }
            FilterSubject::Module(module) => {
                let of_module = self.modules.entry(module.clone()).or_default();
                of_module.any_function.get_or_insert(index);
            }
            FilterSubject::Function { module, name } => {
                let of_module = self.modules.entry(module.clone()).or_default();
                of_module.functions.entry(name.clone()).or_insert(index);
            }
            FilterSubject::All => self.all = Some(index),
        }
    }
}

/// The rules with commas between, as [`SubmissionFilter::parse_list`] reads them.
impl fmt::Display for SubmissionFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, rule) in self.rules.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{rule}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
