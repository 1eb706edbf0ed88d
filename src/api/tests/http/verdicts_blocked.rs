//! Verdicts about signed transactions that no block includes at present: each cause
//! (docs/use/interface.md#verdicts).

use crate::{
    http::verdict_kit::{advancing_clock, assert_kind, verdict, with_nonce},
    kit::{Settings, TestApi, Transfer, now_secs},
};
use bytes::Bytes;
use ledger_actors::FilterRules;
use ledger_api::SwitchChange;
use ledger_crypto::Ed25519PrivateKey;
use ledger_framework::modules::nonce_validation::{NonceSlot, OVERLAP_SECS};
use ledger_test_support::{TransactionBuilder, orderless_payload};
use ledger_types::{
    AccountAddress, SignedTransaction,
    transaction::{
        AccountAuthenticator, Multisig, Script, TransactionAuthenticator, TransactionPayload,
    },
};
use serde_json::{Value, json};
use std::sync::atomic::Ordering::SeqCst;

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
        let function = "0x1::account::rotate_authentication_key_call".parse();
        let arguments = [json!(format!("0x{}", hex::encode(key.as_bytes())))];
        let call = api
            .chain
            .registry()
            .call_from_json(&function.unwrap(), &[], &arguments);
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
    vec![
        (
            "unsupported_feature",
            with_payload(TransactionPayload::Script(script)),
        ),
        (
            "multisig",
            with_payload(TransactionPayload::Multisig(of_no_multisig)),
        ),
        ("chain_limit", cheap.sign(&api.chain)),
        ("chain_limit", Transfer::new(0, 1 << 63).sign(&api.chain)),
        ("invalid_form", twice),
    ]
}

/// Returns a transfer without a signature.
fn unsigned(api: &TestApi) -> SignedTransaction {
    let transfer = Transfer::new(0, 0);
    SignedTransaction {
        raw: transfer.raw(&api.chain, transfer.sender(), transfer.payload(&api.chain)),
        authenticator: TransactionAuthenticator::SingleSender {
            sender: Box::new(AccountAuthenticator::NoAccountAuthenticator),
        },
    }
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
    assert_kind(&api, &unsigned(&api), ("never", "invalid_signature")).await;
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
