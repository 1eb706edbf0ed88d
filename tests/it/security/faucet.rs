//! Web pages and hosts that the faucet accepts requests from.

use super::send;
use ledger_test_support::{TestAccount, node::TestNode};
use reqwest::Method;

/// Returns the balance of an account, or 0 if it does not exist.
async fn balance(node: &TestNode, account: &TestAccount) -> u64 {
    let response = node
        .get(&format!("/v1/accounts/{}/balance/0xa", account.address))
        .await;
    response.json.as_u64().unwrap_or(0)
}

/// Requests coins like a web page with a form, which needs no preflight request. Returns whether
/// they were paid.
async fn request_coins(node: &TestNode, number: u64, headers: &[(&str, &str)]) -> bool {
    let account = TestAccount::from_seed(number);
    let url = format!(
        "{}/mint?address={}&amount=1000",
        node.faucet.as_ref().unwrap(),
        account.address
    );
    let response = send(node, &Method::POST, &url, headers).await;
    assert!([200, 403].contains(&response.status), "{}", response.text);
    let is_paid = balance(node, &account).await == 1_000;
    assert_eq!(
        is_paid,
        response.status == 200,
        "{headers:?}: {}",
        response.text
    );
    if !is_paid {
        assert!(!response.headers.contains_key("access-control-allow-origin"));
        assert!(response.text.contains("faucet."), "{}", response.text);
    }
    is_paid
}

#[tokio::test]
async fn rejects_requests_of_foreign_pages() {
    let node = TestNode::start(&[]);
    let rows: &[(&[(&str, &str)], bool)] = &[
        (&[], true),
        (&[("origin", "http://localhost:5173")], true),
        (&[("origin", "http://127.0.0.1:3000")], true),
        (&[("origin", "http://[::1]:3000")], true),
        (&[("origin", "https://example.org")], false),
        (&[("origin", "http://10.0.0.7")], false),
        (&[("origin", "null")], false),
        (&[("origin", "http://localhost.example.org")], false),
        // A host name that resolves to this machine: the browser considers the page and the faucet
        // to be of one origin.
        (
            &[
                ("host", "example.org:8081"),
                ("origin", "http://example.org:8081"),
            ],
            false,
        ),
        (&[("host", "example.org:8081")], false),
    ];
    for (number, (headers, is_paid)) in rows.iter().enumerate() {
        assert_eq!(
            request_coins(&node, number as u64, headers).await,
            *is_paid,
            "{headers:?}"
        );
    }
    let url = format!("{}/fund", node.faucet.as_ref().unwrap());
    for (origin, status) in [("https://example.org", 403), ("http://localhost:5173", 200)] {
        let preflight = [
            ("origin", origin),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "content-type"),
        ];
        let response = send(&node, &Method::OPTIONS, &url, &preflight).await;
        assert_eq!(response.status, status, "{}", response.text);
        let allowed = response.headers.get("access-control-allow-origin");
        let expected = (status == 200).then_some(origin);
        assert_eq!(allowed.map(|value| value.to_str().unwrap()), expected);
    }
}

#[tokio::test]
async fn accepts_requests_of_configured_origins_and_hosts() {
    let node = TestNode::start(&[
        "faucet.origins=https://wallet.example",
        "faucet.hosts=faucet.example",
    ]);
    assert!(request_coins(&node, 1, &[("origin", "https://wallet.example")]).await);
    assert!(!request_coins(&node, 2, &[("origin", "http://wallet.example")]).await);
    assert!(request_coins(&node, 3, &[("host", "faucet.example:8081")]).await);
    let node = TestNode::start(&["faucet.origins=*"]);
    assert!(request_coins(&node, 4, &[("origin", "https://example.org")]).await);
}
