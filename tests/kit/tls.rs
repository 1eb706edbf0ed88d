//! A certificate of the test's own, and connections that trust it and no other.

use super::TestNode;
use rcgen::{CertifiedKey, generate_simple_self_signed};
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
/// HTTP/2, as TLS names it.
pub const H2: &[u8] = b"h2";
/// HTTP/1.1, as TLS names it.
pub const HTTP_11: &[u8] = b"http/1.1";

/// A certificate that vouches for itself, and its key, in files that go away with it.
pub struct TestCertificate {
    directory: TempDir,
    certificate: CertificateDer<'static>,
}

impl TestCertificate {
    pub fn new() -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed([SERVER_NAME.to_owned()]).unwrap();
        let made = Self {
            directory: tempfile::tempdir().unwrap(),
            certificate: cert.der().clone(),
        };
        fs::write(made.certificate_file(), cert.pem()).unwrap();
        fs::write(made.key_file(), signing_key.serialize_pem()).unwrap();
        let owner_only = fs::Permissions::from_mode(0o600);
        fs::set_permissions(made.key_file(), owner_only).unwrap();
        made
    }

    pub fn certificate_file(&self) -> PathBuf {
        self.directory.path().join("certificate.pem")
    }

    pub fn key_file(&self) -> PathBuf {
        self.directory.path().join("key.pem")
    }

    /// A node that serves its interface with this certificate.
    pub fn start_node(&self, settings: &[&str]) -> TestNode {
        let tls = tls_settings(&self.certificate_file(), &self.key_file());
        let settings: Vec<_> = tls
            .iter()
            .map(String::as_str)
            .chain(settings.iter().copied())
            .collect();
        TestNode::start(&settings)
    }

    /// Connects with any version of TLS, offering these protocols.
    pub async fn connect(&self, node: &TestNode, protocols: &[&[u8]]) -> TlsStream<TcpStream> {
        self.connect_with(node, protocols, &[&TLS12, &TLS13]).await
    }

    /// Connects with one of these versions of TLS, offering these protocols.
    pub async fn connect_with(
        &self,
        node: &TestNode,
        protocols: &[&[u8]],
        versions: &[&'static SupportedProtocolVersion],
    ) -> TlsStream<TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let tcp = TcpStream::connect(authority(node)).await.unwrap();
        let name = ServerName::try_from(SERVER_NAME).unwrap();
        TlsConnector::from(Arc::new(config))
            .connect(name, tcp)
            .await
            .unwrap()
    }
}

/// The settings that name the two files.
pub fn tls_settings(certificate: &Path, key: &Path) -> [String; 2] {
    [
        format!("api.tls_certificate={}", certificate.display()),
        format!("api.tls_private_key={}", key.display()),
    ]
}

/// `IP:PORT` of a node whose interface is served over TLS.
pub fn authority(node: &TestNode) -> &str {
    node.api.strip_prefix("https://").unwrap()
}
