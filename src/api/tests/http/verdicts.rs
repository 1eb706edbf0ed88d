//! Verdicts about signed transactions (docs/interface.md#rule-33): each verdict with its causes and
//! reasons, in JSON and in BCS.

use crate::kit::{
    HoldingClock, RawResponse, Settings, TestApi, Transfer, assert_error, ledger_headers, now_secs,
    ok_bcs, ok_json,
};
use bytes::Bytes;
use ledger_actors::{Clock, ClockReading, FilterRules};
use ledger_api::SwitchChange;
use ledger_crypto::{Ed25519PrivateKey, Ed25519Signature, HashValue};
use ledger_framework::modules::nonce_validation::NonceSlot;
use ledger_test_support::{TransactionBuilder, orderless_payload};
use ledger_types::{
    AccountAddress, SignedTransaction,
    transaction::{
        AccountAuthenticator, Multisig, Script, TransactionAuthenticator, TransactionPayload,
    },
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::SeqCst},
};

pub const PATH: &str = "/v1/transactions/status";
const JSON: &str = "application/json";
const BCS: &str = "application/x-bcs";

/// Maximum time from a block to the expiration of a transaction with a nonce, in seconds.
const OVERLAP_SECS: u64 = 100;

/// The BCS form of a verdict.
#[derive(Deserialize)]
enum VerdictBcs {
    Committed {
        hash: HashValue,
        version: u64,
        success: bool,
        vm_status: String,
    },
    Pending {
        hash: HashValue,
    },
    CanCommit {
        hash: HashValue,
        until_secs: u64,
        waits_for: Vec<WaitsForBcs>,
    },
    Blocked {
        hash: HashValue,
        cause: u8,
        message: String,
        from_secs: Option<u64>,
    },
    Never {
        hash: HashValue,
        reason: u8,
        message: String,
        used_by: Option<HashValue>,
    },
}

#[derive(Deserialize)]
enum WaitsForBcs {
    SequenceNumber { sequence_number: u64 },
    Funds { needed: u128, available: u64 },
}

/// The causes of a block, in the order of their numbers in BCS.
const CAUSES: [&str; 11] = [
    "authentication_key",
    "nonce_remembered",
    "expiration_too_far",
    "expired_by_clock",
    "unsupported_feature",
    "invalid_form",
    "chain_limit",
    "nonce_bucket_full",
    "multisig",
    "filter",
    "switch",
];

/// The final reasons, in the order of their numbers in BCS.
const REASONS: [&str; 5] = [
    "expired",
    "sequence_number_used",
    "other_chain",
    "invalid_signature",
    "nonce_used",
];

impl VerdictBcs {
    /// Returns the JSON form of the verdict.
    fn to_json(&self) -> Value {
        match self {
            Self::Committed {
                hash,
                version,
                success,
                vm_status,
            } => json!({
                "verdict": "committed",
                "hash": hash.to_string(),
                "version": version.to_string(),
                "success": success,
                "vm_status": vm_status,
            }),
            Self::Pending { hash } => json!({ "verdict": "pending", "hash": hash.to_string() }),
            Self::CanCommit {
                hash,
                until_secs,
                waits_for,
            } => {
                let waits_for = waits_for.iter().map(|waits_for| match waits_for {
                    WaitsForBcs::SequenceNumber { sequence_number } => json!({
                        "type": "sequence_number",
                        "sequence_number": sequence_number.to_string(),
                    }),
                    WaitsForBcs::Funds { needed, available } => json!({
                        "type": "funds",
                        "needed": needed.to_string(),
                        "available": available.to_string(),
                    }),
                });
                json!({
                    "verdict": "can_commit",
                    "hash": hash.to_string(),
                    "until_secs": until_secs.to_string(),
                    "waits_for": waits_for.collect::<Vec<_>>(),
                })
            }
            Self::Blocked {
                hash,
                cause,
                message,
                from_secs,
            } => {
                let mut value = json!({
                    "verdict": "blocked",
                    "hash": hash.to_string(),
                    "cause": CAUSES[usize::from(*cause)],
                    "message": message,
                });
                if let Some(secs) = from_secs {
                    value["from_secs"] = json!(secs.to_string());
                }
                value
            }
            Self::Never {
                hash,
                reason,
                message,
                used_by,
            } => {
                let mut value = json!({
                    "verdict": "never",
                    "hash": hash.to_string(),
                    "reason": REASONS[usize::from(*reason)],
                    "message": message,
                });
                if let Some(user) = used_by {
                    value["used_by"] = json!(user.to_string());
                }
                value
            }
        }
    }
}

/// Asks for the verdict about a transaction in BCS. `accept` is the media type of the response.
pub async fn ask(api: &TestApi, signed: &SignedTransaction, accept: &str) -> RawResponse {
    let media_type = api.client.signed_transaction_type();
    let headers = [("content-type", &media_type[..]), ("accept", accept)];
    let body = bcs::to_bytes(signed).unwrap();
    api.client.send("POST", PATH, &headers, Some(&body)).await
}

/// Returns the verdict about a transaction, which has the same members in JSON and BCS.
async fn verdict(api: &TestApi, signed: &SignedTransaction) -> Value {
    let verdict = ok_json(&ask(api, signed, JSON).await);
    let in_bcs = ask(api, signed, BCS).await;
    let decoded: VerdictBcs = bcs::from_bytes(ok_bcs(&in_bcs)).unwrap();
    assert_eq!(decoded.to_json(), verdict);
    assert_eq!(verdict["hash"], hash(api, signed));
    verdict
}

fn hash(api: &TestApi, signed: &SignedTransaction) -> String {
    signed.hash(api.chain.vendor()).to_string()
}

/// Returns the verdict about a transaction that is blocked or can never be committed, with its
/// cause or reason.
async fn kind(api: &TestApi, signed: &SignedTransaction) -> (String, String) {
    let verdict = verdict(api, signed).await;
    let text = |name: &str| verdict[name].as_str().unwrap_or_default().to_owned();
    assert!(!text("message").is_empty(), "{verdict}");
    (text("verdict"), text("cause") + &text("reason"))
}

async fn assert_kind(api: &TestApi, signed: &SignedTransaction, expected: (&str, &str)) {
    let (verdict, cause) = kind(api, signed).await;
    assert_eq!((&verdict[..], &cause[..]), expected);
}

fn with_nonce(api: &TestApi, from: usize, nonce: u64, transfer: &Transfer) -> SignedTransaction {
    let transfer = Transfer {
        from,
        ..transfer.clone()
    };
    transfer.sign_payload(&api.chain, transfer.payload_with_nonce(&api.chain, nonce))
}

/// Returns the number of transactions whose signatures the node has checked.
fn checked(api: &TestApi) -> u64 {
    let lanes = api.handle().signature_lanes();
    lanes.iter().map(|lane| lane.checked).sum()
}

/// Returns a clock that is ahead of the system's by the returned number of microseconds, as if that
/// time had passed.
fn advancing_clock() -> (Clock, Arc<AtomicU64>) {
    let passed_usecs = Arc::new(AtomicU64::new(0));
    let (system, passed) = (Clock::default(), Arc::clone(&passed_usecs));
    let clock = Clock::from_readings(move || {
        let (reading, passed_usecs) = (system.read(), passed.load(SeqCst));
        ClockReading {
            wall_usecs: reading.wall_usecs + passed_usecs,
            elapsed_usecs: reading.elapsed_usecs + passed_usecs,
        }
    });
    (clock, passed_usecs)
}

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
        let before = checked(&api);
        for (signed, committed) in [&succeeded, &failed].into_iter().zip(&committed) {
            let verdict = verdict(&api, signed).await;
            assert_eq!(verdict["verdict"], "committed");
            for member in ["version", "success", "vm_status"] {
                assert_eq!(verdict[member], committed[member], "{verdict}");
            }
        }
        assert_eq!(checked(&api), before, "restarts: {restarts}");
    }
    let parked = Transfer::new(2, 5).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&parked).await.status, 202);
    assert_eq!(verdict(&api, &parked).await["verdict"], "pending");
    assert_eq!(checked(&api), 3, "a pending transaction is checked");
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

#[actix_web::test]
async fn a_rotated_key_is_blocked_until_it_is_rotated_back() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(3, 0);
    let signed = transfer.sign(&api.chain);
    let [old, new] = [
        transfer.account().key,
        Ed25519PrivateKey::from_seed(&[7; 32]),
    ];
    // Transactions with nonces do not use the sequence number.
    let rotate = async |nonce: u64, signer: &Ed25519PrivateKey, to: &Ed25519PrivateKey| {
        let key = to.public_key().authentication_key();
        let function = "0x1::account::rotate_authentication_key_call";
        let arguments = [json!(format!("0x{}", hex::encode(key.as_bytes())))];
        let call = api
            .chain
            .registry()
            .call_from_json(function, &[], &arguments);
        let call = TransactionPayload::EntryFunction(call.unwrap());
        let raw = Transfer::orderless(3).raw(
            &api.chain,
            transfer.sender(),
            orderless_payload(call, nonce),
        );
        let rotation = TransactionBuilder::from_raw(&api.chain, raw).sign(signer);
        let committed = api.commit_signed(&rotation).await;
        assert_eq!(committed["success"], true, "{committed}");
    };
    for nonce in [0, 2] {
        assert_eq!(verdict(&api, &signed).await["verdict"], "can_commit");
        rotate(nonce, &old, &new).await;
        assert_kind(&api, &signed, ("blocked", "authentication_key")).await;
        rotate(nonce + 1, &new, &old).await;
    }
    assert_eq!(api.commit_signed(&signed).await["success"], true);
    assert_eq!(verdict(&api, &signed).await["verdict"], "committed");
    api.stop().await;
}

/// Asserts that a transaction is blocked, and from which second the cause does not apply.
async fn assert_blocked(
    api: &TestApi,
    signed: &SignedTransaction,
    cause: &str,
    from_secs: Option<u64>,
) {
    assert_kind(api, signed, ("blocked", cause)).await;
    let found = verdict(api, signed).await["from_secs"].clone();
    let expected = from_secs.map_or(Value::Null, |secs| json!(secs.to_string()));
    assert_eq!(found, expected, "{cause}");
}

#[actix_web::test]
async fn a_nonce_blocks_until_the_expiration_is_near() {
    let api = TestApi::start(Settings::default()).await;
    api.commit_signed(&with_nonce(&api, 1, 5, &Transfer::orderless(1)))
        .await;
    let far = Transfer {
        expiration_timestamp_secs: now_secs() + 1_000,
        ..Transfer::orderless(1)
    };
    let from_secs = Some(far.expiration_timestamp_secs - OVERLAP_SECS);
    assert_blocked(
        &api,
        &with_nonce(&api, 1, 5, &far),
        "nonce_remembered",
        from_secs,
    )
    .await;
    assert_blocked(
        &api,
        &with_nonce(&api, 1, 6, &far),
        "expiration_too_far",
        from_secs,
    )
    .await;
    api.stop().await;
}

#[actix_web::test]
async fn a_full_bucket_of_nonces_blocks() {
    let slot = NonceSlot::new(&Transfer::new(0, 0).sender(), 5);
    let others: Vec<(u128, u64)> = (0..512).map(|digest| (digest, now_secs() + 90)).collect();
    let bytes = Bytes::from(bcs::to_bytes(&others).unwrap());
    let api = TestApi::start(Settings {
        more_state: vec![(slot.state_key(), bytes)],
        ..Settings::default()
    })
    .await;
    let signed = with_nonce(&api, 0, 5, &Transfer::orderless(0));
    assert_blocked(&api, &signed, "nonce_bucket_full", None).await;
    api.stop().await;
}

/// Returns transactions of the first account that the rules of the ledger block, with the causes.
fn blocked_by_rules(api: &TestApi) -> Vec<(&'static str, SignedTransaction)> {
    let transfer = Transfer::new(0, 0);
    let call = transfer.payload(&api.chain);
    let with_payload = |payload| transfer.sign_payload(&api.chain, payload);
    let script = Script {
        code: Bytes::from_static(&[0]),
        type_args: Vec::new(),
        args: Vec::new(),
    };
    let of_no_multisig = Multisig {
        multisig_address: AccountAddress::from_low_u64(0xb0b),
        payload: None,
    };
    let cheap = Transfer {
        gas_unit_price: 1,
        ..transfer.clone()
    };
    let raw = || transfer.raw(&api.chain, transfer.sender(), call.clone());
    let signer = transfer.signer();
    let twice = signer.sign_together(&api.chain, raw(), &[&signer], None);
    let unsigned = SignedTransaction {
        raw: raw(),
        authenticator: TransactionAuthenticator::SingleSender {
            sender: Box::new(AccountAuthenticator::NoAccountAuthenticator),
        },
    };
    vec![
        (
            "unsupported_feature",
            with_payload(TransactionPayload::Script(script)),
        ),
        ("unsupported_feature", unsigned),
        (
            "multisig",
            with_payload(TransactionPayload::Multisig(of_no_multisig)),
        ),
        ("chain_limit", cheap.sign(&api.chain)),
        ("chain_limit", Transfer::new(0, 1 << 63).sign(&api.chain)),
        ("invalid_form", twice),
    ]
}

#[actix_web::test]
async fn a_rule_of_the_ledger_blocks_until_the_transaction_expires() {
    let (clock, passed_usecs) = advancing_clock();
    let api = TestApi::start(Settings {
        clock,
        ..Settings::default()
    })
    .await;
    for (cause, signed) in blocked_by_rules(&api) {
        assert_blocked(&api, &signed, cause, None).await;
    }
    // Blocked and expired: the clock of the node does not suffice, the time of a block does.
    let expiring = Transfer {
        expiration_timestamp_secs: now_secs() + 50,
        ..Transfer::new(1, 0)
    };
    let cheap = Transfer {
        gas_unit_price: 1,
        ..expiring.clone()
    };
    let [expiring, cheap] = [expiring, cheap].map(|transfer| transfer.sign(&api.chain));
    assert_eq!(verdict(&api, &expiring).await["verdict"], "can_commit");
    assert_blocked(&api, &cheap, "chain_limit", None).await;
    passed_usecs.store(60_000_000, SeqCst);
    assert_blocked(&api, &expiring, "expired_by_clock", None).await;
    api.commit(&Transfer::new(2, 0)).await;
    for signed in [&expiring, &cheap] {
        assert_kind(&api, signed, ("never", "expired")).await;
    }
    api.stop().await;
}

#[actix_web::test]
async fn the_operator_blocks_by_the_filter_and_by_the_switch() {
    let api = TestApi::start(Settings::default()).await;
    let committed = Transfer::new(0, 0).sign(&api.chain);
    api.commit_signed(&committed).await;
    let signed = Transfer::new(1, 0).sign(&api.chain);
    let rule = format!("deny sender {}", Transfer::new(1, 0).sender());
    let before = api
        .handle()
        .set_filter(FilterRules::parse_list(&rule).unwrap());
    assert_blocked(&api, &signed, "filter", None).await;
    let message = verdict(&api, &signed).await["message"].clone();
    assert!(message.as_str().unwrap().contains(&rule), "{message}");
    api.handle().set_filter(before.rules().clone());
    let switch = |is_on| {
        api.state.switches.change(&SwitchChange {
            submission_enabled: Some(is_on),
            ..SwitchChange::default()
        });
    };
    switch(false);
    assert_blocked(&api, &signed, "switch", None).await;
    let message = verdict(&api, &signed).await["message"].clone();
    assert!(
        message.as_str().unwrap().contains("api.submission_enabled"),
        "{message}"
    );
    assert_eq!(verdict(&api, &committed).await["verdict"], "committed");
    switch(true);
    assert_eq!(verdict(&api, &signed).await["verdict"], "can_commit");
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
