//! The pages of the console.

use ledger_test_support::node::TestNode;
use reqwest::Method;

/// Returns the URLs of the console's files that a page refers to.
fn referred_files(page: &str) -> Vec<&str> {
    let values = page.split(['"', '\'']).skip(1).step_by(2);
    values
        .filter(|value| value.starts_with("/assets/"))
        .collect()
}

#[tokio::test]
async fn shows_the_actors_in_a_page_that_loads_nothing_from_elsewhere() {
    let node = TestNode::start(&[]);
    let page = node.http.get(&format!("{}/", node.admin)).await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    for actor in ["mempool", "sequencer", "committer", "storage", "pruner"] {
        let row = format!("<th scope=\"row\">{actor}</th>");
        assert!(page.text.contains(&row), "{actor}: {}", page.text);
    }
    for check in ["started", "serving", "progress", "writable", "commits"] {
        let row =
            format!("<th scope=\"row\">{check}</th><td><span class=\"badge ok\">ok</span></td>");
        assert!(page.text.contains(&row), "{check}: {}", page.text);
    }
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    for (header, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(page.headers[header], value);
    }
    for part in ["://", "<style", "style=", "onclick=", "javascript:"] {
        assert!(!page.text.contains(part), "{part}: {}", page.text);
    }
    let files = referred_files(&page.text);
    assert_eq!(files, ["/assets/console.css", "/assets/console.js"]);
    for file in files {
        let response = node.http.get(&format!("{}{file}", node.admin)).await;
        assert_eq!(response.status, 200, "{file}");
        // The name of a namespace is no address.
        let text = response.text.replace("http://www.w3.org/2000/svg", "");
        assert!(!text.contains("://"), "{file}");
    }
}

#[tokio::test]
async fn sends_a_file_again_only_if_it_has_changed() {
    let node = TestNode::start(&[]);
    let url = format!("{}/assets/console.css", node.admin);
    let first = node.http.get(&url).await;
    assert_eq!(first.headers["content-type"], "text/css; charset=utf-8");
    assert!(first.text.contains("prefers-color-scheme: dark"));
    let etag = first.headers["etag"].to_str().unwrap();
    for (known, status) in [(etag, 304), ("\"another\"", 200)] {
        let request = node.http.request(Method::GET, &url);
        let request = request.header("if-none-match", known);
        let response = node.http.try_send(request).await.unwrap();
        assert_eq!(response.status, status, "{known}");
        assert_eq!(response.headers["etag"], etag);
        assert_eq!(response.headers["cache-control"], "no-cache");
        assert_eq!(response.text.is_empty(), status == 304);
    }
}
