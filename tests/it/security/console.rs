//! The login of the console: sessions, CSRF tokens, and what they do not permit.

use super::{file, rejected_start, send};
use ledger_test_support::{
    http::{HttpClient, HttpResponse, RawConnection},
    node::{TestNode, until, within_patience},
};
use reqwest::Method;
use std::{fs, net::IpAddr, path::PathBuf};
use tempfile::TempDir;

/// The configured token.
const TOKEN: &str = "dGhlIG9wZXJhdG9yJ3MgdG9rZW4A";
/// A token that differs from [`TOKEN`] in its last character.
const OTHER: &str = "dGhlIG9wZXJhdG9yJ3MgdG9rZW4B";
/// A change that is allowed.
const CHANGE: &str = "{\"mailbox_capacity\": 100}";

/// A node with a token, and clients that follow no redirect.
struct Fixture {
    node: TestNode,
    http: HttpClient,
    token_file: PathBuf,
    _directory: TempDir,
}

/// A session as the browser has it.
struct Session {
    cookie: String,
    csrf_token: String,
}

impl Fixture {
    fn start(settings: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let token_file = file(directory.path(), "token", TOKEN, 0o600);
        let token = format!("admin.token_file={}", token_file.display());
        let mut all = vec![token.as_str()];
        all.extend(settings);
        Self {
            node: TestNode::start(&all),
            http: HttpClient::without_redirects(),
            token_file,
            _directory: directory,
        }
    }

    /// Sends a request with a body.
    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> HttpResponse {
        let url = format!("{}{path}", self.node.admin);
        let mut request = self.http.request(method, &url).body(body.to_owned());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.http.try_send(request).await.unwrap()
    }

    /// Sends the form of the login.
    async fn log_in(&self, token: &str) -> HttpResponse {
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("origin", self.node.admin.as_str()),
        ];
        let body = format!("token={}", token.replace('=', "%3D"));
        self.send(Method::POST, "/login", &headers, &body).await
    }

    /// Logs in, and loads a page for its CSRF token.
    async fn session(&self) -> Session {
        let cookie = cookie_of(&self.log_in(TOKEN).await);
        let page = self
            .send(Method::GET, "/", &[("cookie", &cookie)], "")
            .await;
        assert_eq!(page.status, 200, "{}", page.text);
        Session {
            csrf_token: csrf_token_of(&page.text),
            cookie,
        }
    }

    /// Changes the capacity of a mailbox with these headers.
    async fn change(&self, headers: &[(&str, &str)]) -> HttpResponse {
        self.send(Method::PATCH, "/actors/mempool", headers, CHANGE)
            .await
    }

    /// Returns the status of a read with this cookie.
    async fn read(&self, cookie: &str) -> u16 {
        let headers = [("cookie", cookie)];
        let read = self.send(Method::GET, "/actors", &headers, "").await;
        read.status
    }
}

/// Returns the cookie that a login sets.
fn cookie_of(response: &HttpResponse) -> String {
    assert_eq!(response.status, 303, "{}", response.text);
    assert_eq!(response.headers["location"], "/");
    let set = response.headers["set-cookie"].to_str().unwrap();
    assert!(set.contains("; HttpOnly; SameSite=Strict"), "{set}");
    set.split(';').next().unwrap().to_owned()
}

/// Returns the CSRF token of a page.
fn csrf_token_of(page: &str) -> String {
    let (_, after) = page.split_once("name=\"csrf-token\" content=\"").unwrap();
    after.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn shows_the_console_after_a_login_with_the_token() {
    let fixture = Fixture::start(&[]);
    let html = ("accept", "text/html,application/xhtml+xml");
    for path in ["/", "/actors"] {
        let redirect = fixture.send(Method::GET, path, &[html], "").await;
        assert_eq!(redirect.status, 303, "{}", redirect.text);
        assert_eq!(redirect.headers["location"], "/login");
        let program = fixture.send(Method::GET, path, &[], "").await;
        assert_eq!(program.status, 401, "{}", program.text);
    }
    let form = fixture.send(Method::GET, "/login", &[html], "").await;
    assert_eq!(form.status, 200, "{}", form.text);
    assert!(form.text.contains("type=\"password\""), "{}", form.text);
    // Its files are public, and nothing else is below their path.
    for (path, status) in [
        ("/assets/console.css", 200),
        ("/assets/console.js", 200),
        ("/assets/../actors", 401),
        ("/assets/none", 404),
    ] {
        let response = fixture.send(Method::GET, path, &[], "").await;
        assert_eq!(response.status, status, "{path}: {}", response.text);
    }

    let wrong = fixture.log_in(OTHER).await;
    assert_eq!(wrong.status, 403, "{}", wrong.text);
    assert!(wrong.text.contains("This is not the token."));
    assert!(!wrong.headers.contains_key("set-cookie"));

    let large = fixture.log_in(&"a".repeat(5_000)).await;
    assert_eq!(large.status, 413, "{}", large.text);

    let session = fixture.session().await;
    assert!(!session.cookie.contains(TOKEN));
    let cookie = [("cookie", session.cookie.as_str())];
    let page = fixture.send(Method::GET, "/", &cookie, "").await;
    assert!(page.text.contains("Log out"), "{}", page.text);
    let form = fixture.send(Method::GET, "/login", &cookie, "").await;
    assert_eq!(form.status, 303, "{}", form.text);

    // The logout is a change, so a foreign page cannot cause it.
    let rejected = fixture.send(Method::POST, "/logout", &cookie, "").await;
    assert_eq!(rejected.status, 403, "{}", rejected.text);
    let headers = [
        ("cookie", session.cookie.as_str()),
        ("origin", fixture.node.admin.as_str()),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    let body = format!("csrf_token={}", session.csrf_token);
    let left = fixture.send(Method::POST, "/logout", &headers, &body).await;
    assert_eq!(left.status, 303, "{}", left.text);
    assert!(
        left.headers["set-cookie"]
            .to_str()
            .unwrap()
            .contains("; Max-Age=0")
    );
    assert_eq!(fixture.read(&session.cookie).await, 401);
}

#[tokio::test]
async fn a_session_changes_something_only_with_its_origin_and_csrf_token() {
    let fixture = Fixture::start(&[]);
    let session = fixture.session().await;
    let another = fixture.session().await;
    let cookie = ("cookie", session.cookie.as_str());
    let origin = ("origin", fixture.node.admin.as_str());
    let token = ("x-csrf-token", session.csrf_token.as_str());
    let host = fixture.node.admin.strip_prefix("http://").unwrap();
    for (headers, status) in [
        (&[cookie, origin, token][..], 200),
        (&[cookie], 403),
        (&[cookie, token], 403),
        (&[cookie, origin], 403),
        (&[cookie, origin, ("x-csrf-token", "")], 403),
        (
            &[cookie, origin, ("x-csrf-token", &another.csrf_token)],
            403,
        ),
        (&[cookie, ("origin", "http://localhost:3000"), token], 403),
        (&[cookie, ("origin", "null"), token], 403),
        (
            &[
                cookie,
                ("host", "example.org"),
                ("origin", "http://example.org"),
                token,
            ],
            403,
        ),
        // The CSRF token alone permits nothing.
        (&[origin, token], 401),
        (
            &[
                ("host", host),
                origin,
                token,
                ("cookie", "ledger_session_0=x"),
            ],
            401,
        ),
    ] {
        let response = fixture.change(headers).await;
        assert_eq!(response.status, status, "{headers:?}: {}", response.text);
    }
    // The token in a header works as before, also with an Origin.
    let bearer = format!("Bearer {TOKEN}");
    let response = fixture.change(&[("authorization", &bearer), origin]).await;
    assert_eq!(response.status, 200, "{}", response.text);
    let read = [cookie, ("origin", "https://example.org")];
    let response = fixture.send(Method::GET, "/actors", &read, "").await;
    assert_eq!(response.status, 403, "{}", response.text);
    let headers = [("authorization", bearer.as_str())];
    let metrics = fixture.send(Method::GET, "/metrics", &headers, "").await;
    for (reason, count) in [("foreign", 4), ("unauthorized", 2), ("csrf", 5)] {
        let line = format!("ledger_admin_rejected_total{{reason=\"{reason}\"}} {count}\n");
        assert!(metrics.text.contains(&line), "{line}: {}", metrics.text);
    }
}

#[tokio::test]
async fn a_page_without_login_changes_something_only_with_its_csrf_token() {
    let node = TestNode::start(&[]);
    let page = node.http.get(&format!("{}/", node.admin)).await;
    let csrf_token = csrf_token_of(&page.text);
    assert!(!page.text.contains("Log out"), "{}", page.text);
    let origin = ("origin", node.admin.as_str());
    for (headers, status) in [
        (&[][..], 400),
        (&[origin], 403),
        (&[origin, ("x-csrf-token", TOKEN)], 403),
        (&[origin, ("x-csrf-token", &csrf_token)], 400),
    ] {
        // Without a body, so that a change that is allowed is 400.
        let url = format!("{}/switches", node.admin);
        let response = send(&node, &Method::PATCH, &url, headers).await;
        assert_eq!(response.status, status, "{headers:?}: {}", response.text);
    }
    let login = node.http.get(&format!("{}/login", node.admin)).await;
    assert_eq!((login.status, login.text), (200, page.text));
}

#[tokio::test]
async fn bounds_sessions_and_ends_them_with_their_token() {
    let fixture = Fixture::start(&[]);
    let mut cookies = Vec::new();
    for _ in 0..1_000 {
        cookies.push(cookie_of(&fixture.log_in(TOKEN).await));
    }
    // The first one is used, so the second one is unused for longest.
    assert_eq!(fixture.read(&cookies[0]).await, 200);
    let last = cookie_of(&fixture.log_in(TOKEN).await);
    assert_eq!(fixture.read(&cookies[1]).await, 401);
    for cookie in [&cookies[0], &cookies[2], &last] {
        assert_eq!(fixture.read(cookie).await, 200);
    }

    fs::write(&fixture.token_file, OTHER).unwrap();
    fixture.node.signal("HUP");
    until("the end of the session", || async {
        (fixture.read(&last).await == 401).then_some(())
    })
    .await;
    assert_eq!(fixture.log_in(TOKEN).await.status, 403);
    cookie_of(&fixture.log_in(OTHER).await);
}

#[tokio::test]
async fn ends_the_stream_of_a_session_with_its_logout() {
    let fixture = Fixture::start(&[]);
    let session = fixture.session().await;
    let authority = fixture.node.admin.strip_prefix("http://").unwrap();
    let mut stream = RawConnection::connect(authority).await;
    let cookie = &session.cookie;
    let request = format!("GET /events HTTP/1.1\r\nhost: localhost\r\ncookie: {cookie}\r\n\r\n");
    stream.send(request.as_bytes()).await;
    stream.received_until("event: snapshot").await;
    let headers = [
        ("cookie", cookie.as_str()),
        ("origin", fixture.node.admin.as_str()),
        ("x-csrf-token", &session.csrf_token),
    ];
    let left = fixture.send(Method::POST, "/logout", &headers, "").await;
    assert_eq!(left.status, 303, "{}", left.text);
    // The last chunk of the response.
    let last = stream.received_until("\r\n0\r\n\r\n");
    within_patience("the end of the stream", last).await;
}

#[tokio::test]
async fn limits_wrong_tokens_by_address() {
    let fixture = Fixture::start(&["admin.listen=0.0.0.0:0", "admin.behind_proxy=true"]);
    let port = fixture.node.admin.rsplit_once(':').unwrap().1;
    let url = format!("http://127.0.0.1:{port}/login");
    let log_in = async |last: u8, token: &str| {
        let http = HttpClient::from_address(IpAddr::from([127, 0, 0, last]));
        let request = http.request(Method::POST, &url);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let request = request.body(format!("token={token}"));
        http.try_send(request).await.unwrap()
    };
    for _ in 0..10 {
        assert_eq!(log_in(2, OTHER).await.status, 403);
    }
    let limited = log_in(2, TOKEN).await;
    assert_eq!(limited.status, 429, "{}", limited.text);
    let secs = limited.headers["retry-after"].to_str().unwrap();
    assert!((1..=61).contains(&secs.parse().unwrap()), "{secs}");
    // The redirect of the login leads to the page that needs the cookie.
    assert_eq!(log_in(3, TOKEN).await.status, 401);
    let metrics = fixture
        .send(
            Method::GET,
            "/metrics",
            &[("authorization", &format!("Bearer {TOKEN}"))],
            "",
        )
        .await;
    for (outcome, count) in [("accepted", 1), ("wrong_token", 10), ("rate_limited", 1)] {
        let line = format!("ledger_admin_logins_total{{outcome=\"{outcome}\"}} {count}\n");
        assert!(metrics.text.contains(&line), "{line}");
    }
    // One line for the first failure, and at most one in 5 s for the others.
    let log = fixture.node.log();
    let lines = log.matches("logins with a wrong token").count();
    assert!((1..=5).contains(&lines), "{lines} lines: {log}");
    assert!(!log.contains(TOKEN) && !log.contains(OTHER), "{log}");
}

#[tokio::test]
async fn accepts_a_login_only_where_nobody_can_read_it() {
    let exposed = Fixture::start(&["admin.listen=0.0.0.0:0"]);
    for method in [Method::GET, Method::POST] {
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let body = format!("token={TOKEN}");
        let response = exposed.send(method, "/login", &headers, &body).await;
        assert_eq!(response.status, 403, "{}", response.text);
        assert!(
            response.text.contains("admin.behind_proxy"),
            "{}",
            response.text
        );
        assert!(!response.headers.contains_key("set-cookie"));
    }
    let bearer = format!("Bearer {TOKEN}");
    let response = exposed.change(&[("authorization", &bearer)]).await;
    assert_eq!(response.status, 200, "{}", response.text);

    let proxied = Fixture::start(&["admin.behind_proxy=true", "admin.hosts=console.example"]);
    let headers = [
        ("host", "console.example"),
        ("origin", "https://console.example"),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    let body = format!("token={TOKEN}");
    let response = proxied.send(Method::POST, "/login", &headers, &body).await;
    let set = response.headers["set-cookie"].to_str().unwrap();
    assert!(set.starts_with("__Host-ledger_session_0="), "{set}");
    assert!(set.ends_with("; Secure"), "{set}");

    let message = rejected_start(&["admin.behind_proxy=true".to_owned()]);
    for part in ["admin.behind_proxy", "admin.token_file"] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
}
