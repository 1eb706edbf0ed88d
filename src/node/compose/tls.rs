//! TLS of the API listener, from the files that the settings name.

use crate::{
    access::warn_if_key_is_exposed,
    config::{ConfigError, Settings},
};
use ledger_http::{CertificateFiles, CertificateHolder, LoadedCertificate, TlsError};

/// Returns the certificate of the API listener, or `None` if none is set.
///
/// Logs a warning if every user of the machine can use the private key.
///
/// # Errors
///
/// Returns:
///
/// * [`ConfigError::Contradiction`] if only one of the two files is set, or if the key is not that
///   of the certificate.
/// * [`ConfigError::Unreadable`] if a file cannot be read.
/// * [`ConfigError::Malformed`] if a file is not a PEM file of its kind.
pub fn configured_tls(settings: &Settings) -> Result<Option<CertificateHolder>, ConfigError> {
    let certificate = load_certificate(settings)?;
    if let Some(certificate) = &certificate {
        warn_if_key_is_exposed(certificate);
    }
    Ok(certificate.map(CertificateHolder::new))
}

/// Reads the certificate of the API listener, or returns `None` if none is set.
///
/// # Errors
///
/// Returns the same errors as [`configured_tls`].
pub fn load_certificate(settings: &Settings) -> Result<Option<LoadedCertificate>, ConfigError> {
    let files = match (
        &settings.api_listener.tls_certificate,
        &settings.api_listener.tls_private_key,
    ) {
        (None, None) => return Ok(None),
        (Some(certificate), Some(private_key)) => CertificateFiles {
            certificate: certificate.clone(),
            private_key: private_key.clone(),
        },
        (Some(_), None) => return Err(only_one("api.tls_certificate", "api.tls_private_key")),
        (None, Some(_)) => return Err(only_one("api.tls_private_key", "api.tls_certificate")),
    };
    files.load().map(Some).map_err(config_error)
}

fn only_one(set: &str, missing: &str) -> ConfigError {
    ConfigError::Contradiction(format!(
        "{set} is set and {missing} is not; TLS needs both, plain HTTP neither"
    ))
}

/// Returns the error of files that the settings name.
pub fn config_error(error: TlsError) -> ConfigError {
    match error {
        TlsError::Unreadable { path, source } => ConfigError::Unreadable { path, source },
        TlsError::Malformed { path, message } => ConfigError::Malformed { path, message },
        TlsError::Unusable {
            certificate,
            private_key,
            source,
        } => ConfigError::Contradiction(format!(
            "api.tls_certificate = {} and api.tls_private_key = {} cannot be used together: {source}",
            certificate.display(),
            private_key.display()
        )),
    }
}
