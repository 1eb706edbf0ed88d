//! Errors of a configuration. A message names the key and its origin.

use super::{Origin, RawValue, Setting};
use std::path::{Path, PathBuf};

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file that cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file with invalid content.
    #[error("{}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The error, without the content of the file.
        message: String,
    },
    /// A key without a setting.
    #[error("unknown key {key} ({origin}); {hint}")]
    UnknownKey {
        /// The key as the layer has it.
        key: String,
        /// The layer and the position in it.
        origin: Origin,
        /// The keys or sections that exist.
        hint: String,
    },
    /// A value that the setting does not allow.
    #[error("{key} = {value} ({origin}): {message}")]
    BadValue {
        /// The key.
        key: String,
        /// The value as the layer has it, truncated if it is long.
        value: String,
        /// The layer and the position in it.
        origin: Origin,
        /// The invalid part of a list, and the allowed values.
        message: String,
    },
    /// A `--set` without a `=`.
    #[error("--set {0:?} is not of the form key=value")]
    NotAnAssignment(String),
    /// An environment variable whose value is not UTF-8.
    #[error("the environment variable {0} is not valid UTF-8")]
    NotUnicode(String),
    /// Settings that contradict each other or the genesis.
    #[error("{0}")]
    Contradiction(String),
}

impl ConfigError {
    /// Creates the error of a file that does not parse, with the position in its content `text`.
    ///
    /// The message does not repeat the line, which may hold a private key.
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

    /// Creates the error of a value that `setting` does not allow.
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

/// Maximum number of characters that an error repeats of a value. A list of filter rules may have
/// hundreds of thousands.
const VALUE_CHARS_MAX: usize = 200;

fn shortened(mut value: String) -> String {
    if let Some((end, _)) = value.char_indices().nth(VALUE_CHARS_MAX) {
        value.truncate(end);
        value.push_str(" ...");
    }
    value
}

/// Returns the line and the column after the text `before`, both from 1.
fn place_after(before: &str) -> (usize, usize) {
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}
