//! The expected content of each listing, built from transactions that are read one by one.

use super::{
    walk::{Numbered, Walked, newest_version, number},
    writer::MIXED,
};
use crate::{
    http::summaries::summary,
    kit::{Client, Transfer, ok_json, store_of},
};
use serde_json::{Value, json};

/// All transactions of the ledger, in the order of their versions.
pub struct Ledger(Vec<Value>);

impl Ledger {
    pub async fn read(client: &Client) -> Self {
        let mut all = Vec::new();
        for version in 0..=newest_version(client).await {
            let path = format!("/v1/transactions/by_version/{version}");
            all.push(ok_json(&client.get(&path).await));
        }
        Self(all)
    }

    fn of(&self, from: usize) -> impl Iterator<Item = &Value> {
        let sender = Transfer::new(from, 0).sender().to_string();
        self.0.iter().filter(move |one| one["sender"] == sender)
    }

    /// Returns the expected entries of a listing from a number on, each with its version.
    pub fn expected(&self, listing: &Numbered, from: u64) -> Vec<(u64, Value)> {
        let all: Vec<(u64, Value)> = match listing.path.rsplit('/').next().unwrap() {
            "auxiliary_info" => self.transaction_indices(),
            "transaction_summaries" => self
                .of(MIXED)
                .map(|one| (number(one, "version"), summary(one)))
                .collect(),
            "transactions" if listing.number == Some("version") => self
                .0
                .iter()
                .map(|one| (number(one, "version"), one.clone()))
                .collect(),
            "transactions" => {
                let sequential = self
                    .of(MIXED)
                    .filter(|one| one.get("replay_protection_nonce").is_none());
                sequential
                    .map(|one| (number(one, "version"), one.clone()))
                    .collect()
            }
            _ => self.withdrawals(),
        };
        let is_from = |(position, (_, entry)): &(usize, (u64, Value))| match listing.number {
            Some(member) => number(entry, member) >= from,
            None => *position as u64 >= from,
        };
        all.into_iter()
            .enumerate()
            .filter(is_from)
            .map(|(_, one)| one)
            .collect()
    }

    fn transaction_indices(&self) -> Vec<(u64, Value)> {
        let mut index = 0;
        let transaction_indices = self.0.iter().map(|one| {
            index = if one["type"] == "block_metadata_transaction" {
                0
            } else {
                index + 1
            };
            let index = if one["version"] == "0" { 0 } else { index };
            (
                number(one, "version"),
                json!({ "transaction_index": index }),
            )
        });
        transaction_indices.collect()
    }

    fn withdrawals(&self) -> Vec<(u64, Value)> {
        let events = self.0.iter().flat_map(|one| {
            let events = one["events"].as_array().into_iter().flatten();
            events.map(|event| (one["version"].clone(), event.clone()))
        });
        let store = store_of(Transfer::new(MIXED, 0).sender()).to_string();
        let of_stream = events.filter(|(_, event)| {
            event["type"] == "0x1::fungible_asset::WithdrawEvent"
                && event["guid"]["account_address"] == store
        });
        let versioned = of_stream.map(|(version, mut event)| {
            event["version"] = version;
            (number(&event, "version"), event)
        });
        versioned.collect()
    }

    /// Asserts that a walk returned the expected entries.
    pub fn check(&self, listing: &Numbered, from: u64, walked: &Walked) {
        let expected = self.expected(listing, from);
        let required = expected
            .iter()
            .filter(|(version, _)| *version <= walked.version)
            .count();
        let case = format!("{} from {from}", listing.path);
        assert!(
            walked.all.len() >= required,
            "{case}: {} of {required}",
            walked.all.len()
        );
        for (found, (_, expected)) in walked.all.iter().zip(&expected) {
            assert_eq!(found, expected, "{case}");
        }
        assert!(
            walked.all.len() <= expected.len(),
            "{case}: more entries than expected"
        );
        assert!(!walked.is_pruned, "{case}");
    }
}
