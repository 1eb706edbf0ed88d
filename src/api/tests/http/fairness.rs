//! Limits that clients share, so that one of them cannot take all.

use crate::kit::{HoldingClock, Settings, TestApi, Transfer, unrelated_clients};
use actix_web::{
    App,
    test::{TestRequest, call_and_read_body_json, init_service},
};
use futures::{future::join_all, poll};
use ledger_actors::WaitConfig;
use ledger_api::configure;
use ledger_test_support::{TestAccount, TransactionBuilder, transfer_call};
use serde_json::Value;
use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

#[actix_web::test]
async fn one_client_leaves_waits_to_others() {
    const CAPACITY: usize = 16;
    const PART: usize = 14;
    let mut settings = Settings::default();
    settings.node.wait = WaitConfig {
        timeout_ms: 600_000,
        capacity: CAPACITY,
        ..WaitConfig::default()
    };
    let api = TestApi::start(settings).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let parked = Transfer::new(0, 1).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&parked).await.status, 202);
    let path = format!(
        "/v1/transactions/wait_by_hash/{}",
        parked.hash(api.chain.vendor())
    );
    let wait = |client: SocketAddr| {
        let request = TestRequest::get().uri(&path).peer_addr(client);
        Box::pin(call_and_read_body_json::<_, _, Value>(
            &app,
            request.to_request(),
        ))
    };
    let [greedy, other] = unrelated_clients(&api.state, 2)[..] else {
        panic!("there are two")
    };
    let waits = || {
        let waits = api.handle().meters().waits;
        (waits.waiting, waits.refused)
    };
    let mut waiting: Vec<_> = (0..PART).map(|_| wait(greedy)).collect();
    for wait in &mut waiting {
        assert!(poll!(wait).is_pending());
    }
    assert_eq!(waits(), (PART, 0));
    // Beyond its part the client gets the status of the transaction, although waits are free.
    let started_at = Instant::now();
    assert_eq!(wait(greedy).await["type"], "pending_transaction");
    let took = started_at.elapsed();
    assert!(
        took >= Duration::from_millis(100),
        "a client would be busy: {took:?}"
    );
    assert_eq!(waits(), (PART, 1));

    let mut of_other = wait(other);
    assert!(poll!(&mut of_other).is_pending());
    assert_eq!(waits(), (PART + 1, 1));
    waiting.push(of_other);

    api.commit(&Transfer::new(0, 0)).await;
    for response in join_all(waiting).await {
        assert_eq!(response["type"], "user_transaction");
    }
    assert_eq!(waits().0, 0);
    api.stop().await;
}

/// The sequencer is held while the transactions arrive, so that all of them wait.
#[actix_web::test]
async fn commits_a_transfer_before_the_large_transactions_of_many_accounts() {
    const ACCOUNTS: u64 = 100;
    const ARGUMENT_BYTES: usize = 60_000;
    let clock = std::sync::Arc::new(HoldingClock::default());
    let api = TestApi::start(Settings {
        funded_accounts: ACCOUNTS,
        ..clock.settings()
    })
    .await;
    let vendor = api.chain.vendor();
    let block = clock.hold_next_block(&api).await;
    let first = Transfer::new(0, 0).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&first).await.status, 202);
    block.wait_until_taken();
    let mut large = Vec::new();
    for number in 0..ACCOUNTS {
        let account = TestAccount::from_seed(number);
        let mut call = transfer_call(vendor, account.address, 1);
        call.args.push(vec![1; ARGUMENT_BYTES].into());
        let signed = TransactionBuilder::call(&api.chain, account.address, call)
            .max_gas_amount(200_000)
            .gas_unit_price(100)
            .sign(&account);
        let response = api.client.submit_bcs(&signed).await;
        assert_eq!(response.status, 202, "{}", response.text());
        large.push(signed.hash(vendor));
    }
    let mut transfers = Vec::new();
    for number in 0..3 {
        let transfer = Transfer::new(2, number).sign(&api.chain);
        assert_eq!(api.client.submit_bcs(&transfer).await.status, 202);
        transfers.push(transfer.hash(vendor));
    }
    drop(block);
    let mut versions = [Vec::new(), Vec::new()];
    for (hashes, versions) in [large, transfers].iter().zip(&mut versions) {
        for hash in hashes {
            let committed = api.client.wait(hash).await;
            let version: u64 = committed["version"].as_str().unwrap().parse().unwrap();
            versions.push(version);
        }
    }
    let [large, transfers] = versions;
    for (number, transfer) in (0..).zip(transfers) {
        let before = large.iter().filter(|version| **version < transfer).count();
        // The time of a transfer, for each account, is less than that of one large transaction.
        assert!(
            before <= 2 * number,
            "transfer {number} is behind {before} large transactions"
        );
    }
    api.stop().await;
}
