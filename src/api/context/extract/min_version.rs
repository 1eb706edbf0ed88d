//! The minimum version of a read: the query parameter `min_ledger_version` or its header
//! (docs/use/interface.md#minimum-version).
//!
//! All operations that read the ledger have it. [`bind`](super::bind) reads it behind the arguments
//! of the handler, and waits for it before the handler runs, so no handler knows of it.

use super::{
    argument::{Extract as _, Inputs},
    parts::{QueryValues, RequestParts},
    version,
    wait::WaitTimeout,
};
use crate::{
    context::RequestContext,
    error::{ApiError, ErrorKind},
    model::DecimalText,
    openapi::{
        Operation,
        parameter::{self, MIN_LEDGER_VERSION},
    },
};
use ledger_actors::{VersionNotReached, VersionWaitError};
use std::{fmt::Display, time::Duration};
use tokio::time::Instant;

/// The version that a request waits for, which is above the Head.
pub(super) struct MinVersion {
    version: u64,
    timeout: WaitTimeout,
}

impl MinVersion {
    /// Waits until the Head has the version. Later reads of the request use this Head or a later
    /// one.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::VersionNotReached`] after the timeout,
    /// [`ErrorKind::VersionTooFarAhead`], and the errors of the node, each with the ledger info of
    /// the Head.
    pub(super) async fn wait(self, cx: &RequestContext) -> Result<(), ApiError> {
        let version = self.version;
        let wait = &cx.node().config().wait;
        let timeout = self.timeout.clamped(wait);
        let timeout = timeout.unwrap_or(Duration::from_millis(wait.timeout_ms));
        let end = cx.wait_end(Instant::now() + timeout).reached();
        let waited = cx.node().wait_for_version(version, end, cx.client());
        waited.await.map_err(|error| {
            let VersionNotReached { ledger_info, cause } = error;
            let newest = ledger_info.version;
            let kind = match cause {
                VersionWaitError::TimedOut => ErrorKind::VersionNotReached { version, newest },
                VersionWaitError::TooFarAhead => ErrorKind::VersionTooFarAhead { version, newest },
                VersionWaitError::Node(error) => error.into(),
            };
            kind.at(ledger_info)
        })
    }
}

/// Reads the minimum version from the requests of one operation.
#[derive(Clone, Copy)]
pub(super) struct MinVersionReader {
    /// Whether the operation reads the state at `ledger_version`.
    has_ledger_version: bool,
}

impl MinVersionReader {
    /// Returns the reader of an operation, or `None` if it declares no minimum version.
    pub(super) fn of(operation: &Operation) -> Option<Self> {
        let reader = Self {
            has_ledger_version: operation.has_parameter(version::NAME),
        };
        operation
            .has_parameter(MIN_LEDGER_VERSION)
            .then_some(reader)
    }

    /// Adds the inputs that [`Self::read`] reads. The arguments of the handler may have the timeout
    /// too.
    pub(super) fn declare(inputs: &mut Inputs) {
        for parameter in parameter::min_version() {
            let input = (parameter.place, parameter.name);
            if !inputs.parameters.contains(&input) {
                inputs.parameters.push(input);
            }
        }
    }

    /// Returns the version that the request must wait for, or `None` if it asks for none or the
    /// Head has it. The larger one counts if the request has both the parameter and the header.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::InvalidInput`] if a value is no number or is given twice, or if the
    /// minimum is above `ledger_version`.
    pub(super) fn read(
        self,
        cx: &RequestContext,
        parts: &mut RequestParts<'_>,
    ) -> Result<Option<MinVersion>, ErrorKind> {
        let of_query = number(&mut parts.query, MIN_LEDGER_VERSION)?;
        let timeout = WaitTimeout::extract(parts)?;
        let Some(version) = of_query.max(of_header(cx)?) else {
            return Ok(None);
        };
        if self.has_ledger_version
            && let Ok(Some(DecimalText(ledger_version))) = parts.query.get(version::NAME)
            && version > ledger_version
        {
            return Err(ErrorKind::InvalidInput(format!(
                "the minimum ledger version {version} is above ledger_version {ledger_version}"
            )));
        }
        let awaited = MinVersion { version, timeout };
        Ok((!cx.node().has_version(version)).then_some(awaited))
    }
}

/// Returns the number of a parameter of the query.
///
/// # Errors
///
/// Returns [`ErrorKind::InvalidInput`] if it is no number or is given twice.
fn number(query: &mut QueryValues<'_>, name: &str) -> Result<Option<u64>, ErrorKind> {
    match query.get(name) {
        Ok(value) => Ok(value.map(|DecimalText(number)| number)),
        Err(error) => Err(ErrorKind::InvalidInput(error.to_string())),
    }
}

/// Returns the number of the header.
///
/// # Errors
///
/// Returns [`ErrorKind::InvalidInput`] if it is no number or is given twice.
fn of_header(cx: &RequestContext) -> Result<Option<u64>, ErrorKind> {
    let name = cx.state.headers.min_ledger_version();
    let invalid = |cause: &dyn Display| {
        ErrorKind::InvalidInput(format!("failed to parse header `{name}`: {cause}"))
    };
    let mut values = cx.request().headers().get_all(name);
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(invalid(&"given more than once"));
    }
    let text = value.to_str().map_err(|cause| invalid(&cause))?;
    let DecimalText(version) = text.parse().map_err(|cause| invalid(&cause))?;
    Ok(Some(version))
}
