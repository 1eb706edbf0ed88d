//! The query parameter `ledger_version`.

use super::{
    argument::{Extract, Inputs},
    parts::RequestParts,
};
use crate::{
    error::ErrorKind,
    model::DecimalText,
    openapi::{ParameterLocation, parameter},
};
use ledger_store::Snapshot;

/// Name of the parameter.
pub(super) const NAME: &str = "ledger_version";

/// The requested version of the state, or by default the newest version.
#[derive(Clone, Copy)]
pub(crate) struct AtVersion(Option<u64>);

impl AtVersion {
    /// Describes the parameter.
    pub fn describe() -> parameter::Parameter {
        parameter::ledger_version()
    }

    /// Returns the version, or by default the newest version of the snapshot. The snapshot can read
    /// it.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::VersionNotFound`] above the newest version of the snapshot, and
    /// [`ErrorKind::VersionPruned`] below its oldest version.
    pub fn resolve(self, snapshot: &Snapshot) -> Result<u64, ErrorKind> {
        let ledger_info = snapshot.ledger_info();
        match self.0 {
            None => Ok(ledger_info.version),
            Some(version) if version > ledger_info.version => {
                Err(ErrorKind::VersionNotFound(version))
            }
            Some(version) if version < ledger_info.oldest_version => {
                Err(ErrorKind::VersionPruned(version))
            }
            Some(version) => Ok(version),
        }
    }
}

impl From<u64> for AtVersion {
    fn from(version: u64) -> Self {
        Self(Some(version))
    }
}

impl Extract for AtVersion {
    fn declare(inputs: &mut Inputs) {
        inputs.parameters.push((ParameterLocation::Query, NAME));
    }

    fn extract(request: &mut RequestParts<'_>) -> Result<Self, ErrorKind> {
        let version = request.query.get(NAME)?;
        Ok(Self(version.map(|DecimalText(version)| version)))
    }
}
