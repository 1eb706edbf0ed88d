//! Listings of committed transactions: of the ledger, and of an account by sequence number.

use crate::kit::{
    RawResponse, Settings, TestApi, Transfer, assert_error, assert_still_commits, ledger_headers,
    number, ok_bcs, ok_json,
};
use actix_web::rt;
use bytes::Bytes;
use ledger_types::{AccountAddress, StateKey};
use serde_json::Value;
use std::ops::Range;

/// Returns the transactions of a range of versions, read one by one.
async fn one_by_one(api: &TestApi, versions: Range<u64>) -> Vec<Value> {
    let mut all = Vec::new();
    for version in versions {
        let path = format!("/v1/transactions/by_version/{version}");
        all.push(ok_json(&api.client.get(&path).await));
    }
    all
}

/// Returns the same as [`one_by_one`] as a BCS vector, without the variant of each response.
async fn one_by_one_in_bcs(api: &TestApi, versions: Range<u64>) -> Vec<u8> {
    let mut all = vec![u8::try_from(versions.end - versions.start).unwrap()];
    for version in versions {
        let path = format!("/v1/transactions/by_version/{version}");
        all.extend(&ok_bcs(&api.client.get_bcs(&path).await)[1..]);
    }
    all
}

fn array(response: &RawResponse) -> Vec<Value> {
    assert!(
        !response.headers.contains_key("x-node-cursor"),
        "never a cursor"
    );
    ok_json(response).as_array().unwrap().clone()
}

#[actix_web::test]
async fn lists_the_ledger_by_version() {
    let api = TestApi::start(Settings::default()).await;
    for number in 0..10 {
        api.commit(&Transfer::new(0, number)).await;
    }
    let all = one_by_one(&api, 0..31).await;
    let list = |query: &str| {
        let (client, path) = (api.client.clone(), format!("/v1/transactions{query}"));
        async move { array(&client.get(&path).await) }
    };
    assert_eq!(list("").await, all[6..], "the newest 25");
    assert_eq!(list("?limit=4").await, all[27..]);
    assert_eq!(list("?limit=65535").await, all, "fewer than the maximum");
    assert_eq!(list("?start=0").await, all[..25]);
    assert_eq!(list("?start=2&limit=5").await, all[2..7]);
    assert_eq!(
        list("?start=30&limit=5").await,
        all[30..],
        "the end of the ledger"
    );
    for (query, versions) in [
        ("?start=0&limit=3", 0..3),
        ("?start=29", 29..31),
        ("", 6..31),
    ] {
        let in_bcs = api
            .client
            .get_bcs(&format!("/v1/transactions{query}"))
            .await;
        let expected = one_by_one_in_bcs(&api, versions).await;
        assert!(ok_bcs(&in_bcs) == expected, "{query}");
        assert!(!in_bcs.headers.contains_key("x-node-cursor"));
    }
    let beyond = api.client.get("/v1/transactions?start=31").await;
    assert_error(&beyond, (400, "invalid_input"), "beyond the end");
    assert_eq!(
        beyond.json()["message"],
        "Given start value (31) is higher than the current ledger version, it must be < 31"
    );
    assert_eq!(
        ledger_headers(&beyond, "node")[1],
        30,
        "decided at this version"
    );
    api.stop().await;
}

#[actix_web::test]
async fn lists_an_account_by_sequence_number() {
    let api = TestApi::start(Settings::default()).await;
    let mut all = Vec::new();
    for number in 0..30 {
        all.push(api.commit(&Transfer::new(0, number)).await);
        if number % 7 == 0 {
            api.commit(&Transfer::new(1, number / 7)).await;
        }
    }
    let account = |name: String, query: &str| {
        let (client, path) = (
            api.client.clone(),
            format!("/v1/accounts/{name}/transactions{query}"),
        );
        async move { array(&client.get(&path).await) }
    };
    let sender = Transfer::new(0, 0).sender();
    let list = |query: &str| account(sender.to_long_hex()[2..].to_owned(), query);
    assert_eq!(list("").await, all[5..], "the newest 25");
    assert_eq!(list("?limit=65535").await, all);
    assert_eq!(list("?limit=2").await, all[28..]);
    assert_eq!(list("?start=0&limit=3").await, all[..3]);
    assert_eq!(list("?start=4").await, all[4..29]);
    assert_eq!(list("?start=29&limit=9").await, all[29..]);
    for query in ["?start=30", "?start=18446744073709551615"] {
        assert_eq!(list(query).await, Vec::<Value>::new(), "{query}");
    }
    for query in ["", "?start=0", "?start=9"] {
        let unknown = account("0xdead".to_owned(), query).await;
        assert_eq!(unknown, Vec::<Value>::new());
    }
    let path = format!("/v1/accounts/{sender}/transactions?start=3&limit=1");
    let in_bcs = api.client.get_bcs(&path).await;
    let version = number(&all[3]["version"]);
    let expected = one_by_one_in_bcs(&api, version..version + 1).await;
    assert!(ok_bcs(&in_bcs) == expected);
    api.stop().await;
}

#[actix_web::test]
async fn rejects_malformed_pages() {
    let api = TestApi::start(Settings::default()).await;
    for path in ["/v1/transactions", "/v1/accounts/0x1/transactions"] {
        for (query, expected) in [
            ("limit=0", (400, "invalid_input")),
            ("limit=65536", (400, "web_framework_error")),
            ("limit=x", (400, "web_framework_error")),
            ("start=-1", (400, "web_framework_error")),
            ("start=18446744073709551616", (400, "web_framework_error")),
        ] {
            let path = format!("{path}?{query}");
            assert_error(&api.client.get(&path).await, expected, &path);
        }
    }
    let newest = api
        .client
        .get("/v1/transactions?start=18446744073709551615")
        .await;
    assert_error(&newest, (400, "invalid_input"), "the greatest start");
    let unknown = api.client.get("/v1/accounts/0xg/transactions").await;
    assert_error(&unknown, (400, "web_framework_error"), "not an address");
    assert_still_commits(&api).await;
    api.stop().await;
}

/// Reads pages without a gap or a repetition while blocks are committed. Each page belongs to the
/// version of its headers.
#[actix_web::test]
async fn returns_consistent_pages_during_commits() {
    const TRANSFERS: u64 = 60;
    let api = TestApi::start(Settings::default()).await;
    let (client, chain) = (api.client.clone(), api.chain.clone());
    let writer = rt::spawn(async move {
        for number in 0..TRANSFERS {
            let signed = Transfer::new(0, number).sign(&chain);
            assert_eq!(client.submit_bcs(&signed).await.status, 202);
            client.wait(&signed.hash(chain.vendor())).await;
        }
    });
    let mut all: Vec<Value> = Vec::new();
    loop {
        let is_over = writer.is_finished();
        let newest = api.client.get("/v1/transactions?limit=3").await;
        let last = array(&newest).pop().unwrap();
        assert_eq!(number(&last["version"]), ledger_headers(&newest, "node")[1]);

        let page = format!("/v1/transactions?start={}&limit=7", all.len());
        let page = api.client.get(&page).await;
        if page.status == 400 {
            assert_eq!(ledger_headers(&page, "node")[1] + 1, all.len() as u64);
            if is_over {
                break;
            }
            continue;
        }
        let newest = ledger_headers(&page, "node")[1];
        let page = array(&page);
        assert!(
            page.iter()
                .all(|transaction| number(&transaction["version"]) <= newest)
        );
        assert!(page.len() == 7 || all.len() + page.len() == newest as usize + 1);
        all.extend(page);
    }
    writer.await.unwrap();
    let versions: Vec<_> = all
        .iter()
        .map(|transaction| number(&transaction["version"]))
        .collect();
    assert_eq!(versions, (0..all.len() as u64).collect::<Vec<_>>());
    let transfers = all
        .iter()
        .filter(|transaction| transaction["type"] == "user_transaction")
        .count();
    assert_eq!(transfers as u64, TRANSFERS);
    api.stop().await;
}

/// Includes a genesis of 8 MiB, because a page is short only at the end of the list.
#[actix_web::test]
async fn returns_a_page_with_a_large_genesis_whole() {
    let item = |key: u8| {
        let table = AccountAddress::from_low_u64(0x7ab1e);
        (
            StateKey::table_item(&table, &[key]),
            Bytes::from(vec![7; 1024 * 1024]),
        )
    };
    let api = TestApi::start(Settings {
        more_state: (0..8).map(item).collect(),
        ..Settings::default()
    })
    .await;
    api.commit(&Transfer::new(0, 0)).await;
    for path in ["/v1/transactions?start=0", "/v1/transactions"] {
        let page = array(&api.client.get(path).await);
        let types: Vec<_> = page
            .iter()
            .map(|transaction| &transaction["type"])
            .collect();
        let expected = [
            "genesis_transaction",
            "block_metadata_transaction",
            "user_transaction",
            "block_epilogue_transaction",
        ];
        assert_eq!(types, expected, "{path}");
    }
    api.stop().await;
}
