//! Responses of a node with a wrong clock.

use crate::kit::{Settings, TestApi, Transfer, assert_error, ledger_headers, ok_bcs, ok_json};
use ledger_actors::{Clock, ClockReading};
use serde_json::json;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

const YEAR_USECS: u64 = 365 * 86_400 * 1_000_000;

/// Maximum wait for an effect of the mempool's timer, which fires every second.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns a clock based on the system's, and the offset of its wall clock in microseconds.
fn ahead_clock() -> (Clock, Arc<AtomicU64>) {
    let ahead_usecs = Arc::new(AtomicU64::new(0));
    let (system, ahead) = (Clock::default(), Arc::clone(&ahead_usecs));
    let clock = Clock::from_readings(move || {
        let reading = system.read();
        ClockReading {
            wall_usecs: reading.wall_usecs + ahead.load(SeqCst),
            ..reading
        }
    });
    (clock, ahead_usecs)
}

#[actix_web::test]
async fn responds_503_to_submissions_only_if_the_clock_is_implausible_at_start() {
    let (clock, ahead_usecs) = ahead_clock();
    let api = TestApi::start(Settings {
        clock,
        ..Settings::default()
    })
    .await;
    let first = Transfer::new(0, 0);
    api.commit(&first).await;
    ahead_usecs.store(YEAR_USECS, SeqCst);
    let api = api.restarted().await;
    let second = Transfer::new(0, 1);
    let response = api.client.submit_bcs(&second.sign(&api.chain)).await;
    assert_error(&response, (503, "internal_error"), "an implausible clock");
    assert_eq!(response.headers["retry-after"], "10");
    for part in [
        "the system clock reads",
        "sequencer.clock_confirmed_until_secs=",
    ] {
        assert!(response.text().contains(part), "{}", response.text());
    }
    let health = api.client.get("/v1/-/healthy").await;
    assert_error(&health, (503, "health_check_failed"), "health");
    assert!(
        health.text().contains("the system clock reads"),
        "{}",
        health.text()
    );
    let account = ok_json(
        &api.client
            .get(&format!("/v1/accounts/{}", first.sender()))
            .await,
    );
    assert_eq!(account["sequence_number"], "1");

    ahead_usecs.store(0, SeqCst);
    let continued = async {
        while api.client.get("/v1/-/healthy").await.status != 200 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, continued)
        .await
        .expect("the node continues");
    assert_eq!(api.commit(&second).await["success"], true);
    api.stop().await;
}

#[actix_web::test]
async fn reports_and_ignores_a_clock_jump_while_running() {
    let (clock, ahead_usecs) = ahead_clock();
    let api = TestApi::start(Settings {
        clock,
        ..Settings::default()
    })
    .await;
    api.commit(&Transfer::new(0, 0)).await;
    ahead_usecs.store(YEAR_USECS, SeqCst);
    let committed = api.commit(&Transfer::new(0, 1)).await;
    assert_eq!(committed["success"], true, "{committed}");
    let health = api.client.get("/v1/-/healthy").await;
    let [_, _, _, block_usecs, ..] = ledger_headers(&health, "node");
    assert!(
        block_usecs <= Clock::default().now_usecs() + 5_000_000,
        "{block_usecs}"
    );
    let words = ok_json(&health)["clock"].as_str().unwrap().to_owned();
    assert!(words.contains("sequencer.clock_jump_max_secs"), "{words}");
    let bcs = api.client.get_bcs("/v1/-/healthy").await;
    let message_bytes = 1 + "node-node:ok".len();
    assert_eq!(
        ok_bcs(&bcs).len(),
        message_bytes,
        "BCS has the message only"
    );
    ahead_usecs.store(0, SeqCst);
    api.commit(&Transfer::new(0, 2)).await;
    let health = ok_json(&api.client.get("/v1/-/healthy").await);
    assert_eq!(health, json!({ "message": "node-node:ok" }));
    api.stop().await;
}
