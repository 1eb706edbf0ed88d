//! docs/reference/rest-contract.md#s8: limits.

use crate::kit::{elements, number};
use crate::{
    interface::{
        chain::{Pruned, STORE, parked},
        rows::row,
    },
    kit::{Settings, TestApi, Transfer, ledger_headers, ok_json, recipient_store},
};
use actix_web::rt::time::timeout;
use ledger_actors::WaitConfig;
use std::time::Duration;

/// Returns 25 events or transactions or 100 summaries by default. A limit above 100 counts as 100.
#[actix_web::test]
async fn uses_the_default_page_size_without_a_limit() {
    let api = TestApi::start(Settings::default()).await;
    // The mempool holds at most a hundred transactions of one account.
    for numbers in [0..51, 51..101] {
        let mut last = None;
        for number in numbers {
            let signed = Transfer::new(0, number).sign(&api.chain);
            assert_eq!(api.client.submit_bcs(&signed).await.status, 202);
            last = Some(signed.hash(api.chain.vendor()));
        }
        api.client.wait(&last.unwrap()).await;
    }
    let events = format!("/v1/accounts/0xb0b/events/{STORE}/deposit_events?");
    let first = ok_json(&api.client.get(&events).await);
    let by_number = format!(
        "/v1/accounts/{}/events/{}?",
        recipient_store(),
        first[0]["guid"]["creation_number"].as_str().unwrap()
    );
    let sender = Transfer::new(0, 0).sender();
    let summaries = format!("/v1/accounts/{sender}/transaction_summaries?");
    let of_account = format!("/v1/accounts/{sender}/transactions?");
    for (path, default) in [
        (&*events, 25),
        (&by_number, 25),
        (&summaries, 100),
        (&of_account, 25),
        ("/v1/transactions?", 25),
        ("/v1/transactions/auxiliary_info?start_version=0&", 25),
    ] {
        for (query, expected) in [
            ("", default),
            ("limit=1", 1),
            ("limit=100", 100),
            ("limit=101", 100),
            ("limit=65535", 100),
        ] {
            let page = ok_json(&api.client.get(&format!("{path}{query}")).await);
            assert_eq!(elements(&page).len(), expected, "{path}{query}");
        }
    }
    api.stop().await;
}

#[actix_web::test]
async fn the_server_bounds_the_duration_of_a_wait() {
    let mut settings = Settings::default();
    settings.node.wait = WaitConfig {
        timeout_ms: 600_000,
        timeout_max_ms: 1,
        ..WaitConfig::default()
    };
    let api = TestApi::start(settings).await;
    let signed = parked(&api);
    assert_eq!(api.client.submit_bcs(&signed).await.status, 202);
    let path = format!(
        "/v1/transactions/wait_by_hash/{}",
        signed.hash(api.chain.vendor())
    );
    for timeout_ms in ["600000", "18446744073709551615"] {
        let path = format!("{path}?timeout_ms={timeout_ms}");
        let waited = timeout(Duration::from_secs(120), api.client.get(&path)).await;
        let waited = ok_json(&waited.expect("a response after wait.timeout_max_ms"));
        assert_eq!(waited["type"], "pending_transaction");
    }
    api.stop().await;
}

/// Starts the window at the first version of a block, which is the first one that can be read.
#[actix_web::test]
async fn headers_have_the_start_of_the_window() {
    let pruned = Pruned::start().await;
    let api = &pruned.api;
    let [_, newest, oldest, _, _, height, oldest_height] =
        ledger_headers(&api.client.get("/v1").await, "node");
    assert_eq!((newest, oldest), (pruned.newest, pruned.oldest));
    let block = ok_json(
        &api.client
            .get(&format!("/v1/blocks/by_height/{oldest_height}"))
            .await,
    );
    assert_eq!(
        number(&block["first_version"]),
        oldest,
        "a block's first version"
    );
    for version in oldest..=newest {
        for path in [
            format!("/v1/transactions/by_version/{version}"),
            format!("/v1/blocks/by_version/{version}?with_transactions=true"),
            format!("/v1/accounts/0xb0b/balance/0xa?ledger_version={version}"),
            format!("/v1/transactions?start={version}"),
        ] {
            assert_eq!(api.client.get(&path).await.status, 200, "{path}");
        }
    }
    for height in oldest_height..=height {
        let path = format!("/v1/blocks/by_height/{height}?with_transactions=true");
        assert_eq!(api.client.get(&path).await.status, 200, "{path}");
    }
    for version in 0..oldest {
        let response = row(
            "GET /transactions/by_version/{txn_version}",
            410,
            "version_pruned",
        )
        .get(api, &format!("/v1/transactions/by_version/{version}"))
        .await;
        let message = format!("Ledger version({version}) has been pruned");
        assert_eq!(response.json()["message"], message);
        row("GET /blocks/by_version/{version}", 410, "version_pruned")
            .get(api, &format!("/v1/blocks/by_version/{version}"))
            .await;
    }
    pruned.api.stop().await;
}

#[actix_web::test]
async fn the_window_survives_a_restart() {
    let Pruned {
        api,
        oldest,
        newest,
        ..
    } = Pruned::start().await;
    let api = api.restarted().await;
    let headers = ledger_headers(&api.client.get("/v1").await, "node");
    assert_eq!((headers[1], headers[2]), (newest, oldest));
    row(
        "GET /transactions/by_version/{txn_version}",
        410,
        "version_pruned",
    )
    .get(&api, &format!("/v1/transactions/by_version/{}", oldest - 1))
    .await;
    api.stop().await;
}
