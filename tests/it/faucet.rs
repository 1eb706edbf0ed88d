//! The faucet: concurrent requests, forms of responses, and rejected requests.

use futures::future::join_all;
use ledger_crypto::HashValue;
use ledger_test_support::{TestAccount, node::TestNode, test_genesis};
use ledger_types::Parameters;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Sends a POST request to the faucet.
async fn post(
    node: &TestNode,
    path: &str,
    body: Option<Value>,
) -> ledger_test_support::http::HttpResponse {
    let url = format!("{}{path}", node.faucet.as_ref().unwrap());
    let mut request = node.http.request(Method::POST, &url);
    if let Some(body) = body {
        request = request.json(&body);
    }
    node.http.try_send(request).await.unwrap()
}

#[tokio::test]
async fn pays_each_of_many_concurrent_requests_once() {
    const REQUESTS: u64 = 300;
    let node = TestNode::start(&[]);
    let requests = (0..REQUESTS).map(|number| {
        let (node, address) = (&node, TestAccount::from_seed(number).address);
        async move {
            let hashes = if number % 2 == 0 {
                let body = json!({ "address": address.to_string(), "amount": 1000 + number });
                let response = post(node, "/fund", Some(body)).await;
                assert_eq!(response.status, 200, "{}", response.text);
                response.json["txn_hashes"].clone()
            } else {
                // In the form of older SDKs: an address without 0x, and no body.
                let digits = &address.to_long_hex()[2..];
                let path = format!("/mint?address={digits}&amount={}", 1000 + number);
                let response = post(node, &path, None).await;
                assert_eq!(response.status, 200, "{}", response.text);
                response.json
            };
            // The response is sent after the commit, so the balance is visible immediately.
            assert_eq!(node.balance(&address).await, 1000 + number);
            hashes[0].as_str().unwrap().parse::<HashValue>().unwrap()
        }
    });
    let hashes: HashSet<_> = join_all(requests).await.into_iter().collect();
    assert_eq!(
        node.sequence_number(&faucet_account().address).await,
        hashes.len() as u64,
        "a transaction paid no request, or a response named an unknown transaction"
    );
    for hash in hashes {
        let transaction = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
        assert_eq!(transaction.json["success"], true, "{}", transaction.text);
    }
}

/// Returns the faucet's account.
pub fn faucet_account() -> TestAccount {
    let genesis = test_genesis(Parameters::default());
    TestAccount::new(genesis.faucet_key().unwrap())
}

#[tokio::test]
async fn pays_once_while_others_use_its_key() {
    const ROUNDS: u64 = 20;
    let node = TestNode::start(&[]);
    let (other, chain) = (faucet_account(), node.chain().await);
    let funded = |round| TestAccount::from_seed(round);
    for round in 0..ROUNDS {
        let next = node.sequence_number(&other.address).await;
        // The faucet reads its sequence number while these are pending.
        for number in next..next + 5 {
            node.submit(&other.transfer(&chain, number, other.address, 1))
                .await;
        }
        node.fund(&funded(round), 1000).await;
    }
    assert_eq!(node.sequence_number(&other.address).await, ROUNDS * 6);
    for round in 0..ROUNDS {
        assert_eq!(node.balance(&funded(round).address).await, 1000);
    }
}

#[tokio::test]
async fn pays_other_requests_beside_one_that_it_cannot_pay() {
    let node = TestNode::start(&["faucet.amount_max=9000000000000000000"]);
    let body = |number: u64, amount: u64| {
        let address = TestAccount::from_seed(number).address;
        json!({ "address": address.to_string(), "amount": amount })
    };
    let requests = (0..40).map(|number| {
        // Every tenth request exceeds the balance of the faucet.
        let amount = if number % 10 == 0 {
            9_000_000_000_000_000_000
        } else {
            5
        };
        post(&node, "/fund", Some(body(number, amount)))
    });
    for (number, response) in join_all(requests).await.into_iter().enumerate() {
        let expected = if number % 10 == 0 { 403 } else { 200 };
        assert_eq!(response.status, expected, "{number}: {}", response.text);
    }
}

#[tokio::test]
async fn supports_every_form_of_request_and_response() {
    let node = TestNode::start(&["faucet.amount_max=5000"]);
    let url = node.faucet.clone().unwrap();
    assert_eq!(node.http.get(&url).await.text, "tap:ok");

    // An amount above the maximum is reduced to it.
    let account = TestAccount::from_seed(1);
    let public = format!("0x{}", hex::encode(account.key.public_key().0));
    let response = post(
        &node,
        "/fund",
        Some(json!({ "pub_key": public, "amount": 6000 })),
    )
    .await;
    assert_eq!(response.status, 200, "{}", response.text);
    assert_eq!(node.balance(&account.address).await, 5000);
    let path = format!("/mint?auth_key={}&amount=7", account.address.to_long_hex());
    assert!(post(&node, &path, None).await.json.is_array());
    assert_eq!(node.balance(&account.address).await, 5007);

    let path = format!(
        "/mint?address={}&amount=1&return_txns=true",
        account.address
    );
    let response = post(&node, &path, None).await;
    let bytes = hex::decode(&response.text).unwrap();
    let transactions: Vec<ledger_types::SignedTransaction> = bcs::from_bytes(&bytes).unwrap();
    assert_eq!(transactions.len(), 1);

    for body in [
        json!({}),
        json!({ "address": "0xzz" }),
        json!({ "address": "0x1", "amount": -1 }),
        json!([]),
    ] {
        let response = post(&node, "/fund", Some(body)).await;
        assert_eq!(response.status, 400, "{}", response.text);
        assert_eq!(response.json["error_code"], "InvalidRequest");
        assert!(response.json["message"].is_string());
    }
    for path in ["/mint", "/mint?address=0x1&amount=x", "/mint?pub_key=0x12"] {
        let response = post(&node, path, None).await;
        assert_eq!(response.status, 400, "{}", response.text);
        assert!(response.json.is_null(), "plain text: {}", response.text);
    }
}

/// An SDK learns on its first call that the chain has other names, not when a later one fails.
#[tokio::test]
async fn names_the_preset_to_an_sdk_on_a_chain_with_another_vendor_word() {
    let address = TestAccount::from_seed(1).address.to_string();
    let (other, own) = (
        TestNode::start(&[]),
        TestNode::start(&["chain.vendor=aptos"]),
    );
    for path in ["/fund", &format!("/mint?address={address}")] {
        let body = json!({ "address": address, "amount": 1 });
        let request = |node: &TestNode| {
            let url = format!("{}{path}", node.faucet.as_ref().unwrap());
            let request = node.http.request(Method::POST, &url).json(&body);
            request.header("x-aptos-client", "aptos-typescript-sdk/7.3.0")
        };
        let rejected = other.http.try_send(request(&other)).await.unwrap();
        assert_eq!(rejected.status, 400, "{path}: {}", rejected.text);
        let expected = "this chain has the vendor word NODE; an SDK of Aptos needs a chain with \
                        the vendor word APTOS: start a new one with `ledger-node run --preset sdk`";
        assert!(
            rejected.text.contains(expected),
            "{path}: {}",
            rejected.text
        );
        let paid = own.http.try_send(request(&own)).await.unwrap();
        assert_eq!(paid.status, 200, "{path}: {}", paid.text);
    }
}

#[tokio::test]
async fn rejects_unknown_routes_and_methods_with_an_error_body() {
    let node = TestNode::start(&[]);
    let url = node.faucet.clone().unwrap();
    let large = json!({ "address": "0".repeat(5000) });
    for (response, status) in [
        (post(&node, "/fund", Some(large)).await, 413),
        (post(&node, "/nothing", None).await, 404),
        (post(&node, "/", None).await, 405),
        (node.http.get(&format!("{url}/fund")).await, 405),
        (node.http.get(&format!("{url}/mint?address=0x1")).await, 405),
    ] {
        assert_eq!(response.status, status, "{}", response.text);
        assert!(response.json["message"].is_string(), "{}", response.text);
        assert_eq!(response.json["error_code"], "WebFrameworkError");
        assert_eq!(response.headers.contains_key("allow"), status == 405);
    }
}

#[tokio::test]
async fn names_the_limit_of_its_queue_and_the_time_to_retry() {
    let node = TestNode::start(&["faucet.queue_capacity=1"]);
    let body = json!({ "address": TestAccount::from_seed(1).address.to_string(), "amount": 1 });
    let rejected = loop {
        let requests = (0..20).map(|_| post(&node, "/fund", Some(body.clone())));
        let responses = join_all(requests).await;
        if let Some(rejected) = responses.into_iter().find(|found| found.status != 200) {
            break rejected;
        }
    };
    assert_eq!(rejected.status, 503, "{}", rejected.text);
    assert_eq!(rejected.json["error_code"], "ServerOverloaded");
    assert_eq!(
        rejected.json["message"],
        "overloaded: faucet.queue_capacity = 1"
    );
    let secs: u64 = rejected.headers["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!((1..=30).contains(&secs), "{secs}");
}

#[tokio::test]
async fn has_no_listener_if_it_is_disabled() {
    let node = TestNode::start(&["faucet.enabled=false"]);
    assert_eq!(node.faucet, None);
}

#[tokio::test]
async fn allows_pages_only_the_methods_of_its_routes() {
    let node = TestNode::start(&[]);
    let url = node.faucet.clone().unwrap();
    for (method, status) in [("GET", 200), ("POST", 200), ("HEAD", 403), ("PUT", 403)] {
        let preflight = node
            .http
            .request(Method::OPTIONS, &url)
            .header("origin", "http://localhost:5173")
            .header("access-control-request-method", method);
        let response = node.http.try_send(preflight).await.unwrap();
        assert_eq!(response.status, status, "{method}: {}", response.text);
        if status == 200 {
            let allowed = &response.headers["access-control-allow-methods"];
            assert_eq!(allowed, "GET, POST");
        }
    }
    let head = node.http.request(Method::HEAD, &url);
    assert_eq!(node.http.try_send(head).await.unwrap().status, 405);
}
