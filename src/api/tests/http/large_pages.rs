//! Pages that are made in parts, because their content is large.

use crate::kit::{
    RawResponse, Settings, TestApi, Transfer, assert_error, assert_still_commits, ok_bcs, ok_json,
    unrelated_clients,
};
use actix_web::{
    App, rt,
    test::{TestRequest, call_service, init_service},
};
use bytes::Bytes;
use futures::{
    StreamExt as _,
    future::{Either, join_all, ready, select},
    stream::FuturesUnordered,
};
use ledger_api::configure;
use ledger_test_support::function_call;
use ledger_types::{
    AccountAddress, ContractEvent, EventKey, SignedTransaction, StateKey, StructTag,
};
use serde_json::Value;
use std::{cell::Cell, collections::BTreeMap, rc::Rc};

/// Size of the argument of a large transaction, in bytes. Its JSON has two characters for each.
const ARGUMENT_BYTES: usize = 60_000;
/// Number of large transactions, as many as a page may have.
const LARGE: u64 = 100;

/// Returns a transaction of nearly the largest size. Its call fails, but it is committed.
fn large(api: &TestApi, sequence_number: u64) -> SignedTransaction {
    let account = Transfer::new(0, 0).account();
    let argument = vec![sequence_number as u8; ARGUMENT_BYTES];
    let call = function_call("0x1::coin::transfer", &[], vec![argument]);
    account.call(&api.chain, sequence_number, call)
}

/// Commits the large transactions, as many in a block as fit: they wait for the first one.
async fn commit_large(api: &TestApi) {
    for sequence_number in (1..LARGE).chain([0]) {
        let accepted = api.client.submit_bcs(&large(api, sequence_number)).await;
        assert_eq!(accepted.status, 202, "{}", accepted.text());
    }
    let last = large(api, LARGE - 1).hash(api.chain.vendor());
    api.client.wait(&last).await;
}

/// Returns the JSON and the BCS of a list of the transactions of these versions, composed of the
/// responses to single reads.
async fn composed(api: &TestApi, versions: &[u64]) -> (Vec<u8>, Vec<u8>) {
    let (mut json, mut in_bcs) = (b"[".to_vec(), vec![u8::try_from(versions.len()).unwrap()]);
    for version in versions {
        let path = format!("/v1/transactions/by_version/{version}");
        if json.len() > 1 {
            json.push(b',');
        }
        json.extend(&api.client.get(&path).await.body);
        // Without the variant of a committed transaction.
        in_bcs.extend(&ok_bcs(&api.client.get_bcs(&path).await)[1..]);
    }
    json.push(b']');
    (json, in_bcs)
}

fn versions(page: &RawResponse) -> Vec<u64> {
    let all = ok_json(page).as_array().unwrap().clone();
    let version = |item: &Value| item["version"].as_str().unwrap().parse().unwrap();
    all.iter().map(version).collect()
}

/// Compares a list with single reads, in both formats.
async fn check(api: &TestApi, path: &str, expected_count: usize) {
    let page = api.client.get(path).await;
    let versions = versions(&page);
    assert_eq!(versions.len(), expected_count, "{path}");
    let (json, in_bcs) = composed(api, &versions).await;
    assert!(page.body == json, "{path} in JSON");
    assert!(
        ok_bcs(&api.client.get_bcs(path).await) == in_bcs,
        "{path} in BCS"
    );
}

#[actix_web::test]
async fn returns_pages_of_large_transactions_whole_and_as_single_reads_do() {
    let api = TestApi::start(Settings::default()).await;
    commit_large(&api).await;
    let account = Transfer::new(0, 0).sender();
    for (path, count) in [
        (
            format!("/v1/accounts/{account}/transactions?limit=100"),
            100,
        ),
        (
            format!("/v1/accounts/{account}/transactions?start=3&limit=60"),
            60,
        ),
        ("/v1/transactions?start=0&limit=100".to_owned(), 100),
        ("/v1/transactions?start=2&limit=9".to_owned(), 9),
        ("/v1/transactions?limit=100".to_owned(), 100),
        ("/v1/transactions".to_owned(), 25),
    ] {
        check(&api, &path, count).await;
    }
    let page = format!("/v1/accounts/{account}/transactions?start=0&limit=100");
    let plain = api.client.get(&page).await;
    assert!(plain.body.len() > 100 * 2 * ARGUMENT_BYTES);
    let coded = [("accept-encoding", "zstd")];
    let coded = api.client.send("GET", &page, &coded, None).await;
    assert_eq!(coded.headers["content-encoding"], "zstd");
    assert!(zstd::decode_all(&coded.body[..]).unwrap() == plain.body);
    api.stop().await;
}

#[actix_web::test]
async fn returns_the_large_transactions_of_a_block_as_single_reads_do() {
    let mut settings = Settings::default();
    // One block takes all transactions, however long they are estimated to take.
    settings.node.sequencer.block_time_max_ms = 600_000;
    let api = TestApi::start(settings).await;
    commit_large(&api).await;
    let newest = ok_json(&api.client.get("/v1").await);
    let height: u64 = newest["block_height"].as_str().unwrap().parse().unwrap();
    let mut largest = 0;
    for height in 1..=height {
        let path = format!("/v1/blocks/by_height/{height}");
        let bare = api.client.get(&path).await;
        let number = |name: &str| -> u64 { bare.json()[name].as_str().unwrap().parse().unwrap() };
        let versions: Vec<_> = (number("first_version")..=number("last_version")).collect();
        let with_transactions = format!("{path}?with_transactions=true");
        let block = api.client.get(&with_transactions).await;
        ok_json(&block);
        largest = largest.max(block.body.len());
        let (json, in_bcs) = composed(&api, &versions).await;
        let without_end = bare.body.strip_suffix(b"}").unwrap();
        let expected = [without_end, br#","transactions":"#, &json, b"}"].concat();
        assert!(block.body == expected, "block {height} in JSON");
        let bare = api.client.get_bcs(&path).await;
        let without_option = bare.body.strip_suffix(&[0]).unwrap();
        let expected = [without_option, &[1], &in_bcs].concat();
        let block = api.client.get_bcs(&with_transactions).await;
        assert!(block.body == expected, "block {height} in BCS");
    }
    assert!(largest > 1 << 20, "a block has several parts: {largest}");
    api.stop().await;
}

#[actix_web::test]
async fn rejects_a_page_that_never_fits_with_the_limit_that_fits() {
    let mut settings = Settings::default();
    // A quarter holds eight of the transactions and not nine.
    settings.api.answers_bytes_max = 4 << 20;
    let api = TestApi::start(settings).await;
    commit_large(&api).await;
    let account = Transfer::new(0, 0).sender();
    for start in ["", "start=5&"] {
        let path = |limit| format!("/v1/accounts/{account}/transactions?{start}limit={limit}");
        for limit in [9, 60, 100] {
            let rejected = api.client.get(&path(limit)).await;
            assert_error(&rejected, (400, "invalid_input"), &path(limit));
            let message = rejected.json()["message"].as_str().unwrap().to_owned();
            assert!(message.contains("limit=8,"), "{message}");
        }
        check(&api, &path(8), 8).await;
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn returns_single_transactions_above_the_maximum_size_of_a_page() {
    let mut settings = Settings::default();
    settings.api.answers_bytes_max = 150 * 1024;
    let api = TestApi::start(settings).await;
    let committed = api.commit_signed(&large(&api, 0)).await;
    let version = committed["version"].as_str().unwrap();
    let path = |limit| format!("/v1/transactions?start={version}&limit={limit}");
    check(&api, &path(1), 1).await;
    let rejected = api.client.get(&path(2)).await;
    assert_error(&rejected, (400, "invalid_input"), "two");
    api.stop().await;
}

/// Samples the leased memory while more pages are requested than fit.
#[actix_web::test]
async fn holds_the_memory_of_concurrent_pages_within_the_budget() {
    const BUDGET_BYTES: usize = 32 << 20;
    const REQUESTS: u64 = 40;
    let mut settings = Settings::default();
    settings.api.answers_bytes_max = BUDGET_BYTES;
    let api = TestApi::start(settings).await;
    commit_large(&api).await;
    let account = Transfer::new(0, 0).sender();
    let (state, is_over) = (api.state.clone(), Rc::new(Cell::new(false)));
    let sampler = rt::spawn({
        let is_over = Rc::clone(&is_over);
        async move {
            let mut highest = 0;
            while !is_over.get() {
                highest = highest.max(state.answers_bytes());
                rt::task::yield_now().await;
            }
            highest
        }
    });
    let pages = (0..REQUESTS).map(|number| {
        let limit = 50 + number % 10;
        let path = format!("/v1/accounts/{account}/transactions?start=0&limit={limit}");
        let client = api.client.clone();
        async move { (limit, client.get(&path).await) }
    });
    let mut whole = 0;
    for (limit, page) in join_all(pages).await {
        match page.status {
            200 => {
                whole += 1;
                assert_eq!(versions(&page).len() as u64, limit);
            }
            503 => {
                let retry_after = &page.headers["retry-after"];
                assert!(
                    (1..=60).contains(&retry_after.parse::<u64>().unwrap()),
                    "{retry_after}"
                );
            }
            other => panic!("{other}: {}", page.text()),
        }
    }
    is_over.set(true);
    let highest = sampler.await.unwrap();
    assert!(whole > 0, "some pages fit");
    assert!(highest > ARGUMENT_BYTES, "samples see the pages: {highest}");
    assert!(highest <= BUDGET_BYTES, "{highest} bytes are leased");
    // The last response is released once its connection has taken it.
    while api.state.answers_bytes() > 0 {
        rt::task::yield_now().await;
    }
    api.stop().await;
}

#[actix_web::test]
async fn pages_that_a_client_does_not_read_delay_no_other_client() {
    const PAGES: usize = 8;
    let mut settings = Settings::default();
    settings.api.answers_bytes_max = 64 << 20;
    let api = TestApi::start(settings).await;
    commit_large(&api).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let account = Transfer::new(0, 0).sender();
    let page = |client, limit| {
        let path = format!("/v1/accounts/{account}/transactions?start=0&limit={limit}");
        let request = TestRequest::get().uri(&path).peer_addr(client);
        call_service(&app, request.to_request())
    };
    let [greedy, other] = unrelated_clients(&api.state, 2)[..] else {
        panic!("there are two")
    };
    let mut pages: FuturesUnordered<_> = (0..PAGES).map(|_| page(greedy, 60)).collect();
    let mut unread: Vec<_> = pages.by_ref().take(4).collect().await;
    let hold = pages.by_ref().for_each(|page| {
        unread.push(page);
        ready(())
    });
    let of_other = match select(Box::pin(page(other, 20)), Box::pin(hold)).await {
        Either::Left((of_other, _)) => of_other,
        Either::Right(((), of_other)) => of_other.await,
    };
    assert_eq!(of_other.status(), 200);
    drop((of_other, unread));
    // Those that wait are completed, one after the other.
    while let Some(page) = pages.next().await {
        assert!([200, 503].contains(&page.status().as_u16()));
    }
    assert_eq!(page(greedy, 60).await.status(), 200);
    drop(pages);
    api.stop().await;
}

#[actix_web::test]
async fn page_that_waits_too_long_for_memory_is_503() {
    let mut settings = Settings::default();
    settings.api.answers_bytes_max = 32 << 20;
    let api = TestApi::start(settings).await;
    commit_large(&api).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let account = Transfer::new(0, 0).sender();
    let page = || {
        let path = format!("/v1/accounts/{account}/transactions?start=0&limit=66");
        let request = TestRequest::get().uri(&path);
        call_service(&app, request.to_request())
    };
    // Unread pages hold the memory, so the timers of the last one expire one after the other.
    let mut unread = vec![page().await, page().await];
    assert!(unread.iter().all(|page| page.status() == 200));
    tokio::time::pause();
    let late = page().await;
    assert_eq!(late.status(), 503);
    assert_eq!(late.headers().get("retry-after").unwrap(), "30");
    tokio::time::resume();
    unread.clear();
    assert_eq!(page().await.status(), 200);
    api.stop().await;
}

#[actix_web::test]
async fn returns_pages_of_large_events_whole_and_in_order() {
    const EVENTS: u64 = 40;
    let key = EventKey {
        creation_number: 7,
        account_address: AccountAddress::from_low_u64(0xe7e7),
    };
    let data = |number: u64| bcs::to_bytes(&vec![number as u8; 20_000]).unwrap();
    let event = |number| ContractEvent::V1 {
        key,
        sequence_number: number,
        type_tag: "vector<u8>".parse().unwrap(),
        data: data(number).into(),
    };
    let api = TestApi::start(Settings {
        more_events: (0..EVENTS).map(event).collect(),
        ..Settings::default()
    })
    .await;
    let stream = format!("/v1/accounts/{}/events/7", key.account_address);
    for (query, numbers) in [
        ("?start=0&limit=100", 0..40),
        ("?limit=100", 0..40),
        ("", 15..40),
        ("?start=11&limit=13", 11..24),
        ("?limit=13", 27..40),
    ] {
        let path = format!("{stream}{query}");
        let page = ok_json(&api.client.get(&path).await);
        let found: Vec<_> = page.as_array().unwrap().iter().collect();
        assert_eq!(found.len() as u64, numbers.end - numbers.start, "{path}");
        for (event, number) in found.iter().zip(numbers.clone()) {
            assert_eq!(event["sequence_number"], number.to_string());
            let text = format!("0x{}", hex::encode(vec![number as u8; 20_000]));
            assert!(event["data"] == text[..], "{path}: {number}");
        }
        let in_bcs = api.client.get_bcs(&path).await;
        let found: Vec<(u64, ContractEvent)> = bcs::from_bytes(ok_bcs(&in_bcs)).unwrap();
        let expected: Vec<_> = numbers.map(|number| (0, event(number))).collect();
        assert!(found == expected, "{path} in BCS");
    }
    api.stop().await;
}

#[actix_web::test]
async fn returns_a_page_of_large_resources_as_single_reads_do() {
    const RESOURCES: usize = 60;
    const OWNER: AccountAddress = AccountAddress::from_low_u64(0x0b1ec7);
    let tag = |number: usize| format!("0x1::made_up::R{number}");
    let value = |number: usize| Bytes::from(vec![number as u8; 50_000]);
    let resource = |number| {
        let tag = tag(number).parse().unwrap();
        (StateKey::resource(&OWNER, &tag), value(number))
    };
    let api = TestApi::start(Settings {
        more_state: (0..RESOURCES).map(resource).collect(),
        ..Settings::default()
    })
    .await;
    let path = format!("/v1/accounts/{OWNER}/resources");
    let page = api.client.get(&path).await;
    assert!(!page.headers.contains_key("x-node-cursor"));
    let listed = ok_json(&page).as_array().unwrap().clone();
    assert_eq!(listed.len(), RESOURCES);
    let mut expected = b"[".to_vec();
    for resource in &listed {
        let tag = resource["type"].as_str().unwrap();
        let path = format!("/v1/accounts/{OWNER}/resource/{tag}");
        if expected.len() > 1 {
            expected.push(b',');
        }
        expected.extend(&api.client.get(&path).await.body);
    }
    expected.push(b']');
    assert!(page.body == expected);

    // Pages with a cursor have the same resources in the same order.
    let (mut walked, mut start) = (Vec::new(), String::new());
    loop {
        let page = api.client.get(&format!("{path}?limit=17{start}")).await;
        walked.extend(ok_json(&page).as_array().unwrap().clone());
        match page.headers.get("x-node-cursor") {
            Some(cursor) => start = format!("&start={cursor}"),
            None => break,
        }
    }
    assert!(walked == listed);
    let in_bcs = api.client.get_bcs(&path).await;
    let map: BTreeMap<StructTag, Vec<u8>> = bcs::from_bytes(ok_bcs(&in_bcs)).unwrap();
    assert!(
        (0..RESOURCES).all(|number| map[&tag(number).parse().unwrap()] == value(number)),
        "the values in BCS"
    );
    api.stop().await;
}
