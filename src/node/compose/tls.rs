//! TLS of the interface: a certificate and its key, out of the files that the settings name.
//!
//! TLS 1.2 and 1.3, which is what rustls speaks. The protocols inside, HTTP/2 and HTTP/1.1, are added by
//! the HTTP server, which offers HTTP/2 first.

use crate::config::{ConfigError, Settings};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
};
use std::{fs, io, os::unix::fs::PermissionsExt as _, path::Path, sync::Arc};

/// The permission bits of those who neither own a file nor are in its group.
const OTHERS: u32 = 0o007;

/// The TLS side of the interface's listener; `None` where no certificate is set.
///
/// A key that everyone on the machine may read is warned about and not refused: some systems that hand out
/// such files set their permissions in a way that cannot be changed.
///
/// # Errors
/// When only one of the two files is set, one cannot be read or is no PEM file of its kind, or the key is
/// not that of the certificate.
pub fn configured_tls(settings: &Settings) -> Result<Option<ServerConfig>, ConfigError> {
    let listener = &settings.api_listener;
    match (&listener.tls_certificate, &listener.tls_private_key) {
        (None, None) => Ok(None),
        (Some(certificate), Some(private_key)) => server_config(certificate, private_key).map(Some),
        (Some(_), None) => Err(only_one("api.tls_certificate", "api.tls_private_key")),
        (None, Some(_)) => Err(only_one("api.tls_private_key", "api.tls_certificate")),
    }
}

fn only_one(set: &str, missing: &str) -> ConfigError {
    ConfigError::Contradiction(format!(
        "{set} is set and {missing} is not; TLS needs both, plain HTTP neither"
    ))
}

fn server_config(certificate: &Path, private_key: &Path) -> Result<ServerConfig, ConfigError> {
    let chain = certificates(certificate)?;
    warn_if_open_to_all(private_key);
    let key = PrivateKeyDer::from_pem_slice(&read(private_key)?)
        .map_err(|error| malformed(private_key, "private key", &error))?;
    ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| {
            ConfigError::Contradiction(format!(
                "api.tls_certificate = {} and api.tls_private_key = {} cannot be used together: {error}",
                certificate.display(),
                private_key.display()
            ))
        })
}

/// All certificates of the file: the server's own first, then those that vouch for it.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let text = read(path)?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match chain {
        Ok(chain) if chain.is_empty() => {
            Err(malformed(path, "certificate", &pem::Error::NoItemsFound))
        }
        Ok(chain) => Ok(chain),
        Err(error) => Err(malformed(path, "certificate", &error)),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, ConfigError> {
    fs::read(path).map_err(|source| unreadable(path, source))
}

fn unreadable(path: &Path, source: io::Error) -> ConfigError {
    ConfigError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

/// Says what is wrong without repeating a line of the file, which may hold the key.
fn malformed(path: &Path, kind: &str, error: &pem::Error) -> ConfigError {
    let what = match error {
        pem::Error::NoItemsFound => format!("holds no {kind} in PEM form"),
        pem::Error::MissingSectionEnd { .. } => format!("its {kind} has a begin and no end"),
        _ => format!("its {kind} is not well-formed PEM"),
    };
    ConfigError::Malformed {
        path: path.to_owned(),
        message: what,
    }
}

fn warn_if_open_to_all(private_key: &Path) {
    let Ok(metadata) = fs::metadata(private_key) else {
        return;
    };
    let mode = metadata.permissions().mode();
    if mode & OTHERS != 0 {
        tracing::warn!(
            path = %private_key.display(),
            mode = %format_args!("{:o}", mode & 0o777),
            "everyone on this machine may use the private key of api.tls_private_key; chmod 600 it"
        );
    }
}
