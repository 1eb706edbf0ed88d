//! Failures of commands, with their exit codes (docs/interface.md#rule-25).

use crate::{config::ConfigError, telemetry};
use ledger_client::{ClientError, load::LoadError};
use std::{error::Error, fmt::Display, io, process::ExitCode};

/// What stopped a command.
#[derive(Debug)]
pub enum Failure {
    /// A configuration that its writer must correct; exit code 2.
    Configuration(ConfigError),
    /// Anything else; exit code 1.
    Fatal(String),
}

impl Failure {
    /// A fatal error with the words that say what was being done.
    pub fn fatal(doing: impl Display, error: &dyn Error) -> Self {
        let mut text = format!("{doing}: {error}");
        let mut cause = error.source();
        while let Some(inner) = cause {
            // Errors often repeat their cause in their own words.
            let words = inner.to_string();
            if !text.contains(&words) {
                text = format!("{text}: {words}");
            }
            cause = inner.source();
        }
        Self::Fatal(text)
    }

    /// The exit code of the process.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Configuration(_) => ExitCode::from(2),
            Self::Fatal(_) => ExitCode::FAILURE,
        }
    }

    /// Writes the failure to standard error, as the last line of the process.
    pub fn report(&self) {
        telemetry::write_last(&match self {
            Self::Configuration(error) => format!("ledger-node: configuration: {error}"),
            Self::Fatal(text) => format!("ledger-node: {text}"),
        });
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Configuration(error)
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::Fatal(error.to_string())
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Self::Fatal(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Fatal(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{words}")]
    struct Told {
        words: &'static str,
        source: io::Error,
    }

    #[test]
    fn a_cause_is_told_once_wherever_it_stands() {
        let fatal = |words| {
            let source = io::Error::other("the disk is gone");
            let Failure::Fatal(text) = Failure::fatal("opening", &Told { words, source }) else {
                unreachable!("it is fatal");
            };
            text
        };
        assert_eq!(fatal("it failed"), "opening: it failed: the disk is gone");
        let told = "it failed: the disk is gone; check the disk";
        assert_eq!(fatal(told), format!("opening: {told}"));
    }
}
