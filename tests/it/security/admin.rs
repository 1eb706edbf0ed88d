//! The admin listener: its token, its address, and the names that requests may use for it.

use super::{ADMIN_ROUTES, PROBES, admin_paths, file, rejected_start, send};
use ledger_test_support::{http::RawConnection, node::TestNode};
use reqwest::Method;
use std::time::Duration;
use tokio::time::timeout;

/// A token.
const TOKEN: &str = "dGhlIG9wZXJhdG9yJ3MgdG9rZW4A";
/// A token that differs from [`TOKEN`] in its last character.
const OTHER: &str = "dGhlIG9wZXJhdG9yJ3MgdG9rZW4B";

#[tokio::test]
async fn rejects_every_request_without_the_configured_token() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "token", &format!("{TOKEN}\n"), 0o600);
    let node = TestNode::start(&[&format!("admin.token_file={}", path.display())]);
    let bearer = format!("Bearer {TOKEN}");
    // Requests that change something lack their body, so that they change nothing.
    let mut requests = vec![(Method::GET, "/nothing".to_owned(), 404)];
    for ((route, methods), path) in ADMIN_ROUTES.iter().zip(admin_paths()) {
        if PROBES.contains(route) {
            continue;
        }
        requests.push((Method::DELETE, path.clone(), 405));
        for method in *methods {
            let status = match path.as_str() {
                // The node has no TLS.
                "/tls/reload" => 409,
                // There is no change to confirm or to undo.
                "/settings/confirm" | "/settings/undo" => 409,
                // It needs no body, and changes nothing of the ledger.
                "/flight" => 200,
                _ if *method == Method::GET => 200,
                _ => 400,
            };
            requests.push((method.clone(), path.clone(), status));
        }
    }
    for (method, route, status) in requests {
        let url = format!("{}{route}", node.admin);
        for authorization in [
            None,
            Some(TOKEN.to_owned()),
            Some(format!("Bearer {OTHER}")),
            Some(format!("Bearer {}", &TOKEN[..TOKEN.len() - 1])),
            Some("Bearer".to_owned()),
            Some(format!("Basic {TOKEN}")),
        ] {
            let given = authorization
                .as_deref()
                .map(|value| ("authorization", value));
            let response = send(&node, &method, &url, given.as_slice()).await;
            assert_eq!(
                response.status, 401,
                "{method} {route} {given:?}: {}",
                response.text
            );
            assert_eq!(
                response.headers["www-authenticate"],
                "Bearer realm=\"admin\""
            );
            assert!(
                response.text.contains("admin.token_file"),
                "{}",
                response.text
            );
            assert!(response.json["error_code"].is_string(), "{}", response.text);
        }
        if route == super::STREAM && method == Method::GET {
            continue;
        }
        let response = send(&node, &method, &url, &[("authorization", &bearer)]).await;
        assert_eq!(
            response.status, status,
            "{method} {route}: {}",
            response.text
        );
    }
    // The token does not permit requests of foreign web pages.
    let url = format!("{}/actors", node.admin);
    for foreign in [("host", "example.org"), ("origin", "https://example.org")] {
        let response = send(
            &node,
            &Method::GET,
            &url,
            &[("authorization", &bearer), foreign],
        )
        .await;
        assert_eq!(response.status, 403, "{foreign:?}: {}", response.text);
    }
    // The public interface requires no token.
    assert_eq!(node.get("/v1").await.status, 200);
}

#[tokio::test]
async fn listens_on_other_addresses_only_with_a_token() {
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let message = rejected_start(&[format!("admin.listen={listen}")]);
        for part in [listen, "admin.token_file", "127.0.0.1"] {
            assert!(message.contains(part), "{part} is not in {message}");
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "token", TOKEN, 0o400);
    let token = format!("admin.token_file={}", path.display());
    let node = TestNode::start(&["admin.listen=0.0.0.0:0", &token]);
    let port = node.admin.rsplit_once(':').unwrap().1;
    let url = format!("http://127.0.0.1:{port}/actors");
    assert_eq!(send(&node, &Method::GET, &url, &[]).await.status, 401);
    let bearer = format!("Bearer {TOKEN}");
    let response = send(&node, &Method::GET, &url, &[("authorization", &bearer)]).await;
    assert_eq!(response.status, 200, "{}", response.text);
}

#[test]
fn rejects_a_token_that_is_invalid_or_readable_by_others() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let setting = |path: &std::path::Path| [format!("admin.token_file={}", path.display())];
    for mode in [0o644, 0o640, 0o604, 0o620] {
        let message = rejected_start(&setting(&file(directory, "open", TOKEN, mode)));
        assert!(message.contains("chmod 600"), "{message}");
        assert!(message.contains(&format!("{mode:o}")), "{message}");
        assert!(!message.contains(TOKEN), "{message}");
    }
    let rows = [
        (
            file(directory, "empty", "", 0o600),
            "at least 16 characters",
        ),
        (
            file(directory, "short", "secret", 0o600),
            "at least 16 characters",
        ),
        (
            file(directory, "words", "a secret of several words", 0o600),
            "letters, digits",
        ),
        (
            file(directory, "large", &"secret".repeat(1_000), 0o600),
            "more than 4096 bytes",
        ),
        (directory.join("missing"), "cannot be read: No such file"),
    ];
    for (path, words) in rows {
        let message = rejected_start(&setting(&path));
        assert!(message.contains(words), "{words:?} is not in {message}");
        assert!(
            !message.contains("secret of") && !message.contains("secretsecret"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn accepts_only_its_own_hosts_and_origins() {
    let node = TestNode::start(&[]);
    let url = format!("{}/actors", node.admin);
    for (header, status) in [
        (("origin", &node.admin[..]), 200),
        // The origin of another port.
        (("origin", "http://127.0.0.1"), 403),
        (("origin", "https://example.org"), 403),
        (("origin", "null"), 403),
        (("host", "localhost"), 200),
        (("host", "example.org:9101"), 403),
    ] {
        let response = send(&node, &Method::GET, &url, &[header]).await;
        assert_eq!(response.status, status, "{header:?}: {}", response.text);
    }

    let node = TestNode::start(&["admin.hosts=node.example,other.example"]);
    let url = format!("{}/actors", node.admin);
    for (host, status) in [
        ("node.example", 200),
        ("NODE.example:9101", 200),
        ("other.example", 200),
        ("10.1.2.3:9101", 200),
        ("[::1]:9101", 200),
        ("localhost:9101", 200),
        ("node.example.org", 403),
        ("example", 403),
    ] {
        let response = send(&node, &Method::GET, &url, &[("host", host)]).await;
        assert_eq!(response.status, status, "{host}: {}", response.text);
        if status == 403 {
            assert!(response.text.contains("admin.hosts"), "{}", response.text);
        }
    }
    let own_page = [("host", "node.example"), ("origin", "https://node.example")];
    assert_eq!(send(&node, &Method::GET, &url, &own_page).await.status, 200);
    let other_page = [
        ("host", "node.example"),
        ("origin", "https://other.example"),
    ];
    assert_eq!(
        send(&node, &Method::GET, &url, &other_page).await.status,
        403
    );
}

#[tokio::test]
async fn responds_to_probes_without_a_token() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "token", TOKEN, 0o600);
    let node = TestNode::start(&[&format!("admin.token_file={}", path.display())]);
    for path in PROBES {
        for header in [
            ("host", "10.1.2.3:9101"),
            // Neither names the listener, and neither gets more than the names of checks.
            ("host", "example.org"),
            ("origin", "https://example.org"),
        ] {
            let url = format!("{}{path}", node.admin);
            let response = send(&node, &Method::GET, &url, &[header]).await;
            assert_eq!((response.status, response.text.as_str()), (200, "ok"));
            assert_eq!(
                response.headers["content-type"],
                "text/plain; charset=utf-8"
            );
            assert!(!response.headers.contains_key("access-control-allow-origin"));
            let response = send(&node, &Method::POST, &url, &[header]).await;
            assert_eq!(response.status, 405, "{}", response.text);
        }
        let below = format!("{}{path}/actors", node.admin);
        assert_eq!(send(&node, &Method::GET, &below, &[]).await.status, 401);
    }
    let url = format!("{}/readyz?verbose", node.admin);
    assert_eq!(
        node.http.get(&url).await.text,
        "[+]started ok\n[+]serving ok\n[+]writable ok\n[+]commits ok\n[+]validators ok\n\
         readyz check passed\n"
    );
}

/// Returns everything that the admin listener sends for a GET of `/actors` with these header lines,
/// until it closes the connection.
async fn until_closed(node: &TestNode, lines: &str) -> String {
    let authority = node.admin.strip_prefix("http://").unwrap();
    let mut connection = RawConnection::connect(authority).await;
    let request = format!("GET /actors HTTP/1.1\r\n{lines}\r\n");
    connection.send(request.as_bytes()).await;
    let response = timeout(CLOSE_TIME_MAX, connection.read_to_close())
        .await
        .expect("the connection stays open")
        .expect("the connection is reset");
    response.to_ascii_lowercase()
}

/// Maximum time until the node closes the connection: far above the idle timeout of the admin
/// listener, and far below that of the API.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(120);

#[tokio::test]
async fn closes_the_connection_of_a_rejected_client() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "token", TOKEN, 0o600);
    let token = format!("admin.token_file={}", path.display());
    let node = TestNode::start(&[&token, "api.keep_alive_secs=3600"]);
    for (lines, status) in [
        ("host: localhost\r\n", "401"),
        ("host: example.org\r\n", "403"),
        ("host: localhost\r\norigin: https://example.org\r\n", "403"),
    ] {
        let received = until_closed(&node, lines).await;
        assert!(
            received.starts_with(&format!("http/1.1 {status} ")),
            "{received}"
        );
        assert!(received.contains("\r\nconnection: close\r\n"), "{received}");
    }
    // The connection of an authorized client stays open, but not for as long as those of the API.
    let received = until_closed(
        &node,
        &format!("host: localhost\r\nauthorization: Bearer {TOKEN}\r\n"),
    )
    .await;
    assert!(received.starts_with("http/1.1 200 "), "{received}");
    assert!(
        !received.contains("\r\nconnection: close\r\n"),
        "{received}"
    );
}
