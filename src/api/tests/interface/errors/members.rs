//! Wrong members of JSON bodies: each is named by its path, in every body and at every depth.

use crate::kit::{SYNTAX, changed, without};
use crate::{
    interface::{chain::History, examples, rows::row},
    kit::{Settings, TestApi, Transfer, assert_error},
};
use serde_json::{Map, Value, json};
use std::fmt::Display;

/// Start of the message of a body that is not of its type.
const PROBLEM: &str = "parse request payload error: ";

/// Array whose values are of any type. An error in them has another code.
const UNTYPED_VALUES: &str = "/arguments";

/// Member of any type in the request for a table item, which has `key_type`.
const UNTYPED_KEY: &str = "/key";

/// A body and the route that takes it.
struct Body {
    path: String,
    json: Value,
}

/// A value in a body.
struct Position {
    /// JSON pointer of the value.
    pointer: String,
    /// Path of the value in messages.
    path: String,
}

/// Returns the body of each route, and submissions with each kind of signature and payload.
fn bodies(history: &History) -> Vec<Body> {
    let posts = examples::posts(history).into_iter();
    let mut bodies: Vec<_> = posts
        .map(|post| Body {
            path: post.path,
            json: post.body.unwrap(),
        })
        .collect();
    let transfer = Transfer::new(3, 0).json(&history.api.chain);
    for changed in signatures()
        .into_iter()
        .chain(payloads(&transfer["payload"]))
    {
        let mut json = transfer.clone();
        json.as_object_mut().unwrap().extend(changed);
        let path = "/v1/transactions".to_owned();
        bodies.push(Body { path, json });
    }
    let mut encoded = without(&transfer, "", "signature");
    encoded["secondary_signers"] = json!(["0x1"]);
    encoded["fee_payer_address"] = json!("0x1");
    let query = json!({ "query": "{ x }", "operationName": "x", "variables": {} });
    for (path, json) in [
        ("/v1/transactions/encode_submission", encoded),
        ("/v1/transactions/batch", json!([transfer, transfer])),
        ("/v1/graphql", query),
    ] {
        let path = path.to_owned();
        bodies.push(Body { path, json });
    }
    bodies
}

/// Returns members with a signature of each kind.
fn signatures() -> Vec<Map<String, Value>> {
    let hex = |bytes: usize| json!(format!("0x{}", "00".repeat(bytes)));
    let (key, signed) = (
        json!({ "type": "ed25519", "value": hex(32) }),
        json!({ "type": "ed25519", "value": hex(64) }),
    );
    let single = json!({ "type": "single_key_signature", "public_key": key, "signature": signed });
    let multi = json!({
        "type": "multi_ed25519_signature",
        "public_keys": [hex(32)],
        "signatures": [hex(64)],
        "threshold": 1,
        "bitmap": hex(4),
    });
    let multi_key = json!({
        "type": "multi_key_signature",
        "public_keys": [key],
        "signatures": [{ "index": 0, "signature": signed }],
        "signatures_required": 1,
        "signatures_bitmap": hex(4),
    });
    let named = json!({
        "type": "abstract_signature",
        "function_info": "0x1::a::b",
        "auth_data": hex(1),
    });
    let agents = json!({
        "type": "multi_agent_signature",
        "sender": multi,
        "secondary_signer_addresses": ["0x1"],
        "secondary_signers": [multi_key],
    });
    let mut sponsored = agents.clone();
    sponsored["type"] = json!("fee_payer_signature");
    sponsored["fee_payer_address"] = json!("0x1");
    sponsored["fee_payer_signer"] = named;
    let sender = json!({ "type": "single_sender", "sender": single });
    let signatures = [multi, agents, sponsored, sender];
    let signatures = signatures.into_iter();
    let members = |signature| Map::from_iter([("signature".to_owned(), signature)]);
    signatures.map(members).collect()
}

/// Returns members with a payload of each kind, and with a nonce.
fn payloads(call: &Value) -> [Map<String, Value>; 2] {
    let mut multisig = json!({ "type": "multisig_payload", "multisig_address": "0x1" });
    multisig["transaction_payload"] = call.clone();
    [
        Map::from_iter([("payload".to_owned(), multisig)]),
        Map::from_iter([("replay_protection_nonce".to_owned(), json!("5"))]),
    ]
}

/// Collects the positions of a value and of all values in it.
fn collect(value: &Value, here: Position, collected: &mut Vec<Position>) {
    let below = |name: &dyn Display, path: String| Position {
        pointer: format!("{}/{name}", here.pointer),
        path,
    };
    match value {
        _ if here.pointer.ends_with(UNTYPED_VALUES) => {}
        Value::Object(members) => {
            for (name, member) in members {
                let dot = if here.path.is_empty() { "" } else { "." };
                let path = format!("{}{dot}{name}", here.path);
                collect(member, below(name, path), collected);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let path = format!("{}[{index}]", here.path);
                collect(item, below(&index, path), collected);
            }
        }
        _ => {}
    }
    collected.push(here);
}

/// Returns the positions in a body whose type is declared.
fn positions(body: &Value) -> Vec<Position> {
    let mut collected = Vec::new();
    let (pointer, path) = (String::new(), String::new());
    collect(body, Position { pointer, path }, &mut collected);
    let has_untyped_key = body.get("key_type").is_some();
    collected.retain(|position| !has_untyped_key || position.pointer != UNTYPED_KEY);
    collected
}

/// Returns the text of a value in which `type` is the first member of each object, as clients write
/// it. The text of a [`Value`] has it last.
fn type_first(value: &Value) -> String {
    let list = |texts: Vec<String>| texts.join(",");
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name != "type");
            let member =
                |(name, value): (&String, &Value)| format!("{name:?}:{}", type_first(value));
            format!("{{{}}}", list(members.into_iter().map(member).collect()))
        }
        Value::Array(items) => format!("[{}]", list(items.iter().map(type_first).collect())),
        scalar => scalar.to_string(),
    }
}

/// Returns the arrays that a struct with these members could accept: without an element, and with
/// the values of the members in each order, if there are few.
fn arrays(object: &Map<String, Value>) -> Vec<Value> {
    /// Maximum number of members whose orders are tried.
    const MEMBERS_MAX: usize = 4;
    let values: Vec<_> = object.values().cloned().collect();
    let mut orders = vec![Vec::new()];
    if values.len() <= MEMBERS_MAX {
        for (index, value) in values.iter().enumerate() {
            orders = orders
                .iter()
                .flat_map(|order: &Vec<Value>| {
                    (0..=index).map(|place| {
                        let mut longer = order.clone();
                        longer.insert(place, value.clone());
                        longer
                    })
                })
                .collect();
        }
        orders.push(Vec::new());
    }
    orders.into_iter().map(Value::Array).collect()
}

/// Posts a text and returns the message of the response, whose error is that of a wrong type.
async fn rejection(api: &TestApi, path: &str, text: &str) -> String {
    let headers = [("content-type", "application/json")];
    let response = api
        .client
        .send("POST", path, &headers, Some(text.as_bytes()))
        .await;
    assert_error(&response, SYNTAX, &format!("{path} {text}"));
    response.json()["message"].as_str().unwrap().to_owned()
}

/// Returns the texts of a body with another value at `pointer`.
fn texts(body: &Value, pointer: &str, value: &Value) -> [String; 2] {
    let body = changed(body, pointer, value.clone());
    [body.to_string(), type_first(&body)]
}

#[actix_web::test]
async fn an_array_is_rejected_in_place_of_each_object() {
    let history = History::start().await;
    let mut objects = 0;
    for Body { path, json } in bodies(&history) {
        for Position { pointer, path: at } in positions(&json) {
            let Some(object) = json.pointer(&pointer).unwrap().as_object() else {
                continue;
            };
            objects += 1;
            for array in arrays(object) {
                for text in texts(&json, &pointer, &array) {
                    let message = rejection(&history.api, &path, &text).await;
                    let colon = if at.is_empty() { "" } else { ": " };
                    let expected = "invalid type: sequence, expected an object";
                    let expected = format!("{PROBLEM}{at}{colon}{expected}");
                    // The message about a body itself ends with its line and column.
                    assert!(message.starts_with(&expected), "{message}: {path} {text}");
                }
            }
        }
    }
    assert!(objects > 50, "{objects} objects");
    history.api.stop().await;
}

#[actix_web::test]
async fn a_message_names_each_wrong_member_by_its_path() {
    let history = History::start().await;
    for Body { path, json } in bodies(&history) {
        for Position { pointer, path: at } in positions(&json) {
            if at.is_empty() {
                continue;
            }
            let wrong = match json.pointer(&pointer).unwrap() {
                Value::Object(_) | Value::Array(_) => json!(7),
                _ => json!({ "ed25519": null }),
            };
            for text in texts(&json, &pointer, &wrong) {
                let message = rejection(&history.api, &path, &text).await;
                let expected = format!("{PROBLEM}{at}: invalid type: ");
                assert!(message.starts_with(&expected), "{message}: {path} {text}");
                for leaked in ["struct ", "enum ", "Json", "Request"] {
                    let cause = &message[PROBLEM.len()..];
                    assert!(!cause.contains(leaked), "{message}");
                }
            }
        }
    }
    history.api.stop().await;
}

#[actix_web::test]
async fn a_message_has_the_path_and_the_cause() {
    let api = TestApi::start(Settings::default()).await;
    let good = Transfer::new(0, 0).json(&api.chain);
    let merged = json!({ "type": "single_sender", "public_key": "0x0g", "signature": "0x00" });
    let without_key = without(&good["signature"], "", "public_key");
    let rows = [
        (
            "/sequence_number",
            json!(3),
            "sequence_number: invalid type: integer `3`, expected a string",
        ),
        (
            "/signature/public_key",
            json!("0x0g"),
            "signature.public_key: Invalid character 'g' at position 1",
        ),
        (
            "/payload/type_arguments",
            json!(["u8", 5]),
            "payload.type_arguments[1]: invalid type: integer `5`, expected a string",
        ),
        (
            "/payload/type",
            json!("nothing"),
            "payload: unknown variant `nothing`, expected one of `entry_function_payload`, ",
        ),
        (
            "/signature",
            without_key,
            "signature: missing field `public_key`",
        ),
        (
            "/signature",
            merged,
            "signature: public_key: Invalid character 'g' at position 1",
        ),
    ];
    for (pointer, wrong, expected) in rows {
        for text in texts(&good, pointer, &wrong) {
            let message = rejection(&api, "/v1/transactions", &text).await;
            let expected = format!("{PROBLEM}{expected}");
            assert!(message.starts_with(&expected), "{message}");
        }
    }
    let repeated = good.to_string().replacen('{', "{\"sender\":\"0x1\",", 1);
    let message = rejection(&api, "/v1/transactions", &repeated).await;
    assert!(message.contains("duplicate field `sender`"), "{message}");
    let call = json!({
        "function": "0x1::coin::balance",
        "type_arguments": ["0x1::node_coin::NodeCoin"],
        "arguments": [["0xb0b"]],
    });
    let response = row("POST /view", 400, "invalid_input")
        .post(&api, "/v1/view", &call)
        .await;
    let message = response.json()["message"].to_string();
    assert!(message.contains("arguments[0] failed"), "{message}");
    api.stop().await;
}
