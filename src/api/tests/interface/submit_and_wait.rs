//! docs/use/interface.md#submit-and-wait: `POST /transactions?timeout_ms=...` waits for the commit.

use crate::{
    interface::{chain::parked, rows::row},
    kit::{RawResponse, Settings, TestApi, Transfer, ledger_headers, ok_bcs, ok_json},
};
use actix_web::{
    App,
    rt::{spawn, time::timeout},
    test::{TestRequest, call_service, init_service},
};
use futures::poll;
use ledger_actors::WaitConfig;
use ledger_api::configure;
use ledger_types::SignedTransaction;
use std::time::Duration;
use tokio::task::JoinHandle;

const ROUTE: &str = "POST /transactions";

/// A request for the longest wait.
const LONG: &str = "/v1/transactions?timeout_ms=600000";

/// Maximum time of a response that must not wait, on a busy machine.
const SOON: Duration = Duration::from_secs(120);

/// Submits a transaction in BCS. `accept` is the media type of the response.
async fn submit(
    api: &TestApi,
    path: &str,
    signed: &SignedTransaction,
    accept: &str,
) -> RawResponse {
    let media_type = api.client.signed_transaction_type();
    let headers = [("content-type", &media_type[..]), ("accept", accept)];
    let body = bcs::to_bytes(signed).unwrap();
    api.client.send("POST", path, &headers, Some(&body)).await
}

/// Returns the task of a submission that waits, once the wait has begun.
async fn begin_wait(api: &TestApi, signed: &SignedTransaction) -> JoinHandle<RawResponse> {
    let waiting = || api.handle().meters().waits.waiting;
    let before = waiting();
    let (client, body) = (api.client.clone(), bcs::to_bytes(signed).unwrap());
    let task = spawn(async move {
        let media_type = client.signed_transaction_type();
        let headers = [("content-type", &media_type[..])];
        client.send("POST", LONG, &headers, Some(&body)).await
    });
    while waiting() == before {
        assert!(!task.is_finished(), "the response did not wait");
        tokio::task::yield_now().await;
    }
    task
}

/// Asserts that a response has status 202 and the pending transaction.
fn assert_pending(response: &RawResponse, hash: &str) {
    row(ROUTE, 202, "-").assert_matches(response, hash);
    assert_eq!(response.json()["hash"], hash);
    assert_eq!(response.json().get("type"), None);
}

fn hash_of(api: &TestApi, signed: &SignedTransaction) -> String {
    signed.hash(api.chain.vendor()).to_string()
}

#[actix_web::test]
async fn responds_with_the_committed_transaction() {
    let api = TestApi::start(Settings::with_long_waits()).await;
    let first = Transfer::new(0, 0);
    let response = row("POST /transactions", 200, "-")
        .post(&api, LONG, &first.json(&api.chain))
        .await;
    let hash = hash_of(&api, &first.sign(&api.chain));
    let committed = response.json();
    assert_eq!(committed["type"], "user_transaction");
    assert_eq!(committed["hash"], hash);
    let [_, ledger_version, ..] = ledger_headers(&response, "node");
    let version: u64 = committed["version"].as_str().unwrap().parse().unwrap();
    assert!(ledger_version >= version, "{ledger_version} and {version}");
    let path = format!("/v1/transactions/by_hash/{hash}");
    assert_eq!(api.client.get(&path).await.body, response.body);

    let second = Transfer::new(0, 1).sign(&api.chain);
    let response = submit(&api, LONG, &second, "application/x-bcs").await;
    let path = format!("/v1/transactions/by_hash/{}", hash_of(&api, &second));
    let found = api.client.get_bcs(&path).await;
    assert_eq!(ok_bcs(&response), ok_bcs(&found));
    assert!(!response.body.is_empty());
    api.stop().await;
}

#[actix_web::test]
async fn responds_to_repeated_bytes_with_their_commit() {
    let api = TestApi::start(Settings::with_long_waits()).await;
    let signed = Transfer::new(0, 0).sign(&api.chain);
    let first = submit(&api, LONG, &signed, "application/json").await;
    let repeated = submit(&api, LONG, &signed, "application/json").await;
    row(ROUTE, 200, "-").assert_matches(&repeated, "repeated");
    assert_eq!(repeated.body, first.body);
    api.stop().await;
}

#[actix_web::test]
async fn responds_with_a_failed_execution_as_with_a_success() {
    let api = TestApi::start(Settings::with_long_waits()).await;
    let more_than_it_has = Transfer {
        amount: u64::MAX,
        ..Transfer::new(0, 0)
    };
    let response = row(ROUTE, 200, "-")
        .post(&api, LONG, &more_than_it_has.json(&api.chain))
        .await;
    assert_eq!(response.json()["success"], false);
    api.stop().await;
}

#[actix_web::test]
async fn responds_with_the_pending_transaction_at_the_deadline() {
    let api = TestApi::start(Settings::with_long_waits()).await;
    let signed = parked(&api);
    // The same bytes are accepted again while they are pending.
    for _ in 0..2 {
        let path = "/v1/transactions?timeout_ms=10";
        let response = timeout(SOON, submit(&api, path, &signed, "application/json")).await;
        let response = response.expect("a response at the deadline");
        assert_pending(&response, &hash_of(&api, &signed));
    }
    let path = "/v1/transactions?timeout_ms=10";
    let response = submit(&api, path, &signed, "application/x-bcs").await;
    row(ROUTE, 202, "-").assert_matches(&response, "BCS");
    assert!(response.body.is_empty(), "as without a wait");
    assert_eq!(api.handle().meters().waits.timed_out, 3);
    api.stop().await;
}

#[actix_web::test]
async fn bounds_the_wait_by_the_configured_maximum() {
    let mut settings = Settings::with_long_waits();
    settings.node.wait.timeout_max_ms = 1;
    let api = TestApi::start(settings).await;
    let signed = parked(&api);
    let response = timeout(SOON, submit(&api, LONG, &signed, "application/json")).await;
    let response = response.expect("a response after wait.timeout_max_ms");
    assert_pending(&response, &hash_of(&api, &signed));
    assert_eq!(api.handle().meters().waits.timed_out, 1);
    api.stop().await;
}

/// The existing default of long polls, `wait.timeout_ms`, does not apply to submissions.
#[actix_web::test]
async fn does_not_wait_with_a_timeout_of_0_or_without_one() {
    let mut settings = Settings::with_long_waits();
    settings.node.wait.timeout_ms = 600_000;
    let api = TestApi::start(settings).await;
    let signed = parked(&api);
    for path in ["/v1/transactions?timeout_ms=0", "/v1/transactions"] {
        let response = timeout(SOON, submit(&api, path, &signed, "application/json")).await;
        let response = response.expect("a response without a wait");
        assert_pending(&response, &hash_of(&api, &signed));
    }
    let waits = api.handle().meters().waits;
    assert_eq!((waits.timed_out, waits.refused), (0, 0));
    api.stop().await;
}

#[actix_web::test]
async fn submissions_of_the_same_bytes_wait_for_one_commit() {
    let api = TestApi::start(Settings::with_long_waits()).await;
    let signed = Transfer::new(0, 1).sign(&api.chain);
    let first = begin_wait(&api, &signed).await;
    let again = begin_wait(&api, &signed).await;
    api.commit(&Transfer::new(0, 0)).await;
    let (first, again) = (first.await.unwrap(), again.await.unwrap());
    assert_eq!(ok_json(&first)["hash"], hash_of(&api, &signed));
    assert_eq!(first.body, again.body);
    api.stop().await;
}

#[actix_web::test]
async fn a_removal_during_the_wait_is_404_with_the_reason() {
    let api = TestApi::start(Settings::with_long_waits()).await;
    let transfer = Transfer::new(0, 1);
    let waiting = begin_wait(&api, &transfer.sign(&api.chain)).await;
    // It replaces the first one only if nothing but the price differs.
    let better = Transfer {
        gas_unit_price: 200,
        ..transfer
    };
    let better = better.sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&better).await.status, 202);
    let response = waiting.await.unwrap();
    row("POST /transactions", 404, "transaction_not_found").assert_matches(&response, "replaced");
    let words = format!("replaced by {}", hash_of(&api, &better));
    assert!(response.text().contains(&words), "{}", response.text());
    api.stop().await;
}

#[actix_web::test]
async fn accepts_a_submission_without_capacity_for_its_wait() {
    let mut settings = Settings::with_long_waits();
    settings.node.wait = WaitConfig {
        capacity: 1,
        ..settings.node.wait
    };
    let api = TestApi::start(settings).await;
    let first = Transfer::new(0, 1).sign(&api.chain);
    let waiting = begin_wait(&api, &first).await;
    let second = Transfer::new(0, 2).sign(&api.chain);
    let response = timeout(SOON, submit(&api, LONG, &second, "application/json")).await;
    let hash = hash_of(&api, &second);
    assert_pending(&response.expect("a response without a wait"), &hash);
    assert_eq!(api.handle().meters().waits.refused, 1);
    api.commit(&Transfer::new(0, 0)).await;
    assert_eq!(ok_json(&waiting.await.unwrap())["success"], true);
    // The wait has ended, so the next submission waits, behind the one that was accepted.
    let third = Transfer::new(0, 3).sign(&api.chain);
    assert_eq!(
        submit(&api, LONG, &third, "application/json").await.status,
        200
    );
    let second = api.client.wait(&hash.parse().unwrap()).await;
    assert_eq!(second["success"], true);
    api.stop().await;
}

#[actix_web::test]
async fn holds_no_memory_of_the_body_while_it_waits() {
    let signed_at = |api: &TestApi, number| Transfer::new(0, number).sign(&api.chain);
    let mut settings = Settings::with_long_waits();
    // A second body has no capacity beside the first one.
    settings.api.bodies_bytes_max = 300;
    let api = TestApi::start(settings).await;
    let body_bytes = bcs::to_bytes(&signed_at(&api, 1)).unwrap().len();
    assert!((151..=300).contains(&body_bytes), "{body_bytes} bytes");
    let waiting = [
        begin_wait(&api, &signed_at(&api, 1)).await,
        begin_wait(&api, &signed_at(&api, 2)).await,
    ];
    api.commit(&Transfer::new(0, 0)).await;
    for response in waiting {
        assert_eq!(ok_json(&response.await.unwrap())["success"], true);
    }
    api.stop().await;
}

/// The transaction is accepted, and a stop saves it with the mempool.
#[actix_web::test]
async fn responds_with_the_pending_transaction_if_the_node_stops() {
    let api = TestApi::start(Settings::with_long_waits()).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let request = TestRequest::post()
        .uri(LONG)
        .insert_header(("content-type", "application/json"))
        .set_payload(Transfer::new(0, 1).json(&api.chain).to_string());
    let mut response = Box::pin(call_service(&app, request.to_request()));
    while api.handle().meters().waits.waiting == 0 {
        assert!(poll!(&mut response).is_pending(), "it does not wait");
        tokio::task::yield_now().await;
    }
    api.stop().await;
    assert_eq!(response.await.status(), 202);
}

#[actix_web::test]
async fn rejects_a_duration_that_is_not_a_number_of_milliseconds() {
    let api = TestApi::start(Settings::with_long_waits()).await;
    let transfer = Transfer::new(0, 0);
    for wrong in ["", "x", "-1", "1.5", "18446744073709551616"] {
        let response = row(ROUTE, 400, "invalid_input")
            .post(
                &api,
                &format!("/v1/transactions?timeout_ms={wrong}"),
                &transfer.json(&api.chain),
            )
            .await;
        let message = response.json()["message"].to_string();
        assert!(message.contains("`timeout_ms`"), "{message}");
    }
    let hash = hash_of(&api, &transfer.sign(&api.chain));
    let path = format!("/v1/transactions/by_hash/{hash}");
    assert_eq!(api.client.get(&path).await.status, 404, "it was submitted");
    api.stop().await;
}
