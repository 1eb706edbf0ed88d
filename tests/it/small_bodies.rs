//! JSON bodies of the admin listener and of the faucet: an object has one form, a wrong member is
//! named, and no body is encoded.

use ledger_test_support::{TestAccount, http::HttpResponse, node::TestNode};
use reqwest::Method;
use serde_json::{Value, json};

/// A route with a body.
struct BodyRoute {
    method: Method,
    url: String,
    /// A body that changes nothing, or pays 1.
    valid: Value,
    /// An array with the values of an object that would change something.
    array: Value,
    /// A body with a wrong member.
    wrong: Value,
    /// Path of the wrong member.
    path: &'static str,
}

impl BodyRoute {
    /// Sends a body with these values of `Content-Encoding`.
    async fn send(&self, node: &TestNode, body: &Value, encodings: &[&str]) -> HttpResponse {
        let mut request = node.http.request(self.method.clone(), &self.url);
        for encoding in encodings {
            request = request.header("content-encoding", *encoding);
        }
        node.http.try_send(request.json(body)).await.unwrap()
    }
}

/// Returns every route of both listeners with a body in JSON.
fn routes(node: &TestNode) -> [BodyRoute; 6] {
    let address = TestAccount::from_seed(1).address.to_string();
    let admin = |path: &str| format!("{}{path}", node.admin);
    [
        BodyRoute {
            method: Method::PATCH,
            url: admin("/actors/mempool"),
            valid: json!({ "mailbox_capacity": 1_000 }),
            array: json!([5]),
            wrong: json!({ "mailbox_capacity": "5" }),
            path: "mailbox_capacity",
        },
        BodyRoute {
            method: Method::PATCH,
            url: admin("/budgets/reads"),
            valid: json!({ "capacity_ms": 100 }),
            array: json!([5]),
            wrong: json!({ "capacity_ms": -5 }),
            path: "capacity_ms",
        },
        BodyRoute {
            method: Method::PUT,
            url: admin("/filter"),
            valid: json!({ "rules": [] }),
            array: json!([["deny all"]]),
            wrong: json!({ "rules": ["allow all", 5] }),
            path: "rules[1]",
        },
        BodyRoute {
            method: Method::PATCH,
            url: admin("/switches"),
            valid: json!({ "submission_enabled": true }),
            array: json!(vec![false; 5]),
            wrong: json!({ "submission_enabled": "no" }),
            path: "submission_enabled",
        },
        BodyRoute {
            method: Method::POST,
            url: admin("/traffic/deny"),
            valid: json!({ "address": "192.0.2.1" }),
            array: json!([null, "0x1"]),
            wrong: json!({ "sender": 5 }),
            path: "sender",
        },
        BodyRoute {
            method: Method::POST,
            url: format!("{}/fund", node.faucet.as_ref().unwrap()),
            valid: json!({ "address": address, "amount": 1 }),
            array: json!([address, null, null, 1]),
            wrong: json!({ "address": address, "amount": "1" }),
            path: "amount",
        },
    ]
}

/// Returns what the routes of the admin listener change.
async fn state(node: &TestNode) -> Vec<Value> {
    let mut state = Vec::new();
    for path in ["/filter", "/switches", "/budgets"] {
        state.push(node.http.get(&format!("{}{path}", node.admin)).await.json);
    }
    let mailbox = format!("{}/actors/mempool", node.admin);
    state.push(node.http.get(&mailbox).await.json["capacity"].clone());
    for budget in state[2].as_array_mut().unwrap() {
        // Work that waits is not part of the setting.
        *budget = json!([budget["name"], budget["capacity_ms"]]);
    }
    state
}

#[tokio::test]
async fn rejects_an_array_in_place_of_an_object_and_changes_nothing() {
    let node = TestNode::start(&[]);
    let before = state(&node).await;
    for route in routes(&node) {
        for array in [&route.array, &json!([])] {
            let response = route.send(&node, array, &[]).await;
            assert_eq!(response.status, 400, "{}: {}", route.url, response.text);
            let message = response.json["message"].as_str().unwrap();
            let expected = "invalid type: sequence, expected an object";
            assert!(message.contains(expected), "{message}");
        }
    }
    assert_eq!(state(&node).await, before);
}

#[tokio::test]
async fn names_a_wrong_member_by_its_path() {
    let node = TestNode::start(&[]);
    let before = state(&node).await;
    for route in routes(&node) {
        let response = route.send(&node, &route.wrong, &[]).await;
        assert_eq!(response.status, 400, "{}: {}", route.url, response.text);
        let message = response.json["message"].as_str().unwrap();
        let expected = format!(": {}: invalid ", route.path);
        assert!(message.contains(&expected), "{message}");
    }
    assert_eq!(state(&node).await, before);
    for (query, name) in [("amount=x", "amount"), ("return_txns=1", "return_txns")] {
        let url = node.faucet.as_ref().unwrap();
        let request = node
            .http
            .request(Method::POST, &format!("{url}/mint?address=0x5&{query}"));
        let response = node.http.try_send(request).await.unwrap();
        let expected = format!("{name} cannot be read: ");
        assert!(response.text.starts_with(&expected), "{}", response.text);
        assert_eq!(response.status, 400);
    }
}

#[tokio::test]
async fn rejects_encoded_bodies_and_accepts_every_spelling_of_identity() {
    let node = TestNode::start(&[]);
    for route in routes(&node) {
        for encodings in [
            &["gzip"][..],
            &["br"],
            &["identity, gzip"],
            &["identity", "br"],
        ] {
            let response = route.send(&node, &route.valid, encodings).await;
            let label = format!("{} {encodings:?}: {}", route.url, response.text);
            assert_eq!(response.status, 415, "{label}");
            assert_eq!(response.headers["accept-encoding"], "identity", "{label}");
            let message = response.json["message"].as_str().unwrap();
            assert!(message.contains("`Content-Encoding`"), "{label}");
        }
        for encodings in [
            &["identity"][..],
            &["IDENTITY"],
            &[" Identity ,, identity"],
            &[""],
        ] {
            let response = route.send(&node, &route.valid, encodings).await;
            let label = format!("{} {encodings:?}: {}", route.url, response.text);
            assert_eq!(response.status, 200, "{label}");
        }
    }
    let flight = node
        .http
        .request(Method::POST, &format!("{}/flight", node.admin))
        .header("content-encoding", "gzip");
    let response = node.http.try_send(flight).await.unwrap();
    assert_eq!(response.status, 415, "{}", response.text);
}
