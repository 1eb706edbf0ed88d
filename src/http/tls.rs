//! The certificate of a listener: read from two PEM files, and replaced while the listener serves.
//!
//! rustls accepts TLS 1.2 and 1.3. Each handshake takes the certificate that is current when the
//! client's first message arrives. A replacement changes neither handshakes under way nor open
//! connections, and a client that resumes a session does not verify the new certificate.

use crate::error::{ServerTlsError, TlsFile};
use arc_swap::ArcSwap;
use ledger_limits::{open_regular_file, read_bounded};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use sha2::{Digest as _, Sha256};
use std::{
    fmt::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

/// ALPN name of HTTP/2 (RFC 9113, section 3.2).
pub const ALPN_HTTP2: &[u8] = b"h2";
/// ALPN name of HTTP/1.1 (RFC 7301, section 6).
pub const ALPN_HTTP1: &[u8] = b"http/1.1";

/// Maximum size of a PEM file, in bytes. It holds hundreds of certificates. Without a limit, a file
/// that is named by mistake could take all memory.
const PEM_BYTES_MAX: usize = 1024 * 1024;

/// Permission bits of a file that apply to users who are neither its owner nor in its group.
const OTHERS: u32 = 0o007;
/// All permission bits of a file.
const PERMISSIONS: u32 = 0o777;

/// The files of a certificate and its private key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate of the server, followed by those of its issuers.
    pub certificate: PathBuf,
    /// The private key of the certificate.
    pub private_key: PathBuf,
}

impl CertificateFiles {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// Returns:
    ///
    /// * [`ServerTlsError::Unreadable`] if a file exceeds 1 MiB, is not a regular file, or cannot be
    ///   read.
    /// * [`ServerTlsError::Malformed`] if a file is not a PEM file of its kind.
    /// * [`ServerTlsError::Both`] with one of these errors for each file.
    /// * [`ServerTlsError::Unusable`] if rustls rejects the certificate or the key, or if the key is not
    ///   that of the certificate.
    pub fn load(&self) -> Result<LoadedCertificate, ServerTlsError> {
        let (chain, PrivateKey { key, mode }) = match (
            certificates(&self.certificate),
            private_key(&self.private_key),
        ) {
            (Ok(chain), Ok(private_key)) => (chain, private_key),
            (Err(certificate), Err(private_key)) => {
                return Err(ServerTlsError::Both {
                    certificate: Box::new(certificate),
                    private_key: Box::new(private_key),
                });
            }
            (Err(error), Ok(_)) | (Ok(_), Err(error)) => return Err(error),
        };
        let fingerprint = chain.first().map(fingerprint).unwrap_or_default();
        let certified_key =
            CertifiedKey::from_der(chain, key, &ring::default_provider()).map_err(|source| {
                ServerTlsError::Unusable {
                    certificate: self.certificate.clone(),
                    private_key: self.private_key.clone(),
                    source,
                }
            })?;
        Ok(LoadedCertificate {
            files: self.clone(),
            certified_key: Arc::new(certified_key),
            fingerprint,
            exposed_key_mode: exposed_mode(mode),
        })
    }
}

/// A certificate with its private key, as read from its files.
#[derive(Debug)]
pub struct LoadedCertificate {
    files: CertificateFiles,
    certified_key: Arc<CertifiedKey>,
    fingerprint: String,
    exposed_key_mode: Option<u32>,
}

impl LoadedCertificate {
    /// Returns the files that it was read from.
    pub fn files(&self) -> &CertificateFiles {
        &self.files
    }

    /// Returns the SHA-256 of the server's certificate, as `openssl x509 -fingerprint -sha256`
    /// prints it.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the permissions of the private key's file if every user of the machine has some.
    ///
    /// This is not an error, because some systems that provide such files set permissions that
    /// cannot be changed.
    pub fn exposed_key_mode(&self) -> Option<u32> {
        self.exposed_key_mode
    }
}

/// The current certificate of a listener. Clones share it.
#[derive(Clone, Debug)]
pub struct CertificateHolder {
    current: Arc<ArcSwap<LoadedCertificate>>,
}

impl CertificateHolder {
    /// Creates a holder of `certificate`.
    pub fn new(certificate: LoadedCertificate) -> Self {
        Self {
            current: Arc::new(ArcSwap::from_pointee(certificate)),
        }
    }

    /// Returns the current certificate.
    pub fn current(&self) -> Arc<LoadedCertificate> {
        self.current.load_full()
    }

    /// Makes `certificate` the current one, for handshakes that begin from now on.
    /// [`Self::reload`] reads its files from now on.
    pub fn replace(&self, certificate: LoadedCertificate) {
        self.current.store(Arc::new(certificate));
    }

    /// Reads the files of the current certificate again, replaces it, and returns the new one.
    ///
    /// Blocks while it reads. If [`Self::replace`] or another reload has replaced the certificate
    /// meanwhile, its certificate stays and is returned, because it may have other files.
    ///
    /// # Errors
    ///
    /// Returns the error of [`CertificateFiles::load`]. The current certificate stays.
    pub fn reload(&self) -> Result<Arc<LoadedCertificate>, ServerTlsError> {
        let previous = self.current.load_full();
        let certificate = Arc::new(previous.files.load()?);
        self.current.compare_and_swap(&previous, certificate);
        Ok(self.current())
    }

    /// Returns the TLS configuration of a server that always presents the current certificate. It
    /// offers HTTP/2 first, then HTTP/1.1.
    pub(crate) fn server_config(&self) -> ServerConfig {
        let provider = Arc::new(ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider supports TLS 1.2 and 1.3")
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(self.clone()));
        config.alpn_protocols = vec![ALPN_HTTP2.to_vec(), ALPN_HTTP1.to_vec()];
        config
    }
}

impl ResolvesServerCert for CertificateHolder {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.load().certified_key))
    }
}

/// Returns the certificates of a file: that of the server first, then those of its issuers.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ServerTlsError> {
    let file = read(TlsFile::Certificate, path)?;
    let malformed = |error| malformed(TlsFile::Certificate, path, &error);
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&file.content).collect();
    match chain {
        Ok(chain) if chain.is_empty() => Err(malformed(pem::Error::NoItemsFound)),
        Ok(chain) => Ok(chain),
        Err(error) => Err(malformed(error)),
    }
}

/// A private key as it was read.
struct PrivateKey {
    key: PrivateKeyDer<'static>,
    /// File type and permissions.
    mode: u32,
}

/// Returns the private key of a file.
fn private_key(path: &Path) -> Result<PrivateKey, ServerTlsError> {
    let PemFile { content, mode } = read(TlsFile::PrivateKey, path)?;
    match PrivateKeyDer::from_pem_slice(&content) {
        Ok(key) => Ok(PrivateKey { key, mode }),
        Err(_) if is_encrypted(&content) => Err(encrypted(path)),
        Err(error) => Err(malformed(TlsFile::PrivateKey, path, &error)),
    }
}

/// A file as it was read.
struct PemFile {
    content: Vec<u8>,
    /// File type and permissions.
    mode: u32,
}

fn read(file: TlsFile, path: &Path) -> Result<PemFile, ServerTlsError> {
    let read = || {
        let file = open_regular_file(path)?;
        Ok(PemFile {
            mode: file.metadata()?.permissions().mode(),
            content: read_bounded(file, PEM_BYTES_MAX)?,
        })
    };
    read().map_err(|source| ServerTlsError::Unreadable {
        file,
        path: path.to_owned(),
        source,
    })
}

/// Returns the error of a file. Its message repeats no line of the file, which may hold the key.
fn malformed(file: TlsFile, path: &Path, error: &pem::Error) -> ServerTlsError {
    let message = match error {
        pem::Error::NoItemsFound => format!("holds no {file} in PEM form"),
        pem::Error::MissingSectionEnd { .. } => {
            format!("its {file} has a BEGIN line and no END line")
        }
        _ => format!("its {file} is not well-formed PEM"),
    };
    ServerTlsError::Malformed {
        file,
        path: path.to_owned(),
        message,
    }
}

/// Returns whether a file has a private key that only a passphrase decrypts: in PKCS #8, or in the
/// older form with headers (RFC 1421).
fn is_encrypted(content: &[u8]) -> bool {
    let mut lines = content.split(|&byte| byte == b'\n' || byte == b'\r');
    lines.any(|line| {
        line.starts_with(b"-----BEGIN ENCRYPTED PRIVATE KEY-----")
            || line.starts_with(b"Proc-Type: 4,ENCRYPTED")
    })
}

/// Returns the error of a private key that is encrypted.
fn encrypted(path: &Path) -> ServerTlsError {
    ServerTlsError::Malformed {
        file: TlsFile::PrivateKey,
        path: path.to_owned(),
        message: format!(
            "its private key is encrypted; decrypt it with `openssl pkey -in {} -out NEW_FILE`",
            path.display()
        ),
    }
}

/// Returns the SHA-256 of a certificate as pairs of upper-case hex digits, separated by colons.
fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(certificate) {
        let separator = if text.is_empty() { "" } else { ":" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{separator}{byte:02X}");
    }
    text
}

/// Returns the permissions of a file if every user of the machine has some.
fn exposed_mode(mode: u32) -> Option<u32> {
    (mode & OTHERS != 0).then_some(mode & PERMISSIONS)
}
