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

use crate::config::filter_rules::{FilterAction, FilterRule, FilterRules, FilterSubject};

use ledger_types::{AccountAddress, Identifier, ModuleId, SignedTransaction};
use std::collections::HashMap;

/// Rules with a look-up for each kind of subject, so that a decision costs as much with thousands of rules
/// as with one.
#[derive(Clone, Debug, Default)]
pub struct SubmissionFilter {
    rules: FilterRules,
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

impl From<FilterRules> for SubmissionFilter {
    fn from(rules: FilterRules) -> Self {
        let mut filter = Self::default();
        for (index, rule) in rules.iter().enumerate() {
            filter.index_rule(&rule.subject, index);
        }
        filter.rules = rules;
        filter
    }
}

impl SubmissionFilter {
    /// The rules, in the order in which they are tried.
    pub fn rules(&self) -> &FilterRules {
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

#[cfg(test)]
mod tests;
