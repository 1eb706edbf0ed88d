//! docs/reference/rest-contract.md#s2-10: the ledger headers.

use crate::kit::{elements, number};
use crate::{
    interface::{
        chain::{History, NEWEST, Pruned},
        examples::{self, JSON_ONLY},
        rows::row,
    },
    kit::{Settings, ledger_headers, ok_json},
};
use serde_json::json;

/// Sends a request of every route, in JSON and in BCS.
#[actix_web::test]
async fn seven_headers_are_on_every_success() {
    let history = History::start().await;
    for accept in ["application/json", "application/x-bcs"] {
        for example in examples::reads(&history) {
            if accept == "application/x-bcs" && JSON_ONLY.contains(&example.route) {
                continue;
            }
            let response = example.send(&history, accept).await;
            row(example.route, 200, "-").assert_matches(&response, example.route);
        }
    }
    for example in examples::submissions(&history) {
        let response = example.send(&history, "application/json").await;
        row(example.route, example.status, "-").assert_matches(&response, example.route);
    }
    history.api.stop().await;
}

/// Has the chain, the newest version with its block, epoch and time, and the start of the window.
#[actix_web::test]
async fn headers_equal_the_ledger_information() {
    for (api, newest, oldest) in [
        {
            let history = History::start().await;
            (history.api, NEWEST, (0, 0))
        },
        {
            let pruned = Pruned::start().await;
            (
                pruned.api,
                pruned.newest,
                (pruned.oldest, pruned.oldest_height),
            )
        },
    ] {
        let response = api.client.get("/v1").await;
        let info = ok_json(&response);
        let [
            chain_id,
            version,
            oldest_version,
            time,
            epoch,
            height,
            oldest_height,
        ] = ledger_headers(&response, "node");
        assert_eq!(info["chain_id"], chain_id);
        for (name, value) in [
            ("ledger_version", version),
            ("oldest_ledger_version", oldest_version),
            ("ledger_timestamp", time),
            ("epoch", epoch),
            ("block_height", height),
            ("oldest_block_height", oldest_height),
        ] {
            assert_eq!(number(&info[name]), value, "{name}");
        }
        assert_eq!((chain_id, version, height), (4, newest, newest / 3));
        assert_eq!((oldest_version, oldest_height), oldest);
        let block = ok_json(
            &api.client
                .get(&format!("/v1/blocks/by_height/{height}"))
                .await,
        );
        assert_eq!(number(&block["last_version"]), version);
        assert_eq!(number(&block["block_timestamp"]), time);
        api.stop().await;
    }
}

/// Omits the headers from errors that do not depend on the ledger.
#[actix_web::test]
async fn errors_that_depend_on_the_ledger_have_the_headers() {
    let Pruned { api, newest, .. } = Pruned::start().await;
    for path in [
        "/v1/blocks/by_height/99",
        "/v1/blocks/by_height/0",
        "/v1/accounts/0x1?ledger_version=99",
        "/v1/accounts/0x1?ledger_version=0",
        "/v1/accounts/0x1/resource/0x9::a::B",
        "/v1/accounts/0x1/module/nothing",
        "/v1/transactions/by_version/99",
        // Decided before the ledger is read.
        "/v1/transactions?limit=0",
    ] {
        let response = api.client.get(path).await;
        assert!(response.status >= 400, "{path}");
        assert_eq!(ledger_headers(&response, "node")[1], newest, "{path}");
    }
    for path in ["/v1/nothing", "/v1/blocks/by_height/x"] {
        let response = api.client.get(path).await;
        assert!(response.status >= 400, "{path}");
        let named = response
            .headers
            .keys()
            .filter(|name| name.starts_with("x-node"));
        assert_eq!(named.count(), 0, "{path}");
    }
    let view = json!({"function": "0x1::coin::x", "type_arguments": [], "arguments": []});
    let response = api
        .client
        .post_json("/v1/view", &view, "application/json")
        .await;
    assert_eq!(response.status, 400);
    assert_eq!(ledger_headers(&response, "node")[1], newest);
    api.stop().await;
}

/// Omits the header from other responses.
#[actix_web::test]
async fn calls_that_use_gas_have_a_header_with_it() {
    const USE_GAS: [&str; 2] = ["POST /view", "POST /transactions/simulate"];
    let history = History::start().await;
    for example in examples::all(&history) {
        let response = example.send(&history, "application/json").await;
        let gas_used = response.headers.get("x-node-gas-used");
        assert_eq!(
            gas_used.is_some(),
            USE_GAS.contains(&example.route),
            "{}",
            example.route
        );
        if let Some(gas_used) = gas_used {
            assert!(gas_used.parse::<u64>().unwrap() > 0);
        }
    }
    history.api.stop().await;
}

/// Sends a cursor with an incomplete page only, not with a complete page, another route or an
/// error.
#[actix_web::test]
async fn the_cursor_is_the_start_of_the_next_page() {
    let history = History::start().await;
    for example in examples::all(&history) {
        let response = example.send(&history, "application/json").await;
        assert!(
            !response.headers.contains_key("x-node-cursor"),
            "{}",
            example.route
        );
    }
    let path = "/v1/accounts/0x1/modules";
    let all = history.get(path).await;
    let all = elements(&all);
    let first = history.api.client.get(&format!("{path}?limit=3")).await;
    assert_eq!(elements(&ok_json(&first)), &all[..3]);
    let cursor = &first.headers["x-node-cursor"];
    let rest = history.get(&format!("{path}?start={cursor}")).await;
    assert_eq!(elements(&rest), &all[3..]);
    let rejected = history
        .api
        .client
        .get(&format!("{path}?limit=3&ledger_version=99"))
        .await;
    assert!(!rejected.headers.contains_key("x-node-cursor"));
    history.api.stop().await;
}

/// Replaces NODE by the vendor word in every name.
#[actix_web::test]
async fn header_names_have_the_vendor_word() {
    let history = crate::kit::TestApi::start(Settings {
        vendor: "APTOS".parse().unwrap(),
        ..Settings::default()
    })
    .await;
    let response = history.client.get("/v1").await;
    assert_eq!(ledger_headers(&response, "aptos")[0], 4);
    assert!(!response.headers.contains_key("x-node-chain-id"));
    history.stop().await;
}
