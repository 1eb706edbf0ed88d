//! What must hold of a ledger after each start. The cost of a check follows from what is new: of the past it
//! looks at a sample.

use super::{
    load::{CLIENTS, payer},
    told::{Committed, Ends, News, number},
};
use crate::kit::{NodeClient, TestAccount};
use fastrand::Rng;
use ledger_execution::development_genesis;
use ledger_types::{AccountAddress, Parameters, Vendor};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::HashMap;

const COIN: &str = "0x1::node_coin::NodeCoin";
/// Maximum number of earlier commitments that a check looks up again.
const SAMPLE: usize = 20;

/// What is known of a ledger since it began.
#[derive(Debug, Default)]
pub struct History {
    ends: Ends,
    committed: Vec<Committed>,
    sequence_numbers: HashMap<AccountAddress, u64>,
    /// The first block that was not looked at, and its first version.
    next: (u64, u64),
    /// Looks at commitments: those that were there, and those that are below the window.
    pub found: u64,
    pub pruned: u64,
}

impl History {
    /// How many commitments clients were told of.
    pub fn told(&self) -> usize {
        self.committed.len()
    }

    /// Checks a ledger after a start, at the moment when it is first asked.
    pub async fn check(&mut self, node: &NodeClient, news: News, sample_seed: u64) {
        let ends = Ends::of(&node.get("/v1").await.json);
        ends.check_not_before(&self.ends);
        ends.check_not_before(&news.ends);
        self.ends = ends;
        self.check_committed(node, news.committed, sample_seed)
            .await;
        self.check_blocks(node).await;
        self.check_sequence_numbers(node).await;
        check_supply(node, ends.version).await;
    }

    /// What clients were told since the last start is there, and a sample of what they were told before.
    async fn check_committed(&mut self, node: &NodeClient, new: Vec<Committed>, sample_seed: u64) {
        let mut random = Rng::with_seed(sample_seed);
        let old = self.committed.len();
        let sample = (0..SAMPLE.min(old)).map(|_| self.committed[random.usize(..old)]);
        let looked_at: Vec<_> = sample.chain(new.iter().copied()).collect();
        self.committed.extend(new);
        for Committed { hash, version } in looked_at {
            let answer = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
            if answer.status == 200 {
                assert_eq!(answer.json["type"], "user_transaction", "{}", answer.text);
                assert_eq!(number(&answer.json["version"]), version, "{hash}");
                self.found += 1;
                continue;
            }
            // The ledger may have pruned since its ends were read.
            let oldest = Ends::of(&node.get("/v1").await.json).oldest_version;
            let status = answer.status;
            assert!(
                version < oldest,
                "{hash}, version {version}, is {status}: {}",
                answer.text
            );
            assert!(matches!(status, 404 | 410), "{}", answer.text);
            self.pruned += 1;
        }
    }

    /// Blocks that were not looked at before follow one another and are whole.
    async fn check_blocks(&mut self, node: &NodeClient) {
        let (mut height, mut version) = self.next;
        if height < self.ends.oldest_height {
            (height, version) = (self.ends.oldest_height, self.ends.oldest_version);
        }
        while height <= self.ends.height {
            let path = format!("/v1/blocks/by_height/{height}?with_transactions=true");
            let block = node.get(&path).await;
            if block.status == 410 {
                // Pruned meanwhile: goes on where the window begins now.
                let ends = Ends::of(&node.get("/v1").await.json);
                assert!(height < ends.oldest_height, "{}", block.text);
                (height, version) = (ends.oldest_height, ends.oldest_version);
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
                .map(|one| number(&one["version"]))
                .collect();
            assert_eq!(
                versions,
                (version..=last).collect::<Vec<_>>(),
                "block {height}"
            );
            (height, version) = (height + 1, last + 1);
        }
        assert!(version > self.ends.version, "the newest block is short");
        self.next = (height, version);
    }

    /// No account's number goes back.
    async fn check_sequence_numbers(&mut self, node: &NodeClient) {
        for number in 0..CLIENTS {
            let address = payer(number).address;
            let found = node.sequence_number(&address).await;
            let known = self.sequence_numbers.insert(address, found);
            assert!(Some(found) >= known, "{address}: {found} after {known:?}");
        }
    }
}

/// Who may hold coins: those of the genesis and the payers. No test pays others.
fn holders() -> Vec<AccountAddress> {
    let genesis = development_genesis(4, Vendor::default(), Parameters::default());
    let in_genesis = genesis.accounts.iter().map(|account| account.address);
    in_genesis
        .chain((0..=CLIENTS).map(|number| payer(number).address))
        .collect()
}

/// The account whose transactions wait for one that is not there yet.
pub fn parker() -> TestAccount {
    payer(CLIENTS)
}

/// All that is held is all there is.
async fn check_supply(node: &NodeClient, version: u64) {
    let mut held = 0;
    for holder in holders() {
        let path = format!("/v1/accounts/{holder}/balance/0xa?ledger_version={version}");
        let answer = node.get(&path).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        held += u128::from(answer.json.as_u64().unwrap());
    }
    let url = format!("{}/v1/view?ledger_version={version}", node.api);
    let body =
        json!({ "function": "0x1::coin::supply", "type_arguments": [COIN], "arguments": [] });
    let answer = node.http.send_json(Method::POST, &url, &body).await;
    let supply: &Value = &answer.json[0]["vec"][0];
    assert_eq!(
        supply.as_str(),
        Some(held.to_string().as_str()),
        "{}",
        answer.text
    );
}
