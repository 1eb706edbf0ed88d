//! `account` and `bench` over TLS: the servers that they trust, and the errors that they name.

use ledger_test_support::{
    http::TestCertificate,
    node::{TestNode, binary},
};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Arc,
};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    },
};

/// The account that commands request.
const ADDRESS: &str = "0x77";

/// Returns a command of the binary in a system whose root certificates are in `system_roots`.
fn command(system_roots: &Path, arguments: &[&str]) -> Command {
    let mut command = binary();
    command
        .args(arguments)
        .env("SSL_CERT_FILE", system_roots)
        .env_remove("SSL_CERT_DIR");
    command
}

/// Returns a file without certificates, which is deleted with the directory of the node.
fn no_roots(node: &TestNode) -> PathBuf {
    let path = node.directory().join("empty.pem");
    fs::write(&path, "").unwrap();
    path
}

/// Returns the output of a successful command.
fn printed(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns the message of a command that ended with exit code 1.
fn message(output: &Output) -> String {
    let message = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    message
}

/// Runs `account show` on a system without root certificates, with a file of `--ca` if `ca` names
/// one.
fn show(node: &TestNode, url: &str, ca: Option<&Path>) -> Output {
    let mut command = command(&no_roots(node), &["account", "show", "--url", url, ADDRESS]);
    command.args(ca.iter().flat_map(|ca| [Path::new("--ca"), ca]));
    command.output().unwrap()
}

/// Returns the value of `name value` in the output of a command.
fn value<'a>(printed: &'a str, name: &str) -> &'a str {
    printed
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .unwrap_or_else(|| panic!("no {name} in {printed}"))
}

/// Starts a server that terminates TLS with this certificate for `target`, which is `HOST:PORT`.
/// Returns its URL.
async fn start_tls_proxy(certificate: &TestCertificate, target: String) -> String {
    let chain = CertificateDer::from_pem_file(certificate.certificate_file()).unwrap();
    let key = PrivateKeyDer::from_pem_file(certificate.key_file()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (client, _) = listener.accept().await.unwrap();
            let mut client = acceptor.accept(client).await.unwrap();
            let mut server = TcpStream::connect(&target).await.unwrap();
            // An error means that one side has closed its connection.
            let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
        }
    });
    url
}

#[tokio::test(flavor = "multi_thread")]
async fn account_commands_reach_node_and_faucet() {
    let certificate = TestCertificate::for_names(&["127.0.0.1"]);
    let node = TestNode::start_tls(&certificate, &[]);
    let faucet = node.faucet.as_deref().unwrap();
    let faucet = faucet.strip_prefix("http://").unwrap().to_owned();
    let faucet = start_tls_proxy(&certificate, faucet).await;
    let ca = certificate.certificate_file();
    let ca = ca.to_str().unwrap();
    let key = node.directory().join("alice.key");
    let key = key.to_str().unwrap();
    let run = |arguments: &[&str]| {
        let arguments = [&["account"], arguments].concat();
        printed(&command(&no_roots(&node), &arguments).output().unwrap())
    };
    let alice = run(&["new", "--out", key]);
    let alice = value(&alice, "address");
    run(&["fund", "--faucet", &faucet, "--ca", ca, alice, "500000000"]);
    let transfer = run(&[
        "transfer", "--url", &node.api, "--ca", ca, "--key", key, ADDRESS, "1000",
    ]);
    assert!(transfer.contains("committed at version "), "{transfer}");
    let state = run(&["show", "--url", &node.api, "--ca", ca, ADDRESS]);
    assert_eq!(value(&state, "balance"), "1000");
}

#[test]
fn bench_commits_every_transfer() {
    let certificate = TestCertificate::issued_for(&["127.0.0.1"]);
    let node = TestNode::start_tls(&certificate, &[]);
    let ca = certificate.authority_file();
    for (mode, format) in [("await", "bcs"), ("submit", "json")] {
        let mut command = command(&no_roots(&node), &["bench", "--output", "json"]);
        command
            .args(["--url", &node.api, "--faucet"])
            .arg(node.faucet.as_ref().unwrap())
            .arg("--ca")
            .arg(&ca)
            .args([
                "--transfers",
                "200",
                "--accounts",
                "8",
                "--connections",
                "8",
            ])
            .args(["--mode", mode, "--format", format]);
        let report = printed(&command.output().unwrap());
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["committed"], 200, "{report}");
        assert_eq!(report["lost"], 0, "{report}");
        assert_eq!(report["errors"], json!({}), "{report}");
    }
    let log = node.log();
    assert!(!log.contains("ERROR"), "{log}");
}

/// The trusted certificate has the name of the server's, as after a replacement of the server's.
#[test]
fn bench_names_an_untrusted_certificate() {
    let certificate = TestCertificate::for_names(&["127.0.0.1"]);
    let node = TestNode::start_tls(&certificate, &[]);
    let other = TestCertificate::for_names(&["127.0.0.1"]);
    let mut command = command(&other.certificate_file(), &["bench", "--url", &node.api]);
    command.args(["--faucet", node.faucet.as_ref().unwrap()]);
    let message = message(&command.output().unwrap());
    assert!(message.contains("--ca FILE adds"), "{message}");
}

#[test]
fn account_names_an_untrusted_certificate() {
    let certificate = TestCertificate::for_names(&["127.0.0.1"]);
    let node = TestNode::start_tls(&certificate, &[]);
    let other = TestCertificate::for_names(&["node.test"]);
    let message = message(&show(&node, &node.api, Some(&other.certificate_file())));
    assert!(message.contains(&node.api), "{message}");
    assert!(message.contains("is not trusted"), "{message}");
    assert!(message.contains("--ca FILE adds"), "{message}");
}

/// Checks that `account show` printed the response of the node.
fn check_output(output: &Output) {
    assert_eq!(value(&printed(output), "balance"), "0");
}

#[test]
fn trusts_the_root_certificates_of_the_system() {
    let certificate = TestCertificate::for_names(&["127.0.0.1"]);
    let node = TestNode::start_tls(&certificate, &[]);
    let arguments = ["account", "show", "--url", &node.api, ADDRESS];
    let mut command = command(&certificate.certificate_file(), &arguments);
    check_output(&command.output().unwrap());
    // A file of `--ca` is used in addition to them.
    let other = TestCertificate::new();
    command.arg("--ca").arg(other.certificate_file());
    check_output(&command.output().unwrap());
}

#[test]
fn trusts_every_certificate_of_the_file() {
    let certificate = TestCertificate::issued_for(&["localhost"]);
    let node = TestNode::start_tls(&certificate, &[]);
    let other = TestCertificate::new();
    let files = [other.certificate_file(), certificate.authority_file()];
    let both = node.directory().join("both.pem");
    fs::write(
        &both,
        files.map(|file| fs::read_to_string(file).unwrap()).concat(),
    )
    .unwrap();
    let by_name = node.api.replace("127.0.0.1", "localhost");
    check_output(&show(&node, &by_name, Some(&both)));
}

#[test]
fn rejects_a_certificate_for_another_host() {
    let certificate = TestCertificate::for_names(&["node.test"]);
    let node = TestNode::start_tls(&certificate, &[]);
    let message = message(&show(
        &node,
        &node.api,
        Some(&certificate.certificate_file()),
    ));
    assert!(
        message.contains("not valid for name \"127.0.0.1\""),
        "{message}"
    );
    assert!(message.contains("node.test"), "{message}");
}

#[test]
fn rejects_the_certificate_of_an_authority() {
    let certificate = TestCertificate::of_authority(&["127.0.0.1"]);
    let node = TestNode::start_tls(&certificate, &[]);
    let message = message(&show(
        &node,
        &node.api,
        Some(&certificate.certificate_file()),
    ));
    assert!(message.contains("CA:FALSE"), "{message}");
}

#[test]
fn names_a_system_without_root_certificates() {
    let certificate = TestCertificate::for_names(&["127.0.0.1"]);
    let node = TestNode::start_tls(&certificate, &[]);
    let message = message(&show(&node, &node.api, None));
    assert!(message.contains("no root certificates"), "{message}");
    assert!(message.contains("--ca FILE"), "{message}");
    check_output(&show(
        &node,
        &node.api,
        Some(&certificate.certificate_file()),
    ));
}

#[test]
fn names_a_file_without_certificates() {
    let certificate = TestCertificate::for_names(&["127.0.0.1"]);
    let node = TestNode::start_tls(&certificate, &[]);
    let message = message(&show(&node, &node.api, Some(&certificate.key_file())));
    assert!(
        message.contains("key.pem: it holds no certificate"),
        "{message}"
    );
}

#[test]
fn names_a_server_that_requires_tls() {
    let certificate = TestCertificate::for_names(&["127.0.0.1"]);
    let node = TestNode::start_tls(&certificate, &[]);
    let plain = node.api.replace("https://", "http://");
    let message = message(&show(&node, &plain, None));
    assert!(message.contains("use https://"), "{message}");
}

#[test]
fn names_a_server_that_does_not_use_tls() {
    let certificate = TestCertificate::for_names(&["127.0.0.1"]);
    let node = TestNode::start(&[]);
    let tls = node.api.replace("http://", "https://");
    let message = message(&show(&node, &tls, Some(&certificate.certificate_file())));
    assert!(message.contains("use http://"), "{message}");
}
