//! TLS of the API listener, from the files that the settings name.

use crate::config::{ConfigError, Settings};
use ledger_http::{CertificateFiles, TlsError};
use rustls::ServerConfig;

/// Returns the TLS configuration of the API listener, or `None` if no certificate is set.
///
/// # Errors
///
/// Returns [`ConfigError::Contradiction`] if only one of the two files is set, or if the key is not
/// that of the certificate, [`ConfigError::Unreadable`] if a file cannot be read, and
/// [`ConfigError::Malformed`] if it is not a PEM file of its kind.
pub fn configured_tls(settings: &Settings) -> Result<Option<ServerConfig>, ConfigError> {
    let files = match (&settings.api.tls_certificate, &settings.api.tls_private_key) {
        (None, None) => return Ok(None),
        (Some(certificate), Some(private_key)) => CertificateFiles {
            certificate: certificate.clone(),
            private_key: private_key.clone(),
        },
        (Some(_), None) => return Err(only_one("api.tls_certificate", "api.tls_private_key")),
        (None, Some(_)) => return Err(only_one("api.tls_private_key", "api.tls_certificate")),
    };
    files
        .load()
        .map(Some)
        .map_err(|error| config_error(&files, error))
}

fn only_one(set: &str, missing: &str) -> ConfigError {
    ConfigError::Contradiction(format!(
        "{set} is set and {missing} is not; TLS needs both, plain HTTP neither"
    ))
}

fn config_error(files: &CertificateFiles, error: TlsError) -> ConfigError {
    match error {
        TlsError::Unreadable { path, source } => ConfigError::Unreadable { path, source },
        TlsError::Malformed { path, message } => ConfigError::Malformed { path, message },
        TlsError::Unusable(error) => ConfigError::Contradiction(format!(
            "api.tls_certificate = {} and api.tls_private_key = {} cannot be used together: {error}",
            files.certificate.display(),
            files.private_key.display()
        )),
    }
}
