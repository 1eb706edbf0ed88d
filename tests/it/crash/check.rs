//! The checks of a ledger after each start. Their cost depends on what is new; of older commitments
//! they look up a sample.

use super::{
    acknowledged::{Acknowledgments, Bounds, Committed},
    load::{CLIENTS, payer},
};
use fastrand::Rng;
use ledger_execution::development_genesis;
use ledger_test_support::{
    TestAccount,
    http::{NodeClient, number},
};
use ledger_types::{AccountAddress, Parameters, Vendor};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The type of the native coin.
const COIN: &str = "0x1::node_coin::NodeCoin";
/// Maximum number of earlier commitments that a check looks up again.
const SAMPLE: usize = 20;

/// The recorded history of a ledger since its first start.
#[derive(Debug, Default)]
pub struct History {
    bounds: Bounds,
    committed: Vec<Committed>,
    sequence_numbers: HashMap<AccountAddress, u64>,
    /// The height of the first unchecked block, and its first version.
    next: (u64, u64),
    /// Number of lookups that found the commitment.
    pub found: u64,
    /// Number of lookups of a commitment below the window.
    pub pruned: u64,
}

impl History {
    /// Returns the number of commitments that the node acknowledged.
    pub fn acknowledged(&self) -> usize {
        self.committed.len()
    }

    /// Checks a ledger right after a start, with what the node acknowledged before it.
    pub async fn check(
        &mut self,
        node: &NodeClient,
        acknowledged: Acknowledgments,
        sample_seed: u64,
    ) {
        let bounds = Bounds::from_body(&node.get("/v1").await.json);
        bounds.check_not_before(&self.bounds);
        bounds.check_not_before(&acknowledged.bounds);
        self.bounds = bounds;
        self.check_committed(node, acknowledged.committed, sample_seed)
            .await;
        self.check_blocks(node).await;
        self.check_sequence_numbers(node).await;
        check_supply(node, bounds.version, CLIENTS + 1).await;
    }

    /// Checks that the commitments acknowledged since the last start exist, and a sample of earlier
    /// ones.
    async fn check_committed(&mut self, node: &NodeClient, new: Vec<Committed>, sample_seed: u64) {
        let mut random = Rng::with_seed(sample_seed);
        let old = self.committed.len();
        let sample = (0..SAMPLE.min(old)).map(|_| self.committed[random.usize(..old)]);
        let looked_up: Vec<_> = sample.chain(new.iter().copied()).collect();
        self.committed.extend(new);
        for Committed { hash, version } in looked_up {
            let response = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
            if response.status == 200 {
                assert_eq!(
                    response.json["type"], "user_transaction",
                    "{}",
                    response.text
                );
                assert_eq!(number(&response.json["version"]), version, "{hash}");
                self.found += 1;
                continue;
            }
            // The ledger may have pruned since its bounds were read.
            let oldest = Bounds::from_body(&node.get("/v1").await.json).oldest_version;
            let status = response.status;
            assert!(
                version < oldest,
                "{hash}, version {version}, is {status}: {}",
                response.text
            );
            assert!(matches!(status, 404 | 410), "{}", response.text);
            self.pruned += 1;
        }
    }

    /// Checks that the unchecked blocks are consecutive and complete.
    async fn check_blocks(&mut self, node: &NodeClient) {
        let (mut height, mut version) = self.next;
        if height < self.bounds.oldest_height {
            (height, version) = (self.bounds.oldest_height, self.bounds.oldest_version);
        }
        while height <= self.bounds.height {
            let path = format!("/v1/blocks/by_height/{height}?with_transactions=true");
            let block = node.get(&path).await;
            if block.status == 410 {
                // The block has been pruned: continue at the current lower bound of the window.
                let bounds = Bounds::from_body(&node.get("/v1").await.json);
                assert!(height < bounds.oldest_height, "{}", block.text);
                (height, version) = (bounds.oldest_height, bounds.oldest_version);
                continue;
            }
            assert_eq!(
                number(&block.json["block_height"]),
                height,
                "{}",
                block.text
            );
            assert_eq!(
                number(&block.json["first_version"]),
                version,
                "block {height}"
            );
            let last = number(&block.json["last_version"]);
            let transactions = block.json["transactions"].as_array().unwrap();
            let versions: Vec<_> = transactions
                .iter()
                .map(|transaction| number(&transaction["version"]))
                .collect();
            assert_eq!(
                versions,
                (version..=last).collect::<Vec<_>>(),
                "block {height}"
            );
            (height, version) = (height + 1, last + 1);
        }
        assert!(
            version > self.bounds.version,
            "the newest block is incomplete"
        );
        self.next = (height, version);
    }

    /// Checks that no account's sequence number has decreased.
    async fn check_sequence_numbers(&mut self, node: &NodeClient) {
        for number in 0..CLIENTS {
            let address = payer(number).address;
            let found = node.sequence_number(&address).await;
            let known = self.sequence_numbers.insert(address, found);
            assert!(Some(found) >= known, "{address}: {found} after {known:?}");
        }
    }
}

/// Returns all accounts that can hold coins: those of the genesis and the first `payers` payers, as
/// no test pays others.
fn holders(payers: u64) -> Vec<AccountAddress> {
    let genesis = development_genesis(4, Vendor::default(), Parameters::default());
    let in_genesis = genesis.accounts.iter().map(|account| account.address);
    in_genesis
        .chain((0..payers).map(|number| payer(number).address))
        .collect()
}

/// Returns the account whose transactions wait for an earlier one.
pub fn parker() -> TestAccount {
    payer(CLIENTS)
}

/// Checks that the sum of all balances is the supply. The first `payers` payers have been funded.
pub async fn check_supply(node: &NodeClient, version: u64, payers: u64) {
    let mut sum = 0;
    for holder in holders(payers) {
        let path = format!("/v1/accounts/{holder}/balance/0xa?ledger_version={version}");
        let response = node.get(&path).await;
        assert_eq!(response.status, 200, "{}", response.text);
        sum += u128::from(response.json.as_u64().unwrap());
    }
    let url = format!("{}/v1/view?ledger_version={version}", node.api);
    let body =
        json!({ "function": "0x1::coin::supply", "type_arguments": [COIN], "arguments": [] });
    let response = node.http.send_json(Method::POST, &url, &body).await;
    let supply: &Value = &response.json[0]["vec"][0];
    assert_eq!(
        supply.as_str(),
        Some(sum.to_string().as_str()),
        "{}",
        response.text
    );
}
