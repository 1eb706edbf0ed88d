//! Commits while all validators run and without some of them.

use super::kit::{Cluster, VALIDATORS};

#[actix_web::test]
async fn validators_commit_what_each_of_them_receives() {
    let cluster = Cluster::start();
    let chain = cluster.node(0).chain().await;
    for index in 0..VALIDATORS {
        let transfer = cluster.transfer(&chain, index, 0);
        cluster.commit(index, &transfer).await;
        for other in 0..VALIDATORS {
            cluster.await_at(other, &transfer).await;
        }
    }
    cluster.assert_same_blocks().await;
}

#[actix_web::test]
async fn continues_without_one_validator_which_catches_up() {
    let mut cluster = Cluster::start();
    let chain = cluster.node(0).chain().await;
    cluster.commit(0, &cluster.transfer(&chain, 0, 0)).await;
    cluster.kill(3);
    let mut newest = None;
    for number in 1..4 {
        let transfer = cluster.transfer(&chain, 0, number);
        cluster.commit(1, &transfer).await;
        newest = Some(transfer);
    }
    cluster.start_node(3);
    cluster.await_at(3, &newest.unwrap()).await;
    let transfer = cluster.transfer(&chain, 1, 0);
    cluster.commit(3, &transfer).await;
    cluster.assert_same_blocks().await;
}

#[actix_web::test]
async fn two_of_four_decide_nothing_and_continue_with_the_third() {
    let mut cluster = Cluster::start();
    let chain = cluster.node(0).chain().await;
    let first = cluster.transfer(&chain, 0, 0);
    cluster.commit(0, &first).await;
    for index in 0..VALIDATORS {
        cluster.await_at(index, &first).await;
    }
    cluster.kill(2);
    cluster.kill(3);
    let transfer = cluster.transfer(&chain, 1, 0);
    let hash = cluster.node(0).submit(&transfer).await;
    let path = format!("/v1/transactions/wait_by_hash/{hash}?timeout_ms=3000");
    let waited = cluster.node(0).get(&path).await;
    assert_eq!(waited.json["type"], "pending_transaction");
    cluster.start_node(2);
    cluster.await_at(0, &transfer).await;
    cluster.await_at(2, &transfer).await;
    cluster.assert_same_blocks().await;
}
