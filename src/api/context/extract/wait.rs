//! The query parameter `timeout_ms`.

use super::{
    argument::{Extract, Inputs},
    parts::RequestParts,
};
use crate::{
    error::ErrorKind,
    model::DecimalText,
    openapi::{
        ParameterLocation,
        parameter::{self, TIMEOUT_MS},
    },
};
use ledger_actors::WaitConfig;
use std::time::Duration;

/// The duration of a wait that the client requests, in milliseconds, or `None` if it requests none.
#[derive(Clone, Copy)]
pub(crate) struct WaitTimeout(Option<u64>);

impl WaitTimeout {
    /// Describes the parameter.
    pub fn describe(description: &'static str) -> parameter::Parameter {
        parameter::timeout_ms(description)
    }

    /// Returns the requested duration, at most `wait.timeout_max_ms` of `config`, or `None` if the
    /// client requests none.
    pub fn clamped(self, config: &WaitConfig) -> Option<Duration> {
        let clamped_ms = self.0?.min(config.timeout_max_ms);
        Some(Duration::from_millis(clamped_ms))
    }
}

impl Extract for WaitTimeout {
    fn declare(inputs: &mut Inputs) {
        inputs
            .parameters
            .push((ParameterLocation::Query, TIMEOUT_MS));
    }

    fn extract(request: &mut RequestParts<'_>) -> Result<Self, ErrorKind> {
        match request.query.get(TIMEOUT_MS) {
            Ok(timeout_ms) => Ok(Self(timeout_ms.map(|DecimalText(timeout_ms)| timeout_ms))),
            Err(ErrorKind::Syntax(cause)) => Err(ErrorKind::InvalidInput(cause)),
            Err(error) => Err(error),
        }
    }
}
