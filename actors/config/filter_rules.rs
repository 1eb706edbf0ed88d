//! Rules of the submission filter and their text form.
//!
//! Examples of a rule's text: `deny sender 0x1`, `allow module 0x1::m`, `deny function
//! 0x1::m::f`, `deny all`.

use ledger_types::{
    AccountAddress, AddressError, Identifier, IdentifierError, ModuleId, TypeParseError,
};
use std::{fmt, ops::Deref, str::FromStr};

/// The decision of a rule about the transactions that it matches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the variants are the words of a rule")]
pub enum FilterAction {
    Allow,
    Deny,
}

/// The set of transactions that a rule matches.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum FilterSubject {
    /// Transactions of this sender, regardless of further signers and the fee payer.
    Sender(AccountAddress),
    /// Transactions that call a function of this module.
    Module(ModuleId),
    /// Transactions that call this function.
    Function {
        /// The module that declares the function.
        module: ModuleId,
        /// The name of the function.
        name: Identifier,
    },
    /// All transactions.
    All,
}

/// A rule of the submission filter. `Display` writes the text that `FromStr` parses.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FilterRule {
    /// The decision of the rule.
    pub action: FilterAction,
    /// The transactions that the rule matches.
    pub subject: FilterSubject,
}

impl FilterRule {
    /// Maximum length of the text of a rule, in bytes: the length of a rule about a function
    /// whose names have maximum length.
    pub const TEXT_BYTES_MAX: usize =
        "allow function ".len() + "0x".len() + 64 + 2 * ("::".len() + Identifier::LENGTH_MAX);
}

/// An error of parsing the text of a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterRuleError {
    /// The text does not begin with `allow` or `deny`.
    #[error("expected allow or deny first")]
    Action,
    /// The second word is missing or names no kind of subject.
    #[error("expected sender, module, function or all after allow or deny")]
    Subject,
    /// The operand of the subject is missing, or the text continues after it.
    #[error("sender, module and function take one operand each, all takes none")]
    Count,
    /// The operand of `sender` is not an address.
    #[error("invalid address of the sender: {0}")]
    Sender(#[from] AddressError),
    /// The module is not of the form `ADDRESS::NAME`.
    #[error("expected a module ADDRESS::NAME: {0}")]
    Module(#[from] TypeParseError),
    /// The name of the function has no module before it.
    #[error("expected a function ADDRESS::MODULE::NAME")]
    Function,
    /// The name of the function is not an identifier.
    #[error("expected a function ADDRESS::MODULE::NAME: {0}")]
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
        let (operand, excess) = (words.next(), words.next());
        let subject = match (subject, operand, excess) {
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

/// An error of creating a filter from rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// There are more than [`FilterRules::RULES_MAX`] rules. The field is their number.
    #[error("a filter has at most {max} rules, got {0}", max = FilterRules::RULES_MAX)]
    TooMany(usize),
    /// The text of a rule cannot be parsed.
    #[error("rule {number}, {text:?}, is invalid: {cause}")]
    Rule {
        /// Number of the rule, from 1.
        number: usize,
        /// Text of the rule, truncated if it is long.
        text: String,
        /// The error of parsing the text.
        cause: FilterRuleError,
    },
    /// A rule follows a rule about `all`, so it has no effect. The author most likely intended
    /// another order.
    #[error("rule {number} has no effect, because rule {all} matches all submissions")]
    Unreachable {
        /// Number of the unreachable rule, from 1.
        number: usize,
        /// Number of the rule about `all`, from 1.
        all: usize,
    },
}

/// Maximum number of characters that an error repeats of a text that is not a rule. The longest
/// address fits.
const ERROR_TEXT_CHARS_MAX: usize = 100;

/// The rules of a submission filter, in the order in which the filter tries them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FilterRules(Vec<FilterRule>);

impl FilterRules {
    /// Maximum number of rules of a filter.
    ///
    /// A filter of this size takes some MB of memory, and fits into one request to the admin
    /// listener.
    pub const RULES_MAX: usize = 10_000;

    /// Creates the rules of a filter.
    ///
    /// # Errors
    ///
    /// Returns [`FilterError::TooMany`] if there are more than [`Self::RULES_MAX`] rules, and
    /// [`FilterError::Unreachable`] if a rule follows one about `all`.
    pub fn new(rules: Vec<FilterRule>) -> Result<Self, FilterError> {
        if rules.len() > Self::RULES_MAX {
            return Err(FilterError::TooMany(rules.len()));
        }
        let all = rules
            .iter()
            .position(|rule| rule.subject == FilterSubject::All);
        if let Some(all) = all.filter(|all| all + 1 < rules.len()) {
            return Err(FilterError::Unreachable {
                number: all + 2,
                all: all + 1,
            });
        }
        Ok(Self(rules))
    }

    /// Parses one rule per text.
    ///
    /// # Errors
    ///
    /// Returns [`FilterError::Rule`] for the first text that is not a rule,
    /// [`FilterError::TooMany`] if there are more than [`Self::RULES_MAX`] texts, and
    /// [`FilterError::Unreachable`] if a rule follows one about `all`.
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self, FilterError> {
        if texts.len() > Self::RULES_MAX {
            return Err(FilterError::TooMany(texts.len()));
        }
        let rules = texts.iter().enumerate().map(|(index, text)| {
            let text = text.as_ref();
            text.parse().map_err(|cause| FilterError::Rule {
                number: index + 1,
                text: text.chars().take(ERROR_TEXT_CHARS_MAX).collect(),
                cause,
            })
        });
        Self::new(rules.collect::<Result<_, _>>()?)
    }

    /// Parses a list of rules separated by commas, which is the form of the configuration.
    ///
    /// An empty text is a list without rules. A comma may follow the last rule.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::parse`] under the same conditions.
    pub fn parse_list(text: &str) -> Result<Self, FilterError> {
        let text = text.trim();
        let text = text.strip_suffix(',').unwrap_or(text);
        if text.is_empty() {
            return Ok(Self::default());
        }
        let texts: Vec<_> = text.split(',').map(str::trim).collect();
        Self::parse(&texts)
    }
}

impl Deref for FilterRules {
    type Target = [FilterRule];

    fn deref(&self) -> &[FilterRule] {
        &self.0
    }
}

/// Writes the rules separated by commas, in the form that [`FilterRules::parse_list`] parses.
impl fmt::Display for FilterRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, rule) in self.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{rule}")?;
        }
        Ok(())
    }
}
