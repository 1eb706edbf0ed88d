//! Schemas of the OpenAPI document against the values that the node serializes and parses.

use super::*;
use crate::router::openapi_document;
use jsonschema::Validator;
use ledger_crypto::Ed25519PrivateKey;
use ledger_execution::build_chain;
use ledger_types::{CommitCertificate, CommitSignature};

fn validator(component: &str) -> Validator {
    let document = openapi_document(&Vendor::default());
    let schema = json!({
        "$ref": format!("#/components/schemas/{component}"),
        "components": document["components"],
    });
    jsonschema::draft202012::new(&schema).unwrap()
}

/// Members without a schema of their value, because its form depends on a type.
const MEMBERS_WITHOUT_SCHEMA: [&str; 5] = ["data", "arguments", "abi", "key", "value"];

/// Returns the possible mutations of `view`, each with its position. A mutation removes a member,
/// adds one, or replaces a value by one of another type.
///
/// Members named in `optional` are not removed.
fn mutations(view: &Value, optional: &[&str]) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    match view {
        Value::Object(members) => {
            let mut more = members.clone();
            more.insert("undeclared".to_owned(), Value::Null);
            all.push(("/undeclared".to_owned(), Value::Object(more)));
            for (name, member) in members {
                if !optional.contains(&name.as_str()) {
                    let mut fewer = members.clone();
                    fewer.remove(name);
                    all.push((format!("/{name} left out"), Value::Object(fewer)));
                }
                if name == "data"
                    && members.contains_key("type")
                    && !members.contains_key("state_key_hash")
                {
                    continue;
                }
                if MEMBERS_WITHOUT_SCHEMA.contains(&name.as_str()) && name != "data" {
                    continue;
                }
                for (position, mutated) in mutations(member, optional) {
                    let mut changed = members.clone();
                    changed.insert(name.clone(), mutated);
                    all.push((format!("/{name}{position}"), Value::Object(changed)));
                }
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                for (position, mutated) in mutations(item, optional) {
                    let mut changed = items.clone();
                    changed[number] = mutated;
                    all.push((format!("/{number}{position}"), Value::Array(changed)));
                }
            }
            all.push((" of another type".to_owned(), json!({})));
        }
        Value::String(_) => all.push((" of another type".to_owned(), json!(7))),
        Value::Bool(_) | Value::Number(_) => all.push((" of another type".to_owned(), json!("7"))),
        Value::Null => all.push((" of another type".to_owned(), json!("7"))),
    }
    all
}

fn assert_exact(component: &str, view: &Value, optional: &[&str]) {
    let validator = validator(component);
    let errors: Vec<_> = validator
        .iter_errors(view)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, [""; 0], "{component}: {view}");
    let mutations = mutations(view, optional);
    assert!(!mutations.is_empty());
    for (position, mutated) in mutations {
        assert!(
            !validator.is_valid(&mutated),
            "{component} is not exact at {position}: {mutated}"
        );
    }
}

#[test]
fn matches_transactions_of_every_kind_exactly() {
    let fixture = Fixture::new();
    let optional = ["state_checkpoint_hash", "undeclared"];
    for block in [
        &fixture.genesis,
        &fixture.block(7),
        &fixture.block(u64::MAX),
    ] {
        for index in 0..block.transactions.len() {
            assert_exact("Transaction", &fixture.view(block, index), &optional);
        }
    }
    let checked = fixture.check(7);
    let pending = serde_json::to_value(TransactionJson::pending(&fixture.chain, &checked)).unwrap();
    assert_exact("Transaction", &pending, &[]);
    let accepted = serde_json::to_value(PendingJson::new(&fixture.chain, &checked)).unwrap();
    assert_exact("PendingTransaction", &accepted, &[]);
}

#[test]
fn matches_a_block_exactly() {
    let fixture = Fixture::new();
    let executed = fixture.block(7);
    let info = BlockInfo::from(&executed);
    let bare = serde_json::to_value(BlockJson::new(&info)).unwrap();
    assert_exact("Block", &bare, &[]);
}

#[test]
fn matches_the_certificate_of_a_block_exactly() {
    let fixture = Fixture::new();
    let header = fixture.genesis.header.clone();
    let alone = BlockCertificateJson::new(&fixture.chain, &header, vec![7], None);
    let alone = serde_json::to_value(alone).unwrap();
    assert_exact("BlockCertificate", &alone, &[]);
    assert_eq!(alone["quorum"], "0");

    let key = Ed25519PrivateKey::from_seed(&[7; 32]);
    let mut genesis = test_genesis(Parameters::default());
    genesis.validators = vec![key.public_key()];
    let chain = build_chain(&genesis).unwrap();
    let certificate = CommitCertificate {
        height: header.height,
        round: 2,
        block_hash: header.hash(chain.vendor()),
        signatures: vec![CommitSignature {
            validator: AccountAddress::from_public_key(&key.public_key()),
            signature: key.sign(b"a vote"),
        }],
    };
    let view = BlockCertificateJson::new(&chain, &header, vec![7], Some(&certificate));
    let view = serde_json::to_value(view).unwrap();
    assert_exact("BlockCertificate", &view, &["genesis_hash", "certificate"]);
    assert_eq!(
        (&view["quorum"], &view["certificate"]["round"]),
        (&json!("1"), &json!(2))
    );
}

#[test]
fn matches_strings_by_their_patterns() {
    for (component, good, bad) in [
        ("U64", "18446744073709551615", ["", "01", "-1", "0x1"]),
        ("U64Input", "007", ["", "x", "-1", "0x1"]),
        ("Address", "0x1", ["1", "0x01", "0x", "0xG"]),
        ("AddressInput", "0A", ["", "0x", "0xg", " 0x1"]),
        (
            "MoveStructTag",
            "0x1::a::B<u8, vector<0x1::a::C>>",
            ["u8", "0x1::a", "0x1::a::B<", "a::b::c"],
        ),
        (
            "MoveModuleId",
            "0xb0b::m",
            ["m", "0x1", "0x1::m::n", "0x01::m"],
        ),
        (
            "MoveFunctionId",
            "0x1::m::f",
            ["f", "0x1::m", "m::f", "0x1::m::f<u8>"],
        ),
        ("HexBytes", "0x", ["", "0x0", "00", "0xAA"]),
        ("HexBytesInput", "aA", ["0", "0x0", "zz", "0x 00"]),
    ] {
        let validator = validator(component);
        assert!(validator.is_valid(&good.into()), "{component} {good}");
        for text in bad {
            assert!(!validator.is_valid(&text.into()), "{component} {text:?}");
        }
    }
}

#[test]
fn accepts_exactly_the_submissions_that_the_parser_accepts() {
    let fixture = Fixture::new();
    let validator = validator("SubmitRequestInput");
    let good = serde_json::to_value(PendingJson::new(&fixture.chain, &fixture.check(7))).unwrap();
    let ed25519 = good["signature"].clone();
    let mut members = ed25519.clone();
    members["type"] = "single_sender".into();
    let abstract_members =
        json!({"type": "single_sender", "function_info": "0x1::m::f", "auth_data": "0x00"});
    let signatures = [
        json!({"type": "single_sender", "sender": ed25519}),
        json!({"type": "no_account_signature"}),
        json!({"type": "single_sender"}),
        members,
        abstract_members,
        ed25519.clone(),
    ];
    for signature in signatures {
        let mut body = good.clone();
        body["signature"] = signature;
        body["unknown"] = Value::Null;
        body["replay_protection_nonce"] = Value::Null;
        assert!(
            serde_json::from_value::<SubmitRequest>(body.clone()).is_ok(),
            "{body}"
        );
        let errors: Vec<_> = validator
            .iter_errors(&body)
            .map(|error| error.to_string())
            .collect();
        assert_eq!(errors, [""; 0], "{body}");
    }
    for (name, value) in [
        ("sender", json!("0xzz")),
        ("sequence_number", json!(0)),
        ("payload", json!({"type": "nothing"})),
        ("payload", json!({"type": "entry_function_payload"})),
        (
            "signature",
            json!({"type": "ed25519_signature", "public_key": "0xzz", "signature": "0x00"}),
        ),
        (
            "signature",
            json!({"type": "single_sender", "public_key": "0x00"}),
        ),
        ("signature", Value::Null),
    ] {
        let mut body = good.clone();
        body[name] = value;
        assert!(
            serde_json::from_value::<SubmitRequest>(body.clone()).is_err(),
            "{body}"
        );
        assert!(!validator.is_valid(&body), "{body}");
    }
}
