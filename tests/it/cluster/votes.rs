//! Validators that lost the record of their votes.

use super::kit::{Cluster, VALIDATORS};
use ledger_test_support::{
    http::number,
    node::{binary, until},
};
use std::{collections::BTreeSet, fs, path::Path};

/// Removes what a validator wrote since `cluster init`, as on a new machine with the same keys.
fn lose_memory(validator: &Path) {
    fs::remove_file(validator.join("consensus.redb")).unwrap();
    fs::remove_file(validator.join("engine.log")).unwrap();
}

#[actix_web::test]
async fn a_validator_that_lost_its_memory_follows_and_then_votes() {
    let mut cluster = Cluster::start();
    let chain = cluster.node(0).chain().await;
    cluster.commit(0, &cluster.transfer(&chain, 0, 0)).await;
    cluster.kill(3);
    lose_memory(&cluster.validator(3));
    cluster.start_node(3);
    cluster.node(3).logged("it follows without votes").await;
    let mut number = 1;
    until("a validator that votes", || {
        let transfer = cluster.transfer(&chain, 0, number);
        number += 1;
        let cluster = &cluster;
        async move {
            cluster.commit(0, &transfer).await;
            let log = cluster.node(3).log();
            log.contains("this validator votes again").then_some(())
        }
    })
    .await;
    cluster.kill(2);
    let transfer = cluster.transfer(&chain, 1, 0);
    // Three of four votes decide, so one of them is that of the validator.
    cluster.commit(1, &transfer).await;
    cluster.await_at(3, &transfer).await;
    cluster.assert_same_blocks().await;
}

#[actix_web::test]
async fn validators_without_memory_vote_above_the_height_that_their_operator_confirms() {
    let mut cluster = Cluster::start();
    let chain = cluster.node(0).chain().await;
    let first = cluster.transfer(&chain, 0, 0);
    cluster.commit(0, &first).await;
    let height = until("equal heights", || async {
        let mut heights = BTreeSet::new();
        for index in 0..VALIDATORS {
            let info = cluster.node(index).get("/v1").await.json;
            heights.insert(number(&info["block_height"]));
        }
        heights.pop_first().filter(|_| heights.is_empty())
    })
    .await;
    for index in 0..VALIDATORS {
        cluster.kill(index);
        // The engine's log is of the height that is in progress.
        fs::remove_file(cluster.validator(index).join("consensus.redb")).unwrap();
        let confirmed = binary()
            .args(["cluster", "confirm", "--height", &height.to_string()])
            .arg("--dir")
            .arg(cluster.validator(index))
            .output()
            .unwrap();
        assert!(confirmed.status.success(), "{confirmed:?}");
    }
    for index in 0..VALIDATORS {
        cluster.start_node(index);
    }
    let transfer = cluster.transfer(&chain, 1, 0);
    cluster.commit(1, &transfer).await;
    cluster.await_at(0, &first).await;
    cluster.assert_same_blocks().await;
}
