//! A self-signed certificate, and TLS connections that trust only this certificate.

use super::Http2Connection;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair,
};
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore, SupportedProtocolVersion,
        crypto::ring,
        pki_types::{CertificateDer, ServerName},
        version::{TLS12, TLS13},
    },
};

/// The name in the certificate.
pub const SERVER_NAME: &str = "node.test";
/// The ALPN name of HTTP/2.
pub const H2: &[u8] = b"h2";
/// The ALPN name of HTTP/1.1.
pub const HTTP_11: &[u8] = b"http/1.1";

/// A self-signed certificate and its key, in files that are deleted when it is dropped.
pub struct TestCertificate {
    directory: TempDir,
    certificate: CertificateDer<'static>,
}

impl Default for TestCertificate {
    fn default() -> Self {
        Self::new()
    }
}

impl TestCertificate {
    /// Creates a certificate for [`SERVER_NAME`].
    ///
    /// # Panics
    ///
    /// Panics if its files cannot be written.
    pub fn new() -> Self {
        Self::for_names(&[SERVER_NAME])
    }

    /// Creates a certificate for these DNS names and IP addresses.
    ///
    /// # Panics
    ///
    /// Panics if its files cannot be written.
    pub fn for_names(names: &[&str]) -> Self {
        let key = KeyPair::generate().expect("a key");
        let certificate = params(names, IsCa::NoCa).self_signed(&key);
        Self::write(&certificate.expect("a certificate"), &key)
    }

    /// Creates the certificate of an authority for these names, which no server can use.
    ///
    /// # Panics
    ///
    /// Panics if its files cannot be written.
    pub fn of_authority(names: &[&str]) -> Self {
        let key = KeyPair::generate().expect("a key");
        let certificate = params(names, authority()).self_signed(&key);
        Self::write(&certificate.expect("a certificate"), &key)
    }

    /// Creates a certificate for these names that is issued by the authority whose certificate is
    /// in [`TestCertificate::authority_file`].
    ///
    /// # Panics
    ///
    /// Panics if its files cannot be written.
    pub fn issued_for(names: &[&str]) -> Self {
        let issuer_key = KeyPair::generate().expect("a key");
        let issuer =
            CertifiedIssuer::self_signed(params(&["authority.test"], authority()), issuer_key);
        let issuer = issuer.expect("a certificate");
        let key = KeyPair::generate().expect("a key");
        let certificate = params(names, IsCa::NoCa).signed_by(&key, &issuer);
        let created = Self::write(&certificate.expect("a certificate"), &key);
        write_private(&created.authority_file(), &issuer.pem());
        created
    }

    fn write(certificate: &Certificate, key: &KeyPair) -> Self {
        let created = Self {
            directory: tempfile::tempdir().expect("a directory"),
            certificate: certificate.der().clone(),
        };
        write_private(&created.certificate_file(), &certificate.pem());
        write_private(&created.key_file(), &key.serialize_pem());
        created
    }

    /// Returns the path of the certificate of the issuer in PEM, if it has one.
    pub fn authority_file(&self) -> PathBuf {
        self.directory.path().join("authority.pem")
    }

    /// Returns the path of the certificate in PEM.
    pub fn certificate_file(&self) -> PathBuf {
        self.directory.path().join("certificate.pem")
    }

    /// Returns the path of the private key in PEM. Only the owner can read the file.
    pub fn key_file(&self) -> PathBuf {
        self.directory.path().join("key.pem")
    }

    /// Connects to `HOST:PORT` with any version of TLS and offers these protocols.
    ///
    /// # Panics
    ///
    /// Panics if the connection fails.
    pub async fn connect(&self, authority: &str, protocols: &[&[u8]]) -> TlsStream<TcpStream> {
        self.connect_with(authority, protocols, &[&TLS12, &TLS13])
            .await
    }

    /// Connects to `HOST:PORT` with one of these versions of TLS and offers these protocols.
    ///
    /// # Panics
    ///
    /// Panics if the connection fails.
    pub async fn connect_with(
        &self,
        authority: &str,
        protocols: &[&[u8]],
        versions: &[&'static SupportedProtocolVersion],
    ) -> TlsStream<TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).expect("a certificate");
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .expect("versions of the provider")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let tcp = TcpStream::connect(authority).await.expect("a listener");
        let name = ServerName::try_from(SERVER_NAME).expect("a name");
        let connector = TlsConnector::from(Arc::new(config));
        connector.connect(name, tcp).await.expect("a TLS server")
    }

    /// Opens an HTTP/2 connection to `HOST:PORT`.
    ///
    /// # Panics
    ///
    /// Panics if the connection fails.
    pub async fn connect_http2(&self, authority: &str) -> Http2Connection {
        Http2Connection::over(self.connect(authority, &[H2]).await).await
    }
}

/// Returns the parameters of a certificate for these DNS names and IP addresses. The first one is
/// its subject.
fn params(names: &[&str], is_ca: IsCa) -> CertificateParams {
    let alternatives: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(alternatives).expect("valid names");
    params.distinguished_name.push(DnType::CommonName, names[0]);
    params.is_ca = is_ca;
    params
}

/// Returns the constraint of a certificate that issues others.
fn authority() -> IsCa {
    IsCa::Ca(BasicConstraints::Unconstrained)
}

/// Writes a file that only its owner can read.
fn write_private(path: &Path, content: &str) {
    fs::write(path, content).expect("a writable directory");
    let owner_only = fs::Permissions::from_mode(0o600);
    fs::set_permissions(path, owner_only).expect("a file of this process");
}
