//! `GET /blocks/by_height/{block_height}/certificate` on a chain of one node. The tests in
//! `tests/it/cluster/` verify the certificates of several validators.

use crate::{
    interface::{
        chain::{History, Pruned},
        rows::row,
    },
    kit::{Settings, TestApi, ledger_headers, ok_json},
};
use serde_json::json;

/// The path of a certificate.
fn path(height: impl std::fmt::Display) -> String {
    format!("/v1/blocks/by_height/{height}/certificate")
}

/// Responds with the header, without votes and without validators.
#[actix_web::test]
async fn a_block_of_one_node_has_no_votes() {
    let history = History::start().await;
    for height in [0, 1, 6] {
        let response = row("GET /blocks/by_height/{block_height}/certificate", 200, "-")
            .get(&history.api, &path(height))
            .await;
        let body = response.json();
        let block = history.get(&format!("/v1/blocks/by_height/{height}")).await;
        for member in ["block_height", "block_hash"] {
            assert_eq!(body[member], block[member]);
        }
        assert_eq!(body["header"]["timestamp"], block["block_timestamp"]);
        assert_eq!(
            (&body["validators"], &body["quorum"]),
            (&json!([]), &json!("0"))
        );
        assert!(body.get("certificate").is_none() && body.get("genesis_hash").is_none());
    }
    history.api.stop().await;
}

/// Each header names the hash of the one before, so one certificate proves all earlier blocks.
#[actix_web::test]
async fn headers_are_chained() {
    let history = History::start().await;
    let mut parent = json!(format!("0x{:064x}", 0));
    for height in 0..=6 {
        let body = history.get(&path(height)).await;
        assert_eq!(body["header"]["parent_hash"], parent, "height {height}");
        let bytes = hex::decode(&body["header_bytes"].as_str().unwrap()[2..]).unwrap();
        let header: ledger_types::BlockHeader = bcs::from_bytes(&bytes).unwrap();
        let hash = header.hash(history.api.chain.vendor());
        assert_eq!(body["block_hash"], hash.to_string());
        parent = body["block_hash"].clone();
    }
    history.api.stop().await;
}

#[actix_web::test]
async fn heights_that_are_no_numbers_or_too_high_are_rejected() {
    let api = TestApi::start(Settings::default()).await;
    for wrong in ["-1", "first", "18446744073709551616"] {
        row(
            "GET /blocks/by_height/{block_height}/certificate",
            400,
            "web_framework_error",
        )
        .get(&api, &path(wrong))
        .await;
    }
    row(
        "GET /blocks/by_height/{block_height}/certificate",
        404,
        "block_not_found",
    )
    .get(&api, &path(1))
    .await;
    api.stop().await;
}

#[actix_web::test]
async fn the_certificate_of_a_pruned_block_is_410() {
    let pruned = Pruned::start().await;
    for height in [0, pruned.oldest_height - 1] {
        let response = row(
            "GET /blocks/by_height/{block_height}/certificate",
            410,
            "block_pruned",
        )
        .get(&pruned.api, &path(height))
        .await;
        let message = format!("Block({height}) has been pruned");
        assert_eq!(response.json()["message"], message);
        assert_eq!(ledger_headers(&response, "node")[2], pruned.oldest);
    }
    ok_json(&pruned.api.client.get(&path(pruned.oldest_height)).await);
    pruned.api.stop().await;
}
