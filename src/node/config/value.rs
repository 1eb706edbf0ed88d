//! The value of a setting, and the types that the node's code reads it as.

use crate::access::{HostNames, Origins};
use ledger_actors::FilterRules;
use ledger_types::{FrameworkUpgrade, Vendor};
use std::{fmt, net::SocketAddr, path::PathBuf};

/// A value of a setting; `Display` is its TOML form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A whole number.
    Integer(u64),
    /// A switch.
    Boolean(bool),
    /// Everything else.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => write!(f, "{number}"),
            Self::Boolean(switch) => write!(f, "{switch}"),
            Self::Text(text) => write!(f, "{}", toml::Value::String(text.clone())),
        }
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Integer(number)
    }
}

impl From<bool> for Value {
    fn from(switch: bool) -> Self {
        Self::Boolean(switch)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A type that a setting is read as.
///
/// `None` means that the declared kind lets a value through that the declared type cannot hold;
/// a test of the declaration excludes it.
pub trait FromValue: Sized {
    /// Reads a value that [`super::Setting::accept`] let through.
    fn from_value(value: &Value) -> Option<Self>;
}

macro_rules! from_integer {
    ($($type:ty),*) => { $(
        impl FromValue for $type {
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Integer(number) => (*number).try_into().ok(),
                    _ => None,
                }
            }
        }
    )* };
}

macro_rules! from_text {
    ($($type:ty),*) => { $(
        impl FromValue for $type {
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Text(text) => text.parse().ok(),
                    _ => None,
                }
            }
        }
    )* };
}

from_integer!(u8, u32, u64, usize);
from_text!(String, SocketAddr, Vendor, PathBuf, HostNames, Origins);

impl FromValue for Vec<FrameworkUpgrade> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => FrameworkUpgrade::parse_list(text).ok(),
            _ => None,
        }
    }
}

impl FromValue for FilterRules {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Self::parse_list(text).ok(),
            _ => None,
        }
    }
}

impl FromValue for bool {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Boolean(switch) => Some(*switch),
            _ => None,
        }
    }
}

impl FromValue for Option<PathBuf> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) if text.is_empty() => Some(None),
            Value::Text(text) => Some(Some(PathBuf::from(text))),
            _ => None,
        }
    }
}

impl FromValue for Option<SocketAddr> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) if text.is_empty() => Some(None),
            Value::Text(text) => text.parse().ok().map(Some),
            _ => None,
        }
    }
}
