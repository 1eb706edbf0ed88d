//! The faucet: which pages may ask for coins.

use super::ask;
use crate::kit::{TestAccount, TestNode};
use reqwest::Method;

/// What an account holds; 0 where it is none yet.
async fn balance(node: &TestNode, account: &TestAccount) -> u64 {
    let answer = node
        .get(&format!("/v1/accounts/{}/balance/0xa", account.address))
        .await;
    answer.json.as_u64().unwrap_or(0)
}

/// Asks for coins as a page does whose form needs no leave of its browser; tells whether they came.
async fn is_paid(node: &TestNode, number: u64, headers: &[(&str, &str)]) -> bool {
    let account = TestAccount::from_seed(number);
    let url = format!(
        "{}/mint?address={}&amount=1000",
        node.faucet.as_ref().unwrap(),
        account.address
    );
    let answer = ask(node, &Method::POST, &url, headers).await;
    assert!([200, 403].contains(&answer.status), "{}", answer.text);
    let paid = balance(node, &account).await == 1_000;
    assert_eq!(paid, answer.status == 200, "{headers:?}: {}", answer.text);
    if !paid {
        assert!(!answer.headers.contains_key("access-control-allow-origin"));
        assert!(answer.text.contains("faucet."), "{}", answer.text);
    }
    paid
}

#[tokio::test]
async fn a_page_of_elsewhere_cannot_drain_it() {
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
        // A name that was pointed at this machine: the browser takes the page for the faucet's own.
        (
            &[
                ("host", "example.org:8081"),
                ("origin", "http://example.org:8081"),
            ],
            false,
        ),
        (&[("host", "example.org:8081")], false),
    ];
    for (number, (headers, paid)) in rows.iter().enumerate() {
        assert_eq!(
            is_paid(&node, number as u64, headers).await,
            *paid,
            "{headers:?}"
        );
    }
    // A browser that asks before it sends is told so then.
    let url = format!("{}/fund", node.faucet.as_ref().unwrap());
    let question = [
        ("origin", "https://example.org"),
        ("access-control-request-method", "POST"),
    ];
    let answer = ask(&node, &Method::OPTIONS, &url, &question).await;
    assert_eq!(answer.status, 403, "{}", answer.text);
    assert!(!answer.headers.contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn the_operator_says_which_others_may_ask() {
    let node = TestNode::start(&[
        "faucet.origins=https://wallet.example",
        "faucet.hosts=faucet.example",
    ]);
    assert!(is_paid(&node, 1, &[("origin", "https://wallet.example")]).await);
    assert!(!is_paid(&node, 2, &[("origin", "http://wallet.example")]).await);
    assert!(is_paid(&node, 3, &[("host", "faucet.example:8081")]).await);
    let node = TestNode::start(&["faucet.origins=*"]);
    assert!(is_paid(&node, 4, &[("origin", "https://example.org")]).await);
}
