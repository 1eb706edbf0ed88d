//! The submission filter: the operator's rules about senders, modules and functions.
//!
//! The first matching rule decides. A transaction without a matching rule is accepted, so an
//! allow list must end with `deny all`.
//!
//! The filter finds the called function in every form of payload: a call by the sender, by a
//! multisig account, or with a nonce. The only exception is a call that a multisig account has
//! stored on the ledger earlier, because the transaction that executes it does not name the
//! function. To deny a function for all accounts, deny
//! `0x1::multisig_account::create_transaction` as well.
//!
//! The filter applies only to transactions that clients submit. Transactions in the pool stay
//! there, also across a restart. Transactions of the node itself (the faucet) are not filtered.

use crate::config::filter_rules::{FilterAction, FilterRule, FilterRules, FilterSubject};
use ledger_metrics::{Counter, Metric as _};
use ledger_types::{AccountAddress, Identifier, ModuleId, SignedTransaction};
use std::{collections::HashMap, sync::Arc};

/// A filter with an index for each kind of subject, so that the cost of a decision does not
/// depend on the number of rules.
#[derive(Clone, Debug, Default)]
pub struct SubmissionFilter {
    rules: FilterRules,
    senders: HashMap<AccountAddress, RuleIndex>,
    modules: HashMap<ModuleId, ModuleRules>,
    all: Option<RuleIndex>,
    /// Number of decisions of each rule.
    hits: Arc<[Counter]>,
}

/// Index of a rule in the list, from 0.
type RuleIndex = usize;

/// The first rules about one module and its functions.
#[derive(Clone, Debug, Default)]
struct ModuleRules {
    any_function: Option<RuleIndex>,
    functions: HashMap<Identifier, RuleIndex>,
}

/// The error of a transaction that the filter denies. The rule that it names contains only data
/// of the transaction itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Transaction rejected by the submission filter of this node, rule {number}: {rule}")]
pub struct Filtered {
    /// Number of the rule in the filter, from 1.
    pub number: usize,
    /// The rule that denies the transaction.
    pub rule: Box<FilterRule>,
}

impl From<FilterRules> for SubmissionFilter {
    fn from(rules: FilterRules) -> Self {
        let mut filter = Self::default();
        for (index, rule) in rules.iter().enumerate() {
            filter.index_rule(&rule.subject, index);
        }
        filter.hits = rules.iter().map(|_| Counter::default()).collect();
        filter.rules = rules;
        filter
    }
}

impl SubmissionFilter {
    /// Returns the rules in the order in which the filter tries them.
    pub fn rules(&self) -> &FilterRules {
        &self.rules
    }

    /// Creates a filter that replaces `previous`. Rules of both keep their hits.
    pub fn replacing(previous: &Self, rules: FilterRules) -> Self {
        let filter = Self::from(rules);
        let rules = previous.rules.iter().zip(previous.hits());
        // The first of equal rules is the one that decides.
        let mut known: HashMap<_, _> = rules.rev().collect();
        for (rule, hits) in filter.rules.iter().zip(&*filter.hits) {
            hits.add(known.remove(rule).unwrap_or(0));
        }
        filter
    }

    /// Returns the number of decisions of each rule since it is in force, in their order.
    pub fn hits(&self) -> impl ExactSizeIterator<Item = u64> + DoubleEndedIterator {
        self.hits.iter().map(Counter::snapshot)
    }

    /// Checks that the filter accepts the transaction, and counts the hit of the rule that decides.
    ///
    /// # Errors
    ///
    /// Returns [`Filtered`] with the rule that denies the transaction.
    pub fn check(&self, transaction: &SignedTransaction) -> Result<(), Filtered> {
        let Some(index) = self.first_match(transaction) else {
            return Ok(());
        };
        self.hits[index].increment();
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
        let (module, function) = self.first_rules_of_call(transaction).unwrap_or_default();
        [sender, module, function, self.all]
            .into_iter()
            .flatten()
            .min()
    }

    /// Returns the first rule about the module of the called function and the first rule about
    /// the function itself. Returns `None` if the payload names no function or no rule names its
    /// module.
    fn first_rules_of_call(
        &self,
        transaction: &SignedTransaction,
    ) -> Option<(Option<RuleIndex>, Option<RuleIndex>)> {
        let call = transaction.raw.entry_function()?;
        let module_rules = self.modules.get(&call.module)?;
        let function = module_rules.functions.get(&call.function).copied();
        Some((module_rules.any_function, function))
    }

    /// Adds a rule to the index. An earlier rule about the same subject stays, because the later
    /// one never decides.
    fn index_rule(&mut self, subject: &FilterSubject, index: RuleIndex) {
        match subject {
            FilterSubject::Sender(address) => {
                self.senders.entry(*address).or_insert(index);
            }
            FilterSubject::Module(module) => {
                let module_rules = self.modules.entry(module.clone()).or_default();
                module_rules.any_function.get_or_insert(index);
            }
            FilterSubject::Function { module, name } => {
                let module_rules = self.modules.entry(module.clone()).or_default();
                module_rules.functions.entry(name.clone()).or_insert(index);
            }
            FilterSubject::All => self.all = Some(index),
        }
    }
}

#[cfg(test)]
mod tests;
