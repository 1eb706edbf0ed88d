//! Round trips of every kind of signature through its JSON form.

mod strategies;

use super::*;
use crate::model::json::HexBytes;
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature};
use ledger_types::transaction::{
    AnyPublicKey, AnySignature, MultiEd25519PublicKey, MultiEd25519Signature, MultiKey,
};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use strategies::{account, bytes, sdk_multi_key, transaction};

/// Decodes the signature of a submission.
fn decode(signature: Value) -> Result<TransactionAuthenticator, String> {
    let decoded: SignatureJson =
        serde_json::from_value(signature).map_err(|error| error.to_string())?;
    decoded
        .try_into()
        .map_err(|error: SignatureFormError| error.to_string())
}

proptest! {
    #[test]
    fn round_trips_through_json(authenticator in transaction()) {
        let text = serde_json::to_string(&SignatureJson::from(&authenticator)).unwrap();
        prop_assert_eq!(decode(serde_json::from_str(&text).unwrap()).unwrap(), authenticator);
    }

    #[test]
    fn decodes_a_single_sender_merged_into_one_object(sender in account()) {
        let authenticator = TransactionAuthenticator::SingleSender { sender: Box::new(sender) };
        let mut view = serde_json::to_value(SignatureJson::from(&authenticator)).unwrap();
        let mut flat = view["sender"].take();
        flat["type"] = json!("single_sender");
        prop_assert_eq!(decode(flat).unwrap(), authenticator);
    }

    #[test]
    fn omits_a_bitmap_that_follows_from_the_indices(account in sdk_multi_key()) {
        let view = serde_json::to_value(AccountSignatureJson::from(&account)).unwrap();
        prop_assert_eq!(view.get("signatures_bitmap"), None);
    }

    #[test]
    fn serializes_malformed_multi_ed25519_signatures(keys in bytes(), signatures in bytes()) {
        let view = SignatureJson::from(&TransactionAuthenticator::MultiEd25519 {
            public_key: MultiEd25519PublicKey(keys),
            signature: MultiEd25519Signature(signatures),
        });
        prop_assert!(serde_json::to_string(&view).is_ok());
    }
}

#[test]
fn nests_the_account_signature_of_a_single_sender_and_repeats_its_members() {
    let view = serde_json::to_value(SignatureJson::from(
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
        "public_key": { "type": "ed25519", "value": format!("0x{}", "01".repeat(32)) },
        "signature": { "type": "ed25519", "value": format!("0x{}", "02".repeat(64)) },
    });
    assert_eq!(view, expected);
}

#[test]
fn rejects_keys_and_signatures_of_other_lengths_as_invalid_input() {
    let digits = |count: usize| format!("0x{}", "0".repeat(count));
    let signature = |key_digits: usize, signature_digits: usize| {
        json!({
            "type": "ed25519_signature",
            "public_key": digits(key_digits),
            "signature": digits(signature_digits),
        })
    };
    decode(signature(64, 128)).unwrap();
    for (key, sig, reason) in [
        (
            62,
            128,
            "an Ed25519 public key has 32 bytes, this one has 31",
        ),
        (
            66,
            128,
            "an Ed25519 public key has 32 bytes, this one has 33",
        ),
        (
            64,
            126,
            "an Ed25519 signature has 64 bytes, this one has 63",
        ),
        (0, 0, "an Ed25519 public key has 32 bytes, this one has 0"),
    ] {
        let parsed: SignatureJson = serde_json::from_value(signature(key, sig)).unwrap();
        let error = TransactionAuthenticator::try_from(parsed).unwrap_err();
        assert_eq!(error.to_string(), reason);
    }
    let of_any_kind = |digits_of_signature: usize| {
        json!({
            "type": "single_sender",
            "public_key": { "type": "ed25519", "value": digits(64) },
            "signature": { "type": "ed25519", "value": digits(digits_of_signature) },
        })
    };
    decode(of_any_kind(128)).unwrap();
    assert!(decode(of_any_kind(2)).unwrap_err().ends_with("has 1"));
    let multi_ed25519 = |key: usize, sig: usize, bitmap: usize| {
        json!({
            "type": "multi_ed25519_signature",
            "public_keys": [digits(64), digits(key)],
            "signatures": [digits(sig)],
            "threshold": 1,
            "bitmap": digits(bitmap),
        })
    };
    decode(multi_ed25519(64, 128, 8)).unwrap();
    for (key, sig, bitmap) in [(62, 128, 8), (64, 126, 8), (64, 128, 6)] {
        let error = decode(multi_ed25519(key, sig, bitmap)).unwrap_err();
        assert!(error.contains(" bytes, this one has "), "{error}");
    }
    // Digits that are no whole bytes are malformed.
    assert!(serde_json::from_value::<SignatureJson>(signature(63, 128)).is_err());
}

#[test]
fn rejects_a_multi_agent_signature_without_secondary_signers() {
    let no_account = json!({ "type": "no_account_signature" });
    let multi_agent = |addresses: Value, signers: Value| {
        decode(json!({
            "type": "multi_agent_signature",
            "sender": no_account,
            "secondary_signer_addresses": addresses,
            "secondary_signers": signers,
        }))
    };
    multi_agent(json!(["0x1"]), json!([no_account])).unwrap();
    for (addresses, signers) in [
        (json!([]), json!([])),
        (json!(["0x1"]), json!([])),
        (json!([]), json!([no_account])),
    ] {
        let error = multi_agent(addresses, signers).unwrap_err();
        assert!(error.contains("at least one secondary signer"), "{error}");
    }
}

#[test]
fn rejects_a_single_sender_without_the_members_of_a_kind() {
    let single = |members: Value| {
        let mut signature = members;
        signature["type"] = json!("single_sender");
        decode(signature)
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
        let message = single(members.clone()).unwrap_err();
        assert!(message.contains(reason), "{members}: {message}");
    }
}

#[test]
fn rejects_indices_that_do_not_ascend_or_contradict_the_bitmap() {
    let signature = |index: Value| {
        let mut entry = json!({ "signature": { "type": "ed25519", "value": "00".repeat(64) } });
        if !index.is_null() {
            entry["index"] = index;
        }
        entry
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
        decode(json!({ "type": "single_sender", "sender": account })).map(|decoded| {
            let TransactionAuthenticator::SingleSender { sender } = decoded else {
                panic!("{decoded:?}");
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
            "ascending and unique: 0 follows 1",
        ),
        (
            vec![json!(2), json!(2)],
            None,
            "ascending and unique: 2 follows 2",
        ),
        (vec![json!(32)], None, "above the maximum, 31"),
        (vec![none], None, "needs its `index`"),
        (
            vec![json!(0), json!(7)],
            Some("0x80"),
            "do not match `signatures_bitmap`",
        ),
        (
            vec![json!(1)],
            Some("0x80"),
            "do not match `signatures_bitmap`",
        ),
        (vec![json!(256)], None, "expected u8"),
    ] {
        let message = multi_key(&indices, bitmap).unwrap_err();
        assert!(message.contains(reason), "{indices:?}: {message}");
    }
}

/// Decodes and encodes signatures of every kind that SDKs made. The JSON form preserves the signed
/// bytes, and thus the hash, and has no member that the reference node does not have.
#[test]
fn preserves_the_bytes_of_sdk_signatures() {
    /// A signed transaction of the SDK.
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
        let view = serde_json::to_value(SignatureJson::from(&signed.authenticator)).unwrap();
        assert!(
            !view.to_string().contains("signatures_bitmap"),
            "{name}: {view}"
        );
        let decoded = TransactionAuthenticator::try_from(
            serde_json::from_value::<SignatureJson>(view).unwrap(),
        );
        assert_eq!(
            bcs::to_bytes(&decoded.unwrap()).unwrap(),
            bcs::to_bytes(&signed.authenticator).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn rejects_a_number_as_type() {
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
    let pointers = [
        "/type",
        "/sender/type",
        "/sender/public_key/type",
        "/sender/signature/type",
        "/secondary_signers/0/type",
        "/fee_payer_signer/type",
    ];
    for pointer in pointers {
        for number in 0..8 {
            let mut numbered = good.clone();
            *numbered.pointer_mut(pointer).unwrap() = number.into();
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
