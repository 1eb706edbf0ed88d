//! Errors of a configuration. A message names the key and its origin.

use super::{Origin, RawValue, Setting};
use std::{
    io,
    path::{Path, PathBuf},
};

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A configuration file that cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A configuration file with invalid content.
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
    /// A value that the setting does not allow, or the path of a file that cannot be used.
    #[error("{key} = {value} ({origin}): {message}")]
    BadValue {
        /// The key.
        key: String,
        /// The value as the layer has it, truncated if it is long.
        value: String,
        /// The layer and the position in it.
        origin: Origin,
        /// The invalid part of a list and the allowed values, or the problem with the file.
        message: String,
    },
    /// A key of `overrides.toml` that is no run-time setting.
    #[error(
        "{key} ({origin}) is no run-time setting, so it cannot be kept in this file: remove the \
         line, and set {key} in a configuration file"
    )]
    NotKeepable {
        /// The key.
        key: String,
        /// The position of the key.
        origin: Origin,
    },
    /// A `--set` without a `=`.
    #[error("--set {0:?} is not of the form key=value")]
    NotAnAssignment(String),
    /// An option of the configuration for a command that reads none.
    #[error("{option} has no effect on {command}, which reads no configuration")]
    UnusedOption {
        /// The option.
        option: &'static str,
        /// The command.
        command: &'static str,
    },
    /// An environment variable that sets nothing, because its name is not quite that of a setting.
    #[error("the environment variable {name} sets nothing: that of {key} is {expected}")]
    MisspelledVariable {
        /// The name of the variable.
        name: String,
        /// The setting that it seems to mean.
        key: String,
        /// The variable of this setting.
        expected: String,
    },
    /// An environment variable whose value is not UTF-8.
    #[error("the environment variable {0} is not valid UTF-8")]
    NotUnicode(String),
    /// Settings that contradict each other or the genesis.
    #[error("{0}")]
    Contradiction(String),
}

impl ConfigError {
    /// Creates the error of a configuration file that does not parse. `text` is its content.
    pub fn malformed(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        Self::Malformed {
            path: path.to_owned(),
            message: message_with_position(text, error),
        }
    }

    /// Creates the error of a value that `setting` does not allow.
    pub fn bad_value(setting: &Setting, value: &RawValue, origin: Origin) -> Self {
        Self::BadValue {
            key: setting.key.to_owned(),
            value: shortened(value.to_string()),
            origin,
            message: setting.kind.expected(value),
        }
    }
}

/// Returns the message of an error of the TOML text `text`, with its position.
///
/// It does not repeat the line, which may hold a private key.
pub fn message_with_position(text: &str, error: &toml::de::Error) -> String {
    let message = error.message();
    match error.span().and_then(|span| text.get(..span.start)) {
        Some(before) => {
            let (line, column) = place_after(before);
            format!("line {line}, column {column}: {message}")
        }
        None => message.to_owned(),
    }
}

/// Maximum number of characters that an error repeats of a value. A list of filter rules may have
/// hundreds of thousands.
const VALUE_CHARS_MAX: usize = 200;

/// Returns a value that is truncated if it is long.
pub fn shortened(mut value: String) -> String {
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
