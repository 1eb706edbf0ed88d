//! Strategies for signatures of every kind that decodes, including signatures that no client would
//! make.

use super::*;
use bytes::Bytes;
use proptest::collection::vec;

fn ed25519_key() -> impl Strategy<Value = Ed25519PublicKey> {
    any::<[u8; 32]>().prop_map(Ed25519PublicKey)
}

fn ed25519_signature() -> impl Strategy<Value = Ed25519Signature> {
    any::<[u8; 64]>().prop_map(Ed25519Signature)
}

pub fn bytes() -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), 0..80).prop_map(Bytes::from)
}

/// Returns byte strings of `count` pieces of `piece` bytes and an end of `end` bytes.
fn byte_string(count: usize, piece: usize, end: usize) -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), count * piece + end).prop_map(Bytes::from)
}

fn any_key() -> impl Strategy<Value = AnyPublicKey> {
    prop_oneof![
        ed25519_key().prop_map(AnyPublicKey::Ed25519),
        bytes().prop_map(AnyPublicKey::Secp256k1Ecdsa),
        bytes().prop_map(AnyPublicKey::Secp256r1Ecdsa),
        keyless_key().prop_map(|key| decode_key(3, &key)),
        (any::<[u8; 32]>(), keyless_key()).prop_map(|federated| decode_key(4, &federated)),
        byte_string(1, 32, 0).prop_map(|key| decode_key(5, &key)),
    ]
}

/// Decodes a key of a kind that the ledger decodes but does not verify, from its parts on the wire.
fn decode_key(variant: u8, parts: &impl Serialize) -> AnyPublicKey {
    bcs::from_bytes(&bcs::to_bytes(&(variant, parts)).unwrap()).unwrap()
}

fn decode_signature(variant: u8, parts: &impl Serialize) -> AnySignature {
    bcs::from_bytes(&bcs::to_bytes(&(variant, parts)).unwrap()).unwrap()
}

/// Returns the parts of a keyless key: an issuer and a commitment.
fn keyless_key() -> impl Strategy<Value = (String, Bytes)> {
    (".{0,20}", bytes())
}

/// Returns keyless signatures with a zero-knowledge certificate.
///
/// The certificate has three points, horizon, extra field, audience, and the prover's signature.
/// The header of the token, expiry, key, and signature follow.
fn keyless_signature() -> impl Strategy<Value = AnySignature> {
    let points =
        vec(any::<[u8; 32]>(), 4).prop_map(|points| <[[u8; 32]; 4]>::try_from(points).unwrap());
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
        byte_string(1, 32, 0),
        byte_string(1, 64, 0),
    )
        .prop_map(|(certificate, header, expiry, key, signature)| {
            decode_signature(
                3,
                &(certificate, header, expiry, (0u8, key), (0u8, signature)),
            )
        })
}

/// Returns abstract authenticators with either form of data: for an account that registered the
/// function, and for an account with an address derived from the function.
fn abstract_account() -> impl Strategy<Value = AccountAuthenticator> {
    let decode = |data: Vec<u8>| {
        let mut encoded = vec![5];
        bcs::serialize_into(&mut encoded, &(AccountAddress::ONE, "module", "function")).unwrap();
        encoded.extend(data);
        bcs::from_bytes(&encoded).unwrap()
    };
    prop_oneof![
        (bytes(), bytes()).prop_map(move |(digest, signature)| decode(
            bcs::to_bytes(&(0u8, digest, signature)).unwrap()
        )),
        (bytes(), bytes(), bytes()).prop_map(move |(digest, signature, key)| decode(
            bcs::to_bytes(&(1u8, digest, signature, key)).unwrap()
        )),
    ]
}

fn any_signature() -> impl Strategy<Value = AnySignature> {
    let assertion = (bytes(), bytes(), bytes()).prop_map(|parts| {
        // BCS of the assertion: the kind of its signature, then three byte vectors.
        let encoded = bcs::to_bytes(&(0u8, parts.0, parts.1, parts.2)).unwrap();
        AnySignature::WebAuthn(bcs::from_bytes(&encoded).unwrap())
    });
    prop_oneof![
        ed25519_signature().prop_map(AnySignature::Ed25519),
        bytes().prop_map(AnySignature::Secp256k1Ecdsa),
        assertion,
        keyless_signature(),
        byte_string(1, 7_856, 0).prop_map(|signature| decode_signature(4, &signature)),
    ]
}

fn multi_ed25519() -> impl Strategy<Value = (MultiEd25519PublicKey, MultiEd25519Signature)> {
    let keys = (1..4usize).prop_flat_map(|count| byte_string(count, 32, 1));
    let signatures = (1..4usize).prop_flat_map(|count| byte_string(count, 64, 4));
    (keys, signatures).prop_map(|(keys, signatures)| {
        (
            MultiEd25519PublicKey(keys),
            MultiEd25519Signature(signatures),
        )
    })
}

/// Returns multi key authenticators with any bitmap beside any number of signatures. They decode,
/// but need not be valid.
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

/// Returns multi key authenticators with the bitmap that SDKs write for some of 32 keys, and one
/// signature for each.
pub fn sdk_multi_key() -> impl Strategy<Value = AccountAuthenticator> {
    let signatures = proptest::collection::btree_map(0u8..32, any_signature(), 0..4);
    (vec(any_key(), 1..4), any::<u8>(), signatures).prop_map(
        |(public_keys, signatures_required, signatures)| AccountAuthenticator::MultiKey {
            public_keys: MultiKey {
                public_keys,
                signatures_required,
            },
            signatures_bitmap: Bytes::copy_from_slice(
                &bitmap::from_indices(signatures.keys().copied()).unwrap(),
            ),
            signatures: signatures.into_values().collect(),
        },
    )
}

pub fn account() -> impl Strategy<Value = AccountAuthenticator> {
    prop_oneof![
        (ed25519_key(), ed25519_signature()).prop_map(|(public_key, signature)| {
            AccountAuthenticator::Ed25519 {
                public_key,
                signature,
            }
        }),
        multi_ed25519().prop_map(
            |(public_key, signature)| AccountAuthenticator::MultiEd25519 {
                public_key,
                signature,
            }
        ),
        (any_key(), any_signature()).prop_map(|(public_key, signature)| {
            AccountAuthenticator::SingleKey {
                public_key,
                signature,
            }
        }),
        multi_key(),
        sdk_multi_key(),
        abstract_account(),
        Just(AccountAuthenticator::NoAccountAuthenticator),
    ]
}

fn address() -> impl Strategy<Value = AccountAddress> {
    any::<[u8; 32]>().prop_map(AccountAddress::new)
}

pub fn transaction() -> impl Strategy<Value = TransactionAuthenticator> {
    let secondary = |min| (vec(address(), min..3), vec(account(), min..3));
    prop_oneof![
        (ed25519_key(), ed25519_signature()).prop_map(|(public_key, signature)| {
            TransactionAuthenticator::Ed25519 {
                public_key,
                signature,
            }
        }),
        multi_ed25519().prop_map(|(public_key, signature)| {
            TransactionAuthenticator::MultiEd25519 {
                public_key,
                signature,
            }
        }),
        (account().prop_map(Box::new), secondary(1)).prop_map(|(sender, (addresses, signers))| {
            TransactionAuthenticator::MultiAgent {
                sender,
                secondary_signer_addresses: addresses,
                secondary_signers: signers,
            }
        }),
        (
            account().prop_map(Box::new),
            secondary(0),
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
