//! Listings of an account's resources.

use crate::kit::{
    RawResponse, Settings, TestApi, Transfer, assert_error, assert_still_commits, ok_bcs, ok_json,
    recipient_store, store_of,
};
use bytes::Bytes;
use ledger_types::{AccountAddress, StateKey, StructTag};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const OWNER: AccountAddress = AccountAddress::from_low_u64(0x0b1ec7);
const CURSOR: &str = "x-node-cursor";

fn tag(name: &str) -> StructTag {
    format!("0x1::made_up::{name}").parse().unwrap()
}

/// Returns a resource of an unknown type, which is shown in hex.
fn resource(name: &str, value: Vec<u8>) -> (StateKey, Bytes) {
    (StateKey::resource(&OWNER, &tag(name)), value.into())
}

/// Returns a resource group of unknown types.
fn group(name: &str, members: &[&str]) -> (StateKey, Bytes) {
    let members = members
        .iter()
        .map(|member| (tag(member), member.as_bytes().to_vec()));
    let members: BTreeMap<_, _> = members.collect();
    let key = StateKey::resource_group(&OWNER, &tag(name));
    (key, bcs::to_bytes(&members).unwrap().into())
}

/// Starts a node with three resources in slots of their own and seven members of two groups.
async fn start() -> TestApi {
    let more_state = vec![
        resource("A", vec![1]),
        resource("B", vec![]),
        resource("C", vec![3; 40]),
        group("Group", &["M1", "M2", "M3", "M4", "M5"]),
        group("Other", &["N1", "N2"]),
        // Values of another account and of a table with the same address as its handle.
        (
            StateKey::resource(&AccountAddress::ONE, &tag("A")),
            vec![9].into(),
        ),
        (StateKey::table_item(&OWNER, &[1]), vec![9].into()),
    ];
    TestApi::start(Settings {
        more_state,
        ..Settings::default()
    })
    .await
}

fn path(address: &AccountAddress, query: &str) -> String {
    format!("/v1/accounts/{address}/resources{query}")
}

fn types(list: &[Value]) -> Vec<String> {
    let mut types: Vec<_> = list
        .iter()
        .map(|one| one["type"].as_str().unwrap().to_owned())
        .collect();
    types.sort();
    types
}

fn array(response: &RawResponse) -> Vec<Value> {
    ok_json(response).as_array().unwrap().clone()
}

/// Returns the entries of a complete page. Asserts that JSON and BCS list the same types.
async fn whole(api: &TestApi, address: &AccountAddress, query: &str) -> Vec<Value> {
    let response = api.client.get(&path(address, query)).await;
    assert!(
        !response.headers.contains_key(CURSOR),
        "the page is complete"
    );
    let in_bcs = api.client.get_bcs(&path(address, query)).await;
    assert!(!in_bcs.headers.contains_key(CURSOR));
    let in_bcs: BTreeMap<StructTag, Bytes> = bcs::from_bytes(ok_bcs(&in_bcs)).unwrap();
    let mut names: Vec<_> = in_bcs.keys().map(ToString::to_string).collect();
    names.sort();
    assert_eq!(
        types(&array(&response)),
        names,
        "both formats list the same"
    );
    array(&response)
}

/// Reads all pages with up to `limit` resources and returns their entries.
async fn paged(api: &TestApi, address: &AccountAddress, limit: usize) -> Vec<Value> {
    let (mut all, mut start) = (Vec::new(), String::new());
    loop {
        let response = api
            .client
            .get(&path(address, &format!("?limit={limit}{start}")))
            .await;
        let page = array(&response);
        all.extend(page.iter().cloned());
        let Some(cursor) = response.headers.get(CURSOR) else {
            assert!(page.len() <= limit, "{page:?}");
            return all;
        };
        assert_eq!(page.len(), limit, "a page that is cut is full");
        start = format!("&start={cursor}");
    }
}

#[actix_web::test]
async fn lists_each_resource_as_it_is_read_alone() {
    let api = start().await;
    api.commit(&Transfer::new(0, 0)).await;
    for address in [AccountAddress::ONE, recipient_store()] {
        let all = whole(&api, &address, "").await;
        assert_eq!(whole(&api, &address, "?limit=65535").await, all);
        assert!(all.len() > 1, "{all:?}");
        let in_bcs = api.client.get_bcs(&path(&address, "")).await;
        let in_bcs: BTreeMap<StructTag, Bytes> = bcs::from_bytes(ok_bcs(&in_bcs)).unwrap();
        for one in &all {
            let tag: StructTag = one["type"].as_str().unwrap().parse().unwrap();
            let name = tag
                .to_string()
                .replace('<', "%3C")
                .replace('>', "%3E")
                .replace(' ', "");
            let alone = format!("/v1/accounts/{address}/resource/{name}");
            assert_eq!(&ok_json(&api.client.get(&alone).await), one);
            assert_eq!(ok_bcs(&api.client.get_bcs(&alone).await), in_bcs[&tag]);
        }
    }
    let sender = Transfer::new(0, 0).sender();
    let names = types(&whole(&api, &sender, "").await);
    assert_eq!(names, ["0x1::account::Account"]);
    let names = types(&whole(&api, &store_of(sender), "").await);
    let expected = [
        "0x1::fungible_asset::FungibleAssetEvents",
        "0x1::fungible_asset::FungibleStore",
        "0x1::object::ObjectCore",
    ];
    assert_eq!(names, expected);
    api.stop().await;
}

#[actix_web::test]
async fn lists_members_of_groups_among_the_resources() {
    let api = start().await;
    let all = whole(&api, &OWNER, "").await;
    let expected = ["A", "B", "C", "M1", "M2", "M3", "M4", "M5", "N1", "N2"];
    assert_eq!(types(&all), expected.map(|name| tag(name).to_string()));
    let of = |name: &str| {
        all.iter()
            .find(|one| one["type"] == tag(name).to_string())
            .unwrap()
    };
    assert_eq!(of("A")["data"], "0x01");
    assert_eq!(of("B")["data"], "0x");
    assert_eq!(of("M5")["data"], "0x4d35");
    for unknown in [
        AccountAddress::from_low_u64(0xdead),
        AccountAddress::new([0xff; 32]),
    ] {
        assert_eq!(whole(&api, &unknown, "").await, Vec::<Value>::new());
        assert_eq!(ok_bcs(&api.client.get_bcs(&path(&unknown, "")).await), [0]);
    }
    api.stop().await;
}

#[actix_web::test]
async fn returns_every_resource_once_in_pages_of_any_length() {
    let api = start().await;
    let all = whole(&api, &OWNER, "").await;
    for limit in 1..=11 {
        assert_eq!(paged(&api, &OWNER, limit).await, all, "pages of {limit}");
    }
    api.stop().await;
}

#[actix_web::test]
async fn accepts_a_cursor_after_commits_and_restarts() {
    let mut api = start().await;
    let store = store_of(Transfer::new(0, 0).sender());
    let all = types(&whole(&api, &store, "").await);
    let (mut listed, mut start, mut sequence_number) = (Vec::new(), String::new(), 0);
    loop {
        let response = api
            .client
            .get(&path(&store, &format!("?limit=1{start}")))
            .await;
        listed.extend(array(&response));
        let Some(cursor) = response.headers.get(CURSOR) else {
            break;
        };
        start = format!("&start={cursor}");
        api.commit(&Transfer::new(0, sequence_number)).await;
        sequence_number += 1;
        api = api.restarted().await;
    }
    assert!(sequence_number > 0);
    assert_eq!(types(&listed), all, "each once");
    api.stop().await;
}

#[actix_web::test]
async fn lists_the_resources_at_a_version() {
    let api = start().await;
    let store = recipient_store();
    let version = |committed: &Value| committed["version"].as_str().unwrap().to_owned();
    let before = version(
        &api.commit(&Transfer {
            to: OWNER,
            ..Transfer::new(0, 0)
        })
        .await,
    );
    let first_deposit = version(&api.commit(&Transfer::new(0, 1)).await);
    let later = version(&api.commit(&Transfer::new(0, 2)).await);
    let at = |version: &str| format!("?ledger_version={version}");
    assert_eq!(whole(&api, &store, &at(&before)).await, Vec::<Value>::new());
    let first = whole(&api, &store, &at(&first_deposit)).await;
    let second = whole(&api, &store, &at(&later)).await;
    assert_eq!(types(&first), types(&second));
    let balance = |list: &[Value]| {
        let mut balances = list.iter().map(|one| one["data"]["balance"].clone());
        balances.find(Value::is_string).unwrap()
    };
    assert_eq!(
        (balance(&first), balance(&second)),
        (json!("7"), json!("14"))
    );
    let above = api.client.get(&path(&store, "?ledger_version=99999")).await;
    assert_error(&above, (404, "version_not_found"), "above the newest");
    api.stop().await;
}

#[actix_web::test]
async fn rejects_malformed_pages_and_cursors() {
    let api = start().await;
    let page = api.client.get(&path(&OWNER, "?limit=1")).await;
    let cursor = &page.headers[CURSOR];
    let syntax = (400, "web_framework_error");
    let other = AccountAddress::ONE;
    for (address, query, expected) in [
        (OWNER, "?limit=0".to_owned(), (400, "invalid_input")),
        (OWNER, "?limit=65536".to_owned(), syntax),
        (OWNER, "?start=zz".to_owned(), syntax),
        (OWNER, "?start=".to_owned(), syntax),
        (OWNER, "?start=00".to_owned(), syntax),
        (OWNER, format!("?start={cursor}00"), syntax),
        (
            OWNER,
            format!("?start={}", "00".repeat(16)),
            (400, "invalid_input"),
        ),
        (other, format!("?start={cursor}"), (400, "invalid_input")),
    ] {
        let path = path(&address, &query);
        assert_error(&api.client.get(&path).await, expected, &path);
    }
    // A cursor to a position without a resource is valid, a shortened one is not.
    let position = &cursor[..32];
    let shortened = api
        .client
        .get(&path(
            &OWNER,
            &format!("?start={}ff", &position[..12].to_owned()),
        ))
        .await;
    assert_error(&shortened, syntax, "a shortened cursor");
    let end = format!("?start={}{}", &position[..12], "f".repeat(20));
    assert_eq!(whole(&api, &OWNER, &end).await, Vec::<Value>::new());
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn ends_a_page_at_8_mib() {
    const MIB: usize = 1024 * 1024;
    let more_state = (0..20)
        .map(|n| resource(&format!("R{n}"), vec![n; MIB]))
        .collect();
    let api = TestApi::start(Settings {
        more_state,
        ..Settings::default()
    })
    .await;
    let (mut all, mut start, mut lengths) = (Vec::new(), String::new(), Vec::new());
    loop {
        let query = format!("?limit=9999{start}");
        let response = api.client.get(&path(&OWNER, &query)).await;
        let in_bcs = api.client.get_bcs(&path(&OWNER, &query)).await;
        assert_eq!(response.headers.get(CURSOR), in_bcs.headers.get(CURSOR));
        let page = array(&response);
        lengths.push(page.len());
        all.extend(
            page.iter()
                .map(|one| one["type"].as_str().unwrap().to_owned()),
        );
        match response.headers.get(CURSOR) {
            Some(cursor) => start = format!("&start={cursor}"),
            None => break,
        }
    }
    assert_eq!(lengths, [8, 8, 4]);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 20);
    api.stop().await;
}
