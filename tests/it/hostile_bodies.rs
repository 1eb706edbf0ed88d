//! Malformed and oversized bodies for every operation that reads one.
//!
//! None may get a response with a server error, make the node panic, or use more memory than a body
//! may.

use futures::future::join_all;
use ledger_test_support::{
    TestAccount, development_chain,
    http::{RawConnection, post_bytes},
    node::TestNode,
};
use serde_json::{Value, json};

/// Maximum size of a body that the node accepts, in bytes.
const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Maximum growth of memory. A body may take 64 MiB while it is parsed, and two are parsed
/// concurrently; the rest is for what the allocator retains. Without a bound the worst of these
/// bodies takes a gigabyte.
const MEMORY_MAX: usize = 320 * 1024 * 1024;
/// Number of connections that send bodies.
const SENDERS: usize = 4;

/// Media type of JSON.
const JSON: &str = "application/json";
/// Media type of a signed transaction in BCS.
const TRANSACTION_BCS: &str = "application/x.node.signed_transaction+bcs";
/// Media type of a view call in BCS.
const CALL_BCS: &str = "application/x.node.view_function+bcs";

/// A hostile request.
struct HostileRequest {
    path: &'static str,
    media_type: &'static str,
    body: Vec<u8>,
}

/// Returns every operation with a JSON body, with a well-formed body.
fn operations(submission: &Value) -> Vec<(&'static str, Value)> {
    let call = json!({
        "function": "0x1::coin::name",
        "type_arguments": ["0x1::a::B<u8>"],
        "arguments": []
    });
    let item =
        json!({ "key_type": "vector<0x1::string::String>", "value_type": "u8", "key": ["a", "b"] });
    let graphql =
        json!({ "query": "{ processor_status { processor } }", "variables": { "a": [1] } });
    vec![
        ("/v1/transactions", submission.clone()),
        ("/v1/transactions/batch", json!([submission])),
        ("/v1/transactions/simulate", submission.clone()),
        ("/v1/transactions/encode_submission", submission.clone()),
        ("/v1/tables/0x1/item", item),
        ("/v1/tables/0x1/raw_item", json!({ "key": "0x00" })),
        (
            "/v1/experimental/state_values/raw",
            json!({ "key": "0x00" }),
        ),
        ("/v1/view", call),
        ("/v1/graphql", graphql),
    ]
}

/// Returns texts that are not JSON, or not JSON of any operation.
fn texts() -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = [
        "",
        " ",
        "{",
        "}",
        "[",
        "]",
        "[]",
        "{}",
        "null",
        "true",
        "0",
        "-",
        "-0",
        "1e999999",
        "1E-999999",
        "\"",
        "\"\\u",
        "\"\\ud800\"",
        "\"\\udc00\\ud800\"",
        "\"\\u0000\"",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "[1,]",
        "[[]",
        "{\"\":{\"\":{}}}",
        "nul",
        "NaN",
        "Infinity",
        "\u{feff}{}",
        "{}{}",
        "{} x",
        "'a'",
        "/**/{}",
        "{\"type\":0}",
        "{\"payload\":{\"type\":0}}",
        "{\"payload\":{\"type\":\"entry_function_payload\"}}",
        "{\"key\":\"0x0\"}",
        "{\"key\":\"0xzz\"}",
        "{\"key\":{},\"key_type\":\"\",\"value_type\":\"<<<<\"}",
        "{\"query\":\"{{{{{{{{{{{{{{{{{{{{{{{{\"}",
        "{\"query\":\"query($a:[[[[[[[[[[[[[Int]]]]]]]]]]]]]){a}\"}",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into();
    texts.push(vec![0]);
    texts.push(vec![0xff; 100]);
    texts.push(b"\"\xc3\x28\"".to_vec());
    texts.push(b"{\"a\":\"\xed\xa0\x80\"}".to_vec());
    for deep in [127, 128, 129, 100_000] {
        texts.push("[".repeat(deep).into_bytes());
        texts.push("{\"a\":".repeat(deep).into_bytes());
        texts.push(format!("{}{}", "[".repeat(deep), "]".repeat(deep)).into_bytes());
        texts.push(
            format!("{{\"arguments\":{}{}}}", "[".repeat(deep), "]".repeat(deep)).into_bytes(),
        );
    }
    texts
}

/// Returns the values that replace each value of a well-formed body.
fn values() -> Vec<Value> {
    let mut deep = json!(0);
    for _ in 0..120 {
        deep = json!([deep]);
    }
    let many_types = format!("0x1::a::B<{}>", vec!["u8"; 1_000].join(","));
    let nested_types = format!("{}u8{}", "vector<".repeat(1_000), ">".repeat(1_000));
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("0"),
        json!("-1"),
        json!("18446744073709551616"),
        json!("9".repeat(100_000)),
        json!("0x"),
        json!("0xg"),
        json!("0x".to_owned() + &"0".repeat(65)),
        json!("\u{0}"),
        json!("é".repeat(1_000)),
        json!("::"),
        json!("0x1::"),
        json!("0x1::coin::name::x"),
        json!(many_types),
        json!(nested_types),
        json!([]),
        json!([[]]),
        json!({}),
        json!({ "type": "x" }),
        json!({ "vec": [1, 2] }),
        json!(vec![json!({}); 1_000]),
        json!(vec![0; 10_000]),
        deep,
    ]
}

/// Returns copies of a value, each with one value at any depth replaced.
fn with_each_replaced(value: &Value, by: &[Value]) -> Vec<Value> {
    let mut pointers = Vec::new();
    pointers_of(value, String::new(), &mut pointers);
    let mut copies = Vec::new();
    for pointer in &pointers {
        for other in by {
            let mut copy = value.clone();
            if let Some(target) = copy.pointer_mut(pointer) {
                *target = other.clone();
            }
            copies.push(copy);
        }
    }
    copies
}

/// Collects the JSON pointers of a value and of all values in it.
fn pointers_of(value: &Value, here: String, pointers: &mut Vec<String>) {
    let below = |name: &dyn std::fmt::Display| format!("{here}/{name}");
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                pointers_of(member, below(name), pointers);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers_of(item, below(&index), pointers);
            }
        }
        _ => {}
    }
    pointers.push(here);
}

/// Returns copies of a BCS form, each truncated or with a byte replaced, also by lengths of up to
/// four billion.
fn damaged(bytes: &[u8]) -> Vec<Vec<u8>> {
    let replacements: [&[u8]; 8] = [
        &[0x00],
        &[0x01],
        &[0x7f],
        &[0xff],
        &[0xff, 0xff, 0xff, 0xff, 0x0f],
        &[0xff, 0xff, 0xff, 0xff, 0x07],
        &[0xff, 0xff, 0x03],
        &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
    ];
    let mut copies = vec![bytes.repeat(2)];
    for index in 0..bytes.len() {
        let (before, after) = (&bytes[..index], &bytes[index + 1..]);
        copies.push(before.to_vec());
        copies.extend(
            replacements
                .iter()
                .map(|replacement| [before, replacement, after].concat()),
        );
    }
    copies
}

/// Returns the parts of bodies of the maximum size with as many values as possible: path, start,
/// and the repeated part.
fn giants() -> Vec<(&'static str, &'static str, &'static str)> {
    let repeated = [
        "0,",
        "[],",
        "{\"\":0},",
        "\"\",",
        "[",
        "{\"a\":",
        "\"a\":0,",
        "[[[[0]]]],",
        " ",
    ];
    let starts = [
        (
            "/v1/view",
            "{\"function\":\"0x1::coin::name\",\"type_arguments\":[],\"arguments\":[",
        ),
        ("/v1/transactions", "{\"payload\":{\"arguments\":["),
        ("/v1/transactions/batch", "["),
        (
            "/v1/tables/0x1/item",
            "{\"key_type\":\"u8\",\"value_type\":\"u8\",\"key\":[",
        ),
    ];
    let pairs = starts
        .iter()
        .flat_map(|&(path, start)| repeated.map(|repeated| (path, start, repeated)));
    pairs.collect()
}

/// Builds a body of the maximum size.
fn giant(start: &str, repeated: &str) -> Vec<u8> {
    let count = (BODY_BYTES_MAX - start.len()) / repeated.len();
    format!("{start}{}", repeated.repeat(count)).into_bytes()
}

/// Sends a request and returns the status of its response.
///
/// # Panics
///
/// Panics if there is no response, or one with a server error.
async fn send(node: &TestNode, connection: &mut RawConnection, request: &HostileRequest) -> u16 {
    let encoded = post_bytes(request.path, request.media_type, &request.body);
    let response = connection.exchange(&encoded).await;
    let excerpt = String::from_utf8_lossy(&request.body)
        .chars()
        .take(300)
        .collect::<String>();
    let response =
        response.unwrap_or_else(|| panic!("no response from {}: {excerpt}", request.path));
    let (status, body) = (response.status, response.text());
    assert!(
        (200..500).contains(&status),
        "{} {status} {body}: {excerpt}",
        request.path
    );
    if response.headers.get("connection").map(String::as_str) == Some("close") {
        *connection = RawConnection::connect(node.authority()).await;
    }
    status
}

/// Sends all requests over several connections.
async fn send_all(node: &TestNode, all: &[HostileRequest]) {
    let senders = all.chunks(all.len().div_ceil(SENDERS)).map(async |part| {
        let mut connection = RawConnection::connect(node.authority()).await;
        for request in part {
            send(node, &mut connection, request).await;
        }
    });
    join_all(senders).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[allow(
    clippy::print_stdout,
    reason = "the number of bodies is a figure of the report on long runs"
)]
async fn responds_to_no_body_with_a_server_error() {
    let node = TestNode::start(&[]);
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    let signed = account.transfer(&development_chain(), 1, account.address, 1);
    let mut submission = node.try_submit(&signed).await.unwrap().json;
    submission.as_object_mut().unwrap().remove("hash");

    let mut all = Vec::new();
    let (texts, values) = (texts(), values());
    for (path, valid) in operations(&submission) {
        let replaced = with_each_replaced(&valid, &values);
        let replaced = replaced.iter().map(|value| value.to_string().into_bytes());
        for body in texts.iter().cloned().chain(replaced) {
            let media_type = JSON;
            all.push(HostileRequest {
                path,
                media_type,
                body,
            });
        }
    }
    let transaction = bcs::to_bytes(&signed).unwrap();
    let batch = [&[1], &transaction[..]].concat();
    let call = bcs::to_bytes(signed.raw.entry_function().unwrap()).unwrap();
    for (path, media_type, valid) in [
        ("/v1/transactions", TRANSACTION_BCS, &transaction),
        ("/v1/transactions/simulate", TRANSACTION_BCS, &transaction),
        ("/v1/transactions/batch", TRANSACTION_BCS, &batch),
        ("/v1/view", CALL_BCS, &call),
    ] {
        for body in damaged(valid) {
            all.push(HostileRequest {
                path,
                media_type,
                body,
            });
        }
    }
    send_all(&node, &all).await;
    println!("{} hostile bodies, none with a server error", all.len());
    check_healthy(&node, &account).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bounds_the_memory_of_every_body() {
    // A node without optimization parses a body of the maximum size in half a second.
    let node = TestNode::start(&["api.workers=2", "work.render_budget_ms=60000"]);
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    let before = node.resident_bytes();
    let all = giants();
    let senders = all.chunks(all.len().div_ceil(SENDERS)).map(async |part| {
        let mut connection = RawConnection::connect(node.authority()).await;
        for &(path, start, repeated) in part {
            let request = HostileRequest {
                path,
                media_type: JSON,
                body: giant(start, repeated),
            };
            send(&node, &mut connection, &request).await;
        }
    });
    join_all(senders).await;
    let grown = node.resident_bytes_peak().saturating_sub(before);
    assert!(grown < MEMORY_MAX, "{} MiB of growth", grown / 1024 / 1024);
    check_healthy(&node, &account).await;
}

/// Checks that nothing has panicked and that an honest client is served.
async fn check_healthy(node: &TestNode, account: &TestAccount) {
    assert_eq!(node.get("/v1/-/healthy").await.status, 200);
    let transfer = account.transfer(&development_chain(), 0, account.address, 1);
    assert_eq!(node.submit_and_wait(&transfer).await["success"], true);
    let log = node.log();
    assert!(!log.contains("panicked") && !log.contains("ERROR"), "{log}");
}
