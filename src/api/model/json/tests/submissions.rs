//! JSON views of transactions, parsed as submissions.

use super::*;
use ledger_types::transaction::{Multisig, MultisigPayload};

#[test]
fn parses_a_pending_transaction_as_a_submission() {
    let fixture = Fixture::new();
    let checked = fixture.check(7);
    let view = serde_json::to_string(&PendingJson::new(&fixture.chain, &checked)).unwrap();
    let request: SubmitRequest = serde_json::from_str(&view).unwrap();
    let signed = request.into_signed(&fixture.chain).unwrap();
    assert_eq!(&signed, checked.transaction());
}

#[test]
fn parses_a_multisig_payload_with_and_without_a_call() {
    let fixture = Fixture::new();
    let raw = fixture.raw(7);
    let call = raw.entry_function().unwrap().clone();
    for payload in [Some(MultisigPayload::EntryFunction(call)), None] {
        let has_call = payload.is_some();
        let signed = fixture.sign(RawTransaction {
            payload: TransactionPayload::Multisig(Multisig {
                multisig_address: RECIPIENT,
                payload,
            }),
            ..raw.clone()
        });
        let mut view = serde_json::to_value(RequestJson::new(&fixture.chain, &signed)).unwrap();
        assert_eq!(view["payload"]["multisig_address"], "0xb0b");
        let shown = view["payload"].get("transaction_payload").unwrap();
        assert_eq!((shown.is_object(), shown.is_null()), (has_call, !has_call));
        let request: SubmitRequest = serde_json::from_value(view.clone()).unwrap();
        assert_eq!(request.into_signed(&fixture.chain).unwrap(), signed);

        view["replay_protection_nonce"] = json!("5");
        let request: SubmitRequest = serde_json::from_value(view).unwrap();
        let payload = request.into_signed(&fixture.chain).unwrap().raw.payload;
        assert_eq!(payload.replay_protection_nonce(), Some(5));
        assert_eq!(payload.multisig_address(), Some(RECIPIENT));
        assert_eq!(payload.entry_function().is_some(), has_call);
    }
}

#[test]
fn ignores_the_sequence_number_beside_a_nonce() {
    let fixture = Fixture::new();
    let mut view =
        serde_json::to_value(PendingJson::new(&fixture.chain, &fixture.check(7))).unwrap();
    view["replay_protection_nonce"] = json!("5");
    let request: SubmitRequest = serde_json::from_value(view).unwrap();
    let signed = request.into_signed(&fixture.chain).unwrap();
    assert_eq!(signed.raw.sequence_number, u64::MAX);
    assert_eq!(signed.raw.payload.replay_protection_nonce(), Some(5));
    let orderless = serde_json::to_value(RequestJson::new(&fixture.chain, &signed)).unwrap();
    assert_eq!(orderless["replay_protection_nonce"], "5");
    assert_eq!(orderless["sequence_number"], "18446744073709551615");
    assert_eq!(orderless["payload"]["type"], "entry_function_payload");
}

#[test]
fn rejects_bodies_that_are_not_submissions() {
    let fixture = Fixture::new();
    let good = serde_json::to_value(PendingJson::new(&fixture.chain, &fixture.check(7))).unwrap();
    let parse_with = |name: &str, value: Value| {
        let mut body = good.clone();
        body[name] = value;
        serde_json::from_value::<SubmitRequest>(body)
    };
    assert!(
        parse_with("unknown", json!(1)).is_ok(),
        "unknown members are ignored"
    );
    for (name, value) in [
        ("sender", json!("0xzz")),
        ("sequence_number", json!(0)),
        ("sequence_number", json!("-1")),
        ("gas_unit_price", json!("18446744073709551616")),
        ("payload", json!({ "type": "nothing" })),
        (
            "signature",
            json!({ "type": "ed25519_signature", "public_key": "0xzz", "signature": "0x00" }),
        ),
        ("signature", Value::Null),
    ] {
        assert!(parse_with(name, value.clone()).is_err(), "{name}: {value}");
    }
    for name in REQUEST_KEYS {
        let mut body = good.clone();
        body.as_object_mut().unwrap().remove(name);
        assert!(
            serde_json::from_value::<SubmitRequest>(body).is_err(),
            "a submission without {name} is rejected"
        );
    }
}
