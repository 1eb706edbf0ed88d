//! Every kind of signature that decodes comes back from its JSON as it went.

use super::*;
use bytes::Bytes;
use ledger::transaction::{AnyPublicKey, AnySignature, MultiEd25519PublicKey, MultiEd25519Signature};
use proptest::{collection::vec, prelude::*};
use serde_json::json;

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
    ]
}

fn multi_ed25519() -> impl Strategy<Value = (MultiEd25519PublicKey, MultiEd25519Signature)> {
    let keys = (1..4usize).prop_flat_map(|count| joined(count, 32, 1));
    let signatures = (1..4usize).prop_flat_map(|count| joined(count, 64, 4));
    (keys, signatures)
        .prop_map(|(keys, signatures)| (MultiEd25519PublicKey(keys), MultiEd25519Signature(signatures)))
}

fn multi_key() -> impl Strategy<Value = AccountAuthenticator> {
    let keys = (vec(any_key(), 1..4), any::<u8>());
    // Which of 32 keys signed, each with a signature.
    let signatures = proptest::collection::btree_map(0u8..32, any_signature(), 1..4);
    (keys, signatures).prop_map(|((public_keys, signatures_required), signatures)| {
        AccountAuthenticator::MultiKey {
            public_keys: MultiKey {
                public_keys,
                signatures_required,
            },
            signatures_bitmap: bitmap::of(signatures.keys().copied()),
            signatures: signatures.into_values().collect(),
        }
    })
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
        (account(), others()).prop_map(|(sender, (addresses, signers))| {
            TransactionAuthenticator::MultiAgent {
                sender,
                secondary_signer_addresses: addresses,
                secondary_signers: signers,
            }
        }),
        (account(), others(), address(), account()).prop_map(
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
        account().prop_map(|sender| TransactionAuthenticator::SingleSender { sender }),
    ]
}

proptest! {
    #[test]
    fn json_round_trip(authenticator in transaction()) {
        let text = serde_json::to_string(&SignatureJson::from(&authenticator)).unwrap();
        let read: SignatureJson = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(TransactionAuthenticator::try_from(read).unwrap(), authenticator);
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
        sender: AccountAuthenticator::SingleKey {
            public_key: AnyPublicKey::Ed25519(Ed25519PublicKey([1; 32])),
            signature: AnySignature::Ed25519(Ed25519Signature([2; 64])),
        },
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
