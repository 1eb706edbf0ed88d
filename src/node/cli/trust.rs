//! Options of the commands that connect to a service: the certificates that they trust.

use super::CliError;
use ledger_client::http::TrustedRoots;
use std::path::PathBuf;

/// The options that decide which servers of `https://` URLs are trusted.
#[derive(Debug, Clone, clap::Args)]
pub struct TrustOptions {
    /// Root certificates (PEM) to verify https:// servers with, in addition to those of the system
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

impl TrustOptions {
    /// Returns the trusted root certificates.
    ///
    /// # Errors
    ///
    /// Returns [`CliError::Fatal`] if the file of `--ca` cannot be used.
    pub fn roots(&self) -> Result<TrustedRoots, CliError> {
        Ok(TrustedRoots::new(self.ca.as_deref())?)
    }
}
