//! The certificate of a listener and its private key, in two PEM files.
//!
//! rustls accepts TLS 1.2 and 1.3. The listener adds the protocols that it offers inside TLS.

use crate::error::TlsError;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
};
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Permission bits of users who neither own a file nor are in its group.
const OTHERS: u32 = 0o007;

/// The files of a certificate and its private key.
#[derive(Clone, Debug)]
pub struct CertificateFiles {
    /// The certificate of the server, followed by those of its issuers.
    pub certificate: PathBuf,
    /// The private key of the certificate.
    pub private_key: PathBuf,
}

impl CertificateFiles {
    /// Reads the files and returns the TLS configuration of a server with this certificate.
    ///
    /// Logs a warning if every user of the machine can use the private key. This is no error,
    /// because some systems that provide such files set permissions that cannot be changed.
    ///
    /// # Errors
    ///
    /// Returns [`TlsError::Unreadable`] if a file cannot be read, [`TlsError::Malformed`] if it is
    /// not a PEM file of its kind, and [`TlsError::Unusable`] if the key is not that of the
    /// certificate.
    pub fn load(&self) -> Result<ServerConfig, TlsError> {
        let chain = certificates(&self.certificate)?;
        warn_if_open_to_all(&self.private_key);
        let key = PrivateKeyDer::from_pem_slice(&read(&self.private_key)?)
            .map_err(|error| malformed(&self.private_key, "private key", &error))?;
        ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(TlsError::Unusable)
    }
}

/// Returns the certificates of a file: that of the server first, then those of its issuers.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
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

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|source| TlsError::Unreadable {
        path: path.to_owned(),
        source,
    })
}

/// Returns the error of a file. Its message repeats no line of the file, which may hold the key.
fn malformed(path: &Path, kind: &str, error: &pem::Error) -> TlsError {
    let message = match error {
        pem::Error::NoItemsFound => format!("holds no {kind} in PEM form"),
        pem::Error::MissingSectionEnd { .. } => format!("its {kind} has a begin and no end"),
        _ => format!("its {kind} is not well-formed PEM"),
    };
    TlsError::Malformed {
        path: path.to_owned(),
        message,
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
            "every user of this machine can use the private key of the TLS certificate; chmod 600 it"
        );
    }
}
