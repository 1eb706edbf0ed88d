//! Certificates, health, metrics and the log of a chain of several validators.

use super::kit::{Cluster, VALIDATORS};
use crate::metrics::Scrape;
use ledger_crypto::{Ed25519Signature, HashValue};
use ledger_execution::build_chain;
use ledger_test_support::{
    http::number,
    node::{DiskOperation, SlowDisk, until},
};
use ledger_types::{AccountAddress, BlockHeader, CommitCertificate, CommitSignature, Genesis};
use serde_json::Value;
use std::sync::Arc;

/// Stalls of these clusters are named early.
const STALL: &str = "process.stall_secs=2";

const HEALTH: &str = "/v1/-/healthy";

fn genesis(cluster: &Cluster) -> Genesis {
    let path = cluster.directory().join("genesis.toml");
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn bytes<const N: usize>(text: &Value) -> [u8; N] {
    let mut bytes = [0; N];
    hex::decode_to_slice(&text.as_str().unwrap()[2..], &mut bytes).unwrap();
    bytes
}

/// Returns the certificate of a response, and the messages that it states as signed.
fn certificate(served: &Value) -> (CommitCertificate, Vec<Vec<u8>>) {
    let votes = &served["certificate"];
    let signatures = votes["signatures"].as_array().unwrap();
    let signature = |signed: &Value| CommitSignature {
        validator: signed["validator"].as_str().unwrap().parse().unwrap(),
        signature: Ed25519Signature(bytes(&signed["signature"])),
    };
    let certificate = CommitCertificate {
        height: number(&served["block_height"]),
        round: votes["round"].as_u64().unwrap().try_into().unwrap(),
        block_hash: HashValue::new(bytes(&served["block_hash"])),
        signatures: signatures.iter().map(signature).collect(),
    };
    let message = |signed: &Value| hex::decode(&signed["message"].as_str().unwrap()[2..]).unwrap();
    (certificate, signatures.iter().map(message).collect())
}

#[actix_web::test]
async fn certificates_of_each_validator_prove_its_blocks() {
    let cluster = Cluster::start();
    let genesis = genesis(&cluster);
    let chain = build_chain(&genesis).unwrap();
    let (vendor, genesis_hash) = (chain.vendor(), chain.genesis_hash().unwrap());
    let transfer = cluster.transfer(&chain, 0, 0);
    cluster.commit(0, &transfer).await;
    for index in 0..VALIDATORS {
        cluster.await_at(index, &transfer).await;
        let node = cluster.node(index);
        let height = number(&node.get("/v1").await.json["block_height"]);
        for height in 0..=height {
            let path = format!("/v1/blocks/by_height/{height}/certificate");
            let served = node.get(&path).await.json;
            assert_eq!(served["genesis_hash"], genesis_hash.to_string());
            assert_eq!(served["quorum"], "3");
            let keys = served["validators"].as_array().unwrap().iter();
            let keys: Vec<_> = keys.map(|one| one["public_key"].clone()).collect();
            let expected = genesis.validators.iter();
            let expected: Vec<_> = expected
                .map(|key| Value::from(ledger_crypto::hex_text(&key.0)))
                .collect();
            assert_eq!(keys, expected);
            let encoded = hex::decode(&served["header_bytes"].as_str().unwrap()[2..]).unwrap();
            let header: BlockHeader = bcs::from_bytes(&encoded).unwrap();
            assert_eq!(served["block_hash"], header.hash(vendor).to_string());
            if height == 0 {
                assert!(served.get("certificate").is_none(), "genesis has no votes");
                continue;
            }
            let (certificate, messages) = certificate(&served);
            assert_eq!(
                certificate.verify(chain.validators(), vendor, genesis_hash),
                Ok(())
            );
            for (signed, message) in certificate.signatures.iter().zip(messages) {
                let vote = certificate.vote(signed.validator);
                assert_eq!(vote.signing_message(vendor, genesis_hash), message);
            }
        }
    }
}

/// Two of four validators decide nothing: the health check says so, and ends to do so.
#[actix_web::test]
async fn health_names_a_missing_quorum_until_it_returns() {
    let mut cluster = Cluster::start_with(&[STALL]);
    let chain = cluster.node(0).chain().await;
    cluster.commit(0, &cluster.transfer(&chain, 0, 0)).await;
    let healthy = until("all peers", || async {
        let health = cluster.node(0).get(HEALTH).await;
        (health.json["consensus"]["peers"] == 3).then_some(health)
    })
    .await;
    assert_eq!(healthy.status, 200, "{}", healthy.text);
    let consensus = &healthy.json["consensus"];
    assert_eq!(
        (&consensus["validators"], &consensus["is_voting"]),
        (&4.into(), &true.into())
    );
    assert!(consensus.get("following").is_none());

    cluster.kill(2);
    cluster.kill(3);
    cluster
        .node(0)
        .submit(&cluster.transfer(&chain, 1, 0))
        .await;
    let halted = until("an unhealthy node", || async {
        let health = cluster.node(0).get(HEALTH).await;
        (health.status == 503).then_some(health)
    })
    .await;
    let message = halted.json["message"].as_str().unwrap();
    for words in [
        "consensus has made no progress",
        "1 of 3 peers",
        "no block is committed",
    ] {
        assert!(message.contains(words), "{message}");
    }
    let scrape = Scrape::of(cluster.node(0)).await;
    assert!(scrape.sum("ledger_consensus_height_seconds", &[]) >= 2.0);
    assert_eq!(scrape.sum("ledger_consensus_peers", &[]), 1.0);
    assert_eq!(
        scrape.sum("ledger_stalled", &[("thread", "consensus")]),
        1.0
    );
    assert!(cluster.node(0).log().contains("thread=\"consensus\""));
    // A restart would not bring the other validators back.
    let livez = format!("{}/livez", cluster.node(0).admin);
    assert_eq!(cluster.node(0).http.get(&livez).await.status, 200);

    cluster.start_node(2);
    until("a healthy node", || async {
        (cluster.node(0).get(HEALTH).await.status == 200).then_some(())
    })
    .await;
}

/// Waits until the first validator is healthy, and in contact with this number of validators.
async fn until_in_contact(cluster: &Cluster, count: u32) {
    until("contact", || async {
        let health = cluster.node(0).get(HEALTH).await;
        (health.json["consensus"]["in_contact"] == count).then_some(())
    })
    .await;
}

/// Nothing is to be decided, so the only sign is that the others are silent.
#[actix_web::test]
async fn an_idle_validator_is_healthy_until_it_is_cut_off() {
    let mut cluster = Cluster::start();
    let chain = cluster.node(0).chain().await;
    cluster.commit(0, &cluster.transfer(&chain, 0, 0)).await;
    until_in_contact(&cluster, 4).await;
    cluster.kill(3);
    until_in_contact(&cluster, 3).await;
    cluster.kill(2);
    let cut_off = until("an unhealthy node", || async {
        let health = cluster.node(0).get(HEALTH).await;
        (health.status == 503).then_some(health)
    })
    .await;
    let message = cut_off.json["message"].as_str().unwrap();
    let words = "2 of 4 validators are in contact, and 3 decide a block";
    assert!(message.contains(words), "{message}");
    cluster.start_node(2);
    until("a healthy node", || async {
        (cluster.node(0).get(HEALTH).await.status == 200).then_some(())
    })
    .await;
}

/// A validator whose record is lost follows the others, is healthy, and gives the reason.
#[actix_web::test]
async fn health_says_that_a_validator_follows_without_votes() {
    let mut cluster = Cluster::start();
    let chain = cluster.node(0).chain().await;
    let first = cluster.transfer(&chain, 0, 0);
    cluster.commit(0, &first).await;
    cluster.await_at(3, &first).await;
    cluster.kill(3);
    let validator = cluster.validator(3);
    for file in ["consensus.redb", "engine.log"] {
        std::fs::remove_file(validator.join(file)).unwrap();
    }
    cluster.start_node(3);
    let health = until("a healthy follower", || async {
        let health = cluster.node(3).get(HEALTH).await;
        (health.status == 200).then_some(health)
    })
    .await;
    let consensus = &health.json["consensus"];
    assert_eq!(consensus["is_voting"], false);
    let following = consensus["following"].as_str().unwrap();
    assert!(following.contains("follows without votes"), "{following}");
    let scrape = Scrape::of(cluster.node(3)).await;
    assert_eq!(scrape.sum("ledger_consensus_voting", &[]), 0.0);
}

/// The votes of one that is down are missing, and its turns pass.
#[actix_web::test]
async fn metrics_name_the_validator_that_is_down() {
    let mut cluster = Cluster::start();
    let chain = cluster.node(0).chain().await;
    let genesis = genesis(&cluster);
    let address =
        |index: usize| AccountAddress::from_public_key(&genesis.validators[index]).to_string();
    let first = cluster.transfer(&chain, 0, 0);
    cluster.commit(0, &first).await;
    for index in 0..VALIDATORS {
        cluster.await_at(index, &first).await;
    }
    cluster.kill(3);
    let before = Scrape::of(cluster.node(0)).await;
    // Each validator has had a turn.
    for number in 1..=VALIDATORS as u64 {
        let transfer = cluster.transfer(&chain, 0, number);
        cluster.commit(0, &transfer).await;
    }
    let after = Scrape::of(cluster.node(0)).await;
    let increase = |name: &str, index: usize| {
        let (address, labels) = (address(index), "validator");
        let labels = [(labels, &*address)];
        after.sum(name, &labels) - before.sum(name, &labels)
    };
    assert!(increase("ledger_consensus_missed_turns_total", 3) >= 1.0);
    assert!(increase("ledger_consensus_heights_without_vote", 3) >= 3.0);
    assert!(increase("ledger_consensus_heights_without_vote", 1) < 2.0);
    assert!(after.sum("ledger_consensus_height", &[]) >= 5.0);
    for (name, value) in [
        ("ledger_consensus_voting", 1.0),
        ("ledger_consensus_peers_configured", 3.0),
        ("ledger_consensus_equivocations_total", 0.0),
        ("ledger_consensus_rejected_blocks_total", 0.0),
    ] {
        assert_eq!(after.sum(name, &[]), value, "{name}");
    }
}

/// The engine stops, its node lives and names the log, and the others continue.
#[actix_web::test]
async fn a_write_error_of_the_engines_log_ends_voting_and_not_the_node() {
    let Some(disk) = SlowDisk::new() else {
        return;
    };
    let disk = Arc::new(disk);
    let cluster = Cluster::start_on(&disk, 3, &[]);
    let chain = cluster.node(0).chain().await;
    let first = cluster.transfer(&chain, 0, 0);
    cluster.commit(0, &first).await;
    cluster.await_at(3, &first).await;
    disk.fail(DiskOperation::Write, "/validator/engine.log");
    for number in 1..4 {
        let transfer = cluster.transfer(&chain, 0, number);
        cluster.commit(0, &transfer).await;
    }
    let node = cluster.node(3);
    let failed = until("an unhealthy node", || async {
        let health = node.get(HEALTH).await;
        (health.status == 503).then_some(health)
    })
    .await;
    let message = failed.json["message"].as_str().unwrap();
    assert!(message.contains("the engine's log failed"), "{message}");
    assert_eq!(node.get("/v1").await.status, 200, "reads are served");
    let scrape = Scrape::of(node).await;
    assert_eq!(scrape.sum("ledger_store_writable", &[]), 0.0);
    let log = node.log();
    assert!(log.contains("the consensus engine stops"), "{log}");
    assert!(log.contains("ERROR consensus:"), "{log}");
}

/// The engine hangs with the disk of its log, is named, and continues with it.
#[actix_web::test]
async fn a_log_that_hangs_is_a_stall_of_the_engine() {
    let Some(disk) = SlowDisk::new() else {
        return;
    };
    let disk = Arc::new(disk);
    let cluster = Cluster::start_on(&disk, 3, &[STALL]);
    let chain = cluster.node(0).chain().await;
    let first = cluster.transfer(&chain, 0, 0);
    cluster.commit(0, &first).await;
    cluster.await_at(3, &first).await;
    disk.hang(DiskOperation::Write, "/validator/engine.log");
    let second = cluster.transfer(&chain, 0, 1);
    cluster.commit(0, &second).await;
    until("a stall of the engine", || async {
        let health = cluster.node(3).get(HEALTH).await;
        let message = health.json["message"].as_str().unwrap_or_default();
        message
            .contains("consensus-engine has made no progress")
            .then_some(())
    })
    .await;
    disk.release(DiskOperation::Write);
    cluster.await_at(3, &second).await;
    until("a healthy node", || async {
        (cluster.node(3).get(HEALTH).await.status == 200).then_some(())
    })
    .await;
}

/// The engine's lines of each height are not in the log of a node, and its target shows them.
#[actix_web::test]
async fn the_engine_logs_under_a_target_of_the_node() {
    let cluster = Cluster::start_with(&["log.level=info,consensus=info"]);
    let chain = cluster.node(0).chain().await;
    cluster.commit(0, &cluster.transfer(&chain, 0, 0)).await;
    let log = cluster.node(0).log();
    assert!(log.contains(" INFO consensus:"), "{log}");
    assert!(!log.contains(" INFO arc_"), "{log}");
    drop(cluster);

    let cluster = Cluster::start();
    let chain = cluster.node(0).chain().await;
    cluster.commit(0, &cluster.transfer(&chain, 0, 0)).await;
    let log = cluster.node(0).log();
    for target in ["consensus:", "arc_", "libp2p"] {
        assert!(!log.contains(&format!(" INFO {target}")), "{log}");
    }
}
