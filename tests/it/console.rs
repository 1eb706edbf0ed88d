//! The pages of the console.

use flate2::read::GzDecoder;
use ledger_test_support::node::TestNode;
use reqwest::Method;
use std::io::Read as _;

/// Returns the URLs of the console's files that a page refers to.
fn referred_files(page: &str) -> Vec<&str> {
    let values = page.split(['"', '\'']).skip(1).step_by(2);
    values
        .filter(|value| value.starts_with("/assets/"))
        .collect()
}

/// Requests a page, checks that it loads nothing from elsewhere, and returns it.
async fn check_page(node: &TestNode, path: &str) -> String {
    let page = node.http.get(&format!("{}{path}", node.admin)).await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
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
    // A text may name another host, an attribute may not.
    for part in [
        "=\"http:",
        "=\"https:",
        "=\"//",
        "<style",
        "style=",
        "onclick=",
        "javascript:",
    ] {
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
    page.text
}

#[tokio::test]
async fn shows_stages_and_checks_in_pages_that_load_nothing_from_elsewhere() {
    let node = TestNode::start(&["wait.capacity=777"]);
    let settings = check_page(&node, "/console/settings").await;
    for how in [
        "Set by --set: change it there, and restart the node.",
        "Set it in a configuration file, and restart the node.",
    ] {
        assert!(settings.contains(how), "{how}: {settings}");
    }
    let overview = check_page(&node, "/").await;
    for stage in ["mempool", "sequencer", "committer"] {
        let attribute = format!("data-stage=\"{stage}\"");
        assert!(overview.contains(&attribute), "{stage}: {overview}");
    }
    let traffic = check_page(&node, "/console/traffic").await;
    for switch in ["api.submission_enabled", "api.simulation_enabled"] {
        let row = format!("<tr data-switch=\"{switch}\"><th scope=\"row\"><code>{switch}</code>");
        assert!(traffic.contains(&row), "{switch}: {traffic}");
    }
    let health = check_page(&node, "/console/health").await;
    for check in ["started", "serving", "progress", "writable", "commits"] {
        let row =
            format!("<th scope=\"row\">{check}</th><td><span class=\"badge ok\">ok</span></td>");
        assert!(health.contains(&row), "{check}: {health}");
    }
    let lost = "<th scope=\"row\">Lost log lines</th><td>none</td>";
    assert!(health.contains(lost), "{health}");
    let set = "<code>wait.capacity</code></th><td>777 waits</td><td>16384</td><td>--set</td>";
    assert!(health.contains(set), "{health}");
    assert!(health.contains(env!("CARGO_PKG_VERSION")), "{health}");
}

#[tokio::test]
async fn sends_files_in_the_coding_that_the_client_accepts() {
    let node = TestNode::start(&[]);
    for file in ["console.css", "console.js"] {
        let url = format!("{}/assets/{file}", node.admin);
        let get = async |accepted: &str| {
            let request = node.http.request(Method::GET, &url);
            let request = request.header("accept-encoding", accepted);
            let response = request.send().await.unwrap();
            assert_eq!(response.headers()["vary"], "accept-encoding");
            let coding = response.headers().get("content-encoding").cloned();
            (coding, response.bytes().await.unwrap())
        };
        let (coding, plain) = get("identity").await;
        assert_eq!(coding, None);
        let (coding, packed) = get("br, gzip").await;
        assert_eq!(coding.unwrap(), "gzip");
        let mut unpacked = Vec::new();
        let mut decoder = GzDecoder::new(&packed[..]);
        decoder.read_to_end(&mut unpacked).unwrap();
        assert!(unpacked == plain, "{file}");
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
