//! TLS of the API listener: protocols, and the certificates that a node starts with.

use crate::security::rejected_start;
use ledger_test_support::{
    http::{H2, HTTP_11, RawConnection, SERVER_NAME, TestCertificate},
    node::{TestNode, tls_settings},
};
use std::{fs, os::unix::fs::PermissionsExt as _};
use tokio::net::TcpStream;
use tokio_rustls::{
    client::TlsStream,
    rustls::{
        ProtocolVersion,
        version::{TLS12, TLS13},
    },
};

/// Requests `/v1` over HTTP/1.1 and checks that a node responds.
async fn check_node_responds(stream: TlsStream<TcpStream>) {
    let request = format!("GET /v1 HTTP/1.1\r\nhost: {SERVER_NAME}\r\n\r\n");
    let mut connection = RawConnection::over(stream);
    let response = connection.exchange(request.as_bytes()).await.unwrap();
    assert_eq!(response.status, 200);
    assert_eq!(response.headers["x-node-chain-id"], "4");
    assert_eq!(response.json()["chain_id"], 4);
}

#[tokio::test]
async fn serves_http_1_1_over_both_versions_of_tls() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    let versions = [
        (&TLS12, ProtocolVersion::TLSv1_2),
        (&TLS13, ProtocolVersion::TLSv1_3),
    ];
    for (version, name) in versions {
        for protocols in [&[HTTP_11][..], &[]] {
            let stream = certificate
                .connect_with(node.authority(), protocols, &[version])
                .await;
            let connection = stream.get_ref().1;
            assert_eq!(connection.protocol_version(), Some(name));
            assert_eq!(connection.alpn_protocol(), protocols.first().copied());
            check_node_responds(stream).await;
        }
    }
}

#[tokio::test]
async fn prefers_http_2_to_http_1_1() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    let stream = certificate.connect(node.authority(), &[HTTP_11, H2]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(H2));
}

#[tokio::test]
async fn rejects_plain_http_without_an_error_in_the_log() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    let mut connection = RawConnection::connect(node.authority()).await;
    connection
        .send(b"GET /v1 HTTP/1.1\r\nhost: a\r\n\r\n")
        .await;
    let received = connection.rest().await;
    assert!(!received.starts_with("HTTP"), "{received}");
    check_node_responds(certificate.connect(node.authority(), &[HTTP_11]).await).await;
    assert!(!node.log().contains("ERROR"), "{}", node.log());
}

#[test]
fn rejects_a_certificate_without_key_and_a_key_without_certificate() {
    let certificate = TestCertificate::new();
    let [with_certificate, with_key] =
        tls_settings(&certificate.certificate_file(), &certificate.key_file());
    let message = rejected_start(&[with_certificate]);
    assert!(message.contains("api.tls_private_key is not"), "{message}");
    let message = rejected_start(&[with_key]);
    assert!(message.contains("api.tls_certificate is not"), "{message}");
}

#[test]
fn rejects_files_without_a_certificate_or_key_by_name() {
    let valid = TestCertificate::new();
    let other = TestCertificate::new();
    let (certificate, key) = (valid.certificate_file(), valid.key_file());
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let missing = directory.path().join("missing.pem");
    let empty = file("empty.pem", "");
    let truncated = file("cut.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n");
    let no_base64 = file(
        "no_base64.pem",
        "-----BEGIN PRIVATE KEY-----\n!!secret!!\n-----END PRIVATE KEY-----\n",
    );
    let encrypted = file(
        "encrypted.pem",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    let encrypted_rsa = file(
        "encrypted_rsa.pem",
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n\
         AAAA\n-----END RSA PRIVATE KEY-----\n",
    );
    let no_certificate = file(
        "no_certificate.pem",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    );
    let no_key = file(
        "no_key.pem",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    );
    let rows = [
        (
            &missing,
            &key,
            "missing.pem\" (--set): the file cannot be read: No such file",
        ),
        (
            &certificate,
            &missing,
            "missing.pem\" (--set): the file cannot be read: No such file",
        ),
        (&empty, &key, "empty.pem\" (--set): holds no certificate"),
        (
            &certificate,
            &empty,
            "empty.pem\" (--set): holds no private key",
        ),
        (
            &certificate,
            &encrypted,
            "encrypted.pem\" (--set): its private key is encrypted; decrypt it with `openssl pkey",
        ),
        (
            &certificate,
            &encrypted_rsa,
            "encrypted_rsa.pem\" (--set): its private key is encrypted; decrypt it",
        ),
        // The two files are exchanged.
        (
            &key,
            &certificate,
            "key.pem\" (--set): holds no certificate",
        ),
        (
            &certificate,
            &certificate,
            "certificate.pem\" (--set): holds no private key",
        ),
        (
            &truncated,
            &key,
            "cut.pem\" (--set): its certificate has a BEGIN line and no END line",
        ),
        (
            &certificate,
            &no_base64,
            "no_base64.pem\" (--set): its private key is not well-formed",
        ),
        (&no_certificate, &key, "no_certificate.pem and"),
        (&certificate, &no_key, "no_key.pem cannot be used together"),
        (
            &certificate,
            &other.key_file(),
            "cannot be used together: keys may not be consistent",
        ),
    ];
    for (certificate, key, words) in rows {
        let message = rejected_start(&tls_settings(certificate, key));
        assert!(message.contains(words), "expected {words:?} in {message}");
        assert!(!message.contains("secret"), "{message}");
    }
}

#[test]
fn warns_about_a_key_that_everyone_can_read() {
    let certificate = TestCertificate::new();
    for (mode, is_warned) in [(0o600, false), (0o640, false), (0o644, true)] {
        fs::set_permissions(certificate.key_file(), fs::Permissions::from_mode(mode)).unwrap();
        let node = TestNode::start_tls(&certificate, &[]);
        assert_eq!(
            node.log().contains("api.tls_private_key"),
            is_warned,
            "{mode:o}: {}",
            node.log()
        );
    }
}
