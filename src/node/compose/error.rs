//! Errors that prevent or end a run of the node.

use crate::{config::ConfigError, telemetry::LogThreadError};
use std::{error::Error, fmt::Display, io};

/// An error that prevents or ends a run of the node.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The configuration cannot be used. Its author must correct it.
    #[error(transparent)]
    Configuration(#[from] ConfigError),
    /// Any other error, with its causes.
    #[error("{0}")]
    Fatal(String),
}

impl From<LogThreadError> for RunError {
    fn from(error: LogThreadError) -> Self {
        Self::Fatal(error.to_string())
    }
}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        Self::Fatal(error.to_string())
    }
}

impl RunError {
    /// Returns a fatal error that states the failed action, the error, and its causes.
    pub fn fatal(action: impl Display, error: &dyn Error) -> Self {
        Self::Fatal(format!("{action}: {}", with_causes(error)))
    }
}

/// Returns the message of an error, followed by the causes that it does not repeat itself.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let message = inner.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{message}")]
    struct OpenError {
        message: &'static str,
        source: io::Error,
    }

    #[test]
    fn states_each_cause_once() {
        let fatal = |message| {
            let source = io::Error::other("the disk is gone");
            RunError::fatal("opening", &OpenError { message, source }).to_string()
        };
        assert_eq!(fatal("it failed"), "opening: it failed: the disk is gone");
        let with_cause = "it failed: the disk is gone; check the disk";
        assert_eq!(fatal(with_cause), format!("opening: {with_cause}"));
    }
}
