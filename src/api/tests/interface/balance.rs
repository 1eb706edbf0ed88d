//! docs/reference/rest-contract.md#s4-8: `GET /accounts/{address}/balance/{asset_type}`.

use crate::kit::number;
use crate::{
    interface::{
        chain::{History, Pruned},
        rows::row,
    },
    kit::ok_json,
};
use serde_json::json;

const ROUTE: &str = "GET /accounts/{address}/balance/{asset_type}";

fn path(address: &str, asset: &str, query: &str) -> String {
    format!("/v1/accounts/{address}/balance/{asset}{query}")
}

/// Returns one balance for the coin and for its paired asset.
#[actix_web::test]
async fn the_asset_is_an_address_or_a_struct_tag() {
    let history = History::start().await;
    for asset in [
        "0xa",
        "a",
        "0x1::node_coin::NodeCoin",
        "0x1%3A%3Anode_coin%3A%3ANodeCoin",
        "0x01::node_coin::NodeCoin",
    ] {
        let response = row("GET /accounts/{address}/balance/{asset_type}", 200, "-")
            .get(&history.api, &path("0xb0b", asset, ""))
            .await;
        assert_eq!(response.json(), 28, "{asset}");
    }
    for wrong in [
        "coin",
        "0x1::node_coin",
        "0xg",
        "0x1::node_coin::NodeCoin%3C",
        "u8",
    ] {
        row(
            "GET /accounts/{address}/balance/{asset_type}",
            400,
            "web_framework_error",
        )
        .get(&history.api, &path("0xb0b", wrong, ""))
        .await;
    }
    history.api.stop().await;
}

#[actix_web::test]
async fn the_address_may_lack_its_prefix() {
    let history = History::start().await;
    assert_eq!(history.get(&path("b0b", "0xa", "")).await, 28);
    row(ROUTE, 400, "web_framework_error")
        .get(&history.api, &path("0xg", "0xa", ""))
        .await;
    history.api.stop().await;
}

#[actix_web::test]
async fn unknown_accounts_and_assets_have_balance_0() {
    let history = History::start().await;
    for (address, asset) in [
        ("0xdead", "0xa"),
        ("0xb0b", "0xdead"),
        ("0xb0b", "0x5::no::Coin"),
        ("0xb0b", "0xb0b"),
    ] {
        let response = row(ROUTE, 200, "-")
            .get(&history.api, &path(address, asset, ""))
            .await;
        assert_eq!(response.json(), json!(0));
    }
    history.api.stop().await;
}

/// Reads the balance at `ledger_version`, by default the newest.
#[actix_web::test]
async fn the_balance_is_read_at_a_version() {
    let history = History::start().await;
    for (index, transfer) in history.transfers.iter().enumerate() {
        let version = number(&transfer["version"]);
        for (version, transfers) in [(version - 1, index), (version, index + 1)] {
            let query = format!("?ledger_version={version}");
            let balance = history.get(&path("0xb0b", "0xa", &query)).await;
            assert_eq!(balance, 7 * transfers, "at {version}");
        }
    }
    assert_eq!(history.get(&path("0xb0b", "0xa", "")).await, 28);
    history.api.stop().await;
}

/// Responds with 404 to a version above the newest, and rejects one that is not a U64.
#[actix_web::test]
async fn a_version_is_a_u64_up_to_the_newest() {
    let history = History::start().await;
    row(
        "GET /accounts/{address}/balance/{asset_type}",
        404,
        "version_not_found",
    )
    .get(&history.api, &path("0xb0b", "0xa", "?ledger_version=19"))
    .await;
    for wrong in ["x", "-1", "", "18446744073709551616", "0&ledger_version=0"] {
        row(ROUTE, 400, "web_framework_error")
            .get(
                &history.api,
                &path("0xb0b", "0xa", &format!("?ledger_version={wrong}")),
            )
            .await;
    }
    history.api.stop().await;
}

/// Returns the balance at the oldest retained version.
#[actix_web::test]
async fn a_pruned_version_is_410() {
    let pruned = Pruned::start().await;
    for version in [0, pruned.oldest - 1] {
        let response = row(
            "GET /accounts/{address}/balance/{asset_type}",
            410,
            "version_pruned",
        )
        .get(
            &pruned.api,
            &path("0xb0b", "0xa", &format!("?ledger_version={version}")),
        )
        .await;
        assert_eq!(
            response.json()["message"],
            format!("Ledger version({version}) has been pruned")
        );
    }
    // Six of eight deposits of 7 lie before the window.
    let query = format!("?ledger_version={}", pruned.oldest);
    let retained = pruned.api.client.get(&path("0xb0b", "0xa", &query)).await;
    assert_eq!(ok_json(&retained), 42);
    pruned.api.stop().await;
}
