//! Pages of a listing that are read during commits and pruning: every entry up to the version of
//! the first page is returned once and in order.

mod expected;
mod listings;
mod walk;
mod writer;

use crate::kit::{Client, Settings, TestApi, Transfer, assert_error, ok_json, store_of};
use expected::Ledger;
use fastrand::Rng;
use listings::{of_account, summaries, transaction_indices, transactions, withdrawals};
use serde_json::Value;
use std::collections::BTreeMap;
use walk::{Numbered, generator, newest_version, number, walk_cursors};
use writer::{MIXED, SEQUENTIAL, Writer};

/// Number of times that each listing is read.
const WALKS: usize = 4;
/// Number of versions committed before the first walk, enough for several pages.
const VERSIONS_MIN: u64 = 250;

async fn wait_for_version(client: &Client, version: u64) {
    while newest_version(client).await < version {}
}

#[actix_web::test]
async fn returns_every_entry_of_numbered_listings_during_commits() {
    let api = TestApi::start(Settings::default()).await;
    let mut random = generator(0x9a6e);
    let writer = Writer::start(&api);
    wait_for_version(&api.client, VERSIONS_MIN).await;
    let mut listings = vec![
        transactions(),
        transaction_indices(),
        of_account(MIXED),
        summaries(MIXED),
    ];
    listings.extend(withdrawals(&api.client, MIXED).await);
    let mut walks = Vec::new();
    for round in 0..WALKS {
        for (index, listing) in listings.iter().enumerate() {
            // The first round reads all of the listing, later rounds begin at a random number.
            let from = if round == 0 {
                0
            } else {
                random.u64(..VERSIONS_MIN / 5)
            };
            let walked = listing.walk(&api.client, from, &mut random).await;
            walks.push((index, from, walked));
        }
    }
    writer.stop().await;
    let ledger = Ledger::read(&api.client).await;
    for (index, from, walked) in &walks {
        ledger.check(&listings[*index], *from, walked);
    }
    let longest = walks.iter().map(|(_, _, walked)| walked.all.len()).max();
    assert!(longest > Some(200), "several pages: {longest:?}");
    api.stop().await;
}

/// Reads backwards from a version, because earlier summaries never change.
#[actix_web::test]
async fn returns_every_summary_before_a_version_during_commits() {
    let api = TestApi::start(Settings::default()).await;
    let mut random = generator(0x5e7);
    let writer = Writer::start(&api);
    wait_for_version(&api.client, VERSIONS_MIN).await;
    let path = summaries(MIXED).path;
    let mut walks = Vec::new();
    for _ in 0..WALKS {
        let end = random.u64(..VERSIONS_MIN);
        let (mut back, mut next) = (Vec::new(), Some(end));
        while let Some(end) = next {
            let limit = random.u64(1..=40);
            let page = api
                .client
                .get(&format!("{path}?end_version={end}&limit={limit}"))
                .await;
            let page = ok_json(&page).as_array().unwrap().clone();
            next = page
                .first()
                .and_then(|first| number(first, "version").checked_sub(1));
            back.extend(page.into_iter().rev());
        }
        back.reverse();
        walks.push((end, back));
    }
    writer.stop().await;
    let ledger = Ledger::read(&api.client).await;
    for (end, found) in walks {
        let expected = ledger.expected(&summaries(MIXED), 0).into_iter();
        let expected: Vec<_> = expected
            .filter(|(version, _)| *version <= end)
            .map(|(_, one)| one)
            .collect();
        assert_eq!(found, expected, "until {end}");
    }
    api.stop().await;
}

/// Compares the transactions of a block with the listing that begins at its first version.
#[actix_web::test]
async fn returns_the_transactions_of_a_block_as_the_listing_does() {
    let api = TestApi::start(Settings::default()).await;
    let mut random = generator(0xb10c);
    let writer = Writer::start(&api);
    wait_for_version(&api.client, VERSIONS_MIN).await;
    let height = number(&ok_json(&api.client.get("/v1").await), "block_height");
    let mut end = 0;
    for _ in 0..WALKS * 4 {
        let path = format!(
            "/v1/blocks/by_height/{}?with_transactions=true",
            random.u64(..height)
        );
        let block = ok_json(&api.client.get(&path).await);
        let (first, last) = (
            number(&block, "first_version"),
            number(&block, "last_version"),
        );
        let path = format!("/v1/transactions?start={first}&limit={}", last - first + 1);
        assert_eq!(
            block["transactions"],
            ok_json(&api.client.get(&path).await),
            "{path}"
        );
        end = end.max(last);
    }
    assert!(end > 0);
    writer.stop().await;
    api.stop().await;
}

/// Reads resources and modules at one version, and without a version while the account changes.
#[actix_web::test]
async fn returns_every_entry_of_cursor_listings_during_commits() {
    let api = TestApi::start(Settings::default()).await;
    let mut random = generator(0xc0de);
    let store = store_of(Transfer::new(MIXED, 0).sender());
    let writer = Writer::start(&api);
    wait_for_version(&api.client, VERSIONS_MIN).await;
    for _ in 0..WALKS {
        let at = random.u64(..newest_version(&api.client).await);
        for path in [
            format!("/v1/accounts/{store}/resources"),
            "/v1/accounts/0x1/resources".to_owned(),
            "/v1/accounts/0x1/modules".to_owned(),
        ] {
            let pinned = format!("{path}?ledger_version={at}");
            let paged = walk_cursors(&api.client, &pinned, &mut random, 5).await;
            assert_eq!(
                Value::Array(paged.unwrap()),
                ok_json(&api.client.get(&pinned).await)
            );
            // Without a version, each page belongs to another version.
            let paged = walk_cursors(&api.client, &format!("{path}?"), &mut random, 5).await;
            let whole = ok_json(&api.client.get(&path).await);
            assert_eq!(
                names(&paged.unwrap()),
                names(whole.as_array().unwrap()),
                "{path}"
            );
        }
    }
    writer.stop().await;
    api.stop().await;
}

/// Returns the types of resources or the names of modules, in their order.
fn names(list: &[Value]) -> Vec<&Value> {
    let is_resource = |one: &Value| one.get("type").is_some();
    list.iter()
        .map(|one| {
            if is_resource(one) {
                &one["type"]
            } else {
                &one["abi"]["name"]
            }
        })
        .collect()
}

/// Reads pages while a narrow window moves: a page has no gap, or its response is 410.
#[actix_web::test]
async fn returns_complete_pages_or_410_during_pruning() {
    const WINDOW: u64 = 150;
    let api = TestApi::start(Settings::with_window(WINDOW)).await;
    let mut random = generator(0x9120);
    let writer = Writer::start(&api);
    wait_for_version(&api.client, VERSIONS_MIN + WINDOW).await;
    let mut listings = vec![
        transactions(),
        transaction_indices(),
        of_account(SEQUENTIAL),
        summaries(SEQUENTIAL),
    ];
    listings.extend(withdrawals(&api.client, SEQUENTIAL).await);
    let mut outcomes = BTreeMap::new();
    for _ in 0..WALKS * 4 {
        for listing in &listings {
            let from = around_the_oldest(&api.client, listing, &mut random).await;
            let walked = listing.walk(&api.client, from, &mut random).await;
            assert_no_gap(listing, from, &walked.all);
            *outcomes
                .entry((&listing.path, walked.is_pruned))
                .or_insert(0) += 1;
        }
        check_cursors(&api.client, &mut random).await;
        check_block(&api.client, &mut random).await;
    }
    for listing in &listings {
        let path = format!("{}?{}=0", listing.path, listing.start);
        assert_eq!(api.client.get(&path).await.status, 410, "{path}");
        assert!(
            outcomes.contains_key(&(&listing.path, false)),
            "{path}: never complete; number of walks (by path, by 410): {outcomes:?}"
        );
    }
    writer.stop().await;
    api.stop().await;
}

/// Returns a random number near the first one that is not pruned, on either side of it.
async fn around_the_oldest(client: &Client, listing: &Numbered, random: &mut Rng) -> u64 {
    let Some(member) = listing.number else {
        let (oldest, newest) = window(client).await;
        return newest.saturating_sub(random.u64(..2 * (newest - oldest)));
    };
    let newest = ok_json(&client.get(&format!("{}?limit=100", listing.path)).await);
    let newest = newest.as_array().unwrap();
    let (first, last) = (
        number(&newest[0], member),
        number(&newest[newest.len() - 1], member),
    );
    last.saturating_sub(random.u64(..2 * (last - first)))
}

/// Asserts that the entries are consecutive.
fn assert_no_gap(listing: &Numbered, from: u64, all: &[Value]) {
    let case = format!("{} from {from}", listing.path);
    let numbers: Vec<u64> = match listing.number {
        Some("version") if listing.path.ends_with("transaction_summaries") => all
            .iter()
            .map(|one| number(&one["replay_protector"], "sequence_number"))
            .collect(),
        Some(member) => {
            let numbers: Vec<_> = all.iter().map(|one| number(one, member)).collect();
            assert!(
                numbers.first().is_none_or(|first| *first == from),
                "{case}: {numbers:?}"
            );
            numbers
        }
        None => {
            let transaction_indices: Vec<_> = all
                .iter()
                .map(|one| one["transaction_index"].as_u64().unwrap())
                .collect();
            let is_next = |two: &[u64]| two[1] == 0 || two[1] == two[0] + 1;
            return assert!(
                transaction_indices.windows(2).all(is_next),
                "{case}: {transaction_indices:?}"
            );
        }
    };
    assert!(
        numbers.windows(2).all(|two| two[1] == two[0] + 1),
        "{case}: {numbers:?}"
    );
}

/// Reads resources at a random version of the window: the response has all of them or is 410.
async fn check_cursors(client: &Client, random: &mut Rng) {
    let (oldest, newest) = window(client).await;
    let at = random.u64(oldest..newest);
    let store = store_of(Transfer::new(SEQUENTIAL, 0).sender());
    let path = format!("/v1/accounts/{store}/resources");
    let pinned = format!("{path}?ledger_version={at}");
    if let Some(paged) = walk_cursors(client, &pinned, random, 3).await {
        let whole = ok_json(&client.get(&path).await);
        assert_eq!(names(&paged), names(whole.as_array().unwrap()), "{pinned}");
    }
}

/// Reads a random block near the lower end of the window: the response is complete or 410.
async fn check_block(client: &Client, random: &mut Rng) {
    let (oldest, _) = window(client).await;
    let path = format!(
        "/v1/blocks/by_version/{}?with_transactions=true",
        random.u64(oldest..oldest + 40)
    );
    let block = client.get(&path).await;
    if block.status == 410 {
        return assert_error(&block, (410, "version_pruned"), &path);
    }
    let block = ok_json(&block);
    let versions: Vec<_> = block["transactions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| number(one, "version"))
        .collect();
    let expected = number(&block, "first_version")..=number(&block, "last_version");
    assert_eq!(versions, expected.collect::<Vec<_>>(), "{path}");
}

/// Returns the oldest and the newest version.
async fn window(client: &Client) -> (u64, u64) {
    let ledger = ok_json(&client.get("/v1").await);
    (
        number(&ledger, "oldest_ledger_version"),
        number(&ledger, "ledger_version"),
    )
}
