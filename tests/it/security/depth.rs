//! Deeply nested input, which is rejected where it is parsed: recursion that overflows the stack of
//! a thread ends the process. Debug builds have the largest stack frames, and so the least margin.

use super::non_public_paths;
use ledger_test_support::node::TestNode;
use reqwest::Method;
use serde_json::json;

/// Depths on both sides of every limit, up to that of the largest body.
const DEPTHS: [usize; 6] = [1, 8, 16, 127, 1_000, 100_000];

/// Maximum depth of a valid type. Deeper input is accepted nowhere.
const ALLOWED_DEPTH_MAX: usize = 8;

/// Returns `inner` within `depth` pairs of `open` and `close`.
fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    open.repeat(depth) + inner + &close.repeat(depth)
}

/// Returns nested bodies, each with its path and media type.
fn bodies(depth: usize) -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let json = "application/json";
    let vectors = nested("vector<", "u8", ">", depth);
    let structs = nested("0x1::a::A<", "u8", ">", depth);
    let lists = nested("[", "", "]", depth);
    let maps = nested("{\"a\":", "1", "}", depth);
    let view = |type_argument: &str| {
        json!({
            "function": "0x1::coin::balance",
            "type_arguments": [type_argument],
            "arguments": ["0x1"]
        })
    };
    let arguments = format!(
        "{{\"function\": \"0x1::coin::balance\", \"type_arguments\": [\"{vectors}\"], \
         \"arguments\": [{lists}]}}"
    );
    let submission = |payload: &str| format!("{{\"sender\": \"0x1\", \"payload\": {payload}}}");
    // A view of 0x1::coin::balance, and a transaction of 0x1 with a script, both with nested type
    // arguments.
    let view_head = [&[0; 31][..], &[1], b"\x04coin\x07balance\x01"].concat();
    let script_head = [&[0; 40][..], &[0, 0, 1]].concat();
    let bcs = |head: &[u8]| [head, &vec![6; depth], &[1]].concat();
    let mut rows = vec![
        ("/v1/view", json, view(&vectors).to_string().into()),
        ("/v1/view", json, view(&structs).to_string().into()),
        ("/v1/view", json, arguments.into()),
        (
            "/v1/view",
            "application/x.node.view_function+bcs",
            bcs(&view_head),
        ),
        (
            "/v1/tables/0x1/item",
            json,
            format!("{{\"key_type\": \"{vectors}\", \"value_type\": \"u8\", \"key\": {lists}}}")
                .into(),
        ),
    ];
    for path in [
        "/v1/transactions",
        "/v1/transactions/simulate",
        "/v1/transactions/encode_submission",
    ] {
        rows.push((path, json, submission(&maps).into()));
        rows.push((path, json, submission(&lists).into()));
    }
    for path in [
        "/v1/transactions",
        "/v1/transactions/batch",
        "/v1/transactions/simulate",
    ] {
        rows.push((
            path,
            "application/x.node.signed_transaction+bcs",
            bcs(&script_head),
        ));
    }
    for (open, close) in [("[", "]"), ("{a:", "}")] {
        let query = format!(
            "{{processor_status(where: {}) {{processor}}}}",
            nested(open, "1", close, depth)
        );
        rows.push((
            "/v1/graphql",
            json,
            json!({ "query": query }).to_string().into(),
        ));
    }
    let query = nested("{a", "", "}", depth);
    rows.push((
        "/v1/graphql",
        json,
        json!({ "query": query, "variables": {} })
            .to_string()
            .into(),
    ));
    let variables = format!("{{\"query\": \"{{a}}\", \"variables\": {maps}}}");
    rows.push(("/v1/graphql", json, variables.into()));
    rows
}

#[tokio::test]
async fn survives_input_of_any_depth() {
    let node = TestNode::start(&[]);
    let post = async |url: String, media: &str, body: Vec<u8>| {
        let request = node
            .http
            .request(Method::POST, &url)
            .header("content-type", media)
            .body(body);
        node.http.try_send(request).await
    };
    for depth in DEPTHS {
        for (path, media, body) in bodies(depth) {
            let response = post(format!("{}{path}", node.api), media, body).await;
            let response = response
                .unwrap_or_else(|| panic!("no response to depth {depth} at {path} in {media}"));
            // A GraphQL response has status 200 and names its errors in the body.
            let is_rejected =
                (400..500).contains(&response.status) || !response.json["errors"].is_null();
            let is_allowed = depth <= ALLOWED_DEPTH_MAX && response.status == 200;
            assert!(
                is_rejected || is_allowed,
                "depth {depth} at {path}: {} {}",
                response.status,
                response.text
            );
        }
        let lists = nested("[", "", "]", depth);
        for path in non_public_paths() {
            for listener in [&node.admin, node.faucet.as_ref().unwrap()] {
                for method in [Method::POST, Method::PUT, Method::PATCH] {
                    let request = node.http.request(method, &format!("{listener}{path}"));
                    let response = node.http.try_send(request.body(lists.clone())).await;
                    let response = response
                        .unwrap_or_else(|| panic!("no response to depth {depth} at {path}"));
                    assert!(
                        (400..500).contains(&response.status),
                        "{path}: {}",
                        response.text
                    );
                }
            }
        }
        // The length of paths is bounded, and so is their depth.
        let tag = nested("vector%3C", "u8", "%3E", depth.min(1_000));
        let response = node.get(&format!("/v1/accounts/0x1/resource/{tag}")).await;
        assert!((400..500).contains(&response.status), "{}", response.text);
    }
    assert_eq!(node.get("/v1/-/healthy").await.status, 200);
    assert!(!node.log().contains("panicked"), "{}", node.log());
}
