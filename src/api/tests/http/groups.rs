//! Members of the object resource group, which share one slot of the state.

use crate::kit::{Settings, TestApi, assert_error, ok_bcs, ok_json};
use bytes::Bytes;
use ledger_execution::{build_chain, development_genesis};
use ledger_framework::modules::object::ObjectCore;
use ledger_types::{AccountAddress, Parameters, StateKey, StructTag, Vendor};
use ledger_vm::{Chain, EventHandle};
use serde_json::json;
use std::collections::BTreeMap;

const OBJECT: AccountAddress = AccountAddress::from_low_u64(0x0b1ec7);
const GROUP: &str = "0x1::object::ObjectGroup";
const CORE: &str = "0x1::object::ObjectCore";

fn core() -> ObjectCore {
    ObjectCore {
        guid_creation_num: 5,
        owner: AccountAddress::ONE,
        allow_ungated_transfer: true,
        transfer_events: EventHandle::new(OBJECT, 4),
    }
}

/// Returns the slot of an object with two members, one of a type that the framework lacks.
fn slot() -> (StateKey, Bytes) {
    let members: BTreeMap<StructTag, Vec<u8>> = BTreeMap::from([
        (CORE.parse().unwrap(), bcs::to_bytes(&core()).unwrap()),
        ("0x1::object::Unknown".parse().unwrap(), vec![7]),
    ]);
    let key = StateKey::resource_group(&OBJECT, &GROUP.parse().unwrap());
    (key, bcs::to_bytes(&members).unwrap().into())
}

#[test]
fn names_the_group_of_a_declared_resource() {
    let genesis = development_genesis(4, Vendor::default(), Parameters::default());
    let chain: Chain = build_chain(&genesis).unwrap();
    let group = chain.registry().group_of(&CORE.parse().unwrap());
    assert_eq!(group, Some(GROUP.parse().unwrap()));
}

#[actix_web::test]
async fn reads_a_member_like_any_resource() {
    let settings = Settings {
        more_state: vec![slot()],
        ..Settings::default()
    };
    let api = TestApi::start(settings).await;
    let path = format!("/v1/accounts/{OBJECT}/resource/{CORE}");
    let resource = ok_json(&api.client.get(&path).await);
    assert_eq!(resource["type"], CORE);
    assert_eq!(resource["data"]["owner"], "0x1");
    assert_eq!(resource["data"]["guid_creation_num"], "5");
    let stored = api.client.get_bcs(&path).await;
    assert_eq!(ok_bcs(&stored), bcs::to_bytes(&core()).unwrap());

    let events = format!("/v1/accounts/{OBJECT}/events/{CORE}/transfer_events");
    assert_eq!(ok_json(&api.client.get(&events).await), json!([]));

    for missing in [
        format!("/v1/accounts/0xdead/resource/{CORE}"),
        format!("/v1/accounts/{OBJECT}/resource/0x1::object::TombStone"),
        format!("/v1/accounts/{OBJECT}/resource/{GROUP}"),
    ] {
        assert_error(
            &api.client.get(&missing).await,
            (404, "resource_not_found"),
            &missing,
        );
    }
    api.stop().await;
}

#[actix_web::test]
async fn shows_each_member_in_a_change_of_a_group() {
    let (key, value) = slot();
    let settings = Settings {
        more_state: vec![(key.clone(), value)],
        ..Settings::default()
    };
    let api = TestApi::start(settings).await;
    let genesis = ok_json(&api.client.get("/v1/transactions/by_version/0").await);
    let hash = key.hash(api.chain.vendor()).to_string();
    let changes: Vec<_> = genesis["changes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|change| change["state_key_hash"] == hash)
        .collect();
    assert_eq!(changes.len(), 2, "{changes:?}");
    let types = ["0x1::object::ObjectCore", "0x1::object::Unknown"];
    for (change, expected) in changes.iter().zip(types) {
        assert_eq!(change["type"], "write_resource");
        assert_eq!(change["address"], OBJECT.to_string());
        assert_eq!(change["data"]["type"], expected);
    }
    assert_eq!(changes[1]["data"]["data"], "0x07");
    api.stop().await;
}
