//! A rule of the submission filter and its text: `deny sender 0x1`, `allow module 0x1::m`,
//! `deny function 0x1::m::f`, `deny all`.

use ledger_types::{
    AccountAddress, AddressError, Identifier, IdentifierError, ModuleId, TypeParseError,
};
use std::{fmt, ops::Deref, str::FromStr};

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

/// Rules that are no filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// More rules than the filter takes.
    #[error("a filter has at most {max} rules, not {0}", max = FilterRules::RULES_MAX)]
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

/// How much of a text that is no rule an error repeats, in characters: more than the longest address.
const SHOWN_CHARS_MAX: usize = 100;

/// The rules of a submission filter, in the order in which they are tried.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FilterRules(Vec<FilterRule>);

impl FilterRules {
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
}

impl Deref for FilterRules {
    type Target = [FilterRule];

    fn deref(&self) -> &[FilterRule] {
        &self.0
    }
}

/// The rules with commas between, as [`FilterRules::parse_list`] reads them.
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
