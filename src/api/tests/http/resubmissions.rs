//! Submissions of bytes that are committed already (docs/use/interface.md#repeated-submissions).

use crate::{
    http::{calls::jobs, verdict_kit::advancing_clock},
    kit::{
        HoldingClock, PausingClock, RawResponse, Settings, TestApi, Transfer, assert_error,
        handled, ok_json, submission,
    },
};
use fastrand::Rng;
use futures::future::join_all;
use ledger_actors::{FilterRules, MempoolConfig, NodeConfig};
use ledger_limits::WorkKind;
use ledger_test_support::{function_call, orderless_payload};
use ledger_types::{SignedTransaction, transaction::TransactionPayload};
use serde_json::json;
use std::{
    env,
    sync::{Arc, atomic::Ordering::SeqCst},
};

const SINGLE: &str = "/v1/transactions";
const BATCH: &str = "/v1/transactions/batch";
const JSON: &str = "application/json";
const BCS: &str = "application/x-bcs";

/// An amount that no account has, so that the transfer is committed and fails.
const TOO_MUCH: u64 = u64::MAX;

/// A way to submit a transaction: the route, and the media types of body and response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    path: &'static str,
    is_bcs: bool,
    accept: &'static str,
}

/// Returns all ways to submit a transaction.
fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    for path in [SINGLE, BATCH] {
        for is_bcs in [false, true] {
            forms.extend([JSON, BCS].map(|accept| Form {
                path,
                is_bcs,
                accept,
            }));
        }
    }
    forms
}

async fn submit(api: &TestApi, signed: &SignedTransaction, form: Form) -> RawResponse {
    let bcs_type = api.client.signed_transaction_type();
    let (content_type, body) = match (form.path, form.is_bcs) {
        (SINGLE, true) => (&bcs_type[..], bcs::to_bytes(signed).unwrap()),
        (SINGLE, false) => (JSON, submission(api, signed).to_string().into_bytes()),
        (_, true) => (&bcs_type[..], bcs::to_bytes(&vec![signed]).unwrap()),
        (_, false) => (
            JSON,
            json!([submission(api, signed)]).to_string().into_bytes(),
        ),
    };
    let headers = [("content-type", content_type), ("accept", form.accept)];
    let client = &api.client;
    client.send("POST", form.path, &headers, Some(&body)).await
}

/// Returns a transfer of `amount` with a nonce.
fn with_nonce(api: &TestApi, from: usize, nonce: u64, amount: u64) -> SignedTransaction {
    let transfer = Transfer {
        amount,
        ..Transfer::orderless(from)
    };
    transfer.sign_payload(&api.chain, transfer.payload_with_nonce(&api.chain, nonce))
}

/// Returns a transfer of `amount` with a sequence number.
fn with_number(api: &TestApi, from: usize, number: u64, amount: u64) -> SignedTransaction {
    let transfer = Transfer {
        amount,
        ..Transfer::new(from, number)
    };
    transfer.sign(&api.chain)
}

fn hash(api: &TestApi, signed: &SignedTransaction) -> String {
    signed.hash(api.chain.vendor()).to_string()
}

/// Asserts that a submission is accepted in every form without a check of its signatures.
async fn assert_accepted_unchecked(api: &TestApi, signed: &SignedTransaction, case: &str) {
    let before = api.checked();
    for form in forms() {
        let again = submit(api, signed, form).await;
        assert_eq!(again.status, 202, "{case}, {form:?}: {}", again.text());
    }
    assert_eq!(api.checked(), before, "{case}: the signatures were checked");
}

/// Accepts them also after a restart, when no account is cached.
#[actix_web::test]
async fn accepts_committed_bytes_again_with_the_same_body() {
    let mut api = TestApi::start(Settings::default()).await;
    let mut committed = Vec::new();
    for form in forms() {
        // Each form is the first one of two transactions, of which the second fails.
        for amount in [7, TOO_MUCH] {
            let number = committed.len() as u64 / 2;
            let numbered = with_number(&api, 0, number, amount);
            let orderless = with_nonce(&api, 0, number, amount);
            for signed in [numbered, orderless] {
                let first = submit(&api, &signed, form).await;
                assert_eq!(first.status, 202, "{form:?}: {}", first.text());
                let outcome = api.client.wait(&signed.hash(api.chain.vendor())).await;
                assert_eq!(outcome["success"], amount == 7, "{outcome}");
                committed.push((form, signed, first));
            }
        }
    }
    for is_restarted in [false, true] {
        if is_restarted {
            api = api.restarted().await;
        }
        let before = api.checked();
        for (form, signed, first) in &committed {
            let again = submit(&api, signed, *form).await;
            assert_eq!(again.status, 202, "{form:?}: {}", again.text());
            assert_eq!(again.body, first.body, "{form:?}");
        }
        assert_eq!(api.checked(), before, "restarted: {is_restarted}");
    }
    // None of them is committed a second time.
    let account = format!("/v1/accounts/{}", Transfer::new(0, 0).sender());
    let account = ok_json(&api.client.get(&account).await);
    assert_eq!(
        account["sequence_number"],
        (committed.len() / 2).to_string()
    );
    api.stop().await;
}

#[actix_web::test]
async fn accepts_committed_bytes_beside_new_transactions_of_a_batch() {
    let api = TestApi::start(Settings::default()).await;
    let first = with_number(&api, 0, 0, 7);
    api.commit_signed(&first).await;
    let [next, other] =
        [(1, 7), (0, 8)].map(|(number, amount)| with_number(&api, 0, number, amount));
    let body = json!([&first, &other, &next, &first].map(|signed| submission(&api, signed)));
    let response = api.client.post_json(BATCH, &body, JSON).await;
    assert_eq!(response.status, 206, "{}", response.text());
    let failures = response.json()["transaction_failures"].clone();
    assert_eq!(failures.as_array().unwrap().len(), 1, "{failures}");
    assert_eq!(failures[0]["transaction_index"], 1, "{failures}");
    assert_eq!(failures[0]["error"]["vm_error_code"], 3, "{failures}");
    let committed = api.client.wait(&next.hash(api.chain.vendor())).await;
    assert_eq!(committed["success"], true, "{committed}");
    api.stop().await;
}

/// Uses a clock, because a nonce is forgotten 100 s after the expiration of its transaction.
#[actix_web::test]
async fn accepts_committed_bytes_again_after_their_expiration() {
    let (clock, passed_usecs) = advancing_clock();
    let api = TestApi::start(Settings {
        clock,
        ..Settings::default()
    })
    .await;
    let expiring = Transfer {
        expiration_timestamp_secs: Transfer::orderless(0).expiration_timestamp_secs,
        ..Transfer::new(0, 0)
    };
    let (numbered, orderless) = (expiring.sign(&api.chain), with_nonce(&api, 0, 5, 7));
    for signed in [&numbered, &orderless] {
        api.commit_signed(signed).await;
    }
    for passed_secs in [60, 300] {
        passed_usecs.store(passed_secs * 1_000_000, SeqCst);
        // The time of the ledger advances with a block.
        api.commit(&Transfer::new(1, passed_secs / 300)).await;
        for signed in [&numbered, &orderless] {
            assert_accepted_unchecked(&api, signed, &format!("after {passed_secs} s")).await;
        }
    }
    api.stop().await;
}

/// Its hash takes longer than an HTTP worker may work at once.
#[actix_web::test]
async fn a_renderer_hashes_a_large_transaction_that_may_be_committed() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::orderless(0);
    let sign = |argument_bytes: usize, nonce| {
        let call = function_call("0x1::coin::transfer", &[], vec![vec![0; argument_bytes]]);
        transfer.sign_payload(
            &api.chain,
            orderless_payload(TransactionPayload::EntryFunction(call), nonce),
        )
    };
    for (argument_bytes, is_rendered) in [(1_000, false), (60_000, true)] {
        let signed = sign(argument_bytes, argument_bytes as u64);
        let before = jobs(&api, WorkKind::Parse);
        assert_eq!(api.client.submit_bcs(&signed).await.status, 202);
        let jobs = jobs(&api, WorkKind::Parse) - before;
        assert_eq!(jobs > 0, is_rendered, "{argument_bytes} bytes");
    }
    api.stop().await;
}

/// The checks of a new submission would reject it.
#[actix_web::test]
async fn accepts_committed_bytes_that_the_node_would_reject_now() {
    let mempool = MempoolConfig {
        capacity_transactions: 1,
        ..MempoolConfig::default()
    };
    let api = TestApi::start(Settings {
        node: NodeConfig {
            mempool,
            ..NodeConfig::default()
        },
        ..Settings::default()
    })
    .await;
    let key = json!(format!("0x{}", "12".repeat(32)));
    let rotation = "0x1::account::rotate_authentication_key_call";
    let rotation = Transfer::new(0, 0).sign_call(&api.chain, rotation, &[key]);
    let committed = [rotation, with_nonce(&api, 1, 5, 7)];
    for signed in &committed {
        assert_eq!(api.commit_signed(signed).await["success"], true);
    }
    let assert_all_accepted = async |case: &str| {
        for signed in &committed {
            assert_accepted_unchecked(&api, signed, case).await;
        }
    };
    assert_all_accepted("the key of the sender is another one").await;

    // A transaction that waits for an earlier one fills the mempool.
    let parked = |from| Transfer::new(from, 5).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&parked(2)).await.status, 202);
    for _ in 0..2 {
        let full = api.client.submit_bcs(&parked(3)).await;
        assert_error(&full, (507, "mempool_is_full"), "the mempool is full");
        assert_all_accepted("the mempool is full").await;
    }

    api.handle()
        .report_disk_space(Some(&"7 bytes are left".into()));
    let unwritable = api.client.submit_bcs(&parked(2)).await;
    assert_error(&unwritable, (503, "internal_error"), "no disk space");
    assert_all_accepted("blocks cannot be written").await;
    api.handle().report_disk_space(None);

    let rules = [0, 1].map(|from| format!("deny sender {}", Transfer::new(from, 0).sender()));
    let rules = FilterRules::parse_list(&rules.join(", ")).unwrap();
    api.handle().set_filter(rules);
    let denied = api.client.submit_bcs(&parked(1)).await;
    assert_error(&denied, (403, "rejected_by_filter"), "the filter denies it");
    assert_all_accepted("the filter denies the sender").await;
    api.stop().await;
}

/// Asserts that a submission of another transaction is rejected with this status, in every form,
/// and that the message names the transaction that used the sequence number or nonce.
async fn assert_rejected_for(
    api: &TestApi,
    other: &SignedTransaction,
    (code, user): (u64, Option<&str>),
) {
    for form in forms() {
        let rejected = submit(api, other, form).await;
        assert_eq!(rejected.status, 400, "{form:?}: {}", rejected.text());
        if form.accept != JSON {
            continue;
        }
        let body = rejected.json();
        if form.path == SINGLE {
            assert_eq!(body["error_code"], "vm_error", "{body}");
            assert_eq!(body["vm_error_code"], code, "{body}");
        }
        let message = body["message"].as_str().unwrap();
        match user {
            Some(user) => {
                let words = format!("used by transaction {user})");
                assert!(message.ends_with(&words), "{form:?}: {message}");
            }
            None => assert!(!message.contains("used by"), "{form:?}: {message}"),
        }
    }
}

/// Names it also after a restart, and behind many others of the account.
#[actix_web::test]
async fn names_the_transaction_that_used_a_sequence_number_or_nonce() {
    // One nonce more than the node searches.
    const SEARCHED: u64 = 100;
    let mut api = TestApi::start(Settings::default()).await;
    let numbered: Vec<_> = (0..3)
        .map(|number| with_number(&api, 0, number, 7))
        .collect();
    let orderless: Vec<_> = (0..=SEARCHED)
        .map(|nonce| with_nonce(&api, 1, nonce, 7))
        .collect();
    for signed in numbered.iter().chain(&orderless) {
        api.commit_signed(signed).await;
    }
    for restarts in 0..2 {
        if restarts > 0 {
            api = api.restarted().await;
        }
        for number in [0, 1, 2] {
            let user = hash(&api, &numbered[number as usize]);
            let other = with_number(&api, 0, number, 8);
            assert_rejected_for(&api, &other, (3, Some(&user))).await;
        }
        for nonce in [0, 1, SEARCHED] {
            let user = hash(&api, &orderless[nonce as usize]);
            let other = with_nonce(&api, 1, nonce, 8);
            let user = (nonce > 0).then_some(&user[..]);
            assert_rejected_for(&api, &other, (42, user)).await;
        }
    }
    api.stop().await;
}

#[actix_web::test]
async fn names_the_transaction_in_a_block_that_uses_a_nonce() {
    let clock = Arc::new(HoldingClock::default());
    let api = TestApi::start(clock.settings()).await;
    let [first, other] = [7, 8].map(|amount| with_nonce(&api, 2, 5, amount));
    let block = clock.hold_next_block(&api).await;
    assert_eq!(api.client.submit_bcs(&first).await.status, 202);
    block.wait_until_taken();
    let user = hash(&api, &first);
    assert_rejected_for(&api, &other, (42, Some(&user))).await;
    drop(block);
    let committed = api.client.wait(&first.hash(api.chain.vendor())).await;
    assert_eq!(committed["success"], true, "{committed}");
    assert_rejected_for(&api, &other, (42, Some(&user))).await;
    api.stop().await;
}

/// Rejects it as before: the hash of a pruned transaction proves nothing about its bytes. Looks it
/// up on the thread of the listener, then on a reader thread.
#[actix_web::test]
async fn rejects_committed_bytes_below_the_window() {
    const WINDOW: u64 = 6;
    let clock = Arc::new(PausingClock::default());
    let api = TestApi::start(Settings {
        clock: clock.clock(),
        ..Settings::with_window(WINDOW)
    })
    .await;
    let (numbered, orderless) = (with_number(&api, 0, 0, 7), with_nonce(&api, 1, 5, 7));
    let mut version = 0;
    for signed in [&numbered, &orderless] {
        let committed = api.commit_signed(signed).await;
        version = committed["version"].as_str().unwrap().parse().unwrap();
        let again = api.client.submit_bcs(signed).await;
        assert_eq!(again.status, 202, "inside the window: {}", again.text());
    }
    let mut numbers = 0..;
    while oldest_version(&api).await <= version {
        api.commit(&Transfer::new(2, numbers.next().unwrap())).await;
    }
    for are_inline_reads_paused in [false, true] {
        if are_inline_reads_paused {
            clock.pause_inline_reads(&api).await;
        }
        let before = handled(&api, "storage", "read");
        for (signed, code) in [(&numbered, 3), (&orderless, 42)] {
            assert_rejected_for(&api, signed, (code, None)).await;
        }
        let of_readers = handled(&api, "storage", "read") - before;
        assert!(!are_inline_reads_paused || of_readers > 0, "{of_readers}");
    }
    api.stop().await;
}

async fn oldest_version(api: &TestApi) -> u64 {
    let info = ok_json(&api.client.get("/v1").await);
    info["oldest_ledger_version"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap()
}

/// Submits the bytes of one transaction until it is committed and then some times more, in random
/// forms, and asserts that every response accepts them.
async fn resubmit(api: &TestApi, signed: &SignedTransaction, random: &mut Rng, seed: u64) {
    let forms = forms();
    let path = format!("/v1/transactions/by_hash/{}", hash(api, signed));
    let mut more = random.u8(1..4);
    while more > 0 {
        for _ in 0..random.u8(1..4) {
            let form = forms[random.usize(..forms.len())];
            let response = submit(api, signed, form).await;
            let case = format!("RESUBMISSIONS_SEED={seed}, {form:?}");
            assert_eq!(response.status, 202, "{case}: {}", response.text());
        }
        let status = ok_json(&api.client.get(&path).await);
        if status["type"] != "pending_transaction" {
            more -= 1;
        }
    }
}

/// Commits 1,600 transactions of concurrent clients, each of which resubmits its bytes while blocks
/// commit.
#[actix_web::test]
async fn never_rejects_bytes_while_they_are_committed() {
    const ACCOUNTS: usize = 4;
    const CLIENTS_PER_ACCOUNT: u64 = 8;
    const ROUNDS: u64 = 50;
    let seed = env::var("RESUBMISSIONS_SEED").map_or_else(
        |_| fastrand::u64(..),
        |text| text.parse().expect("RESUBMISSIONS_SEED is a number"),
    );
    let api = TestApi::start(Settings::default()).await;
    let clients = (0..ACCOUNTS)
        .flat_map(|account| (0..CLIENTS_PER_ACCOUNT).map(move |client| (account, client)));
    join_all(clients.map(async |(account, client)| {
        let mut random = Rng::with_seed(seed ^ (account as u64) << 32 ^ client);
        for round in 0..ROUNDS {
            // The first client of an account uses its sequence numbers, the others use nonces.
            let amount = if random.u8(..4) == 0 { TOO_MUCH } else { 7 };
            let signed = match client {
                0 => with_number(&api, account, round, amount),
                _ => with_nonce(&api, account, client << 32 | round, amount),
            };
            resubmit(&api, &signed, &mut random, seed).await;
        }
    }))
    .await;
    for account in 0..ACCOUNTS {
        let path = format!("/v1/accounts/{}", Transfer::new(account, 0).sender());
        let account = ok_json(&api.client.get(&path).await);
        assert_eq!(account["sequence_number"], ROUNDS.to_string());
    }
    api.stop().await;
}
