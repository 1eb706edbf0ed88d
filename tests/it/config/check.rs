//! The command `config --check`.

use super::{check_rejected, text};
use ledger_test_support::node::{TestNode, binary};
use std::{fs, path::Path, process::Output};

/// Runs `config --check` with the settings of a test's node.
fn check(directory: &Path, settings: &[&str]) -> Output {
    let settings = settings.iter().map(|&setting| setting.to_owned());
    let mut command = binary();
    command
        .args(["config", "--check", "--data-dir"])
        .arg(directory.join("data"));
    let listeners = ["api", "faucet", "admin"].map(|name| format!("{name}.listen=127.0.0.1:0"));
    for setting in listeners.into_iter().chain(settings) {
        command.args(["--set", &setting]);
    }
    command.output().unwrap()
}

#[test]
fn check_prints_the_chain_of_the_genesis_file_and_writes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("genesis.toml");
    fs::write(
        &file,
        "chain_id = 77\nvendor = \"OTHER\"\n[[accounts]]\naddress = \"0xb0b\"\nbalance = 5\n",
    )
    .unwrap();
    let output = check(
        directory.path(),
        &[&format!("chain.genesis={}", file.display())],
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    let data = directory.path().join("data");
    for part in [
        &*format!("genesis: {}", file.display()),
        "chain id 77",
        "vendor word OTHER",
        "1 account holds 5",
        "listeners: api=http://127.0.0.1:0 admin=http://127.0.0.1:0",
        &*format!("ledger in {}: none yet", data.display()),
        "a start finds no error",
    ] {
        assert!(printed.contains(part), "{part:?} is not in {printed}");
    }
    assert!(!data.exists());
    let public = check(directory.path(), &["api.listen=0.0.0.0:0"]);
    let printed = text(&public.stdout);
    assert!(
        printed.contains("warning: other machines reach api"),
        "{printed}"
    );
}

#[test]
fn check_names_each_file_of_each_certificate() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("text");
    fs::write(&file, "no certificate").unwrap();
    let output = check(
        directory.path(),
        &[
            "api.tls_certificate=/no.pem",
            "api.tls_private_key=/no.key",
            "admin.tls_certificate=/other.pem",
            &format!("admin.tls_private_key={}", file.display()),
        ],
    );
    check_rejected(
        &output,
        &[
            "ledger-node: configuration: api.tls_certificate = \"/no.pem\"",
            "\nledger-node: configuration: api.tls_private_key = \"/no.key\"",
            "\nledger-node: configuration: admin.tls_certificate = \"/other.pem\"",
            "\nledger-node: configuration: admin.tls_private_key = ",
            "holds no private key",
        ],
    );
}

#[test]
fn check_names_all_errors_of_a_start() {
    let mut node = TestNode::start(&[]);
    let used = node.authority().to_owned();
    let directory = tempfile::tempdir().unwrap();
    let errors = check(
        directory.path(),
        &[
            "chain.genesis=/nowhere.toml",
            "api.tls_certificate=/nowhere.pem",
            "admin.token_file=/nowhere",
        ],
    );
    check_rejected(
        &errors,
        &[
            "ledger-node: configuration: api.tls_certificate is set",
            "\nledger-node: configuration: chain.genesis = \"/nowhere.toml\" (--set)",
            "ledger-node genesis new",
            "\nledger-node: configuration: admin.token_file = \"/nowhere\"",
        ],
    );
    let api = format!("api.listen={used}");
    let data = format!(
        "storage.data_dir={}",
        node.directory().join("data").display()
    );
    let in_use = binary()
        .args(["config", "--check", "--set", &api, "--set", &data])
        .args([
            "--set",
            "admin.listen=127.0.0.1:0",
            "--set",
            "faucet.listen=127.0.0.1:0",
        ])
        .output()
        .unwrap();
    let message = text(&in_use.stderr);
    assert_eq!(in_use.status.code(), Some(1), "{message}");
    for part in [
        format!("ledger-node: api.listen = \"{used}\": Address already in use"),
        "is in use by another node".to_owned(),
    ] {
        assert!(message.contains(&part), "{part:?} is not in {message:?}");
    }
    node.stop("TERM");
    let stopped = check(node.directory(), &[]);
    assert!(
        text(&stopped.stdout).contains(": of this chain, at height 0"),
        "{}",
        text(&stopped.stdout)
    );
    check_rejected(
        &check(node.directory(), &["chain.id=9"]),
        &["another genesis", "chain id 4, configured is 9"],
    );
}
