//! docs/reference/rest-contract.md#s4-5: `GET /transactions/wait_by_hash/{txn_hash}`.

use crate::{
    interface::{
        chain::{History, Pruned, parked},
        rows::row,
    },
    kit::{Settings, TestApi, Transfer, ok_bcs, ok_json},
};
use actix_web::rt::time::timeout;
use ledger_actors::{MempoolConfig, WaitConfig};
use std::time::Duration;

/// Maximum time of a request that must not wait, on a busy machine.
const SOON: Duration = Duration::from_secs(120);

const ROUTE: &str = "GET /transactions/wait_by_hash/{txn_hash}";

/// Returns settings with waits that do not time out during a test.
fn with_long_waits() -> Settings {
    let mut settings = Settings::default();
    settings.node.wait = WaitConfig {
        timeout_ms: 600_000,
        ..WaitConfig::default()
    };
    settings
}

fn path(hash: &str) -> String {
    format!("/v1/transactions/wait_by_hash/{hash}")
}

#[actix_web::test]
async fn a_committed_transaction_is_returned_as_by_hash() {
    let history = History::start().await;
    for transaction in history.transfers.iter().chain([&history.record]) {
        let hash = transaction["hash"].as_str().unwrap();
        let waited = row("GET /transactions/wait_by_hash/{txn_hash}", 200, "-")
            .get(&history.api, &path(hash))
            .await;
        assert_eq!(&waited.json(), transaction);
        let found = history
            .get(&format!("/v1/transactions/by_hash/{hash}"))
            .await;
        assert_eq!(&found, transaction);
    }
    history.api.stop().await;
}

/// Ends the wait early. The response has the bytes of every later read, from memory or from the
/// store.
#[actix_web::test]
async fn a_commit_ends_the_wait_with_the_stored_bytes() {
    let mut settings = with_long_waits();
    settings.api.response_cache_bytes_max = 0;
    let api = TestApi::start(settings).await;
    let signed = Transfer::new(0, 1).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&signed).await.status, 202);
    let hash = signed.hash(api.chain.vendor()).to_string();
    let (client, waited) = (api.client.clone(), path(&hash));
    let waiting = actix_web::rt::spawn(async move {
        futures::join!(client.get(&waited), client.get_bcs(&waited))
    });
    while api.handle().meters().waits.waiting < 2 {
        tokio::task::yield_now().await;
    }
    api.commit(&Transfer::new(0, 0)).await;
    let (in_json, in_bcs) = waiting.await.unwrap();
    let committed = ok_json(&in_json);
    assert_eq!(committed["type"], "user_transaction");
    assert_eq!(committed["hash"], hash);
    let version = committed["version"].as_str().unwrap();
    for later in [format!("by_hash/{hash}"), format!("by_version/{version}")] {
        let later = format!("/v1/transactions/{later}");
        assert_eq!(
            ok_bcs(&api.client.get_bcs(&later).await),
            ok_bcs(&in_bcs),
            "{later}"
        );
        assert_eq!(api.client.get(&later).await.body, in_json.body, "{later}");
    }
    api.stop().await;
}

/// Returns the pending transaction, so that the client can wait again.
#[actix_web::test]
async fn a_wait_that_times_out_returns_the_pending_transaction() {
    let mut settings = Settings::default();
    settings.node.wait = WaitConfig {
        timeout_ms: 10,
        ..WaitConfig::default()
    };
    let api = TestApi::start(settings).await;
    let signed = parked(&api);
    assert_eq!(api.client.submit_bcs(&signed).await.status, 202);
    for _ in 0..2 {
        let waited = row(ROUTE, 200, "-")
            .get(&api, &path(&signed.hash(api.chain.vendor()).to_string()))
            .await;
        assert_eq!(waited.json()["type"], "pending_transaction");
    }
    api.stop().await;
}

#[actix_web::test]
async fn the_client_requests_a_shorter_wait() {
    let api = TestApi::start(with_long_waits()).await;
    let signed = parked(&api);
    assert_eq!(api.client.submit_bcs(&signed).await.status, 202);
    let path = path(&signed.hash(api.chain.vendor()).to_string());
    for timeout_ms in [0, 10] {
        let path = format!("{path}?timeout_ms={timeout_ms}");
        let waited = timeout(SOON, row(ROUTE, 200, "-").get(&api, &path)).await;
        let waited = waited.expect("the response at the deadline of the client");
        assert_eq!(waited.json()["type"], "pending_transaction");
    }
    // A request with 0 does not wait.
    assert_eq!(api.handle().meters().waits.timed_out, 1);
    api.stop().await;
}

#[actix_web::test]
async fn the_client_requests_a_longer_wait() {
    let mut settings = Settings::default();
    settings.node.wait = WaitConfig {
        timeout_ms: 1,
        timeout_max_ms: 600_000,
        ..WaitConfig::default()
    };
    let api = TestApi::start(settings).await;
    let signed = Transfer::new(0, 1).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&signed).await.status, 202);
    let hash = signed.hash(api.chain.vendor()).to_string();
    let path = format!("{}?timeout_ms=600000", path(&hash));
    let client = api.client.clone();
    let waiting = actix_web::rt::spawn(async move { client.get(&path).await });
    while api.handle().meters().waits.waiting == 0 {
        assert!(!waiting.is_finished(), "the wait ended at wait.timeout_ms");
        tokio::task::yield_now().await;
    }
    api.commit(&Transfer::new(0, 0)).await;
    let committed = ok_json(&waiting.await.unwrap());
    assert_eq!(committed["type"], "user_transaction");
    assert_eq!(committed["hash"], hash);
    api.stop().await;
}

#[actix_web::test]
async fn rejects_a_duration_that_is_not_a_number_of_milliseconds() {
    let api = TestApi::start(with_long_waits()).await;
    let path = path(&"ab".repeat(32));
    for wrong in [
        "timeout_ms=",
        "timeout_ms",
        "timeout_ms=x",
        "timeout_ms=-1",
        "timeout_ms=1.5",
        "timeout_ms=18446744073709551616",
        "timeout_ms=1&timeout_ms=1",
    ] {
        let response = row(
            "GET /transactions/wait_by_hash/{txn_hash}",
            400,
            "invalid_input",
        )
        .get(&api, &format!("{path}?{wrong}"))
        .await;
        let message = response.json()["message"].to_string();
        assert!(message.contains("`timeout_ms`"), "{message}");
    }
    api.stop().await;
}

/// Responds with 404 immediately, whatever the timeout of waits.
#[actix_web::test]
async fn does_not_wait_for_an_unknown_hash() {
    let api = TestApi::start(with_long_waits()).await;
    let hash = "ab".repeat(32);
    let response = row(
        "GET /transactions/wait_by_hash/{txn_hash}",
        404,
        "transaction_not_found",
    )
    .get(&api, &path(&hash))
    .await;
    assert_eq!(
        response.json()["message"],
        format!("Transaction not found by Transaction hash(0x{hash})")
    );
    api.stop().await;
}

/// Responds with 404 if a transaction is removed during a wait. The message has the reason.
#[actix_web::test]
async fn a_removed_transaction_is_404_with_the_reason() {
    let mut settings = with_long_waits();
    settings.node.mempool = MempoolConfig {
        capacity_per_account: 1,
        ..MempoolConfig::default()
    };
    let api = TestApi::start(settings).await;
    let transfer = Transfer::new(0, 1);
    let signed = transfer.sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&signed).await.status, 202);
    let (client, waited) = (
        api.client.clone(),
        path(&signed.hash(api.chain.vendor()).to_string()),
    );
    let waiting = actix_web::rt::spawn(async move { client.get(&waited).await });
    // It replaces the first one only if nothing but the price differs.
    let better = Transfer {
        gas_unit_price: 200,
        ..transfer
    };
    let better = better.sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&better).await.status, 202);
    let response = waiting.await.unwrap();
    row(ROUTE, 404, "transaction_not_found").assert_matches(&response, "replaced");
    let words = format!("replaced by {}", better.hash(api.chain.vendor()));
    assert!(response.text().contains(&words), "{}", response.text());
    api.stop().await;
}

#[actix_web::test]
async fn rejects_text_that_is_not_a_hash() {
    let api = TestApi::start(Settings::default()).await;
    for wrong in ["0x", "0x12", "zz", "1"] {
        row(
            "GET /transactions/wait_by_hash/{txn_hash}",
            400,
            "web_framework_error",
        )
        .get(&api, &path(wrong))
        .await;
    }
    api.stop().await;
}

#[actix_web::test]
async fn a_pruned_transaction_is_410_while_its_hash_is_indexed() {
    let pruned = Pruned::start().await;
    let hash = pruned.transfers[5]["hash"].as_str().unwrap();
    let version = pruned.transfers[5]["version"].as_str().unwrap();
    for (row, route) in [
        (
            row(
                "GET /transactions/wait_by_hash/{txn_hash}",
                410,
                "version_pruned",
            ),
            "wait_by_hash",
        ),
        (
            row(
                "GET /transactions/by_hash/{txn_hash}",
                410,
                "version_pruned",
            ),
            "by_hash",
        ),
    ] {
        let response = row
            .get(&pruned.api, &format!("/v1/transactions/{route}/{hash}"))
            .await;
        assert_eq!(
            response.json()["message"],
            format!("Ledger version({version}) has been pruned")
        );
    }
    let retained = pruned.transfers[6]["hash"].as_str().unwrap();
    assert_eq!(
        ok_json(&pruned.api.client.get(&path(retained)).await),
        pruned.transfers[6]
    );
    pruned.api.stop().await;
}

/// Responds as to an unknown hash. Retained transactions are still found.
#[actix_web::test]
async fn a_pruned_transaction_is_404_once_its_hash_is_not_indexed() {
    let Pruned { api, transfers, .. } = Pruned::start().await;
    // A restart rebuilds the unwritten part of the index from the retained rows.
    let api = api.restarted().await;
    for (index, transfer) in transfers.iter().enumerate() {
        let hash = transfer["hash"].as_str().unwrap();
        for route in ["by_hash", "wait_by_hash"] {
            let response = api
                .client
                .get(&format!("/v1/transactions/{route}/{hash}"))
                .await;
            if index < 6 {
                row(ROUTE, 404, "transaction_not_found").assert_matches(&response, hash);
            } else {
                assert_eq!(&ok_json(&response), transfer);
            }
        }
    }
    api.stop().await;
}
