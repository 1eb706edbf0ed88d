//! A rule of the submission filter and its text: `deny sender 0x1`, `allow module 0x1::m`,
//! `deny function 0x1::m::f`, `deny all`.

use ledger_types::{
    AccountAddress, AddressError, Identifier, IdentifierError, ModuleId, TypeParseError,
};
use std::{fmt, str::FromStr};

/// What a rule does with the transactions that it matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the variants are the words of a rule")]
pub enum FilterAction {
    Allow,
    Deny,
}

/// Which transactions a rule matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FilterSubject {
    /// Those of this sender, whoever else signs or pays.
    Sender(AccountAddress),
    /// Those that call a function of this module.
    Module(ModuleId),
    /// Those that call this function.
    Function {
        /// Where it is.
        module: ModuleId,
        /// Its name.
        name: Identifier,
    },
    /// Every one.
    All,
}

/// A rule. `Display` is the text that it is read from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilterRule {
    /// What it does.
    pub action: FilterAction,
    /// To which transactions.
    pub subject: FilterSubject,
}

impl FilterRule {
    /// Maximum length of the text of a rule, in bytes: one on a function with the longest names.
    pub const TEXT_BYTES_MAX: usize =
        "allow function ".len() + "0x".len() + 64 + 2 * ("::".len() + Identifier::LENGTH_MAX);
}

/// A text that is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterRuleError {
    /// It does not begin with what the rule does.
    #[error("it begins with allow or deny")]
    Action,
    /// It does not say what the rule is about.
    #[error("after allow or deny comes sender, module or function, or all")]
    Subject,
    /// What is named after the subject is missing, or more follows.
    #[error("sender, module and function name one thing each, all names none")]
    Count,
    /// The sender is no address.
    #[error("the sender is no address: {0}")]
    Sender(#[from] AddressError),
    /// The module is none.
    #[error("a module is ADDRESS::NAME: {0}")]
    Module(#[from] TypeParseError),
    /// The function has no module before its name.
    #[error("a function is ADDRESS::MODULE::NAME")]
    Function,
    /// The function's name is none.
    #[error("a function is ADDRESS::MODULE::NAME: {0}")]
    FunctionName(#[from] IdentifierError),
}

impl FromStr for FilterRule {
    type Err = FilterRuleError;

    fn from_str(text: &str) -> Result<Self, FilterRuleError> {
        let mut words = text.split_ascii_whitespace();
        let action = match words.next() {
            Some("allow") => FilterAction::Allow,
            Some("deny") => FilterAction::Deny,
            _ => return Err(FilterRuleError::Action),
        };
        let subject = words.next().ok_or(FilterRuleError::Subject)?;
        let (named, more) = (words.next(), words.next());
        let subject = match (subject, named, more) {
            ("all", None, None) => FilterSubject::All,
            ("sender", Some(address), None) => FilterSubject::Sender(address.parse()?),
            ("module", Some(module), None) => FilterSubject::Module(module.parse()?),
            ("function", Some(function), None) => {
                let (module, name) = function
                    .rsplit_once("::")
                    .ok_or(FilterRuleError::Function)?;
                FilterSubject::Function {
                    module: module.parse()?,
                    name: name.parse()?,
                }
            }
            ("all" | "sender" | "module" | "function", ..) => return Err(FilterRuleError::Count),
            _ => return Err(FilterRuleError::Subject),
        };
        Ok(Self { action, subject })
    }
}

impl fmt::Display for FilterRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.action {
            FilterAction::Allow => "allow ",
            FilterAction::Deny => "deny ",
        })?;
        match &self.subject {
            FilterSubject::Sender(address) => write!(f, "sender {address}"),
            FilterSubject::Module(module) => write!(f, "module {module}"),
            FilterSubject::Function { module, name } => write!(f, "function {module}::{name}"),
            FilterSubject::All => f.write_str("all"),
        }
    }
}
