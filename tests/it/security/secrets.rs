//! Logs at the most verbose level and output of commands, neither of which may contain a secret.

use super::{file, send};
use ledger_test_support::{
    TestAccount,
    http::{HTTP_11, TestCertificate},
    node::{TestNode, binary},
};
use reqwest::Method;
use serde_json::json;
use std::{fs, process::Command};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// The token of the admin listener.
const TOKEN: &str = "c2VjcmV0IG9mIHRoZSBvcGVyYXRvcg";
/// The most verbose log level of every crate.
const TRACE_ALL: &str =
    "log.level=trace,actix_http=trace,actix_server=trace,h2=trace,rustls=trace,mio=trace";

/// Returns the encoded lines of a PEM file.
fn pem_lines(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().filter(|line| !line.starts_with("-----"));
    lines.map(str::to_owned)
}

/// Runs a command and returns its standard output and standard error.
fn output_of(mut command: Command) -> String {
    let output = command.output().unwrap();
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[tokio::test]
async fn logs_no_secret_at_the_most_verbose_level() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let token_file = file(directory, "token", TOKEN, 0o600);
    let certificate = TestCertificate::new();
    let faucet = TestAccount::from_seed(77);
    let faucet_key = hex::encode(faucet.key.seed());
    let genesis = format!(
        "chain_id = 4\ndevelopment = true\nfaucet_private_key = \"{faucet_key}\"\n\
         [[accounts]]\naddress = \"{}\"\nbalance = 1000000000000\n",
        faucet.address.to_long_hex()
    );
    let genesis_file = file(directory, "genesis.toml", &genesis, 0o600);
    let settings = [
        format!("admin.token_file={}", token_file.display()),
        format!("chain.genesis={}", genesis_file.display()),
    ];
    let mut node = TestNode::start_tls(&certificate, &[TRACE_ALL, &settings[0], &settings[1]]);

    let bearer = format!("Bearer {TOKEN}");
    for (method, route) in [
        (Method::GET, "/actors"),
        (Method::PUT, "/filter"),
        (Method::PATCH, "/switches"),
        (Method::GET, "/nothing"),
    ] {
        let url = format!("{}{route}", node.admin);
        let response = send(&node, &method, &url, &[("authorization", &bearer)]).await;
        assert_ne!(response.status, 401, "{}", response.text);
    }
    let url = format!("{}/fund", node.faucet.as_ref().unwrap());
    let body = json!({ "address": "0x77", "amount": 5 });
    let response = node.http.send_json(Method::POST, &url, &body).await;
    assert_eq!(response.status, 200, "{}", response.text);
    // The token is sent to a listener that does not require it.
    let mut stream = certificate.connect(node.authority(), &[HTTP_11]).await;
    let request = format!(
        "GET /v1 HTTP/1.1\r\nhost: a\r\nauthorization: {bearer}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut received = String::new();
    stream.read_to_string(&mut received).await.unwrap();
    assert!(received.starts_with("HTTP/1.1 200"), "{received}");

    assert!(node.stop("TERM").success());
    let log = node.log();
    let greeting = node.greeting.join("\n");
    assert!(
        log.contains("TRACE"),
        "the log is not at the most verbose level"
    );
    let key = fs::read_to_string(certificate.key_file()).unwrap();
    let mut secrets: Vec<_> = pem_lines(&key).collect();
    secrets.extend([TOKEN.to_owned(), faucet_key]);
    for secret in &secrets {
        assert!(!secret.is_empty());
        for (output, text) in [
            ("log", &log),
            ("greeting", &greeting),
            ("response", &received),
        ] {
            let line = text.lines().find(|line| line.contains(secret.as_str()));
            assert_eq!(line, None, "the {output} has a secret");
        }
    }
}

#[test]
fn prints_a_configuration_without_secrets() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "token", TOKEN, 0o600);
    let setting = format!("admin.token_file={}", path.display());
    let mut command = binary();
    command.args(["config", "--set", &setting]);
    let printed = output_of(command);
    assert!(printed.contains(path.to_str().unwrap()), "{printed}");
    assert!(!printed.contains(TOKEN), "{printed}");
}

#[test]
fn rejects_a_genesis_file_without_quoting_it() {
    let directory = tempfile::tempdir().unwrap();
    let digits = "12345678".repeat(8);
    for line in [
        format!("faucet_private_key = {digits}"),
        format!("faucet_private_key = 0x{digits}"),
        format!("faucet_private_key = [\"{digits}\"]"),
        format!("faucet_private_key = \"{digits}00\""),
        format!("faucet_private_key = \"{digits}"),
        format!("faucet_private_key \"{digits}\""),
    ] {
        let text = format!("chain_id = 4\ndevelopment = true\n{line}\n");
        let path = file(directory.path(), "genesis.toml", &text, 0o600);
        let message = super::rejected_start(&[format!("chain.genesis={}", path.display())]);
        assert!(!message.contains("12345678"), "{message}");
    }
}
