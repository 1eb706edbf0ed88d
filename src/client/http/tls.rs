//! TLS of the clients: trusted root certificates, and handshakes that verify the server.

use crate::{ClientError, error::ClientTlsError};
use std::{
    fs,
    io::{self, ErrorKind},
    path::Path,
    sync::{Arc, OnceLock},
};
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        self, CertificateError, ClientConfig, InvalidMessage, RootCertStore,
        crypto::ring,
        pki_types::{
            CertificateDer, ServerName,
            pem::{self, PemObject as _},
        },
    },
};

/// The ALPN name of HTTP/1.1, the only protocol of the clients.
const HTTP_1_1: &[u8] = b"http/1.1";

/// The root certificates that servers of `https://` URLs are verified with.
///
/// These are the root certificates of the system, and those of a file. The system's are read when
/// the first URL needs them.
#[derive(Debug)]
pub struct TrustedRoots {
    /// The certificates of the file.
    added: RootCertStore,
    /// The configuration of all connections, once it is needed.
    config: OnceLock<Arc<ClientConfig>>,
}

/// A host that connections verify by its certificate.
#[derive(Debug, Clone)]
pub(super) struct TlsHost {
    name: ServerName<'static>,
    config: Arc<ClientConfig>,
}

impl TrustedRoots {
    /// Reads the certificates in `file`, which is in PEM, to trust them in addition to those of the
    /// system.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::InvalidRoots`] if the file cannot be read, contains no certificate,
    /// or contains a malformed one.
    pub fn new(file: Option<&Path>) -> Result<Self, ClientError> {
        let mut added = RootCertStore::empty();
        if let Some(path) = file {
            let invalid = |reason: String| ClientError::InvalidRoots {
                path: path.to_owned(),
                reason,
            };
            let text = fs::read(path).map_err(|error| invalid(error.to_string()))?;
            for certificate in CertificateDer::pem_slice_iter(&text) {
                let certificate = certificate.map_err(|error| invalid(pem_problem(&error)))?;
                added
                    .add(certificate)
                    .map_err(|_| invalid("a certificate in it is malformed".to_owned()))?;
            }
            if added.is_empty() {
                return Err(invalid(pem_problem(&pem::Error::NoItemsFound)));
            }
        }
        Ok(Self {
            added,
            config: OnceLock::new(),
        })
    }

    /// Returns the host `name`, a DNS name or an IP address, to be verified with these roots.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::NoRoots`] if neither the system nor the file has a root certificate.
    pub(super) fn host(&self, name: ServerName<'static>) -> Result<TlsHost, ClientError> {
        let config = match self.config.get() {
            Some(config) => config,
            None => {
                let config = Arc::new(self.client_config()?);
                self.config.get_or_init(|| config)
            }
        };
        Ok(TlsHost {
            name,
            config: Arc::clone(config),
        })
    }

    /// Returns the configuration of connections that trust these roots and those of the system.
    fn client_config(&self) -> Result<ClientConfig, ClientError> {
        let mut roots = self.added.clone();
        let of_system = rustls_native_certs::load_native_certs();
        // Systems also have certificates of other forms than rustls reads.
        roots.add_parsable_certificates(of_system.certs);
        if roots.is_empty() {
            let reasons: Vec<_> = of_system.errors.iter().map(ToString::to_string).collect();
            return Err(ClientError::NoRoots {
                reason: match reasons.as_slice() {
                    [] => "none was found".to_owned(),
                    reasons => reasons.join("; "),
                },
            });
        }
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider supports TLS 1.2 and 1.3")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![HTTP_1_1.to_vec()];
        Ok(config)
    }
}

impl TlsHost {
    /// Performs a handshake on a new connection.
    ///
    /// # Errors
    ///
    /// Returns [`ClientTlsError`] if the server cannot be verified or does not complete the handshake.
    pub(super) async fn handshake(
        &self,
        tcp: TcpStream,
    ) -> Result<TlsStream<TcpStream>, ClientTlsError> {
        TlsConnector::from(Arc::clone(&self.config))
            .connect(self.name.clone(), tcp)
            .await
            .map_err(handshake_error)
    }
}

/// Returns what is wrong with a file of certificates.
fn pem_problem(error: &pem::Error) -> String {
    match error {
        pem::Error::NoItemsFound => "it holds no certificate in PEM form",
        pem::Error::MissingSectionEnd { .. } => {
            "a certificate in it has a BEGIN line and no END line"
        }
        _ => "it is not well-formed PEM",
    }
    .to_owned()
}

/// Returns the error of a handshake, by its cause.
fn handshake_error(error: io::Error) -> ClientTlsError {
    // `source` of an `io::Error` skips the error inside.
    let cause = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match cause {
        Some(rustls::Error::InvalidCertificate(cause)) => certificate_error(cause),
        Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
            ClientTlsError::PlainServer
        }
        None if error.kind() == ErrorKind::UnexpectedEof => ClientTlsError::Closed,
        _ => ClientTlsError::Handshake(error),
    }
}

/// Returns the error of a certificate that was rejected.
fn certificate_error(cause: &CertificateError) -> ClientTlsError {
    match cause {
        // A bad signature means that a root has the name of the issuer and another key, as after a
        // self-signed certificate was replaced.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            ClientTlsError::UntrustedCertificate
        }
        // The error of another crate, which rustls does not export.
        CertificateError::Other(other) if other.to_string() == "CaUsedAsEndEntity" => {
            ClientTlsError::AuthorityCertificate
        }
        cause => ClientTlsError::InvalidCertificate(cause.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the reason for which a file with this content is rejected.
    fn rejection(content: &str) -> String {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ca.pem");
        fs::write(&path, content).unwrap();
        let ClientError::InvalidRoots {
            path: named,
            reason,
        } = TrustedRoots::new(Some(&path)).unwrap_err()
        else {
            panic!("another error");
        };
        assert_eq!(named, path);
        reason
    }

    #[test]
    fn rejects_files_without_a_usable_certificate() {
        let section = |label: &str, base64: &str| {
            format!("-----BEGIN {label}-----\n{base64}\n-----END {label}-----\n")
        };
        for (content, reason) in [
            (String::new(), "no certificate"),
            ("none here\n".to_owned(), "no certificate"),
            (section("PRIVATE KEY", "AAAA"), "no certificate"),
            (section("CERTIFICATE", "AAAA"), "malformed"),
            (section("CERTIFICATE", "!"), "not well-formed PEM"),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n".to_owned(), "no END"),
        ] {
            let rejection = rejection(&content);
            assert!(rejection.contains(reason), "{rejection:?} for {content:?}");
        }
    }

    #[test]
    fn rejects_a_file_that_cannot_be_read() {
        let error = TrustedRoots::new(Some(Path::new("/nowhere/ca.pem"))).unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("--ca /nowhere/ca.pem: No such file"),
            "{text}"
        );
    }

    #[test]
    fn names_the_cause_of_a_failed_handshake() {
        let failed = |cause: rustls::Error| {
            handshake_error(io::Error::new(ErrorKind::InvalidData, cause)).to_string()
        };
        let certificate = |cause| failed(rustls::Error::InvalidCertificate(cause));
        let untrusted = certificate(CertificateError::UnknownIssuer);
        assert!(untrusted.contains("--ca FILE adds"), "{untrusted}");
        let expired = certificate(CertificateError::Expired);
        assert!(
            expired.contains("rejected: ") && expired.contains("xpired"),
            "{expired}"
        );
        let plain = failed(InvalidMessage::InvalidContentType.into());
        assert!(plain.contains("use http://"), "{plain}");
        let closed = handshake_error(ErrorKind::UnexpectedEof.into()).to_string();
        assert!(closed.contains("closed the connection"), "{closed}");
        let other = handshake_error(ErrorKind::ConnectionReset.into()).to_string();
        assert!(
            other.contains("handshake failed: connection reset"),
            "{other}"
        );
    }
}
