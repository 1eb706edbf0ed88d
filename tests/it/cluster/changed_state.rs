//! A validator with a changed balance in its store: found as soon as a result depends on it.

use super::kit::Cluster;
use ledger_test_support::{
    TestAccount,
    http::number,
    node::{replace_in_ledger, until},
};
use ledger_types::Parameters;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A balance whose bytes occur in no other value.
const RARE_BALANCE: u64 = 0x81_2765_43d1;

/// The balance that the validator has instead.
const CHANGED_BALANCE: u64 = RARE_BALANCE + 1_000;

/// The validator.
const CHANGED: usize = 3;

#[actix_web::test]
async fn stops_at_the_header_that_names_the_first_result_of_a_changed_balance() {
    let mut cluster = Cluster::start();
    let account = TestAccount::from_seed(1);
    let address = account.address;
    cluster.node(0).fund(&account, RARE_BALANCE).await;
    until("the funds", || async {
        let path = format!("/v1/accounts/{address}/balance/0xa");
        let response = cluster.node(CHANGED).get(&path).await;
        (response.json == RARE_BALANCE).then_some(())
    })
    .await;
    cluster.stop(CHANGED);
    let file = cluster.ledger(CHANGED).join("data/ledger.redb");
    let [from, to] = [RARE_BALANCE, CHANGED_BALANCE].map(u64::to_le_bytes);
    assert_ne!(replace_in_ledger(&file, &from, &to), 0);
    cluster.start_node(CHANGED);
    assert_eq!(
        cluster.node(CHANGED).balance(&address).await,
        CHANGED_BALANCE
    );

    // No result depends on the balance, so nothing finds the change.
    let chain = cluster.node(0).chain().await;
    let delay_blocks = Parameters::default().root_delay_blocks;
    let numbers = AtomicU64::new(0);
    for _ in 0..=delay_blocks {
        let transfer = cluster.transfer(&chain, 0, numbers.fetch_add(1, Relaxed));
        cluster.commit(0, &transfer).await;
        cluster.await_at(CHANGED, &transfer).await;
    }
    let health = cluster.node(CHANGED).get("/v1/-/healthy").await;
    assert_eq!(health.status, 200, "{}", health.text);

    let to = TestAccount::from_seed(2).address;
    let used = account.transfer(&chain, 0, to, 1);
    let committed = cluster.node(0).submit_and_wait(&used).await;
    let version = number(&committed["version"]);
    let path = format!("/v1/blocks/by_version/{version}");
    let used_at = number(&cluster.node(0).get(&path).await.json["block_height"]);
    let health = until("the difference", || async {
        let transfer = cluster.transfer(&chain, 0, numbers.fetch_add(1, Relaxed));
        cluster.commit(0, &transfer).await;
        let health = cluster.node(CHANGED).get("/v1/-/healthy").await;
        (health.status == 503).then_some(health)
    })
    .await;
    let found_at = format!("block {}", used_at + delay_blocks);
    assert!(health.text.contains(&found_at), "{}", health.text);
    assert_eq!(health.text.matches("root 0x").count(), 2, "{}", health.text);
    for path in ["/v1".to_owned(), format!("/v1/accounts/{address}")] {
        let response = cluster.node(CHANGED).get(&path).await;
        assert_eq!(response.status, 503, "{path}: {}", response.text);
        assert!(response.text.contains("root 0x"), "{}", response.text);
    }
    let log = cluster.node(CHANGED).log();
    assert!(log.contains(&found_at), "{log}");

    for other in 0..CHANGED {
        let transfer = cluster.transfer(&chain, 1 + other, 0);
        cluster.commit(other, &transfer).await;
        assert_eq!(cluster.node(other).get("/v1/-/healthy").await.status, 200);
    }
}
