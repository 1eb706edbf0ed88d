//! Listings with pages that begin at a number.

use super::walk::{Numbered, number};
use crate::kit::{Client, Transfer, ok_json, store_of};

/// The resource whose handle of an account's withdrawals is that of the primary store.
const STORE: &str = "0x1::coin::CoinStore%3C0x1::node_coin::NodeCoin%3E";

pub fn account(from: usize) -> String {
    format!("/v1/accounts/{}", Transfer::new(from, 0).sender())
}

pub fn transactions() -> Numbered {
    Numbered {
        path: "/v1/transactions".to_owned(),
        start: "start",
        number: Some("version"),
    }
}

pub fn transaction_indices() -> Numbered {
    Numbered {
        path: "/v1/transactions/auxiliary_info".to_owned(),
        start: "start_version",
        number: None,
    }
}

pub fn of_account(from: usize) -> Numbered {
    Numbered {
        path: format!("{}/transactions", account(from)),
        start: "start",
        number: Some("sequence_number"),
    }
}

pub fn summaries(from: usize) -> Numbered {
    Numbered {
        path: format!("{}/transaction_summaries", account(from)),
        start: "start_version",
        number: Some("version"),
    }
}

/// Returns the listings of an account's withdrawals, by handle and by creation number.
pub async fn withdrawals(client: &Client, from: usize) -> [Numbered; 2] {
    let by_handle = format!("{}/events/{STORE}/withdraw_events", account(from));
    let first = ok_json(&client.get(&format!("{by_handle}?limit=1")).await);
    let creation_number = number(&first[0]["guid"], "creation_number");
    [
        by_handle,
        format!(
            "/v1/accounts/{}/events/{creation_number}",
            store_of(Transfer::new(from, 0).sender())
        ),
    ]
    .map(|path| Numbered {
        path,
        start: "start",
        number: Some("sequence_number"),
    })
}
