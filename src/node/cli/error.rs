//! Errors of commands, with their exit codes (docs/operate/run.md#start).

use crate::{
    compose::{RunError, with_causes},
    config::ConfigError,
    telemetry,
};
use ledger_client::{ClientError, load::LoadError};
use ledger_types::GenesisError;
use std::{
    error::Error,
    fmt::Display,
    io,
    process::{self, ExitCode},
};

/// An error that ends a command.
#[derive(Debug)]
pub enum CliError {
    /// A configuration that its author must correct: exit code 2.
    Configuration(ConfigError),
    /// Any other error: exit code 1.
    Fatal(String),
    /// Several errors of a start: exit code 2 if one is of the configuration, and otherwise 1.
    Several(Vec<RunError>),
}

impl CliError {
    /// Returns a fatal error that states the failed action, the error, and its causes.
    pub fn fatal(action: impl Display, error: &dyn Error) -> Self {
        Self::Fatal(format!("{action}: {}", with_causes(error)))
    }

    /// Returns the exit code of the process.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code())
    }

    fn code(&self) -> u8 {
        match self {
            Self::Configuration(_) => 2,
            Self::Fatal(_) => 1,
            Self::Several(errors) => {
                let mut errors = errors.iter();
                let is_configuration = |error| matches!(error, &RunError::Configuration(_));
                if errors.any(is_configuration) { 2 } else { 1 }
            }
        }
    }

    /// Writes the error to standard error, as the last line of the process.
    pub fn report(&self) {
        let configuration = |error: &ConfigError| format!("ledger-node: configuration: {error}");
        let text = match self {
            Self::Configuration(error) => configuration(error),
            Self::Fatal(text) => format!("ledger-node: {text}"),
            Self::Several(errors) => {
                let lines = errors.iter().map(|error| match error {
                    RunError::Configuration(error) => configuration(error),
                    RunError::Fatal(text) => format!("ledger-node: {text}"),
                });
                lines.collect::<Vec<_>>().join("\n")
            }
        };
        telemetry::write_last(&printable(&text));
    }

    /// Reports the error and ends the process with its exit code.
    pub fn exit(&self) -> ! {
        self.report();
        process::exit(i32::from(self.code()))
    }
}

/// Replaces control characters but line ends. The message of a server may be a part of the text, and
/// must not be a command to the terminal.
fn printable(text: &str) -> String {
    text.replace(
        |c: char| c.is_control() && c != '\n',
        char::REPLACEMENT_CHARACTER.encode_utf8(&mut [0; 4]),
    )
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Configuration(error) => Self::Configuration(error),
            RunError::Fatal(message) => Self::Fatal(message),
        }
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::Configuration(error)
    }
}

impl From<ClientError> for CliError {
    fn from(error: ClientError) -> Self {
        Self::Fatal(error.to_string())
    }
}

impl From<GenesisError> for CliError {
    fn from(error: GenesisError) -> Self {
        Self::Fatal(error.to_string())
    }
}

impl From<LoadError> for CliError {
    fn from(error: LoadError) -> Self {
        Self::Fatal(error.to_string())
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        Self::Fatal(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_a_server_is_no_command_to_the_terminal() {
        assert_eq!(
            printable("a\u{1b}[2J\r\nb\u{9b}c"),
            "a\u{fffd}[2J\u{fffd}\nb\u{fffd}c"
        );
    }
}
