//! The interface over TLS: who may connect, and which certificates start a node.

use crate::kit::{
    H2, HTTP_11, RawConnection, SERVER_NAME, TestCertificate, TestNode, tls_settings,
};
use std::{fs, os::unix::fs::PermissionsExt as _, process::Output};
use tokio::net::TcpStream;
use tokio_rustls::{
    client::TlsStream,
    rustls::{
        ProtocolVersion,
        version::{TLS12, TLS13},
    },
};

/// Asks for `/v1` over HTTP/1.1 and checks that a node answers.
async fn node_answers(stream: TlsStream<TcpStream>) {
    let request = format!("GET /v1 HTTP/1.1\r\nhost: {SERVER_NAME}\r\n\r\n");
    let mut connection = RawConnection::over(stream);
    let response = connection.exchange(request.as_bytes()).await.unwrap();
    assert_eq!(response.status, 200);
    assert_eq!(response.headers["x-node-chain-id"], "4");
    assert_eq!(response.json()["chain_id"], 4);
}

#[tokio::test]
async fn http_1_1_over_both_versions_of_tls() {
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
            node_answers(stream).await;
        }
    }
}

#[tokio::test]
async fn http_2_goes_before_http_1_1() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    let stream = certificate.connect(node.authority(), &[HTTP_11, H2]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(H2));
}

#[tokio::test]
async fn plain_http_is_not_answered_and_harms_nobody() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    let mut connection = RawConnection::connect(node.authority()).await;
    connection
        .send(b"GET /v1 HTTP/1.1\r\nhost: a\r\n\r\n")
        .await;
    let answer = connection.rest().await;
    assert!(!answer.starts_with("HTTP"), "{answer}");
    node_answers(certificate.connect(node.authority(), &[HTTP_11]).await).await;
    assert!(!node.log().contains("ERROR"), "{}", node.log());
}

#[tokio::test]
async fn a_handshake_that_is_not_made_is_not_waited_for() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &["api.tls_handshake_timeout_ms=50"]);
    let mut connection = RawConnection::connect(node.authority()).await;
    // Ends when the node closes the connection, which it does not while it waits for the client.
    assert_eq!(connection.rest().await, "");
}

/// What a node says that does not start with these settings.
fn refused(settings: &[String]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let Output { status, stderr, .. } = TestNode::command(directory.path(), settings)
        .output()
        .unwrap();
    let message = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(2), "{message}");
    assert!(
        !directory.path().join("data").exists(),
        "a ledger was begun"
    );
    message
}

#[test]
fn one_file_without_the_other_is_refused() {
    let certificate = TestCertificate::new();
    let [with_certificate, with_key] =
        tls_settings(&certificate.certificate_file(), &certificate.key_file());
    let message = refused(&[with_certificate]);
    assert!(message.contains("api.tls_private_key is not"), "{message}");
    let message = refused(&[with_key]);
    assert!(message.contains("api.tls_certificate is not"), "{message}");
}

#[test]
fn files_that_are_no_certificate_or_key_are_refused_by_name() {
    let good = TestCertificate::new();
    let other = TestCertificate::new();
    let (certificate, key) = (good.certificate_file(), good.key_file());
    let bad = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = bad.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let missing = bad.path().join("missing.pem");
    let empty = file("empty.pem", "");
    let cut = file("cut.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n");
    let no_base64 = file(
        "no_base64.pem",
        "-----BEGIN PRIVATE KEY-----\n!!secret!!\n-----END PRIVATE KEY-----\n",
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
        (&missing, &key, "missing.pem: No such file"),
        (&certificate, &missing, "missing.pem: No such file"),
        (&empty, &key, "empty.pem: holds no certificate"),
        (&certificate, &empty, "empty.pem: holds no private key"),
        // The two files confused.
        (&key, &certificate, "key.pem: holds no certificate"),
        (
            &certificate,
            &certificate,
            "certificate.pem: holds no private key",
        ),
        (
            &cut,
            &key,
            "cut.pem: its certificate has a begin and no end",
        ),
        (
            &certificate,
            &no_base64,
            "no_base64.pem: its private key is not well-formed",
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
        let message = refused(&tls_settings(certificate, key));
        assert!(message.contains(words), "expected {words:?} in {message}");
        assert!(!message.contains("secret"), "{message}");
    }
}

#[test]
fn a_key_that_everyone_may_read_is_warned_about() {
    let certificate = TestCertificate::new();
    for (mode, warned) in [(0o600, false), (0o640, false), (0o644, true)] {
        fs::set_permissions(certificate.key_file(), fs::Permissions::from_mode(mode)).unwrap();
        let node = TestNode::start_tls(&certificate, &[]);
        assert_eq!(
            node.log().contains("api.tls_private_key"),
            warned,
            "{mode:o}: {}",
            node.log()
        );
    }
}
