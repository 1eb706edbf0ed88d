//! The certificate of the API listener, replaced while it serves by `POST /tls/reload`.

use ledger_test_support::{
    http::{HTTP_11, HttpResponse, RawConnection, SERVER_NAME, TestCertificate},
    node::{TestNode, within_patience},
};
use reqwest::Method;
use serde_json::json;
use std::{
    fs, io,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
};
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore,
        client::Resumption,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    },
};

/// A request that keeps its connection open.
const REQUEST: &[u8] = b"GET /v1 HTTP/1.1\r\nhost: node.test\r\n\r\n";

/// Requests a reload of the certificate, and returns the response.
async fn reload(node: &TestNode) -> HttpResponse {
    let url = format!("{}/tls/reload", node.admin);
    let request = node.http.request(Method::POST, &url);
    node.http.try_send(request).await.unwrap()
}

/// Writes a certificate and its key into the files of another one.
fn install(source: &TestCertificate, target: &TestCertificate) {
    fs::copy(source.certificate_file(), target.certificate_file()).unwrap();
    fs::copy(source.key_file(), target.key_file()).unwrap();
}

/// Returns the encoded certificate.
fn der(certificate: &TestCertificate) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(certificate.certificate_file()).unwrap()
}

/// A client that trusts several certificates and makes a full handshake for each connection.
#[derive(Clone)]
struct Client {
    connector: TlsConnector,
}

impl Client {
    /// Creates a client that trusts these certificates.
    fn trusting(certificates: &[CertificateDer<'static>]) -> Self {
        let mut roots = RootCertStore::empty();
        for certificate in certificates {
            roots.add(certificate.clone()).unwrap();
        }
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![HTTP_11.to_vec()];
        config.resumption = Resumption::disabled();
        Self {
            connector: TlsConnector::from(Arc::new(config)),
        }
    }

    /// Opens a connection.
    async fn connect(&self, authority: &str) -> io::Result<TlsStream<TcpStream>> {
        let tcp = TcpStream::connect(authority).await?;
        let name = ServerName::try_from(SERVER_NAME).unwrap();
        self.connector.connect(name, tcp).await
    }
}

/// Returns the certificate that the server of a connection presented.
fn presented(stream: &TlsStream<TcpStream>) -> CertificateDer<'static> {
    let chain = stream.get_ref().1.peer_certificates().unwrap();
    chain[0].clone().into_owned()
}

#[tokio::test]
async fn presents_the_new_certificate_after_a_reload() {
    let (first, second) = (TestCertificate::new(), TestCertificate::new());
    let node = TestNode::start_tls(&first, &[]);
    let client = Client::trusting(&[der(&first), der(&second)]);
    let connect = || async { client.connect(node.authority()).await.unwrap() };
    let open = connect().await;
    assert_eq!(presented(&open), der(&first));
    let mut open = RawConnection::over(open);

    let unchanged = reload(&node).await;
    assert_eq!(unchanged.status, 200, "{}", unchanged.text);
    assert_eq!(unchanged.json["changed"], json!(false));

    let expected = der(&second);
    install(&second, &first);
    // A change of the files alone has no effect.
    assert_ne!(presented(&connect().await), expected);
    let changed = reload(&node).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert_eq!(changed.json["changed"], json!(true));
    let [before, after] = [&unchanged, &changed].map(|response| {
        let fingerprint = response.json["fingerprint_sha256"].as_str().unwrap();
        assert_eq!(fingerprint.len(), 32 * 3 - 1, "{fingerprint}");
        fingerprint
    });
    assert_ne!(before, after);
    node.logged("TLS certificate reloaded").await;
    let stream = connect().await;
    assert_eq!(presented(&stream), expected);
    let mut connection = RawConnection::over(stream);
    assert_eq!(connection.exchange(REQUEST).await.unwrap().status, 200);
    // A connection with the previous certificate still works.
    assert_eq!(open.exchange(REQUEST).await.unwrap().status, 200);
}

#[tokio::test]
async fn keeps_the_certificate_if_the_new_one_cannot_be_used() {
    let (first, second) = (TestCertificate::new(), TestCertificate::new());
    let node = TestNode::start_tls(&first, &[]);
    let expected = der(&first);
    let client = Client::trusting(std::slice::from_ref(&expected));
    let certificate = first.certificate_file();
    let good = fs::read(&certificate).unwrap();
    let other = fs::read(second.certificate_file()).unwrap();
    let cases: [(&[u8], &str); 3] = [
        (b"", "certificate.pem: holds no certificate"),
        (
            b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "cannot be used together",
        ),
        (
            &other,
            "cannot be used together: keys may not be consistent",
        ),
    ];
    let check = async |cause: &str| {
        let response = reload(&node).await;
        assert_eq!(response.status, 400, "{cause}: {}", response.text);
        assert_eq!(response.json["error_code"], "invalid_input");
        let message = response.json["message"].as_str().unwrap();
        assert!(message.contains(cause), "expected {cause:?} in {message}");
        let ending = "; the previous certificate stays in use";
        assert!(message.ends_with(ending), "{message}");
        let stream = client.connect(node.authority()).await.unwrap();
        assert_eq!(presented(&stream), expected);
    };
    for (content, cause) in cases {
        fs::write(&certificate, content).unwrap();
        check(cause).await;
    }
    fs::remove_file(&certificate).unwrap();
    check("certificate.pem: No such file").await;
    let made = Command::new("mkfifo").arg(&certificate).status();
    assert!(made.unwrap().success());
    let rejected = check("certificate.pem: it is not a regular file");
    within_patience("the response to a pipe", rejected).await;
    fs::remove_file(&certificate).unwrap();
    node.logged("TLS certificate not reloaded").await;
    fs::write(&certificate, good).unwrap();
    assert_eq!(reload(&node).await.status, 200);
}

#[tokio::test]
async fn rejects_a_reload_without_tls() {
    let node = TestNode::start(&[]);
    let response = reload(&node).await;
    assert_eq!(response.status, 409, "{}", response.text);
    assert_eq!(response.json["error_code"], "invalid_input");
    assert!(response.text.contains("api.tls_certificate"));
}

/// Number of clients that make handshakes concurrently.
const CLIENTS: usize = 8;
/// Number of replacements of the certificate.
const RELOADS: usize = 60;
/// Number of handshakes between two replacements.
const HANDSHAKES_BETWEEN: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn completes_every_handshake_while_certificates_change() {
    let served = TestCertificate::new();
    let others = [TestCertificate::new(), TestCertificate::new()];
    let node = TestNode::start_tls(&served, &[]);
    let known = [der(&served), der(&others[0]), der(&others[1])];
    let client = Client::trusting(&known);
    let is_over = Arc::new(AtomicBool::new(false));
    let handshakes: Arc<[AtomicUsize; 3]> = Arc::default();
    let count = || -> usize { handshakes.iter().map(|count| count.load(Relaxed)).sum() };
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (client, known) = (client.clone(), known.clone());
            let (is_over, handshakes) = (Arc::clone(&is_over), Arc::clone(&handshakes));
            let authority = node.authority().to_owned();
            tokio::spawn(async move {
                while !is_over.load(Relaxed) {
                    let stream = client.connect(&authority).await.expect("a handshake");
                    let presented = presented(&stream);
                    let index = known.iter().position(|known| *known == presented).unwrap();
                    let mut connection = RawConnection::over(stream);
                    let response = connection.exchange(REQUEST).await.expect("a response");
                    assert_eq!(response.status, 200);
                    handshakes[index].fetch_add(1, Relaxed);
                }
            })
        })
        .collect();
    for round in 0..RELOADS {
        let target = count() + HANDSHAKES_BETWEEN;
        within_patience("handshakes between reloads", async {
            while count() < target {
                assert!(!clients.iter().any(tokio::task::JoinHandle::is_finished));
                tokio::task::yield_now().await;
            }
        })
        .await;
        let other = &others[round % 2];
        fs::copy(other.certificate_file(), served.certificate_file()).unwrap();
        // After the first copy, the certificate has the key of another one.
        assert_eq!(reload(&node).await.status, 400);
        fs::copy(other.key_file(), served.key_file()).unwrap();
        assert_eq!(reload(&node).await.status, 200);
    }
    is_over.store(true, Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    let metrics = node.http.get(&format!("{}/connections", node.admin)).await;
    let api = &metrics.json.as_array().unwrap()[0];
    assert_eq!(api["listener"], "api");
    assert_eq!(api["failed_handshakes"], 0);
    for count in handshakes.iter() {
        assert!(count.load(Relaxed) > 0, "{handshakes:?}");
    }
}
