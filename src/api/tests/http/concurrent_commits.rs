//! Body and headers of a response under commits at every point of its request.

use crate::{
    http::seams::{BCS, Case, Fixture, JSON, Seam, Source},
    kit::{RawResponse, TestApi, Transfer, store_of},
};
use actix_web::{App, test::init_service};
use ledger_api::configure;
use ledger_crypto::HashValue;

/// Compares the body with the state at the version of the headers.
#[actix_web::test]
async fn shows_the_state_at_the_version_of_the_headers() {
    let fixture = Fixture::start().await;
    let api = &fixture.api;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let sender = Transfer::new(0, 0).sender();
    let store = store_of(sender);
    let store_type = "0x1::fungible_asset::FungibleStore";
    let mut sequence_number = 0;
    // Reads of few rows read the clock; a listing is always read by the reader threads.
    let (few, many): (&[_], &[_]) = (
        &[(Source::Direct, 2), (Source::Readers, 2)],
        &[(Source::Readers, 1)],
    );
    for (path, sources) in [
        ("/v1/accounts/0xb0b/balance/0xa".to_owned(), few),
        (format!("/v1/accounts/{sender}"), few),
        (format!("/v1/accounts/{store}/resource/{store_type}"), few),
        (format!("/v1/accounts/{store}/resources"), many),
    ] {
        for accept in [JSON, BCS] {
            let seams = sources
                .iter()
                .flat_map(|&(source, seams)| (0..seams).map(move |seam| (source, seam)));
            for (source, commit_at) in seams {
                let label = format!("{path}, {accept}, {source:?}, a commit at seam {commit_at}");
                let transfer = Transfer::new(0, sequence_number).sign(&api.chain);
                sequence_number += 1;
                let case = Case {
                    path: &path,
                    body: None,
                    accept,
                    source,
                    commit_at,
                    transaction: &transfer,
                    awaited: transfer.hash(api.chain.vendor()),
                };
                let (response, _) = fixture.respond(&app, &case).await;
                assert_eq!(response.status, 200, "{label}: {}", response.text());
                let version = fixture.version_of(&response, &label).await;
                let pinned = format!("{path}?ledger_version={version}");
                let pinned = api
                    .client
                    .send("GET", &pinned, &[("accept", accept)], None)
                    .await;
                assert_eq!(response.body, pinned.body, "{label}, at version {version}");
            }
        }
    }
    fixture.api.stop().await;
}

/// Returns the version in a response to a look-up by hash, or `None` if the transaction is
/// pending.
fn shown_version(response: &RawResponse, accept: &str) -> Option<u64> {
    assert_eq!(response.status, 200, "{}", response.text());
    if accept == BCS {
        let (variant, rest) = response.body.split_first().unwrap();
        let version = rest.first_chunk().copied().map(u64::from_le_bytes);
        return version.filter(|_| *variant == 0);
    }
    let version = response.json()["version"].as_str().map(str::to_owned);
    version.map(|text| text.parse().unwrap())
}

/// Checks that a transaction is pending at the version of the headers, or committed at or before
/// it.
#[actix_web::test]
async fn shows_a_transaction_by_hash_at_the_version_of_the_headers() {
    let fixture = Fixture::start().await;
    let api = &fixture.api;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    tokio::time::pause();
    let mut sequence_number = 0;
    // The end of the wait; the clock before and after the read; the mempool's reply. A read that is
    // left to the reader threads reads the clock once.
    for (route, source, seams) in [
        ("wait_by_hash", Source::Direct, 4),
        ("wait_by_hash", Source::Readers, 3),
        ("by_hash", Source::Direct, 3),
        ("by_hash", Source::Readers, 2),
    ] {
        for (accept, commit_at) in [JSON, BCS]
            .into_iter()
            .flat_map(|accept| (0..seams).map(move |seam| (accept, seam)))
        {
            let label = format!("{route}, {accept}, {source:?}, a commit at seam {commit_at}");
            // The second transaction waits for the first one.
            let [first, second] =
                [0, 1].map(|number| Transfer::new(0, sequence_number + number).sign(&api.chain));
            sequence_number += 2;
            assert_eq!(api.client.submit_bcs(&second).await.status, 202, "{label}");
            let hash = second.hash(api.chain.vendor());
            let case = Case {
                path: &format!("/v1/transactions/{route}/{hash}"),
                body: None,
                accept,
                source,
                commit_at,
                transaction: &first,
                awaited: hash,
            };
            let (response, _) = fixture.respond(&app, &case).await;
            let version = fixture.version_of(&response, &label).await;
            let committed = committed_version(api, &hash).await;
            match shown_version(&response, accept) {
                Some(found) => {
                    assert_eq!(found, committed, "{label}");
                    assert!(
                        version >= committed,
                        "{label}: committed, at version {version}"
                    );
                }
                None => assert!(
                    version < committed,
                    "{label}: pending, at version {version}"
                ),
            }
        }
    }
    tokio::time::resume();
    fixture.api.stop().await;
}

async fn committed_version(api: &TestApi, hash: &HashValue) -> u64 {
    let committed = api.client.wait(hash).await;
    committed["version"].as_str().unwrap().parse().unwrap()
}

/// Ensures that a client that has seen a later block during another wait never gets older headers.
#[actix_web::test]
async fn shows_a_wait_that_timed_out_with_the_headers_of_its_end() {
    let fixture = Fixture::start().await;
    let api = &fixture.api;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let parked = Transfer::new(0, 1).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&parked).await.status, 202);
    let path = format!(
        "/v1/transactions/wait_by_hash/{}",
        parked.hash(api.chain.vendor())
    );
    tokio::time::pause();
    for (sequence_number, accept) in [(0, JSON), (1, BCS)] {
        let transfer = Transfer::new(1, sequence_number).sign(&api.chain);
        let hash = transfer.hash(api.chain.vendor());
        let case = Case {
            path: &path,
            body: None,
            accept,
            source: Source::Direct,
            // The end of the wait.
            commit_at: 0,
            transaction: &transfer,
            awaited: hash,
        };
        let (response, seams) = fixture.respond(&app, &case).await;
        assert_eq!(seams[0], Seam::Suspension);
        assert_eq!(shown_version(&response, accept), None, "{accept}");
        let version = fixture.version_of(&response, accept).await;
        let committed = committed_version(api, &hash).await;
        assert!(
            version >= committed,
            "{accept}: {version} is before {committed}"
        );
    }
    tokio::time::resume();
    fixture.api.stop().await;
}

/// Checks that a wait for many reports a transaction as unknown only if it is committed above the
/// version of the headers.
#[actix_web::test]
async fn reports_unknown_hashes_of_a_wait_for_many_below_their_commits() {
    let fixture = Fixture::start().await;
    let api = &fixture.api;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let mut sequence_number = 0;
    let mut unknown_count = 0;
    // The mempool's check; the clock before and after the read.
    for (source, seams) in [(Source::Direct, 3), (Source::Readers, 2)] {
        for commit_at in 0..seams {
            let label = format!("{source:?}, a commit at seam {commit_at}");
            let transfer = Transfer::new(0, sequence_number).sign(&api.chain);
            sequence_number += 1;
            let hash = transfer.hash(api.chain.vendor());
            let case = Case {
                path: "/v1/transactions/wait?timeout_ms=0",
                body: Some(format!("{{\"hashes\":[\"{hash}\"]}}")),
                accept: JSON,
                source,
                commit_at,
                transaction: &transfer,
                awaited: hash,
            };
            let (response, _) = fixture.respond(&app, &case).await;
            assert_eq!(response.status, 200, "{label}: {}", response.text());
            let version = fixture.version_of(&response, &label).await;
            let committed = committed_version(api, &hash).await;
            if response.text().contains(r#""status":"unknown""#) {
                unknown_count += 1;
                assert!(
                    version < committed,
                    "{label}: unknown, at version {version}"
                );
            }
        }
    }
    assert!(unknown_count > 0, "no commit followed a look-up");
    fixture.api.stop().await;
}
