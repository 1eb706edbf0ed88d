//! A row of the table of settings, and the check of a value against it.

use super::{Settings, Value};
use crate::access::{NoHostNames, NoOrigins};
use ledger_actors::FilterRules;
use ledger_limits::NoNetworks;
use ledger_types::Vendor;
use serde::Serialize;
use std::{fmt, ops::RangeInclusive};
use tracing_subscriber::filter::{LevelFilter, Targets};

/// Largest integer of a TOML file.
pub const INTEGER_MAX: u64 = i64::MAX as u64;

/// One row of [`super::SETTINGS`].
#[derive(Debug)]
pub struct Setting {
    /// The dotted key: `actors.mempool.mailbox_capacity`.
    pub key: &'static str,
    /// The allowed values.
    pub kind: Kind,
    /// Unit of the value: `bytes`, `ms`; empty if it has none.
    pub unit: &'static str,
    /// When a changed value applies.
    pub applies: Applies,
    /// Effect of the setting and reason of its default.
    pub reason: &'static str,
    /// Returns the value of the field.
    pub get: fn(&Settings) -> Value,
    /// Sets the field. Returns `None` if its type cannot hold the value.
    pub set: fn(&mut Settings, &Value) -> Option<()>,
}

/// The time at which a changed value of a setting applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Applies {
    /// A run-time setting: immediately, by a change on the admin listener or by SIGHUP.
    Now,
    /// By SIGHUP.
    Reload,
    /// At the next start.
    Restart,
}

/// The values that a setting allows.
#[derive(Debug)]
pub enum Kind {
    /// An integer within the range.
    Integer(RangeInclusive<u64>),
    /// 0, which turns the setting off, or an integer within the range.
    OptionalInteger(RangeInclusive<u64>),
    /// `true` or `false`.
    Boolean,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `IP:PORT`; port 0 picks a free one.
    Listen,
    /// `IP:PORT`, or the empty text for none.
    OptionalListen,
    /// A vendor word.
    Vendor,
    /// Framework versions with their heights: `2@1000,3@5000`.
    FrameworkUpgrades,
    /// Rules of the submission filter, separated by commas.
    FilterRules,
    /// Host names, separated by commas.
    HostNames,
    /// Origins of web pages, separated by commas.
    Origins,
    /// Networks in CIDR notation, separated by commas.
    Networks,
    /// A path, not empty.
    Path,
    /// A path, or the empty text for none.
    OptionalPath,
    /// A level, or levels per module: `info,ledger_actors=debug`.
    LogLevel,
}

/// A value of a layer, before it is checked against its setting.
#[derive(Debug, Clone)]
pub enum RawValue {
    /// A text of the environment or the command line.
    Untyped(String),
    /// A string, integer or boolean of a file or of a request.
    Typed(Value),
    /// An integer of a file or of a request that is negative or too large for any setting.
    OutOfRange(String),
    /// A value of a type that no setting has, with the name of the type.
    Other(&'static str),
}

impl Setting {
    /// Returns the section in a file: `actors.mempool`.
    pub fn section(&self) -> &'static str {
        self.split_key().0
    }

    /// Returns the name within the section: `mailbox_capacity`.
    pub fn name(&self) -> &'static str {
        self.split_key().1
    }

    fn split_key(&self) -> (&'static str, &'static str) {
        self.key.rsplit_once('.').expect("every key has a section")
    }

    /// Returns effect and reason, and whether the setting can be changed at run time.
    pub fn description(&self) -> String {
        let applies = match self.applies {
            Applies::Now => " Can be changed at run time.",
            Applies::Reload | Applies::Restart => "",
        };
        format!("{}{applies}", self.reason)
    }

    /// Returns the default.
    pub fn default(&self) -> Value {
        (self.get)(&Settings::default())
    }

    /// Sets the field of the setting and returns the value.
    ///
    /// Returns `None` and leaves the field as it is if the value is not allowed.
    pub fn apply(&self, settings: &mut Settings, raw: &RawValue) -> Option<Value> {
        let value = match raw {
            RawValue::Typed(value) => value.clone(),
            RawValue::Untyped(text) => self.kind.parse(text)?,
            RawValue::OutOfRange(_) | RawValue::Other(_) => return None,
        };
        if !self.kind.allows(&value) {
            return None;
        }
        (self.set)(settings, &value)?;
        Some(value)
    }
}

impl Kind {
    fn parse(&self, text: &str) -> Option<Value> {
        match self {
            // The parser of the standard library accepts a sign.
            Self::Integer(_) | Self::OptionalInteger(_) if text.starts_with('+') => None,
            Self::Integer(_) | Self::OptionalInteger(_) => {
                text.replace('_', "").parse().ok().map(Value::Integer)
            }
            Self::Boolean => text.parse().ok().map(Value::Boolean),
            _ => Some(Value::Text(text.to_owned())),
        }
    }

    /// Returns the error of a value that is not allowed: the invalid part of a list and the allowed
    /// values.
    pub fn expected(&self, raw: &RawValue) -> String {
        let cause = self.cause(raw).map(|cause| format!("{cause}; "));
        format!("{}expected {self}", cause.unwrap_or_default())
    }

    /// Returns the error of a list, because the allowed values alone would not say which of its
    /// items is invalid.
    fn cause(&self, raw: &RawValue) -> Option<String> {
        match (self, raw) {
            (Self::FilterRules, RawValue::Untyped(text) | RawValue::Typed(Value::Text(text))) => {
                FilterRules::parse_list(text)
                    .err()
                    .map(|error| error.to_string())
            }
            _ => None,
        }
    }

    /// Checks what the type of the field does not: ranges, words and levels.
    fn allows(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Integer(range), Value::Integer(number)) => range.contains(number),
            (Self::OptionalInteger(range), Value::Integer(number)) => {
                *number == 0 || range.contains(number)
            }
            (Self::Boolean, Value::Boolean(_)) => true,
            (Self::Integer(_) | Self::OptionalInteger(_) | Self::Boolean, _) => false,
            (Self::Choice(words), Value::Text(text)) => words.contains(&text.as_str()),
            (Self::Path, Value::Text(text)) => !text.is_empty(),
            (Self::LogLevel, Value::Text(text)) => is_log_level(text),
            (_, Value::Text(_)) => true,
            (_, Value::Integer(_) | Value::Boolean(_)) => false,
        }
    }
}

/// Returns whether `text` is a list of levels and `module=level`, separated by commas. The parser
/// of [`Targets`] takes any other word for a module, and then drops the lines of all others.
fn is_log_level(text: &str) -> bool {
    let is_level = |word: &str| !word.is_empty() && word.parse::<LevelFilter>().is_ok();
    text.parse::<Targets>().is_ok()
        && text.split(',').all(|part| match part.split_once('=') {
            Some((module, level)) => !module.is_empty() && is_level(level),
            None => is_level(part),
        })
}

/// Writes which values are allowed, as the end of "expected ...".
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(range) if is_open(range) => {
                write!(f, "an integer of at least {}", range.start())
            }
            Self::Integer(range) => {
                write!(f, "an integer from {} to {}", range.start(), range.end())
            }
            Self::OptionalInteger(range) if is_open(range) => {
                write!(f, "0, or an integer of at least {}", range.start())
            }
            Self::OptionalInteger(range) => {
                let (start, end) = (range.start(), range.end());
                write!(f, "0, or an integer from {start} to {end}")
            }
            Self::Boolean => f.write_str("true or false"),
            Self::Choice(words) => write!(f, "\"{}\"", words.join("\" or \"")),
            Self::Listen => f.write_str("\"IP:PORT\"; port 0 picks a free one"),
            Self::OptionalListen => {
                f.write_str("\"IP:PORT\", or \"\" for none; port 0 picks a free one")
            }
            Self::Vendor => write!(f, "1 to {} letters A-Z", Vendor::LENGTH_MAX),
            Self::FrameworkUpgrades => f.write_str(
                "\"VERSION@HEIGHT\" or several in ascending order, separated by commas, or \"\" \
                 for none",
            ),
            Self::FilterRules => write!(
                f,
                "up to {} rules separated by commas, or \"\" for none; a rule is allow or deny, \
                 then \"sender ADDRESS\", \"module ADDRESS::NAME\", \
                 \"function ADDRESS::MODULE::NAME\" or \"all\"",
                FilterRules::RULES_MAX
            ),
            Self::HostNames => NoHostNames.fmt(f),
            Self::Origins => NoOrigins.fmt(f),
            Self::Networks => NoNetworks.fmt(f),
            Self::Path => f.write_str("a path"),
            Self::OptionalPath => f.write_str("a path, or \"\" for none"),
            Self::LogLevel => f.write_str(
                "off, error, warn, info, debug or trace, also per module: \
                 \"info,ledger_actors=debug\"",
            ),
        }
    }
}

/// Returns whether a range has no other end than the largest integer of TOML.
pub(super) fn is_open(range: &RangeInclusive<u64>) -> bool {
    *range.end() == INTEGER_MAX
}

impl fmt::Display for RawValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Untyped(text) | Self::OutOfRange(text) => write!(f, "{text:?}"),
            Self::Typed(value) => write!(f, "{value}"),
            Self::Other(form) => write!(f, "a value of the type {form}"),
        }
    }
}
