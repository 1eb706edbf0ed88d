//! docs/reference/rest-contract.md#s4-2: `GET /blocks/by_height/{block_height}`.

use crate::kit::{elements, number};
use crate::{
    interface::{
        chain::{History, Pruned},
        rows::row,
    },
    kit::{Settings, TestApi, Transfer, ok_json},
};
use bytes::Bytes;
use ledger_types::{AccountAddress, StateKey};

const ROUTE: &str = "GET /blocks/by_height/{block_height}";

/// Returns genesis at height 0.
#[actix_web::test]
async fn heights_start_at_0() {
    let history = History::start().await;
    let path = "/v1/blocks/by_height/0?with_transactions=true";
    let response = row("GET /blocks/by_height/{block_height}", 200, "-")
        .get(&history.api, path)
        .await;
    let genesis = response.json();
    assert_eq!(
        (&genesis["block_height"], &genesis["first_version"]),
        (&"0".into(), &"0".into())
    );
    assert_eq!(genesis["transactions"][0]["type"], "genesis_transaction");
    history.api.stop().await;
}

/// Omits the transactions by default.
#[actix_web::test]
async fn with_transactions_is_a_boolean() {
    let history = History::start().await;
    let path = "/v1/blocks/by_height/1";
    let count =
        |block: &serde_json::Value| block.get("transactions").map(|all| elements(all).len());
    for (query, expected) in [
        ("", None),
        ("?with_transactions=false", None),
        ("?with_transactions=true", Some(3)),
        ("?other=true", None),
    ] {
        let block = history.get(&format!("{path}{query}")).await;
        assert_eq!(count(&block), expected, "{query}");
    }
    for wrong in ["yes", "1", "TRUE", "", "true&with_transactions=true"] {
        row(ROUTE, 400, "web_framework_error")
            .get(&history.api, &format!("{path}?with_transactions={wrong}"))
            .await;
    }
    history.api.stop().await;
}

/// Rejects a height that is not an unsigned number of 64 bits.
#[actix_web::test]
async fn a_height_is_a_number() {
    let api = TestApi::start(Settings::default()).await;
    for wrong in ["-1", "first", "0x1", "18446744073709551616"] {
        row(
            "GET /blocks/by_height/{block_height}",
            400,
            "web_framework_error",
        )
        .get(&api, &format!("/v1/blocks/by_height/{wrong}"))
        .await;
    }
    api.stop().await;
}

/// Names the height in the message.
#[actix_web::test]
async fn a_block_above_the_newest_is_not_found() {
    let history = History::start().await;
    let response = row(
        "GET /blocks/by_height/{block_height}",
        404,
        "block_not_found",
    )
    .get(&history.api, "/v1/blocks/by_height/7")
    .await;
    assert_eq!(
        response.json()["message"],
        "Block not found by Block height(7)"
    );
    assert_eq!(
        history.get("/v1/blocks/by_height/6").await["block_height"],
        "6"
    );
    history.api.stop().await;
}

/// Responds with 410 to a pruned block, with or without its transactions. The oldest retained block
/// is complete.
#[actix_web::test]
async fn a_pruned_block_is_410() {
    let pruned = Pruned::start().await;
    for height in 0..pruned.oldest_height {
        for query in ["", "?with_transactions=true"] {
            let response = row("GET /blocks/by_height/{block_height}", 410, "block_pruned")
                .get(
                    &pruned.api,
                    &format!("/v1/blocks/by_height/{height}{query}"),
                )
                .await;
            assert_eq!(
                response.json()["message"],
                format!("Block({height}) has been pruned")
            );
        }
    }
    let path = format!(
        "/v1/blocks/by_height/{}?with_transactions=true",
        pruned.oldest_height
    );
    let block = ok_json(&pruned.api.client.get(&path).await);
    assert_eq!(number(&block["first_version"]), pruned.oldest);
    assert_eq!(elements(&block["transactions"]).len(), 3);
    pruned.api.stop().await;
}

/// Limits the transactions of a block by their size.
#[actix_web::test]
async fn the_listing_has_the_rest_of_a_large_block() {
    // Nine values of 1 MiB in the first transaction are more than the cap of 8 MiB.
    let item = |key: u8| {
        let table = AccountAddress::from_low_u64(0x7ab1e);
        let value = Bytes::from(vec![7; 1024 * 1024]);
        (StateKey::table_item(&table, &[key]), value)
    };
    let api = TestApi::start(Settings {
        more_state: (0..9).map(item).collect(),
        ..Settings::default()
    })
    .await;
    api.commit(&Transfer::new(0, 0)).await;
    for height in 0..=1 {
        let path = format!("/v1/blocks/by_height/{height}?with_transactions=true");
        let block = ok_json(&api.client.get(&path).await);
        let mut count = elements(&block["transactions"]).len() as u64;
        let (mut next, last) = (
            number(&block["first_version"]) + count,
            number(&block["last_version"]),
        );
        while next <= last {
            let page = ok_json(
                &api.client
                    .get(&format!("/v1/transactions?start={next}"))
                    .await,
            );
            let page = elements(&page).len() as u64;
            assert!(page > 0);
            (next, count) = (next + page, count + page);
        }
        assert_eq!(count, last + 1 - number(&block["first_version"]));
    }
    api.stop().await;
}
