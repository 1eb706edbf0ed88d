//! Every kind of signature that decodes comes back from its JSON as it went.

use super::*;
use crate::json::HexBytes;
use bytes::Bytes;
use ledger::{
    crypto::{Ed25519PublicKey, Ed25519Signature},
    transaction::{AnyPublicKey, AnySignature, MultiEd25519PublicKey, MultiEd25519Signature, MultiKey},
};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

fn ed25519_key() -> impl Strategy<Value = Ed25519PublicKey> {
    any::<[u8; 32]>().prop_map(Ed25519PublicKey)
}

fn ed25519_signature() -> impl Strategy<Value = Ed25519Signature> {
    any::<[u8; 64]>().prop_map(Ed25519Signature)
}

fn bytes() -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), 0..80).prop_map(Bytes::from)
}

/// `count` pieces of `piece` bytes and an end of `end` bytes.
fn joined(count: usize, piece: usize, end: usize) -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), count * piece + end).prop_map(Bytes::from)
}

fn any_key() -> impl Strategy<Value = AnyPublicKey> {
    prop_oneof![
        ed25519_key().prop_map(AnyPublicKey::Ed25519),
        bytes().prop_map(AnyPublicKey::Secp256k1Ecdsa),
        bytes().prop_map(AnyPublicKey::Secp256r1Ecdsa),
        keyless_key().prop_map(|key| any_key_of(3, &key)),
        (any::<[u8; 32]>(), keyless_key()).prop_map(|federated| any_key_of(4, &federated)),
        joined(1, 32, 0).prop_map(|key| any_key_of(5, &key)),
    ]
}

/// A key of a kind that is read and not checked, from its parts on the wire.
fn any_key_of(variant: u8, parts: &impl Serialize) -> AnyPublicKey {
    bcs::from_bytes(&bcs::to_bytes(&(variant, parts)).unwrap()).unwrap()
}

fn any_signature_of(variant: u8, parts: &impl Serialize) -> AnySignature {
    bcs::from_bytes(&bcs::to_bytes(&(variant, parts)).unwrap()).unwrap()
}

/// An issuer and a commitment.
fn keyless_key() -> impl Strategy<Value = (String, Bytes)> {
    (".{0,20}", bytes())
}

/// With a certificate by a proof: three points, horizon, extra field, audience, the prover's signature;
/// then the header of the token, expiry, key and signature.
fn keyless_signature() -> impl Strategy<Value = AnySignature> {
    let points = vec(any::<[u8; 32]>(), 4).prop_map(|points| <[[u8; 32]; 4]>::try_from(points).unwrap());
    let extra = proptest::option::of(".{0,9}");
    let certificate = (points, any::<u64>(), extra.clone(), extra, any::<bool>());
    let certificate = certificate.prop_map(|(points, horizon, field, audience, is_signed)| {
        let prover = is_signed.then(|| (0u8, Bytes::from(vec![9; 64])));
        (0u8, 0u8, points, horizon, field, audience, prover)
    });
    (
        certificate,
        ".{0,20}",
        any::<u64>(),
        joined(1, 32, 0),
        joined(1, 64, 0),
    )
        .prop_map(|(certificate, header, expiry, key, signature)| {
            any_signature_of(3, &(certificate, header, expiry, (0u8, key), (0u8, signature)))
        })
}

/// Both forms of its data: for an account that named the function, and for one that follows from it.
fn abstract_account() -> impl Strategy<Value = AccountAuthenticator> {
    let of = |data: Vec<u8>| {
        let mut encoded = vec![5];
        bcs::serialize_into(&mut encoded, &(AccountAddress::ONE, "module", "function")).unwrap();
        encoded.extend(data);
        bcs::from_bytes(&encoded).unwrap()
    };
    prop_oneof![
        (bytes(), bytes())
            .prop_map(move |(digest, signature)| of(bcs::to_bytes(&(0u8, digest, signature)).unwrap())),
        (bytes(), bytes(), bytes())
            .prop_map(move |(digest, signature, key)| of(
                bcs::to_bytes(&(1u8, digest, signature, key)).unwrap()
            )),
    ]
}

fn any_signature() -> impl Strategy<Value = AnySignature> {
    let assertion = (bytes(), bytes(), bytes()).prop_map(|parts| {
        // The assertion in BCS: the kind of its signature, then three byte vectors.
        let encoded = bcs::to_bytes(&(0u8, parts.0, parts.1, parts.2)).unwrap();
        AnySignature::WebAuthn(bcs::from_bytes(&encoded).unwrap())
    });
    prop_oneof![
        ed25519_signature().prop_map(AnySignature::Ed25519),
        bytes().prop_map(AnySignature::Secp256k1Ecdsa),
        assertion,
        keyless_signature(),
        joined(1, 7_856, 0).prop_map(|signature| any_signature_of(4, &signature)),
    ]
}

fn multi_ed25519() -> impl Strategy<Value = (MultiEd25519PublicKey, MultiEd25519Signature)> {
    let keys = (1..4usize).prop_flat_map(|count| joined(count, 32, 1));
    let signatures = (1..4usize).prop_flat_map(|count| joined(count, 64, 4));
    (keys, signatures)
        .prop_map(|(keys, signatures)| (MultiEd25519PublicKey(keys), MultiEd25519Signature(signatures)))
}

/// Any bitmap beside any number of signatures: what decodes need not hold.
fn multi_key() -> impl Strategy<Value = AccountAuthenticator> {
    let keys = (vec(any_key(), 0..4), any::<u8>());
    let bitmap = vec(prop_oneof![Just(0u8), any::<u8>()], 0..6);
    (keys, vec(any_signature(), 0..6), bitmap).prop_map(
        |((public_keys, signatures_required), signatures, bitmap)| AccountAuthenticator::MultiKey {
            public_keys: MultiKey {
                public_keys,
                signatures_required,
            },
            signatures,
            signatures_bitmap: bitmap.into(),
        },
    )
}

/// The bitmap of the places of some of 32 keys, as SDKs write it, and a signature for each.
fn customary_multi_key() -> impl Strategy<Value = AccountAuthenticator> {
    let signatures = proptest::collection::btree_map(0u8..32, any_signature(), 0..4);
    (vec(any_key(), 1..4), any::<u8>(), signatures).prop_map(
        |(public_keys, signatures_required, signatures)| AccountAuthenticator::MultiKey {
            public_keys: MultiKey {
                public_keys,
                signatures_required,
            },
            signatures_bitmap: Bytes::copy_from_slice(&bitmap::of(signatures.keys().copied()).unwrap()),
            signatures: signatures.into_values().collect(),
        },
    )
}

fn account() -> impl Strategy<Value = AccountAuthenticator> {
    prop_oneof![
        (ed25519_key(), ed25519_signature()).prop_map(|(public_key, signature)| {
            AccountAuthenticator::Ed25519 {
                public_key,
                signature,
            }
        }),
        multi_ed25519().prop_map(|(public_key, signature)| AccountAuthenticator::MultiEd25519 {
            public_key,
            signature,
        }),
        (any_key(), any_signature()).prop_map(|(public_key, signature)| {
            AccountAuthenticator::SingleKey {
                public_key,
                signature,
            }
        }),
        multi_key(),
        customary_multi_key(),
        abstract_account(),
        Just(AccountAuthenticator::NoAccountAuthenticator),
    ]
}

fn address() -> impl Strategy<Value = AccountAddress> {
    any::<[u8; 32]>().prop_map(AccountAddress::new)
}

fn transaction() -> impl Strategy<Value = TransactionAuthenticator> {
    let others = || (vec(address(), 0..3), vec(account(), 0..3));
    prop_oneof![
        (ed25519_key(), ed25519_signature()).prop_map(|(public_key, signature)| {
            TransactionAuthenticator::Ed25519 {
                public_key,
                signature,
            }
        }),
        multi_ed25519().prop_map(|(public_key, signature)| TransactionAuthenticator::MultiEd25519 {
            public_key,
            signature,
        }),
        (account().prop_map(Box::new), others()).prop_map(|(sender, (addresses, signers))| {
            TransactionAuthenticator::MultiAgent {
                sender,
                secondary_signer_addresses: addresses,
                secondary_signers: signers,
            }
        }),
        (
            account().prop_map(Box::new),
            others(),
            address(),
            account().prop_map(Box::new)
        )
            .prop_map(
                |(sender, (addresses, signers), fee_payer_address, fee_payer_signer)| {
                    TransactionAuthenticator::FeePayer {
                        sender,
                        secondary_signer_addresses: addresses,
                        secondary_signers: signers,
                        fee_payer_address,
                        fee_payer_signer,
                    }
                }
            ),
        account()
            .prop_map(Box::new)
            .prop_map(|sender| TransactionAuthenticator::SingleSender { sender }),
    ]
}

/// Reads a signature as a submission does.
fn read(signature: Value) -> Result<TransactionAuthenticator, String> {
    let read: SignatureJson = serde_json::from_value(signature).map_err(|error| error.to_string())?;
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
    let shown = serde_json::to_value(SignatureJson::from(&TransactionAuthenticator::SingleSender {
        sender: Box::new(AccountAuthenticator::SingleKey {
            public_key: AnyPublicKey::Ed25519(Ed25519PublicKey([1; 32])),
            signature: AnySignature::Ed25519(Ed25519Signature([2; 64])),
        }),
    }))
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
    assert_eq!(multi_key(&[json!(0), json!(7)], Some("0x81")).unwrap(), "81");
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
        (vec![json!(1)], Some("0x80"), "not those of `signatures_bitmap`"),
        (vec![json!(256)], None, "expected u8"),
    ] {
        let refusal = multi_key(&indices, bitmap).unwrap_err();
        assert!(refusal.contains(reason), "{indices:?}: {refusal}");
    }
}

/// What SDKs signed, of every kind: JSON gives the bytes that they signed, so that the hash is theirs too,
/// and needs no member that the reference does not have.
#[test]
fn what_sdks_sign_comes_back_to_the_byte() {
    #[derive(Deserialize)]
    struct Vector {
        name: String,
        signed: HexBytes,
    }
    let vectors = include_str!("../../../../tests/golden/transactions.json");
    let vectors: Vec<Vector> = serde_json::from_str(vectors).unwrap();
    assert!(vectors.iter().any(|vector| vector.name == "multi key"));
    for Vector { name, signed } in vectors {
        let signed = ledger::decode_signed_transaction(&signed.0).unwrap();
        let shown = serde_json::to_value(SignatureJson::from(&signed.authenticator)).unwrap();
        assert!(
            !shown.to_string().contains("signatures_bitmap"),
            "{name}: {shown}"
        );
        let read =
            TransactionAuthenticator::try_from(serde_json::from_value::<SignatureJson>(shown).unwrap());
        assert_eq!(
            bcs::to_bytes(&read.unwrap()).unwrap(),
            bcs::to_bytes(&signed.authenticator).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn the_kind_is_named_and_not_numbered() {
    let key = |digits: usize| json!({"type": "ed25519", "value": format!("0x{}", "0".repeat(digits))});
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
            assert!(serde_json::from_str::<SignatureJson>(&text).is_err(), "{text}");
        }
    }
}
