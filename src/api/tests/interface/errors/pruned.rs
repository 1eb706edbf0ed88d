//! Reads of versions below the window are 410 on every route that takes a version. Reads at its
//! start succeed.

use crate::kit::{elements, number};
use crate::{
    interface::{chain::Pruned, rows::row},
    kit::{Transfer, ledger_headers, ok_json},
};
use serde_json::json;

/// Reads by `GET` below and inside the window.
#[actix_web::test]
async fn reads_below_the_window_are_410() {
    let pruned = Pruned::start().await;
    let sender = pruned.sender();
    let state = "ledger_version";
    let routes = [
        (
            row("GET /accounts/{address}", 410, "version_pruned"),
            "/v1/accounts/0x1".to_owned(),
            state,
        ),
        (
            row(
                "GET /accounts/{address}/resource/{resource_type}",
                410,
                "version_pruned",
            ),
            format!("/v1/accounts/{sender}/resource/0x1::account::Account"),
            state,
        ),
        (
            row(
                "GET /accounts/{address}/module/{module_name}",
                410,
                "version_pruned",
            ),
            "/v1/accounts/0x1/module/coin".to_owned(),
            state,
        ),
        (
            row("GET /accounts/{address}/modules", 410, "version_pruned"),
            "/v1/accounts/0x1/modules".to_owned(),
            state,
        ),
        (
            row("GET /accounts/{address}/resources", 410, "version_pruned"),
            format!("/v1/accounts/{sender}/resources"),
            state,
        ),
        (
            row(
                "GET /accounts/{address}/balance/{asset_type}",
                410,
                "version_pruned",
            ),
            "/v1/accounts/0xb0b/balance/0xa".to_owned(),
            state,
        ),
        (
            row("GET /transactions", 410, "version_pruned"),
            "/v1/transactions".to_owned(),
            "start",
        ),
        (
            row("GET /transactions/auxiliary_info", 410, "version_pruned"),
            "/v1/transactions/auxiliary_info".to_owned(),
            "start_version",
        ),
        (
            row(
                "GET /accounts/{address}/transaction_summaries",
                410,
                "version_pruned",
            ),
            format!("/v1/accounts/{sender}/transaction_summaries"),
            "start_version",
        ),
    ];
    for (row, path, parameter) in routes {
        for version in [0, pruned.oldest - 1] {
            let response = row
                .get(&pruned.api, &format!("{path}?{parameter}={version}"))
                .await;
            let message = format!("Ledger version({version}) has been pruned");
            assert_eq!(response.json()["message"], message);
            assert_eq!(ledger_headers(&response, "node")[2], pruned.oldest);
        }
        for version in [pruned.oldest, pruned.newest] {
            ok_json(
                &pruned
                    .api
                    .client
                    .get(&format!("{path}?{parameter}={version}"))
                    .await,
            );
        }
    }
    // 410 takes precedence over 404.
    row(
        "GET /accounts/{address}/resource/{resource_type}",
        410,
        "version_pruned",
    )
    .get(
        &pruned.api,
        "/v1/accounts/0x1/resource/0x1::a::B?ledger_version=0",
    )
    .await;
    pruned.api.stop().await;
}

/// Responds with 410 to a `POST` before it looks for the item or runs the call.
#[actix_web::test]
async fn calls_below_the_window_are_410() {
    let pruned = Pruned::start().await;
    for (row, path, body) in [
        (
            row("POST /tables/{table_handle}/item", 410, "version_pruned"),
            "/v1/tables/0xdead/item",
            json!({ "key_type": "u8", "value_type": "u8", "key": 1 }),
        ),
        (
            row(
                "POST /tables/{table_handle}/raw_item",
                410,
                "version_pruned",
            ),
            "/v1/tables/0xdead/raw_item",
            json!({ "key": "0x" }),
        ),
        (
            row("POST /experimental/state_values/raw", 410, "version_pruned"),
            "/v1/experimental/state_values/raw",
            json!({ "key": format!("0x01{}00", "00".repeat(32)) }),
        ),
        (
            row("POST /view", 410, "version_pruned"),
            "/v1/view",
            json!({
                "function": "0x1::coin::name",
                "type_arguments": ["0x5::no::Coin"],
                "arguments": [],
            }),
        ),
    ] {
        let below = format!("{path}?ledger_version={}", pruned.oldest - 1);
        row.post(&pruned.api, &below, &body).await;
        // The item or function does not exist either, which is the error at a retained version.
        let oldest = format!("{path}?ledger_version={}", pruned.oldest);
        let response = pruned
            .api
            .client
            .post_json(&oldest, &body, "application/json")
            .await;
        assert!(
            [400, 404].contains(&response.status),
            "{oldest}: {}",
            response.text()
        );
    }
    pruned.api.stop().await;
}

/// Lists by sequence number, from the first retained one on.
#[actix_web::test]
async fn an_accounts_transactions_below_the_first_retained_are_410() {
    let pruned = Pruned::start().await;
    let path = format!("/v1/accounts/{}/transactions", pruned.sender());
    for start in 0..6 {
        row(
            "GET /accounts/{address}/transactions",
            410,
            "version_pruned",
        )
        .get(&pruned.api, &format!("{path}?start={start}"))
        .await;
    }
    for query in ["", "?start=6"] {
        let retained = ok_json(&pruned.api.client.get(&format!("{path}{query}")).await);
        assert_eq!(elements(&retained), &pruned.transfers[6..], "{query}");
    }
    // The sequence number of an account remains when all of its transactions are pruned.
    let emptied = format!("/v1/accounts/{}/transactions", Transfer::new(1, 0).sender());
    row(
        "GET /accounts/{address}/transactions",
        410,
        "version_pruned",
    )
    .get(&pruned.api, &format!("{emptied}?start=0"))
    .await;
    for query in ["", "?start=1"] {
        let retained = pruned.api.client.get(&format!("{emptied}{query}")).await;
        assert_eq!(ok_json(&retained), json!([]), "{query}");
    }
    pruned.api.stop().await;
}

/// Checks that the oldest version is the first of the oldest block, and that look-ups by height and
/// by version agree.
#[actix_web::test]
async fn prunes_whole_blocks() {
    let pruned = Pruned::start().await;
    for height in 0..=pruned.newest / 3 {
        let by_height = format!("/v1/blocks/by_height/{height}");
        let is_retained = height >= pruned.oldest_height;
        for version in (3 * height).saturating_sub(2)..=3 * height {
            let by_version = format!("/v1/blocks/by_version/{version}");
            let response = pruned.api.client.get(&by_version).await;
            if is_retained {
                let block = ok_json(&response);
                assert_eq!(block, ok_json(&pruned.api.client.get(&by_height).await));
                assert!(number(&block["first_version"]) >= pruned.oldest);
            } else {
                row("GET /blocks/by_version/{version}", 410, "version_pruned")
                    .assert_matches(&response, &by_version);
                let message = format!("Ledger version({version}) has been pruned");
                assert_eq!(response.json()["message"], message);
                row("GET /blocks/by_height/{block_height}", 410, "block_pruned")
                    .get(&pruned.api, &by_height)
                    .await;
            }
        }
    }
    pruned.api.stop().await;
}

#[actix_web::test]
async fn the_newest_page_begins_with_the_window() {
    let pruned = Pruned::start().await;
    let page = ok_json(&pruned.api.client.get("/v1/transactions?limit=100").await);
    let versions: Vec<_> = elements(&page)
        .iter()
        .map(|transaction| number(&transaction["version"]))
        .collect();
    assert_eq!(
        versions,
        (pruned.oldest..=pruned.newest).collect::<Vec<_>>()
    );
    pruned.api.stop().await;
}
