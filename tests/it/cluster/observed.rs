//! What clients see of a chain of several validators: certificates.

use super::{Cluster, VALIDATORS};
use ledger_crypto::{Ed25519Signature, HashValue};
use ledger_execution::build_chain;
use ledger_test_support::http::number;
use ledger_types::{BlockHeader, CommitCertificate, CommitSignature, Genesis};
use serde_json::Value;

fn genesis(cluster: &Cluster) -> Genesis {
    let path = cluster.files.path().join("cluster/genesis.toml");
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
