//! The real binary with a clock that is far ahead of its newest block.
//!
//! The clock of the machine is right and the block is old, so the tests need no right to set a
//! clock.

use crate::crash::formats;
use ledger_test_support::{TestAccount, node::TestNode, now_secs};
use ledger_types::AccountAddress;
use serde_json::json;

/// A limit below the age of the fixture.
const JUMP_MAX: &str = "sequencer.clock_jump_max_secs=60";

/// Starts a node on a chain whose newest block is days old.
fn start(settings: &[&str]) -> TestNode {
    let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
    TestNode::start_in(formats::unpack(formats::FORMAT), settings)
}

#[tokio::test]
async fn rejects_submissions_until_a_clock_beyond_the_limit_is_confirmed() {
    let mut node = start(&[JUMP_MAX]);
    let payer = TestAccount::from_seed(1);
    let chain = node.chain().await;
    let number = node.sequence_number(&payer.address).await;
    let transfer = payer.transfer(&chain, number, AccountAddress::from_low_u64(0xb0b), 1);
    let height = node.get("/v1").await.json["block_height"].clone();

    let response = node.try_submit(&transfer).await.unwrap();
    assert_eq!(response.status, 503, "{}", response.text);
    assert!(response.headers.contains_key("retry-after"));
    assert!(
        response
            .text
            .contains("sequencer.clock_confirmed_until_secs="),
        "{}",
        response.text
    );
    let health = node.get("/v1/-/healthy").await;
    assert_eq!(
        (health.status, &health.json["error_code"]),
        (503, &json!("health_check_failed"))
    );
    assert!(
        health.text.contains("the system clock reads"),
        "{}",
        health.text
    );
    let fund = node
        .http
        .send_json(
            reqwest::Method::POST,
            &format!("{}/fund", node.faucet.as_ref().unwrap()),
            &json!({ "address": payer.address.to_string(), "amount": 1 }),
        )
        .await;
    assert_eq!(fund.status, 503, "{}", fund.text);
    assert!(
        node.log().contains("the system clock is not trusted"),
        "{}",
        node.log()
    );
    let metrics = node.http.get(&format!("{}/metrics", node.admin)).await.text;
    let drift = metrics
        .lines()
        .find_map(|line| line.strip_prefix("ledger_clock_drift_seconds "))
        .unwrap();
    assert!(drift.parse::<f64>().unwrap() > 60.0, "{drift}");
    // A restart changes nothing.
    assert!(node.stop("TERM").success(), "{}", node.log());
    let mut node = node.restart();
    assert_eq!(node.get("/v1").await.json["block_height"], height);
    assert_eq!(node.try_submit(&transfer).await.unwrap().status, 503);

    assert!(node.stop("TERM").success(), "{}", node.log());
    let now = now_secs();
    let confirmed = format!("sequencer.clock_confirmed_until_secs={}", now + 3_600);
    let node = node.restart_with(&[JUMP_MAX, &confirmed]);
    let committed = node.submit_and_wait(&transfer).await;
    assert_eq!(committed["success"], true, "{committed}");
    let block_usecs: u64 = committed["timestamp"].as_str().unwrap().parse().unwrap();
    assert!(block_usecs >= now * 1_000_000, "{block_usecs}");
    assert_eq!(
        node.get("/v1/-/healthy").await.json,
        json!({ "message": "node-node:ok" })
    );
}
