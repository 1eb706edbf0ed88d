//! TLS of the API listener, from the files that the settings name.

use crate::config::{Config, ConfigError, Settings};
use ledger_http::{CertificateFiles, LoadedCertificate, ServerTlsError, TlsFile};

/// The setting of the certificate chain.
pub const CERTIFICATE: &str = "api.tls_certificate";
/// The setting of its private key.
pub const PRIVATE_KEY: &str = "api.tls_private_key";

/// Checks that both files are set, or none.
///
/// # Errors
///
/// Returns [`ConfigError::Contradiction`] if only one of them is set.
pub fn check_pair(settings: &Settings) -> Result<(), ConfigError> {
    let listener = &settings.api_listener;
    let (set, missing) = match (&listener.tls_certificate, &listener.tls_private_key) {
        (Some(_), None) => (CERTIFICATE, PRIVATE_KEY),
        (None, Some(_)) => (PRIVATE_KEY, CERTIFICATE),
        (None, None) | (Some(_), Some(_)) => return Ok(()),
    };
    Err(ConfigError::Contradiction(format!(
        "{set} is set and {missing} is not; TLS needs both, plain HTTP neither"
    )))
}

/// Reads the certificate of the API listener, or returns `None` unless both files are set.
///
/// # Errors
///
/// Returns [`ConfigError::BadValue`] if a file cannot be read or is not a PEM file of its kind, and
/// [`ConfigError::Contradiction`] if the key is not that of the certificate.
pub fn load_certificate(config: &Config) -> Result<Option<LoadedCertificate>, ConfigError> {
    let listener = &config.settings().api_listener;
    let (Some(certificate), Some(private_key)) =
        (&listener.tls_certificate, &listener.tls_private_key)
    else {
        return Ok(None);
    };
    let files = CertificateFiles {
        certificate: certificate.clone(),
        private_key: private_key.clone(),
    };
    let loaded = files.load().map_err(|error| config_error(config, error))?;
    Ok(Some(loaded))
}

/// Returns the error of files that the settings name.
fn config_error(config: &Config, error: ServerTlsError) -> ConfigError {
    let setting = |file| match file {
        TlsFile::Certificate => CERTIFICATE,
        TlsFile::PrivateKey => PRIVATE_KEY,
    };
    match error {
        ServerTlsError::Unreadable { file, path, source } => {
            config.unreadable_file(setting(file), &path, &source)
        }
        ServerTlsError::Malformed {
            file,
            path,
            message,
        } => config.bad_file(setting(file), &path, message),
        ServerTlsError::Unusable {
            certificate,
            private_key,
            source,
        } => ConfigError::Contradiction(format!(
            "{CERTIFICATE} = {} and {PRIVATE_KEY} = {} cannot be used together: {source}",
            certificate.display(),
            private_key.display()
        )),
    }
}
