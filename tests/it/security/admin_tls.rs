//! TLS of the admin listener.

use super::{file, rejected_start};
use ledger_test_support::{
    http::{HTTP_11, RawConnection, RawResponse, SERVER_NAME, TestCertificate},
    node::{TestNode, until},
};
use std::fs;
use tempfile::TempDir;

/// The configured token.
const TOKEN: &str = "dGhlIG9wZXJhdG9yJ3MgdG9rZW4A";

/// A node that other machines reach over TLS.
struct Fixture {
    node: TestNode,
    certificate: TestCertificate,
    _directory: TempDir,
}

impl Fixture {
    fn start(settings: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let token = file(directory.path(), "token", TOKEN, 0o600);
        let certificate = TestCertificate::new();
        let tls = tls_settings(&certificate);
        let token = format!("admin.token_file={}", token.display());
        let mut all = vec!["admin.listen=0.0.0.0:0", &token, &tls[0], &tls[1]];
        all.extend(settings);
        Self {
            node: TestNode::start(&all),
            certificate,
            _directory: directory,
        }
    }

    /// Returns an address of the listener to connect to.
    fn authority(&self) -> String {
        let address = self.node.admin.strip_prefix("https://0.0.0.0").unwrap();
        format!("127.0.0.1{address}")
    }

    /// Sends a request over HTTP/1.1, trusting `certificate`.
    async fn send(&self, certificate: &TestCertificate, head: &str, body: &str) -> RawResponse {
        let stream = certificate.connect(&self.authority(), &[HTTP_11]).await;
        let length = body.len();
        let request =
            format!("{head}host: {SERVER_NAME}\r\ncontent-length: {length}\r\n\r\n{body}");
        let mut connection = RawConnection::over(stream);
        connection.exchange(request.as_bytes()).await.unwrap()
    }
}

/// Returns the settings of the admin listener that name a certificate and its key.
fn tls_settings(certificate: &TestCertificate) -> [String; 2] {
    [
        format!(
            "admin.tls_certificate={}",
            certificate.certificate_file().display()
        ),
        format!("admin.tls_private_key={}", certificate.key_file().display()),
    ]
}

#[tokio::test]
async fn logs_in_over_tls_on_an_address_that_other_machines_reach() {
    let host = format!("admin.hosts={SERVER_NAME}");
    let fixture = Fixture::start(&[&host]);
    let log_in = format!(
        "POST /login HTTP/1.1\r\norigin: https://{SERVER_NAME}\r\n\
         content-type: application/x-www-form-urlencoded\r\n"
    );
    let body = format!("token={TOKEN}");
    let certificate = &fixture.certificate;
    let response = fixture.send(certificate, &log_in, &body).await;
    assert_eq!(response.status, 303, "{}", response.text());
    let set_cookie = &response.headers["set-cookie"];
    assert!(
        set_cookie.starts_with("__Host-ledger_session_0="),
        "{set_cookie}"
    );
    assert!(set_cookie.ends_with("; Secure"), "{set_cookie}");
    let cookie = set_cookie.split(';').next().unwrap();
    let read = format!("GET /actors HTTP/1.1\r\ncookie: {cookie}\r\n");
    let response = fixture.send(certificate, &read, "").await;
    assert_eq!(response.status, 200, "{}", response.text());

    // HTTP/2 has the name in the target, and not in Host.
    let http2 = certificate.connect_http2(&fixture.authority()).await;
    assert_eq!(http2.get("/readyz").await.status, 200);
    assert_eq!(http2.get("/login").await.status, 200);
    let http2 = certificate.connect_http2(&fixture.authority()).await;
    assert_eq!(http2.get("/actors").await.status, 401);

    let mut plain = RawConnection::connect(&fixture.authority()).await;
    plain.send(b"GET /login HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let received = plain.rest().await;
    assert!(!received.starts_with("HTTP"), "{received}");
}

#[tokio::test]
async fn rejects_foreign_names_over_http_2() {
    let fixture = Fixture::start(&[]);
    let http2 = fixture
        .certificate
        .connect_http2(&fixture.authority())
        .await;
    let response = http2.get("/login").await;
    assert_eq!(response.status, 403, "{}", response.text);
    assert!(response.text.contains("admin.hosts"), "{}", response.text);
}

#[tokio::test]
async fn replaces_its_certificate_while_it_serves() {
    let host = format!("admin.hosts={SERVER_NAME}");
    let fixture = Fixture::start(&[&host]);
    let install = |source: &TestCertificate| {
        let target = &fixture.certificate;
        fs::copy(source.certificate_file(), target.certificate_file()).unwrap();
        fs::copy(source.key_file(), target.key_file()).unwrap();
    };
    let reload = format!("POST /tls/reload HTTP/1.1\r\nauthorization: Bearer {TOKEN}\r\n");
    let second = TestCertificate::new();
    install(&second);
    let response = fixture.send(&fixture.certificate, &reload, "").await;
    assert_eq!(response.status, 200, "{}", response.text());
    let body = response.json();
    assert_eq!(body["admin"]["changed"], true, "{body}");
    assert!(body.get("changed").is_none(), "the API has no TLS: {body}");
    let response = fixture.send(&second, &reload, "").await;
    assert_eq!(response.json()["admin"]["changed"], false);

    let third = TestCertificate::new();
    install(&third);
    fixture.node.signal("HUP");
    let log = until("the reload", || async {
        let log = fixture.node.log();
        log.contains("the configuration was reloaded")
            .then_some(log)
    })
    .await;
    assert!(
        log.contains("TLS certificate changed setting=\"admin.tls_certificate\""),
        "{log}"
    );
    assert_eq!(fixture.send(&third, &reload, "").await.status, 200);

    fs::write(fixture.certificate.key_file(), "no key").unwrap();
    let response = fixture.send(&third, &reload, "").await;
    assert_eq!(response.status, 400, "{}", response.text());
    assert_eq!(fixture.send(&third, &reload, "").await.status, 400);
}

#[test]
fn needs_a_certificate_with_its_key() {
    let certificate = TestCertificate::new();
    let [certificate, key] = tls_settings(&certificate);
    let message = rejected_start(&[certificate]);
    assert!(
        message.contains("admin.tls_private_key is not"),
        "{message}"
    );
    let message = rejected_start(&[key]);
    assert!(
        message.contains("admin.tls_certificate is not"),
        "{message}"
    );
}
