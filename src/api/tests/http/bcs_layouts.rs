//! Bodies in BCS, decoded by the layouts of the reference node as its clients decode them.

use super::seams::BCS;
use crate::kit::{
    Settings, TestApi, Transfer,
    layouts::{
        Block, Committed, Found, Genesis, Index, StateKey, Transaction, WriteOp, WriteSet, decode,
    },
    ok_bcs, ok_json, recipient_store,
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use ledger_crypto::Ed25519Signature;
use ledger_types::{AccountAddress, transaction::TransactionAuthenticator};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A request with the recorded response of the reference node.
#[derive(Deserialize)]
struct Recorded {
    id: String,
    answer: Answer,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    bcs_b64: String,
    /// The shortened parts of the body, if any.
    cut: Option<Value>,
}

#[test]
fn decodes_recorded_bodies_of_the_reference_node() {
    let packed = include_bytes!("../../../../tests/golden/recorded/answers.jsonl.zst");
    let lines = zstd::decode_all(&packed[..]).unwrap();
    let lines = lines
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty());
    let mut decoded = BTreeMap::new();
    for line in lines {
        let Recorded { id, answer } = serde_json::from_slice(line).unwrap();
        if answer.cut.is_some() || answer.bcs_b64.is_empty() {
            continue;
        }
        let body = BASE64_STANDARD.decode(answer.bcs_b64).unwrap();
        let layout = match id.split_once('.') {
            _ if id == "view.call.fa_metadata.bcs" => {
                drop(decode::<(u8, String, String, u8, String, String)>(
                    &body, &id,
                ));
                "view"
            }
            Some(("index", _)) => {
                drop(decode::<Index>(&body, &id));
                "index"
            }
            Some(("modules", _)) => {
                drop(decode::<BTreeMap<String, bytes::Bytes>>(&body, &id));
                "modules"
            }
            Some(("by_hash" | "wait_by_hash" | "by_version", _)) => {
                drop(decode::<Found>(&body, &id));
                "transaction"
            }
            Some(("block", _)) => {
                drop(decode::<Block>(&body, &id));
                "block"
            }
            Some(("simulate", form)) if form.starts_with("json.") => {
                drop(decode::<Committed>(&body, &id));
                "simulation"
            }
            _ => continue,
        };
        *decoded.entry(layout).or_insert(0) += 1;
    }
    let expected = [
        ("block", 15),
        ("index", 6),
        ("modules", 2),
        ("simulation", 25),
        ("transaction", 54),
        ("view", 1),
    ];
    assert_eq!(decoded, expected.into());
}

/// Returns the changes of a transaction: for each key its operation, 0 creation, 1 modification, 2
/// deletion.
fn operations(committed: &Committed) -> Vec<(&StateKey, u8)> {
    let WriteSet::V0(writes) = &committed.write_set;
    let code = |operation: &WriteOp| match operation {
        WriteOp::Creation(_) => 0,
        WriteOp::Modification(_) => 1,
        WriteOp::Deletion => 2,
        other => panic!("an operation with metadata: {other:?}"),
    };
    writes.iter().map(|(key, op)| (key, code(op))).collect()
}

async fn by_hash(api: &TestApi, committed: &Value) -> Committed {
    let hash = committed["hash"].as_str().unwrap();
    let path = format!("/v1/transactions/by_hash/{hash}");
    match decode(ok_bcs(&api.client.get_bcs(&path).await), &path) {
        Found::Committed(committed) => *committed,
        Found::Pending(_) => panic!("{hash} is pending"),
    }
}

/// Returns the operation on the slots at an address.
fn at(committed: &Committed, wanted: AccountAddress) -> Vec<u8> {
    let operations = operations(committed).into_iter();
    let at = operations.filter(
        |(key, _)| matches!(key, StateKey::AccessPath { address, .. } if *address == wanted),
    );
    at.map(|(_, code)| code).collect()
}

/// Returns the operations on table items.
fn of_items(committed: &Committed) -> Vec<u8> {
    let operations = operations(committed).into_iter();
    let items = operations.filter(|(key, _)| matches!(key, StateKey::TableItem { .. }));
    items.map(|(_, code)| code).collect()
}

#[actix_web::test]
async fn write_sets_distinguish_creations_modifications_and_deletions() {
    let api = TestApi::start(Settings::default()).await;
    let first = Transfer::new(0, 0);
    let store = recipient_store();
    let created = by_hash(&api, &api.commit(&first).await).await;
    assert_eq!(at(&created, store), [0]);
    assert!(matches!(created.transaction, Transaction::User(_)));
    let changed = by_hash(&api, &api.commit(&Transfer::new(0, 1)).await).await;
    assert_eq!(at(&changed, store), [1]);

    let call = |number, function: &str, arguments: &[Value]| {
        let function = format!("0x1::registry::{function}");
        Transfer::new(0, number).sign_call(&api.chain, &function, arguments)
    };
    api.commit_signed(&call(2, "initialize", &[])).await;
    let set = [json!("name"), json!("0xab")];
    for (number, function, arguments, expected) in [
        (3, "set", &set[..], 0),
        (4, "set", &set[..], 1),
        (5, "remove", &set[..1], 2),
    ] {
        let committed = api.commit_signed(&call(number, function, arguments)).await;
        assert_eq!(committed["success"], true, "{committed}");
        let committed = by_hash(&api, &committed).await;
        assert_eq!(of_items(&committed), [expected], "{function}");
    }

    // All transactions again, in lists and in blocks, genesis included.
    let path = "/v1/transactions?start=0&limit=100";
    let listed: Vec<Committed> = decode(ok_bcs(&api.client.get_bcs(path).await), path);
    let Transaction::Genesis(Genesis::Direct(WriteSet::V0(genesis), _)) = &listed[0].transaction
    else {
        panic!("version 0 is genesis");
    };
    assert_eq!(genesis.len(), operations(&listed[0]).len());
    assert!(operations(&listed[0]).iter().all(|(_, code)| *code == 0));
    let in_json = ok_json(&api.client.get(path).await);
    for (committed, json) in listed.iter().zip(in_json.as_array().unwrap()) {
        assert_eq!(committed.version.to_string(), json["version"]);
        let deleted = json["changes"].as_array().unwrap().iter();
        let deleted = deleted
            .filter(|change| change["type"].as_str().unwrap().starts_with("delete_"))
            .count();
        let deletions = operations(committed);
        let deletions = deletions.iter().filter(|(_, code)| *code == 2).count();
        assert_eq!(deletions, deleted, "version {}", committed.version);
    }
    for height in [0, 1, 6] {
        let path = format!("/v1/blocks/by_height/{height}?with_transactions=true");
        let block: Block = decode(ok_bcs(&api.client.get_bcs(&path).await), &path);
        let transactions = block.transactions.unwrap();
        assert_eq!(transactions[0].version, block.first_version);
        assert_eq!(transactions.last().unwrap().version, block.last_version);
    }
    api.stop().await;
}

#[actix_web::test]
async fn stored_transactions_have_the_layout_of_recent_ones() {
    let mut api = TestApi::start(Settings::default()).await;
    let committed = api.commit(&Transfer::new(0, 0)).await;
    let recent = operations(&by_hash(&api, &committed).await).len();
    api = api.restarted().await;
    assert_eq!(operations(&by_hash(&api, &committed).await).len(), recent);
    api.stop().await;
}

#[actix_web::test]
async fn a_pending_transaction_follows_its_variant() {
    let api = TestApi::start(Settings::default()).await;
    // A gap in the sequence numbers, so that it waits.
    let signed = Transfer::new(0, 5).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&signed).await.status, 202);
    let path = format!(
        "/v1/transactions/by_hash/{}",
        signed.hash(api.chain.vendor())
    );
    match decode(ok_bcs(&api.client.get_bcs(&path).await), &path) {
        Found::Pending(pending) => assert_eq!(*pending, signed),
        Found::Committed(committed) => panic!("committed at {}", committed.version),
    }
    api.stop().await;
}

#[actix_web::test]
async fn the_values_of_a_view_follow_their_number() {
    let api = TestApi::start(Settings::default()).await;
    let asset = AccountAddress::NATIVE_ASSET.to_string();
    let call = json!({
        "function": "0x1::fungible_asset::name",
        "type_arguments": ["0x1::fungible_asset::Metadata"],
        "arguments": [asset],
    });
    let response = api.client.post_json("/v1/view", &call, BCS).await;
    let (count, name): (u8, String) = decode(ok_bcs(&response), "a name");
    let in_json = api.client.post_json("/v1/view", &call, "*/*").await;
    assert_eq!((count, json!([name])), (1, ok_json(&in_json)));
    api.stop().await;
}

#[actix_web::test]
async fn a_simulation_is_one_transaction_without_a_list() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let mut signed = transfer.sign(&api.chain);
    signed.authenticator = TransactionAuthenticator::Ed25519 {
        public_key: transfer.account().key.public_key(),
        signature: Ed25519Signature([0; 64]),
    };
    let headers = [
        ("content-type", &api.client.signed_transaction_type()[..]),
        ("accept", BCS),
    ];
    let path = "/v1/transactions/simulate";
    let body = bcs::to_bytes(&signed).unwrap();
    let response = api.client.send("POST", path, &headers, Some(&body)).await;
    let simulated: Committed = decode(ok_bcs(&response), path);
    assert!(operations(&simulated).iter().any(|(_, code)| *code == 0));
    assert!(matches!(&simulated.transaction, Transaction::User(user) if **user == signed));
    api.stop().await;
}
