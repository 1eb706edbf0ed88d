//! Signals that must not end a node: `SIGHUP`, which reloads the configuration, and `SIGXFSZ` at a
//! limit on the size of files.

use ledger_test_support::{
    TestAccount,
    http::{SERVER_NAME, TestCertificate},
    node::{TestNode, until},
};
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    },
};

#[tokio::test]
async fn continues_after_a_hangup() {
    let mut node = TestNode::start(&[]);
    for count in 1..=2 {
        node.signal("HUP");
        until("the signal to be logged", || async {
            (node.log().matches("SIGHUP").count() == count).then_some(())
        })
        .await;
    }
    node.fund(&TestAccount::from_seed(1), 1_000).await;
    assert_eq!(
        node.balance(&TestAccount::from_seed(1).address).await,
        1_000
    );
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
}

/// A node with a configuration file that tests change.
struct ConfiguredNode {
    node: TestNode,
    file: PathBuf,
}

impl ConfiguredNode {
    /// Starts a node with this text as its configuration file. The default settings of tests have
    /// precedence over the file.
    fn start(text: &str) -> Self {
        Self::start_with(text, |_| {})
    }

    /// Starts a node as [`Self::start`] does, after a change of its command.
    fn start_with(text: &str, change_command: impl FnOnce(&mut Command)) -> Self {
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let file = directory.path().join("node.toml");
        fs::write(&file, text).unwrap();
        let mut command = TestNode::command(directory.path(), &[]);
        command.arg("--config").arg(&file);
        change_command(&mut command);
        let node = TestNode::spawn(command, directory, Vec::new());
        Self { node, file }
    }

    /// Writes a file that only its owner can access into the directory of the node.
    fn write_secret(&self, name: &str, text: &str) -> PathBuf {
        let path = self.node.directory().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        path
    }

    /// Replaces the text of the configuration file and reloads it. Returns the new lines of the
    /// log.
    async fn reload(&self, text: &str) -> String {
        fs::write(&self.file, text).unwrap();
        self.hang_up("SIGHUP: ").await
    }

    /// Sends the signal. Returns the new lines of the log once they contain `words`.
    async fn hang_up(&self, words: &str) -> String {
        let before = self.node.log().len();
        self.node.signal("HUP");
        until(&format!("{words:?} in the log"), || {
            let log = self.node.log().split_off(before);
            async move { log.contains(words).then_some(log) }
        })
        .await
    }

    /// Returns the rules of the submission filter.
    async fn filter_rules(&self) -> Value {
        let url = format!("{}/filter", self.node.admin);
        self.node.http.get(&url).await.json["rules"].take()
    }

    /// Replaces the rules of the submission filter on the admin listener. Returns once the log, which
    /// another thread reads, shows the change.
    async fn put_filter_rules(&self, rules: &[&str]) {
        let url = format!("{}/filter", self.node.admin);
        let body = json!({ "rules": rules });
        let response = self.node.http.send_json(Method::PUT, &url, &body).await;
        assert_eq!(response.status, 200, "{}", response.text);
        self.node
            .logged(&format!("new={:?}", rules.join("\n")))
            .await;
    }

    /// Returns the status of a request to the admin listener with this token.
    async fn status_with_token(&self, token: &str) -> u16 {
        let url = format!("{}/actors", self.node.admin);
        let request = self.node.http.request(Method::GET, &url);
        let request = request.header("authorization", format!("Bearer {token}"));
        self.node.http.try_send(request).await.unwrap().status
    }
}

#[tokio::test]
async fn replaces_the_admin_token_on_a_hangup() {
    const TOKENS: [&str; 3] = [
        "first-token-of-20-chars",
        "second-token-of-20-chars",
        "third-token-of-20-chars",
    ];
    let node = ConfiguredNode::start("");
    let [first, second] = ["first", "second"].map(|name| node.write_secret(name, ""));
    fs::write(&first, TOKENS[0]).unwrap();
    let setting = |path: &Path| format!("[admin]\ntoken_file = {path:?}\n");
    let mut log = node.reload(&setting(&first)).await;
    assert_eq!(
        node.node
            .http
            .get(&format!("{}/actors", node.node.admin))
            .await
            .status,
        401
    );
    assert_eq!(node.status_with_token(TOKENS[0]).await, 200);

    // The same file has another token.
    const CHANGED: &str = "admin token changed";
    assert!(!log.contains(CHANGED), "{log}");
    fs::write(&first, TOKENS[1]).unwrap();
    let change = node.reload(&setting(&first)).await;
    assert_eq!(change.matches(CHANGED).count(), 1, "{change}");
    let no_change = node.reload(&setting(&first)).await;
    assert!(!no_change.contains(CHANGED), "{no_change}");
    log += &change;
    assert_eq!(node.status_with_token(TOKENS[0]).await, 401);
    assert_eq!(node.status_with_token(TOKENS[1]).await, 200);

    fs::write(&second, TOKENS[2]).unwrap();
    let change = node.reload(&setting(&second)).await;
    assert_eq!(node.status_with_token(TOKENS[1]).await, 401);
    assert_eq!(node.status_with_token(TOKENS[2]).await, 200);
    for part in ["admin.token_file", "/first", "/second"] {
        assert!(change.contains(part), "{part}: {change}");
    }
    log += &change;
    for token in TOKENS {
        assert!(!log.contains(token), "{log}");
    }
}

/// Returns whether the node presents this certificate.
async fn presents(node: &TestNode, certificate: &TestCertificate) -> bool {
    let tcp = TcpStream::connect(node.authority()).await.unwrap();
    let mut roots = RootCertStore::empty();
    let expected = CertificateDer::from_pem_file(certificate.certificate_file()).unwrap();
    roots.add(expected).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(SERVER_NAME).unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    connector.connect(name, tcp).await.is_ok()
}

#[tokio::test]
async fn replaces_the_certificate_on_a_hangup() {
    let [first, second, third] = [(); 3].map(|()| TestCertificate::new());
    let setting = |certificate: &Path, key: &Path| {
        format!("[api]\ntls_certificate = {certificate:?}\ntls_private_key = {key:?}\n")
    };
    let [certificate, key] = ["certificate.pem", "key.pem"].map(PathBuf::from);
    let directory = tempfile::tempdir().unwrap();
    let [certificate, key] = [certificate, key].map(|name| directory.path().join(name));
    let install = |source: &TestCertificate| {
        fs::copy(source.certificate_file(), &certificate).unwrap();
        fs::copy(source.key_file(), &key).unwrap();
    };
    install(&first);
    let node = ConfiguredNode::start(&setting(&certificate, &key));
    assert!(presents(&node.node, &first).await);

    // The same paths have other content.
    install(&second);
    node.reload(&setting(&certificate, &key)).await;
    assert!(presents(&node.node, &second).await);
    assert!(!presents(&node.node, &first).await);

    // The key does not belong to the certificate.
    let mixed = setting(&third.certificate_file(), &second.key_file());
    let log = node.reload(&mixed).await;
    assert!(log.contains("ERROR"), "{log}");
    assert!(presents(&node.node, &second).await);

    let log = node
        .reload(&setting(&third.certificate_file(), &third.key_file()))
        .await;
    assert!(presents(&node.node, &third).await);
    for part in ["api.tls_certificate", "api.tls_private_key"] {
        assert!(log.contains(part), "{part}: {log}");
    }

    // A change between TLS and no TLS needs a restart.
    let log = node.reload("").await;
    let restart = log.lines().find(|line| line.contains("need a restart"));
    let restart = restart.expect(&log);
    assert!(
        restart.contains("api.tls_certificate, api.tls_private_key"),
        "{restart}"
    );
    assert!(presents(&node.node, &third).await);
}

#[tokio::test]
async fn replaces_filter_rules_on_a_hangup_only_if_the_files_change_them() {
    let setting = |rules: &str| format!("[filter]\nrules = {rules:?}\n");
    let node = ConfiguredNode::start(&setting("deny sender 0x1"));
    let log = node.reload(&setting("deny sender 0x2")).await;
    assert_eq!(node.filter_rules().await, json!(["deny sender 0x2"]));
    for part in ["filter.rules", "deny sender 0x1", "deny sender 0x2"] {
        assert!(log.contains(part), "{part}: {log}");
    }

    node.put_filter_rules(&["deny sender 0x3"]).await;
    let log = node.reload(&setting("deny sender 0x2")).await;
    assert_eq!(node.filter_rules().await, json!(["deny sender 0x3"]));
    assert!(!log.contains("filter.rules"), "{log}");

    // The node compares with the last load, and not with the current rules.
    node.reload(&setting("deny sender 0x3")).await;
    node.put_filter_rules(&[]).await;
    node.reload(&setting("deny sender 0x4")).await;
    assert_eq!(node.filter_rules().await, json!(["deny sender 0x4"]));
}

#[tokio::test]
async fn changes_the_log_level_on_a_hangup() {
    let node = ConfiguredNode::start("[log]\nlevel = \"error\"\n");
    let setting = |level: &str| format!("[log]\nlevel = {level:?}\n");
    fs::write(&node.file, setting("info,http=debug")).unwrap();
    let log = node.hang_up("SIGHUP: ").await;
    for part in ["log.level", "\"error\"", "info,http=debug"] {
        assert!(log.contains(part), "{part}: {log}");
    }
    node.node.get("/v1").await;
    node.node.logged("/v1").await;

    fs::write(&node.file, setting("error")).unwrap();
    node.hang_up("log.level").await;
    // The next signal logs an error, which shows that the level was replaced.
    let before = node.node.log().len();
    node.node.get("/v1/spec").await;
    let log = node.reload("[log]\nlevel = \"loud\"\n").await;
    assert!(log.contains("ERROR"), "{log}");
    assert!(
        !node.node.log()[before..].contains("/spec"),
        "{}",
        node.node.log()
    );
}

#[tokio::test]
async fn changes_nothing_on_a_hangup_if_anything_is_invalid() {
    let node = ConfiguredNode::start("[filter]\nrules = \"deny sender 0x1\"\n");
    let readable_by_all = node.write_secret("readable", "a-token-of-20-characters");
    fs::set_permissions(&readable_by_all, Permissions::from_mode(0o644)).unwrap();
    let changed = "[filter]\nrules = \"deny all\"\n";
    for (invalid, cause) in [
        ("[log]\nlevel = \"loud\"\n".to_owned(), "log.level"),
        ("[log]\nlevel = ".to_owned(), "node.toml"),
        ("[nothing]\n".to_owned(), "nothing"),
        (
            format!("[admin]\ntoken_file = {readable_by_all:?}\n"),
            "chmod 600",
        ),
        (
            format!("[api]\ntls_certificate = {readable_by_all:?}\n"),
            "api.tls_private_key",
        ),
    ] {
        let log = node.reload(&format!("{changed}{invalid}")).await;
        assert!(
            log.contains("ERROR") && log.contains(cause),
            "{invalid}: {log}"
        );
        assert!(!log.contains("setting changed"), "{invalid}: {log}");
        assert_eq!(
            node.filter_rules().await,
            json!(["deny sender 0x1"]),
            "{invalid}"
        );
    }
    fs::remove_file(&node.file).unwrap();
    let log = node.hang_up("SIGHUP: ").await;
    assert!(log.contains("node.toml"), "{log}");
    node.reload(changed).await;
    assert_eq!(node.filter_rules().await, json!(["deny all"]));
}

#[tokio::test]
async fn keeps_token_and_filter_rules_on_a_hangup_if_the_file_is_incomplete() {
    let node = ConfiguredNode::start("");
    let token = node.write_secret("token", "a-token-of-20-characters");
    let admin = format!("[admin]\ntoken_file = {token:?}\n");
    let filter = "[filter]\nrules = \"deny sender 0x1\"\n";
    node.put_filter_rules(&["deny sender 0x2"]).await;
    node.reload(&format!("{filter}{admin}")).await;
    let actors = format!("{}/actors", node.node.admin);
    for (incomplete, missing) in [
        ("", "admin.token_file"),
        (filter, "admin.token_file"),
        (&admin, "filter.rules"),
    ] {
        let log = node.reload(incomplete).await;
        assert!(
            log.contains("ERROR") && log.contains(&format!("{missing} is no longer set")),
            "{incomplete}: {log}"
        );
        assert!(!log.contains("setting changed"), "{incomplete}: {log}");
        assert_eq!(node.node.http.get(&actors).await.status, 401);
    }
    let removed = "[admin]\ntoken_file = \"\"\n[filter]\nrules = \"\"\n";
    let log = node.reload(removed).await;
    assert!(!log.contains("ERROR"), "{log}");
    assert_eq!(node.filter_rules().await, json!([]));
}

/// Makes a pipe that has neither writer nor reader, which only its owner can access.
fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo")
        .args(["-m", "600"])
        .arg(path)
        .status();
    assert!(made.unwrap().success());
}

#[tokio::test]
async fn rejects_files_on_a_hangup_that_would_block_or_fill_the_memory() {
    let certificate = TestCertificate::new();
    let good = [certificate.certificate_file(), certificate.key_file()];
    let node = ConfiguredNode::start("");
    let [pipe, large] = ["pipe", "large"].map(|name| node.node.directory().join(name));
    make_pipe(&pipe);
    let bytes = fs::File::create(&large).unwrap().set_len(1 << 40);
    bytes.unwrap();
    fs::set_permissions(&large, Permissions::from_mode(0o600)).unwrap();
    let tls = |certificate: &Path, key: &Path| {
        format!("[api]\ntls_certificate = {certificate:?}\ntls_private_key = {key:?}\n")
    };
    let not_regular = "the file cannot be read: it is not a regular file";
    let cases = [
        (format!("[admin]\ntoken_file = {pipe:?}\n"), not_regular),
        (tls(&pipe, &good[1]), not_regular),
        (tls(&good[0], &pipe), not_regular),
        (format!("[chain]\ngenesis = {pipe:?}\n"), not_regular),
        (
            format!("[admin]\ntoken_file = {large:?}\n"),
            "more than 4096 bytes",
        ),
        (tls(&large, &good[1]), "more than 1048576 bytes"),
        (tls(&good[0], &large), "more than 1048576 bytes"),
    ];
    for (text, cause) in cases {
        let log = node.reload(&text).await;
        assert!(
            log.contains("ERROR") && log.contains(cause),
            "{text}: {log}"
        );
    }
    fs::rename(&large, &node.file).unwrap();
    let log = node.hang_up("SIGHUP: ").await;
    assert!(log.contains("more than 16777216 bytes"), "{log}");
    fs::rename(&pipe, &node.file).unwrap();
    let log = node.hang_up("SIGHUP: ").await;
    assert!(
        log.contains("/node.toml: it is not a regular file"),
        "{log}"
    );
}

#[tokio::test]
async fn names_changed_settings_that_need_a_restart_on_a_hangup() {
    let node = ConfiguredNode::start("");
    let changed = "[wait]\ntimeout_ms = 7\n[mempool]\nttl_secs = 8\n";
    // The message is repeated as long as the node runs with other values.
    for _ in 0..2 {
        let log = node.reload(changed).await;
        let mut lines = log.lines();
        let line = lines
            .find(|line| line.contains("need a restart"))
            .expect(&log);
        assert!(line.contains("mempool.ttl_secs, wait.timeout_ms"), "{line}");
    }
    let log = node.reload("").await;
    assert!(!log.contains("need a restart"), "{log}");
}

#[tokio::test]
async fn keeps_the_precedence_of_environment_and_assignments_on_a_hangup() {
    let node = ConfiguredNode::start_with("", |command| {
        command
            .env("LEDGER_NODE__FILTER__RULES", "deny sender 0x1")
            .args(["--set", "log.level=info"]);
    });
    let log = node
        .reload("[filter]\nrules = \"deny all\"\n[log]\nlevel = \"off\"\n")
        .await;
    assert!(!log.contains("setting changed"), "{log}");
    assert_eq!(node.filter_rules().await, json!(["deny sender 0x1"]));
}

#[tokio::test]
async fn reads_and_saves_the_mempool_at_a_file_size_limit() {
    let mut node = TestNode::start(&[]);
    let [payer, parker] = [1, 2].map(TestAccount::from_seed);
    for account in [&payer, &parker] {
        node.fund(account, 1_000_000_000_000).await;
    }
    node.stop("TERM");
    let size = fs::metadata(node.directory().join("data/ledger.redb"))
        .unwrap()
        .len();
    let mut node = node.restart_with_file_size_limit(size);
    let chain = node.chain().await;
    // These transactions wait for their predecessor, which is submitted after the restart.
    let mut accepted = Vec::new();
    for sequence_number in 1..=20 {
        let transaction = parker.transfer(&chain, sequence_number, payer.address, 1);
        accepted.push(node.submit(&transaction).await);
    }
    let mut committed = Vec::new();
    let rejected = loop {
        let sequence_number = u64::try_from(committed.len()).unwrap();
        let transaction = payer.transfer(&chain, sequence_number, parker.address, 1);
        let response = node.try_submit(&transaction).await.unwrap();
        if response.status != 202 {
            break response;
        }
        let hash = transaction.hash(chain.vendor());
        let wait = node
            .get(&format!("/v1/transactions/wait_by_hash/{hash}"))
            .await;
        match wait.status {
            200 if wait.json["type"] == "user_transaction" => committed.push(hash),
            200 => {}
            // The write failed. Whether the block is durable is unknown, so the test asserts
            // nothing about it.
            _ => break wait,
        }
    };
    assert_eq!(rejected.status, 503, "{}", rejected.text);
    let message = rejected.json["message"].as_str().unwrap();
    assert!(message.contains("File too large"), "{message}");
    let next = payer.transfer(&chain, u64::MAX, parker.address, 1);
    let rejected = node.try_submit(&next).await.unwrap();
    assert_eq!(rejected.status, 503, "{}", rejected.text);
    assert!(!committed.is_empty(), "the limit is too low for a block");
    for hash in &committed {
        let found = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
        assert_eq!(found.json["type"], "user_transaction", "{}", found.text);
    }
    assert_eq!(node.stop("TERM").code(), Some(1), "{}", node.log());

    let node = node.restart();
    for hash in &accepted {
        let found = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
        assert_eq!(found.json["type"], "pending_transaction", "{}", found.text);
    }
    let missing = parker.transfer(&chain, 0, payer.address, 1);
    node.submit_and_wait(&missing).await;
    for hash in &accepted {
        assert_eq!(node.try_wait(hash).await.unwrap()["success"], true);
    }
}
