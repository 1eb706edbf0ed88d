//! docs/reference/rest-contract.md#s2-6: a block.

use crate::interface::chain::{History, NEWEST};
use crate::kit::{elements, members, number};

/// The members that every block has, in alphabetical order.
const MEMBERS: [&str; 5] = [
    "block_hash",
    "block_height",
    "block_timestamp",
    "first_version",
    "last_version",
];

#[actix_web::test]
async fn a_block_has_five_members_and_transactions_on_request() {
    let history = History::start().await;
    for path in ["/v1/blocks/by_height/1", "/v1/blocks/by_version/2"] {
        assert_eq!(members(&history.get(path).await), MEMBERS, "{path}");
        let without = history
            .get(&format!("{path}?with_transactions=false"))
            .await;
        assert_eq!(members(&without), MEMBERS, "{path}");
        let mut expected = MEMBERS.to_vec();
        expected.push("transactions");
        let with = history.get(&format!("{path}?with_transactions=true")).await;
        assert_eq!(members(&with), expected, "{path}");
    }
    history.api.stop().await;
}

/// Shows consecutive blocks with increasing times and different hashes too.
#[actix_web::test]
async fn blocks_have_consecutive_heights_and_versions() {
    let history = History::start().await;
    let (mut next_version, mut time, mut hashes) = (0, None, Vec::new());
    for height in 0..=6 {
        let block = history.get(&format!("/v1/blocks/by_height/{height}")).await;
        assert_eq!(number(&block["block_height"]), height);
        assert_eq!(number(&block["first_version"]), next_version);
        next_version = number(&block["last_version"]) + 1;
        let timestamp = Some(number(&block["block_timestamp"]));
        assert!(timestamp > time, "{block}");
        time = timestamp;
        hashes.push(block["block_hash"].as_str().unwrap().to_owned());
    }
    assert_eq!(next_version, NEWEST + 1);
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 7);
    history.api.stop().await;
}

/// Lists the transactions from the first version of the block to the last, each with its `type`.
#[actix_web::test]
async fn transactions_are_in_version_order() {
    let history = History::start().await;
    for height in 0..=6 {
        let path = format!("/v1/blocks/by_height/{height}?with_transactions=true");
        let block = history.get(&path).await;
        let versions: Vec<_> = elements(&block["transactions"])
            .iter()
            .map(|transaction| {
                assert!(transaction["type"].is_string(), "{transaction}");
                number(&transaction["version"])
            })
            .collect();
        let span = number(&block["first_version"])..=number(&block["last_version"]);
        assert_eq!(versions, span.collect::<Vec<_>>());
    }
    history.api.stop().await;
}
