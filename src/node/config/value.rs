//! The value of a setting, and its conversion to and from the types of fields.

use crate::access::{HostNames, Origins};
use ledger_actors::FilterRules;
use ledger_limits::Networks;
use ledger_types::{FrameworkUpgrade, Vendor};
use serde::Serialize;
use std::{
    fmt,
    net::SocketAddr,
    path::{Path, PathBuf},
};

/// A value of a setting. `Display` writes it in TOML.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// An integer.
    Integer(u64),
    /// A boolean.
    Boolean(bool),
    /// A string.
    Text(String),
}

impl Value {
    /// Returns the integer, or `None` if the value is not one.
    pub fn as_integer(&self) -> Option<u64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Boolean(_) | Self::Text(_) => None,
        }
    }
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

/// The origin of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// No layer sets it.
    Default,
    /// A preset with its name and the line, from 1.
    Preset(&'static str, usize),
    /// A file and the line, from 1.
    File(PathBuf, usize),
    /// The file of kept settings in the data directory and the line, from 1.
    Override(PathBuf, usize),
    /// The environment variable with this name.
    Environment(String),
    /// `--set`.
    Set,
    /// `--data-dir`.
    DataDir,
    /// `--in-memory`.
    InMemory,
}

impl Origin {
    /// Returns whether a value of this layer applies whatever is kept at run time.
    pub fn is_stronger_than_overrides(&self) -> bool {
        match self {
            Self::Default | Self::Preset(..) | Self::File(..) | Self::Override(..) => false,
            Self::Environment(_) | Self::Set | Self::DataDir | Self::InMemory => true,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Preset(name, line) => write!(f, "preset {name}, line {line}"),
            Self::File(path, line) => write!(f, "file {}, line {line}", path.display()),
            Self::Override(path, line) => write!(f, "kept in {}, line {line}", path.display()),
            Self::Environment(variable) => write!(f, "environment variable {variable}"),
            Self::Set => f.write_str("--set"),
            Self::DataDir => f.write_str("--data-dir"),
            Self::InMemory => f.write_str("--in-memory"),
        }
    }
}

/// A type of a field that holds the value of a setting.
pub trait SettingValue: Sized {
    /// Converts the value of a field.
    fn to_value(&self) -> Value;

    /// Converts a value to the type of the field. Returns `None` if the type cannot hold it.
    fn from_value(value: &Value) -> Option<Self>;
}

macro_rules! integer_values {
    ($($type:ty),*) => { $(
        impl SettingValue for $type {
            fn to_value(&self) -> Value {
                Value::Integer(*self as u64)
            }

            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Integer(number) => (*number).try_into().ok(),
                    _ => None,
                }
            }
        }
    )* };
}

macro_rules! text_values {
    ($($type:ty: $format:expr, $parse:expr;)*) => { $(
        impl SettingValue for $type {
            fn to_value(&self) -> Value {
                Value::Text($format(self))
            }

            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Text(text) => $parse(text).ok(),
                    _ => None,
                }
            }
        }
    )* };
}

integer_values!(u8, u16, u32, u64, usize);

text_values! {
    String: ToString::to_string, str::parse;
    SocketAddr: ToString::to_string, str::parse;
    Vendor: ToString::to_string, str::parse;
    HostNames: ToString::to_string, str::parse;
    Origins: ToString::to_string, str::parse;
    Networks: ToString::to_string, str::parse;
    PathBuf: path_text, str::parse;
    FilterRules: ToString::to_string, FilterRules::parse_list;
    Vec<FrameworkUpgrade>: FrameworkUpgrade::format_list, FrameworkUpgrade::parse_list;
}

/// Returns the text of a path. It came from a text, so nothing is lost.
fn path_text(path: &Path) -> String {
    path.display().to_string()
}

impl SettingValue for bool {
    fn to_value(&self) -> Value {
        Value::Boolean(*self)
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Boolean(switch) => Some(*switch),
            _ => None,
        }
    }
}

/// The empty text is `None`.
impl<T: SettingValue> SettingValue for Option<T> {
    fn to_value(&self) -> Value {
        self.as_ref()
            .map_or_else(|| Value::Text(String::new()), T::to_value)
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) if text.is_empty() => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}
