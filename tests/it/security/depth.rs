//! What nests deeply is refused where it comes in: recursion on the stack of a thread ends the process, which
//! no handler could prevent. Test builds have the largest frames, and so the smallest room.

use super::not_public;
use crate::kit::TestNode;
use reqwest::Method;
use serde_json::json;

/// Depths on both sides of every limit, up to what the largest body holds.
const DEPTHS: [usize; 6] = [1, 8, 16, 127, 1_000, 100_000];

/// A type within this many others is one that there may be; nothing that is deeper is taken anywhere.
const ALLOWED_DEPTH_MAX: usize = 8;

/// `inner` within `depth` pairs.
fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    open.repeat(depth) + inner + &close.repeat(depth)
}

/// Bodies that nest, each with the path that it is sent to and its type.
fn bodies(depth: usize) -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let json = "application/json";
    let vectors = nested("vector<", "u8", ">", depth);
    let structs = nested("0x1::a::A<", "u8", ">", depth);
    let lists = nested("[", "", "]", depth);
    let maps = nested("{\"a\":", "1", "}", depth);
    let view = |type_argument: &str| json!({"function": "0x1::coin::balance", "type_arguments": [type_argument], "arguments": ["0x1"]});
    let arguments = format!(
        "{{\"function\": \"0x1::coin::balance\", \"type_arguments\": [\"{vectors}\"], \"arguments\": [{lists}]}}"
    );
    let submission = |payload: &str| format!("{{\"sender\": \"0x1\", \"payload\": {payload}}}");
    // A view of 0x1::coin::balance, and a transaction of 0x1 with a script, whose type arguments nest.
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
async fn no_depth_ends_the_node() {
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
            let answer = post(format!("{}{path}", node.api), media, body).await;
            let answer =
                answer.unwrap_or_else(|| panic!("no answer to depth {depth} at {path} in {media}"));
            // GraphQL tells its refusals in answers of 200.
            let refused = (400..500).contains(&answer.status) || !answer.json["errors"].is_null();
            let allowed = depth <= ALLOWED_DEPTH_MAX && answer.status == 200;
            assert!(
                refused || allowed,
                "depth {depth} at {path}: {} {}",
                answer.status,
                answer.text
            );
        }
        let lists = nested("[", "", "]", depth);
        for path in not_public() {
            for own in [&node.admin, node.faucet.as_ref().unwrap()] {
                for method in [Method::POST, Method::PUT, Method::PATCH] {
                    let request = node.http.request(method, &format!("{own}{path}"));
                    let answer = node.http.try_send(request.body(lists.clone())).await;
                    let answer =
                        answer.unwrap_or_else(|| panic!("no answer to depth {depth} at {path}"));
                    assert!(
                        (400..500).contains(&answer.status),
                        "{path}: {}",
                        answer.text
                    );
                }
            }
        }
        // Paths are bounded in length, and so in depth.
        let tag = nested("vector%3C", "u8", "%3E", depth.min(1_000));
        let answer = node.get(&format!("/v1/accounts/0x1/resource/{tag}")).await;
        assert!((400..500).contains(&answer.status), "{}", answer.text);
    }
    assert_eq!(node.get("/v1/-/healthy").await.status, 200);
    assert!(!node.log().contains("panicked"), "{}", node.log());
}
