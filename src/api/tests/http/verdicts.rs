//! Verdicts about signed transactions (docs/use/interface.md#verdicts): each verdict but `blocked`,
//! with its reasons, in JSON and in BCS. `verdicts_blocked.rs` has the causes of `blocked`.

use crate::{
    http::verdict_kit::{JSON, PATH, advancing_clock, ask, assert_kind, hash, verdict, with_nonce},
    kit::{
        HoldingClock, Settings, TestApi, Transfer, assert_error, ledger_headers, now_secs, ok_json,
    },
};
use ledger_actors::{Clock, FilterRules};
use ledger_crypto::Ed25519Signature;
use ledger_framework::modules::nonce_validation::OVERLAP_SECS;
use ledger_types::transaction::TransactionAuthenticator;
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::SeqCst},
};

#[actix_web::test]
async fn decides_about_committed_and_pending_transactions_without_a_further_check() {
    let mut api = TestApi::start(Settings::default()).await;
    let succeeded = Transfer::new(0, 0).sign(&api.chain);
    let failed = Transfer {
        amount: u64::MAX,
        ..Transfer::new(0, 1)
    };
    let failed = failed.sign(&api.chain);
    let committed = [
        api.commit_signed(&succeeded).await,
        api.commit_signed(&failed).await,
    ];
    for restarts in 0..2 {
        if restarts > 0 {
            api = api.restarted().await;
        }
        let before = api.checked();
        for (signed, committed) in [&succeeded, &failed].into_iter().zip(&committed) {
            let verdict = verdict(&api, signed).await;
            assert_eq!(verdict["verdict"], "committed");
            for member in ["version", "success", "vm_status"] {
                assert_eq!(verdict[member], committed[member], "{verdict}");
            }
        }
        assert_eq!(api.checked(), before, "restarts: {restarts}");
    }
    let parked = Transfer::new(2, 5).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&parked).await.status, 202);
    assert_eq!(verdict(&api, &parked).await["verdict"], "pending");
    assert_eq!(api.checked(), 3, "a pending transaction is checked");
    // What the operator denies now stays pending.
    let rule = format!("deny sender {}", Transfer::new(2, 0).sender());
    api.handle()
        .set_filter(FilterRules::parse_list(&rule).unwrap());
    assert_eq!(verdict(&api, &parked).await["verdict"], "pending");
    api.stop().await;
}

#[actix_web::test]
async fn a_transaction_that_can_commit_has_its_last_second_and_what_it_waits_for() {
    let api = TestApi::start(Settings::default()).await;
    let plain = Transfer::new(1, 0);
    let until_secs = (plain.expiration_timestamp_secs - 1).to_string();
    let next = json!({ "type": "sequence_number", "sequence_number": "0" });
    let account = ok_json(
        &api.client
            .get(&format!("/v1/accounts/{}/balance/0xa", plain.sender()))
            .await,
    );
    let funds = json!({
        "type": "funds",
        "needed": "1000000000000000",
        "available": account.to_string(),
    });
    let expensive = |number| Transfer {
        gas_unit_price: 10_000_000_000,
        ..Transfer::new(1, number)
    };
    for (transfer, waits_for) in [
        (plain.clone(), json!([])),
        (Transfer::new(1, 5), json!([next])),
        (expensive(0), json!([funds])),
        (expensive(5), json!([next, funds])),
    ] {
        let signed = transfer.sign(&api.chain);
        let verdict = verdict(&api, &signed).await;
        let expected = json!({
            "verdict": "can_commit",
            "hash": hash(&api, &signed),
            "until_secs": until_secs,
            "waits_for": waits_for,
        });
        assert_eq!(verdict, expected);
        // The same verdict about the same transaction in JSON.
        let in_json = api
            .client
            .post_json(PATH, &transfer.json(&api.chain), JSON)
            .await;
        assert_eq!(ok_json(&in_json), verdict);
    }
    let orderless = Transfer::orderless(1);
    let signed = with_nonce(&api, 1, 7, &orderless);
    let found = verdict(&api, &signed).await;
    assert_eq!(found["waits_for"], json!([]), "{found}");
    // Nothing was submitted.
    assert_eq!(api.commit(&plain).await["success"], true);
    api.stop().await;
}

#[actix_web::test]
async fn a_transaction_that_can_never_commit_has_a_final_reason() {
    let mut api = TestApi::start(Settings::default()).await;
    let first = Transfer::new(0, 0).sign(&api.chain);
    let orderless = with_nonce(&api, 1, 5, &Transfer::orderless(1));
    for signed in [&first, &orderless] {
        api.commit_signed(signed).await;
    }
    let of = |change: Transfer| change.sign(&api.chain);
    let number_used = of(Transfer {
        amount: 8,
        ..Transfer::new(0, 0)
    });
    let nonce_used = with_nonce(
        &api,
        1,
        5,
        &Transfer {
            amount: 8,
            ..Transfer::orderless(1)
        },
    );
    let expired = of(Transfer {
        expiration_timestamp_secs: now_secs() - 10,
        ..Transfer::new(2, 0)
    });
    let other_chain = of(Transfer {
        chain_id: 9,
        ..Transfer::new(2, 0)
    });
    let mut invalid = Transfer::new(2, 0).sign(&api.chain);
    invalid.authenticator = TransactionAuthenticator::Ed25519 {
        public_key: Transfer::new(2, 0).account().key.public_key(),
        signature: Ed25519Signature([0; 64]),
    };
    let cases = [
        (number_used, "sequence_number_used", Some(&first)),
        (nonce_used, "nonce_used", Some(&orderless)),
        (expired, "expired", None),
        (other_chain, "other_chain", None),
        (invalid, "invalid_signature", None),
    ];
    for restarts in 0..2 {
        if restarts > 0 {
            api = api.restarted().await;
        }
        for (signed, reason, user) in &cases {
            assert_kind(&api, signed, ("never", reason)).await;
            let used_by = verdict(&api, signed).await["used_by"].clone();
            let expected = user.map_or(Value::Null, |user| json!(hash(&api, user)));
            assert_eq!(used_by, expected, "{reason}");
        }
        // The filter and the switch do not change what is final.
        let rules = FilterRules::parse_list("deny all").unwrap();
        let before = api.handle().set_filter(rules);
        assert_kind(&api, &cases[0].0, ("never", "sequence_number_used")).await;
        api.handle().set_filter(before.rules().clone());
    }
    api.stop().await;
}

/// The order is that of docs/use/interface.md#verdicts.
#[actix_web::test]
async fn a_transaction_with_several_final_reasons_has_the_first_one() {
    let api = TestApi::start(Settings::default()).await;
    let first = Transfer::new(0, 0).sign(&api.chain);
    let orderless = with_nonce(&api, 1, 5, &Transfer::orderless(1));
    for signed in [&first, &orderless] {
        api.commit_signed(signed).await;
    }
    let expired = |from| Transfer {
        expiration_timestamp_secs: now_secs() - 10,
        ..Transfer::new(from, 0)
    };
    let of_other_chain = Transfer {
        chain_id: 9,
        ..expired(0)
    };
    let forged = |transfer: Transfer| {
        let mut signed = transfer.sign(&api.chain);
        signed.raw.gas_unit_price += 1;
        signed
    };
    for (signed, reason, user) in [
        (of_other_chain.sign(&api.chain), "other_chain", None),
        (forged(of_other_chain), "other_chain", None),
        (forged(expired(0)), "invalid_signature", None),
        (
            expired(0).sign(&api.chain),
            "sequence_number_used",
            Some(&first),
        ),
        (
            with_nonce(&api, 1, 5, &expired(1)),
            "nonce_used",
            Some(&orderless),
        ),
        (expired(2).sign(&api.chain), "expired", None),
    ] {
        assert_kind(&api, &signed, ("never", reason)).await;
        let used_by = verdict(&api, &signed).await["used_by"].clone();
        let expected = user.map_or(Value::Null, |user| json!(hash(&api, user)));
        assert_eq!(used_by, expected, "{reason}");
    }
    api.stop().await;
}

/// The block is ordered and not committed, so nothing about its transactions is final.
#[actix_web::test]
async fn a_block_that_is_not_committed_decides_nothing() {
    let clock = Arc::new(HoldingClock::default());
    let api = TestApi::start(clock.settings()).await;
    let [first, other] = [7, 8].map(|amount| Transfer {
        amount,
        ..Transfer::new(2, 0)
    });
    let [first, other] = [first, other].map(|transfer| transfer.sign(&api.chain));
    let block = clock.hold_next_block(&api).await;
    assert_eq!(api.client.submit_bcs(&first).await.status, 202);
    block.wait_until_taken();
    assert_eq!(verdict(&api, &first).await["verdict"], "pending");
    assert_eq!(verdict(&api, &other).await["verdict"], "can_commit");
    drop(block);
    api.client.wait(&first.hash(api.chain.vendor())).await;
    assert_eq!(verdict(&api, &first).await["verdict"], "committed");
    let never = verdict(&api, &other).await;
    assert_eq!(never["used_by"], hash(&api, &first), "{never}");
    api.stop().await;
}

/// A transaction with a nonce that was not committed is decided if the window covers its time.
#[actix_web::test]
async fn what_pruning_has_made_unknowable_is_410() {
    let (clock, passed_usecs) = advancing_clock();
    let api = TestApi::start(Settings {
        clock,
        ..Settings::with_window(6)
    })
    .await;
    let numbered = Transfer::new(0, 0).sign(&api.chain);
    let orderless = with_nonce(&api, 1, 5, &Transfer::orderless(1));
    let unused = with_nonce(&api, 1, 6, &Transfer::orderless(1));
    let mut version = 0;
    for signed in [&numbered, &orderless] {
        let committed = api.commit_signed(signed).await;
        version = committed["version"].as_str().unwrap().parse().unwrap();
    }
    let mut numbers = 0..;
    let mut commit_until_pruned = async |version: u64| {
        while ledger_headers(&api.client.get("/v1").await, "node")[2] <= version {
            api.commit(&Transfer::new(2, numbers.next().unwrap())).await;
        }
    };
    commit_until_pruned(version).await;
    assert_eq!(verdict(&api, &unused).await["verdict"], "can_commit");
    for signed in [&numbered, &orderless] {
        let response = ask(&api, signed, JSON).await;
        assert_error(&response, (410, "version_pruned"), "pruned");
    }
    passed_usecs.store(60_000_000, SeqCst);
    commit_until_pruned(version).await;
    api.commit(&Transfer::new(3, 0)).await;
    let response = ask(&api, &unused, JSON).await;
    assert_error(&response, (410, "version_pruned"), "an expired nonce");
    let hash = hash(&api, &unused);
    assert!(response.text().contains(&hash), "{}", response.text());
    // A transaction whose first possible block is inside the window is decided.
    passed_usecs.store(400_000_000, SeqCst);
    let newest = ledger_headers(&api.client.get("/v1").await, "node")[1];
    commit_until_pruned(newest).await;
    passed_usecs.store(900_000_000, SeqCst);
    let inside = Transfer {
        expiration_timestamp_secs: now_secs() + 900 + OVERLAP_SECS / 2,
        ..Transfer::orderless(1)
    };
    let inside = with_nonce(&api, 1, 7, &inside);
    assert_eq!(verdict(&api, &inside).await["verdict"], "can_commit");
    passed_usecs.store(1_000_000_000, SeqCst);
    api.commit(&Transfer::new(3, 1)).await;
    assert_kind(&api, &inside, ("never", "expired")).await;
    api.stop().await;
}

/// The oldest readable block and pruned ones are of the same second, in which a transaction that
/// expires [`OVERLAP_SECS`] later can be committed.
#[actix_web::test]
async fn a_nonce_of_the_second_of_the_oldest_block_is_410() {
    let (start_usecs, passed_usecs) = (now_secs() * 1_000_000, Arc::new(AtomicU64::new(0)));
    let passed = Arc::clone(&passed_usecs);
    let api = TestApi::start(Settings {
        clock: Clock::new(move || start_usecs + passed.load(SeqCst)),
        ..Settings::with_window(6)
    })
    .await;
    let first = api.commit(&Transfer::new(0, 0)).await;
    let first: u64 = first["version"].as_str().unwrap().parse().unwrap();
    let mut numbers = 1..;
    while ledger_headers(&api.client.get("/v1").await, "node")[2] <= first {
        api.commit(&Transfer::new(0, numbers.next().unwrap())).await;
    }
    passed_usecs.store((OVERLAP_SECS + 1) * 1_000_000, SeqCst);
    api.commit(&Transfer::new(3, 0)).await;
    let [expired, decided] = [0, 1].map(|later_secs| {
        let transfer = Transfer {
            expiration_timestamp_secs: start_usecs / 1_000_000 + OVERLAP_SECS + later_secs,
            ..Transfer::orderless(1)
        };
        with_nonce(&api, 1, later_secs, &transfer)
    });
    let response = ask(&api, &expired, JSON).await;
    assert_error(
        &response,
        (410, "version_pruned"),
        "the second of the oldest block",
    );
    assert_kind(&api, &decided, ("never", "expired")).await;
    let oldest_height = ledger_headers(&api.client.get("/v1").await, "node")[6];
    let path = format!("/v1/blocks/by_height/{oldest_height}");
    let oldest = ok_json(&api.client.get(&path).await);
    let oldest_usecs: u64 = oldest["block_timestamp"].as_str().unwrap().parse().unwrap();
    assert_eq!(oldest_usecs / 1_000_000, start_usecs / 1_000_000);
    api.stop().await;
}
