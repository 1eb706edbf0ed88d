//! Summaries of an account's transactions.

use crate::kit::{
    Settings, TestApi, Transfer, assert_error, assert_still_commits, ledger_headers, ok_bcs,
    ok_json,
};
use actix_web::rt;
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, ReplayProtector, SignedTransaction};
use serde::Deserialize;
use serde_json::{Value, json};

/// A transaction summary in BCS (docs/reference/reference-node.md#r25).
#[derive(Deserialize)]
enum IndexedSummary {
    V1 {
        sender: AccountAddress,
        version: u64,
        hash: HashValue,
        replay_protector: ReplayProtector,
    },
}

impl IndexedSummary {
    fn json(&self) -> Value {
        let Self::V1 {
            sender,
            version,
            hash,
            replay_protector,
        } = self;
        json!({
            "sender": sender.to_string(),
            "version": version.to_string(),
            "transaction_hash": hash.to_string(),
            "replay_protector": match replay_protector {
                ReplayProtector::Nonce(nonce) => {
                    json!({ "type": "nonce", "nonce": nonce.to_string() })
                }
                ReplayProtector::SequenceNumber(number) => {
                    json!({ "type": "sequence_number", "sequence_number": number.to_string() })
                }
            },
        })
    }
}

/// Returns the expected summary of a committed transaction.
pub fn summary(committed: &Value) -> Value {
    let replay_protector = match committed.get("replay_protection_nonce") {
        Some(nonce) => json!({ "type": "nonce", "nonce": nonce }),
        None => {
            json!({ "type": "sequence_number", "sequence_number": committed["sequence_number"] })
        }
    };
    json!({
        "sender": committed["sender"],
        "version": committed["version"],
        "transaction_hash": committed["hash"],
        "replay_protector": replay_protector,
    })
}

fn version(summary: &Value) -> u64 {
    summary["version"].as_str().unwrap().parse().unwrap()
}

fn path(from: usize, query: &str) -> String {
    let sender = Transfer::new(from, 0).sender();
    format!("/v1/accounts/{sender}/transaction_summaries{query}")
}

async fn list(api: &TestApi, query: &str) -> Vec<Value> {
    let response = api.client.get(&path(0, query)).await;
    assert!(!response.headers.contains_key("x-node-cursor"));
    let in_json = ok_json(&response).as_array().unwrap().clone();
    let in_bcs = api.client.get_bcs(&path(0, query)).await;
    let in_bcs: Vec<IndexedSummary> = bcs::from_bytes(ok_bcs(&in_bcs)).unwrap();
    let in_bcs: Vec<_> = in_bcs.iter().map(IndexedSummary::json).collect();
    assert_eq!(in_json, in_bcs, "both formats agree");
    in_json
}

#[actix_web::test]
async fn returns_pages_by_version() {
    let api = TestApi::start(Settings::default()).await;
    let mut all = Vec::new();
    for number in 0..8 {
        all.push(summary(&api.commit(&Transfer::new(0, number)).await));
        api.commit(&Transfer::new(1, number)).await;
    }
    let (third, sixth) = (version(&all[2]), version(&all[5]));
    let none: &[Value] = &[];
    for (query, expected) in [
        (String::new(), &all[..]),
        ("?limit=3".to_owned(), &all[5..]),
        ("?limit=65535".to_owned(), &all),
        ("?start_version=0".to_owned(), &all),
        (format!("?start_version={third}"), &all[2..]),
        (format!("?start_version={}&limit=2", third + 1), &all[3..5]),
        (format!("?end_version={sixth}"), &all[..6]),
        (format!("?end_version={}&limit=2", sixth - 1), &all[3..5]),
        (
            format!("?start_version={third}&end_version={sixth}"),
            &all[2..6],
        ),
        (
            format!("?start_version={third}&end_version={sixth}&limit=3"),
            &all[2..5],
        ),
        (
            format!("?start_version={third}&end_version={third}"),
            &all[2..3],
        ),
        (
            format!("?start_version={0}&end_version={0}", third + 1),
            none,
        ),
        ("?end_version=0".to_owned(), none),
        ("?start_version=1000000".to_owned(), none),
        ("?end_version=18446744073709551615".to_owned(), &all),
        ("?start_version=18446744073709551615".to_owned(), none),
    ] {
        assert_eq!(list(&api, &query).await, expected, "{query}");
    }
    for query in ["", "?start_version=0", "?end_version=9"] {
        let unknown = format!("/v1/accounts/dead/transaction_summaries{query}");
        assert_eq!(ok_json(&api.client.get(&unknown).await), json!([]));
        assert_eq!(ok_bcs(&api.client.get_bcs(&unknown).await), [0]);
    }
    api.stop().await;
}

/// Returns an orderless transfer of the first account.
fn orderless(api: &TestApi, nonce: u64) -> SignedTransaction {
    Transfer::orderless(0).sign_with_nonce(&api.chain, nonce)
}

#[actix_web::test]
async fn lists_orderless_transactions_in_summaries_only() {
    let api = TestApi::start(Settings::default()).await;
    let (mut all, mut sequential) = (Vec::new(), Vec::new());
    for nonce in (0..9).rev() {
        all.push(summary(&api.commit_signed(&orderless(&api, nonce)).await));
        if nonce % 3 == 0 {
            let number = sequential.len() as u64;
            sequential.push(api.commit(&Transfer::new(0, number)).await);
            all.extend(sequential.last().map(summary));
        }
    }
    let nonces = all
        .iter()
        .filter(|one| one["replay_protector"]["type"] == "nonce");
    assert_eq!(nonces.count(), 9);
    assert_eq!(list(&api, "").await, all);
    for (first, last) in [(0, 11), (2, 5), (3, 3), (4, 4), (7, 10)] {
        let (start, end) = (version(&all[first]), version(&all[last]));
        let span = &all[first..=last];
        let both = format!("?start_version={start}&end_version={end}");
        assert_eq!(list(&api, &both).await, span, "{both}");
        assert_eq!(
            list(&api, &format!("{both}&limit=2")).await,
            span[..span.len().min(2)]
        );
        let until = format!("?end_version={end}&limit={}", span.len());
        assert_eq!(list(&api, &until).await, span, "{until}");
        let from = format!("?start_version={start}&limit={}", span.len());
        assert_eq!(list(&api, &from).await, span, "{from}");
    }
    let listed = format!("/v1/accounts/{}/transactions", Transfer::new(0, 0).sender());
    assert_eq!(ok_json(&api.client.get(&listed).await), json!(sequential));
    let from = format!("{listed}?start=1");
    assert_eq!(
        ok_json(&api.client.get(&from).await),
        json!(sequential[1..])
    );
    api.stop().await;
}

#[actix_web::test]
async fn limits_a_page_to_100_summaries() {
    let api = TestApi::start(Settings::default()).await;
    let mut all = Vec::new();
    for number in 0..103 {
        all.push(summary(&api.commit(&Transfer::new(0, number)).await));
    }
    assert_eq!(list(&api, "").await, all[3..], "without a limit too");
    assert_eq!(list(&api, "?limit=101").await, all[3..]);
    assert_eq!(list(&api, "?start_version=0&limit=65535").await, all[..100]);
    api.stop().await;
}

#[actix_web::test]
async fn rejects_malformed_bounds() {
    let api = TestApi::start(Settings::default()).await;
    let (input, syntax) = ((400, "invalid_input"), (400, "web_framework_error"));
    for (query, expected) in [
        ("?start_version=3&end_version=2", input),
        ("?limit=0", input),
        ("?limit=65536", syntax),
        ("?limit=-1", syntax),
        ("?start_version=x", syntax),
        ("?end_version=18446744073709551616", syntax),
        ("?end_version=1&end_version=1", syntax),
    ] {
        assert_error(&api.client.get(&path(0, query)).await, expected, query);
    }
    let unknown = api
        .client
        .get("/v1/accounts/0xg/transaction_summaries")
        .await;
    assert_error(&unknown, syntax, "not an address");
    assert_still_commits(&api).await;
    api.stop().await;
}

/// Reads pages without a gap or a repetition while blocks are committed. Each page belongs to the
/// version of its headers.
#[actix_web::test]
async fn returns_consistent_pages_during_commits() {
    const TRANSFERS: u64 = 40;
    let api = TestApi::start(Settings::default()).await;
    let (client, chain) = (api.client.clone(), api.chain.clone());
    let writer = rt::spawn(async move {
        let mut all = Vec::new();
        for number in 0..TRANSFERS {
            for from in [0, 1] {
                let signed = Transfer::new(from, number).sign(&chain);
                assert_eq!(client.submit_bcs(&signed).await.status, 202);
                let committed = client.wait(&signed.hash(chain.vendor())).await;
                if from == 0 {
                    all.push(summary(&committed));
                }
            }
        }
        all
    });
    let mut paged: Vec<Value> = Vec::new();
    loop {
        let is_over = writer.is_finished();
        let start = paged.last().map_or(0, |last| version(last) + 1);
        let page = api
            .client
            .get(&path(0, &format!("?start_version={start}&limit=3")))
            .await;
        let newest = ledger_headers(&page, "node")[1];
        let page = ok_json(&page).as_array().unwrap().clone();
        assert!(
            page.iter()
                .all(|one| (start..=newest).contains(&version(one)))
        );
        if page.is_empty() && is_over {
            break;
        }
        paged.extend(page);
    }
    assert_eq!(paged, writer.await.unwrap());
    api.stop().await;
}
