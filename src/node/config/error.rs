//! What can be wrong with a configuration; every message names the key and where it stands.

use super::{Origin, RawValue, Setting};
use std::path::{Path, PathBuf};

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is no TOML, or no genesis.
    #[error("{}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What the parser says.
        message: String,
    },
    /// A key that no setting has.
    #[error("unknown key {key} ({origin}); {hint}")]
    UnknownKey {
        /// The key as written.
        key: String,
        /// Where it stands.
        origin: Origin,
        /// Which keys there are.
        hint: String,
    },
    /// A value outside of the allowed range.
    #[error("{key} = {value} ({origin}): {message}")]
    BadValue {
        /// The key.
        key: String,
        /// The value as written.
        value: String,
        /// Where it stands.
        origin: Origin,
        /// What is wrong with it, if it has many parts, and which values are allowed.
        message: String,
    },
    /// A `--set` that is no `key=value`.
    #[error("--set {0:?} is not of the form key=value")]
    NotAnAssignment(String),
    /// An environment variable whose value is not UTF-8.
    #[error("the environment variable {0} is not valid UTF-8")]
    NotUnicode(String),
    /// Two settings, or a setting and the genesis, that contradict each other.
    #[error("{0}")]
    Contradiction(String),
}

impl ConfigError {
    /// The error of the file `path` with the contents `text`. Says where it is wrong without
    /// repeating the line, which may hold a private key.
    pub fn malformed(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        let message = error.message();
        let message = match error.span().and_then(|span| text.get(..span.start)) {
            Some(before) => {
                let (line, column) = place_after(before);
                format!("line {line}, column {column}: {message}")
            }
            None => message.to_owned(),
        };
        Self::Malformed {
            path: path.to_owned(),
            message,
        }
    }

    /// The error of a value that `setting` does not accept.
    pub fn bad_value(setting: &Setting, value: &RawValue, origin: Origin) -> Self {
        let cause = setting.kind.cause(value);
        let cause = cause.map(|cause| format!("{cause}; ")).unwrap_or_default();
        Self::BadValue {
            key: setting.key.to_owned(),
            value: shortened(value.to_string()),
            origin,
            message: format!("{cause}expected {}", setting.kind),
        }
    }
}

/// How much of a value an error repeats, in characters: a list of rules may have thousands.
const VALUE_CHARS_MAX: usize = 200;

fn shortened(mut value: String) -> String {
    if let Some((end, _)) = value.char_indices().nth(VALUE_CHARS_MAX) {
        value.truncate(end);
        value.push_str(" ...");
    }
    value
}

/// The line and the column, both from 1, of what follows `before`.
fn place_after(before: &str) -> (usize, usize) {
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}
