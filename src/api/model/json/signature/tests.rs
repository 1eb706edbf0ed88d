//! Round trips of every kind of signature through its JSON form.

mod strategies;

use super::*;
use crate::model::json::HexBytes;
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature};
use ledger_types::transaction::{
    AnyPublicKey, AnySignature, MultiEd25519PublicKey, MultiEd25519Signature, MultiKey,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use strategies::{account, bytes, customary_multi_key, transaction};

/// Decodes the signature of a submission.
fn read(signature: Value) -> Result<TransactionAuthenticator, String> {
    let read: SignatureJson =
        serde_json::from_value(signature).map_err(|error| error.to_string())?;
    read.try_into()
        .map_err(|error: SignatureFormError| error.to_string())
}

proptest! {
    #[test]
    fn json_round_trip(authenticator in transaction()) {
        let text = serde_json::to_string(&SignatureJson::from(&authenticator)).unwrap();
        prop_assert_eq!(read(serde_json::from_str(&text).unwrap()).unwrap(), authenticator);
    }

    #[test]
    fn a_single_sender_reads_back_from_one_object(sender in account()) {
        let authenticator = TransactionAuthenticator::SingleSender { sender: Box::new(sender) };
        let mut shown = serde_json::to_value(SignatureJson::from(&authenticator)).unwrap();
        let mut flat = shown["sender"].take();
        flat["type"] = json!("single_sender");
        prop_assert_eq!(read(flat).unwrap(), authenticator);
    }

    #[test]
    fn a_customary_bitmap_is_not_shown(account in customary_multi_key()) {
        let shown = serde_json::to_value(AccountSignatureJson::from(&account)).unwrap();
        prop_assert_eq!(shown.get("signatures_bitmap"), None);
    }

    #[test]
    fn showing_is_total(keys in bytes(), signatures in bytes()) {
        let shown = SignatureJson::from(&TransactionAuthenticator::MultiEd25519 {
            public_key: MultiEd25519PublicKey(keys),
            signature: MultiEd25519Signature(signatures),
        });
        prop_assert!(serde_json::to_string(&shown).is_ok());
    }
}

#[test]
fn a_single_sender_keeps_both_kinds() {
    let shown = serde_json::to_value(SignatureJson::from(
        &TransactionAuthenticator::SingleSender {
            sender: Box::new(AccountAuthenticator::SingleKey {
                public_key: AnyPublicKey::Ed25519(Ed25519PublicKey([1; 32])),
                signature: AnySignature::Ed25519(Ed25519Signature([2; 64])),
            }),
        },
    ))
    .unwrap();
    let expected = json!({
        "type": "single_sender",
        "sender": {
            "type": "single_key_signature",
            "public_key": { "type": "ed25519", "value": format!("0x{}", "01".repeat(32)) },
            "signature": { "type": "ed25519", "value": format!("0x{}", "02".repeat(64)) },
        },
    });
    assert_eq!(shown, expected);
}

#[test]
fn lengths_are_exact() {
    let signature = |key_digits: usize, signature_digits: usize| {
        serde_json::from_value::<SignatureJson>(json!({
            "type": "ed25519_signature",
            "public_key": "0".repeat(key_digits),
            "signature": format!("0x{}", "0".repeat(signature_digits)),
        }))
    };
    assert!(signature(64, 128).is_ok());
    for (key, sig) in [(62, 128), (64, 126), (63, 128), (66, 128), (0, 0)] {
        assert!(signature(key, sig).is_err(), "{key} {sig}");
    }
}

#[test]
fn one_object_without_the_members_of_a_kind_is_refused() {
    let single = |members: Value| {
        let mut signature = members;
        signature["type"] = json!("single_sender");
        read(signature)
    };
    assert_eq!(
        single(json!({})).unwrap(),
        TransactionAuthenticator::SingleSender {
            sender: Box::new(AccountAuthenticator::NoAccountAuthenticator)
        }
    );
    for (members, reason) in [
        (json!({ "signature": "0x00" }), "needs `sender`"),
        (json!({ "sender": {} }), "missing field `type`"),
        (
            json!({ "sender": { "type": "single_sender" } }),
            "unknown variant `single_sender`",
        ),
        (json!({ "threshold": 1 }), "missing field `public_keys`"),
        (json!({ "public_key": 7 }), "invalid type"),
    ] {
        let refusal = single(members.clone()).unwrap_err();
        assert!(refusal.contains(reason), "{members}: {refusal}");
    }
}

#[test]
fn places_of_signatures_are_ascending_unique_and_in_the_bitmap() {
    let signature = |index: Value| {
        let mut one = json!({ "signature": { "type": "ed25519", "value": "00".repeat(64) } });
        if !index.is_null() {
            one["index"] = index;
        }
        one
    };
    let multi_key = |indices: &[Value], bitmap: Option<&str>| {
        let mut account = json!({
            "type": "multi_key_signature",
            "public_keys": [{ "type": "ed25519", "value": "00".repeat(32) }],
            "signatures": indices.iter().cloned().map(signature).collect::<Vec<_>>(),
            "signatures_required": 1,
        });
        if let Some(bitmap) = bitmap {
            account["signatures_bitmap"] = json!(bitmap);
        }
        read(json!({ "type": "single_sender", "sender": account })).map(|read| {
            let TransactionAuthenticator::SingleSender { sender } = read else {
                panic!("{read:?}");
            };
            let AccountAuthenticator::MultiKey {
                signatures_bitmap, ..
            } = *sender
            else {
                panic!("{sender:?}");
            };
            hex::encode(signatures_bitmap)
        })
    };
    let none = Value::Null;
    assert_eq!(multi_key(&[json!(0), json!(31)], None).unwrap(), "80000001");
    assert_eq!(
        multi_key(&[json!(0), json!(7)], Some("0x81")).unwrap(),
        "81"
    );
    for (indices, bitmap, reason) in [
        (
            vec![json!(1), json!(0)],
            None,
            "ascending and unique, 0 follows 1",
        ),
        (
            vec![json!(2), json!(2)],
            None,
            "ascending and unique, 2 follows 2",
        ),
        (vec![json!(32)], None, "above the largest, 31"),
        (vec![none], None, "needs its `index`"),
        (
            vec![json!(0), json!(7)],
            Some("0x80"),
            "not those of `signatures_bitmap`",
        ),
        (
            vec![json!(1)],
            Some("0x80"),
            "not those of `signatures_bitmap`",
        ),
        (vec![json!(256)], None, "expected u8"),
    ] {
        let refusal = multi_key(&indices, bitmap).unwrap_err();
        assert!(refusal.contains(reason), "{indices:?}: {refusal}");
    }
}

/// Decodes and encodes signatures of every kind that SDKs made. The JSON form preserves the signed
/// bytes, and thus the hash, and has no member that the reference node does not have.
#[test]
fn what_sdks_sign_comes_back_to_the_byte() {
    #[derive(Deserialize)]
    struct Vector {
        name: String,
        signed: HexBytes,
    }
    let vectors = include_str!("../../../../../tests/golden/transactions.json");
    let vectors: Vec<Vector> = serde_json::from_str(vectors).unwrap();
    assert!(vectors.iter().any(|vector| vector.name == "multi key"));
    for Vector { name, signed } in vectors {
        let signed = ledger_types::decode_signed_transaction(&signed.0).unwrap();
        let shown = serde_json::to_value(SignatureJson::from(&signed.authenticator)).unwrap();
        assert!(
            !shown.to_string().contains("signatures_bitmap"),
            "{name}: {shown}"
        );
        let read = TransactionAuthenticator::try_from(
            serde_json::from_value::<SignatureJson>(shown).unwrap(),
        );
        assert_eq!(
            bcs::to_bytes(&read.unwrap()).unwrap(),
            bcs::to_bytes(&signed.authenticator).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn the_kind_is_named_and_not_numbered() {
    let key =
        |digits: usize| json!({"type": "ed25519", "value": format!("0x{}", "0".repeat(digits))});
    let no_account = json!({"type": "no_account_signature"});
    let good = json!({
        "type": "fee_payer_signature",
        "sender": {"type": "single_key_signature", "public_key": key(64), "signature": key(128)},
        "secondary_signer_addresses": ["0x1"],
        "secondary_signers": [no_account],
        "fee_payer_address": "0x1",
        "fee_payer_signer": no_account,
    });
    serde_json::from_value::<SignatureJson>(good.clone()).unwrap();
    let places = [
        "/type",
        "/sender/type",
        "/sender/public_key/type",
        "/sender/signature/type",
        "/secondary_signers/0/type",
        "/fee_payer_signer/type",
    ];
    for place in places {
        for number in 0..8 {
            let mut numbered = good.clone();
            *numbered.pointer_mut(place).unwrap() = number.into();
            let text = numbered.to_string();
            assert!(
                serde_json::from_value::<SignatureJson>(numbered).is_err(),
                "{text}"
            );
            assert!(
                serde_json::from_str::<SignatureJson>(&text).is_err(),
                "{text}"
            );
        }
    }
}
