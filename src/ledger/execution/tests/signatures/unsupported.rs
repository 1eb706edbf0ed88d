//! Kinds of signatures that the ledger decodes in their real layout and rejects by name.

use super::kit::{message, raw};
use ledger_test_support::development_chain;
use ledger_types::{
    AccountAddress, CheckedTransaction, ValidationStatus, decode_signed_transaction,
    transaction::{AccountAuthenticator, TransactionAuthenticator},
};
use proptest::prelude::*;

/// Encodes a byte vector in BCS.
fn vector(bytes: &[u8]) -> Vec<u8> {
    bcs::to_bytes(bytes).expect("BCS")
}

fn keyless_key() -> Vec<u8> {
    [vector(b"https://accounts.example"), vector(&[7; 32])].concat()
}

/// Returns an ephemeral ed25519 key and signature.
fn ephemeral() -> (Vec<u8>, Vec<u8>) {
    (
        [&[0][..], &vector(&[1; 32])].concat(),
        [&[0][..], &vector(&[2; 64])].concat(),
    )
}

/// Returns the part of a keyless signature that follows the certificate.
fn after_certificate() -> Vec<u8> {
    let (key, signature) = ephemeral();
    let expiry_secs = 1_700_000_000u64.to_le_bytes();
    [
        vector(br#"{"kid":"1"}"#),
        expiry_secs.to_vec(),
        key,
        signature,
    ]
    .concat()
}

/// Returns a keyless signature with a proof: Groth16 proof of 128 bytes, horizon, extra field, no
/// other audience, signature of the prover.
fn with_proof() -> Vec<u8> {
    let (_, training_wheels) = ephemeral();
    let extra_field = [&[1][..], &vector(b"name")].concat();
    let horizon_secs = 10_000u64.to_le_bytes();
    let proof = [
        &[0, 0][..],
        &[3; 128],
        &horizon_secs,
        &extra_field,
        &[0],
        &[1],
        &training_wheels,
    ]
    .concat();
    [proof, after_certificate()].concat()
}

/// Returns a keyless signature with the token: signature, payload, claim, blinder, pepper of 31
/// bytes, no other audience.
fn with_token() -> Vec<u8> {
    let parts = [
        vector(&[4; 256]),
        vector(b"{}"),
        vector(b"sub"),
        vector(&[5; 31]),
    ]
    .concat();
    [&[1][..], &parts, &[6; 31], &[0], &after_certificate()].concat()
}

/// Returns the bytes of a signed transaction with this authenticator of the sender.
fn signed(account_authenticator: &[u8]) -> Vec<u8> {
    const SINGLE_SENDER: u8 = 4;
    let raw = bcs::to_bytes(&raw(1)).expect("BCS");
    [&raw[..], &[SINGLE_SENDER], account_authenticator].concat()
}

/// Returns an authenticator of each kind, with its name in the rejection.
///
/// The numbers are those of the wire format. Authenticators: 2 single key, 5 abstract. Keys: 3
/// keyless, 4 federated, 5 hash-based. Signatures: 3 keyless, 4 hash-based.
fn kinds() -> Vec<(Vec<u8>, &'static str)> {
    let single_key = |key: &[u8], signature: &[u8]| [&[2][..], key, signature].concat();
    let federated = [&[4][..], &[9; 32], &keyless_key()].concat();
    let keyless = [&[3][..], &keyless_key()].concat();
    let function = [&[0; 32][..], &vector(b"permit"), &vector(b"authenticate")].concat();
    let digest = vector(&[8; 32]);
    vec![
        (
            single_key(&keyless, &[&[3][..], &with_proof()].concat()),
            "a keyless signature",
        ),
        (
            single_key(&keyless, &[&[3][..], &with_token()].concat()),
            "a keyless signature",
        ),
        (
            single_key(&federated, &[&[3][..], &with_proof()].concat()),
            "a federated keyless signature",
        ),
        (
            single_key(
                &[&[5][..], &vector(&[1; 32])].concat(),
                &[&[4][..], &vector(&[2; 7_856])].concat(),
            ),
            "an SLH-DSA signature",
        ),
        (
            [&[5][..], &function, &[0], &digest, &vector(b"signature")].concat(),
            "an abstract account signature",
        ),
        (
            [
                &[5][..],
                &function,
                &[1],
                &digest,
                &vector(b"signature"),
                &vector(b"identity"),
            ]
            .concat(),
            "an abstract account signature",
        ),
    ]
}

#[test]
fn decodes_and_rejects_unsupported_kinds_by_name() {
    for (authenticator, name) in kinds() {
        let bytes = signed(&authenticator);
        let transaction =
            decode_signed_transaction(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(bcs::to_bytes(&transaction), Ok(bytes), "{name}");
        let form = transaction.authenticator.check_form().expect_err(name);
        let discard = CheckedTransaction::check(
            transaction,
            development_chain().vendor(),
            development_chain().parameters(),
        )
        .expect_err(name);
        assert_eq!(
            form, discard,
            "{name}: a simulation gets the same rejection"
        );
        assert_eq!(
            discard.status,
            ValidationStatus::FeatureUnderGating,
            "{name}"
        );
        assert_eq!(discard.detail, Some(format!("{name} is not supported")));
    }
}

/// Any signer may have the unsupported kind. No signature and no curve point is checked before.
#[test]
fn rejects_unsupported_kinds_in_every_role() {
    for (authenticator, name) in kinds() {
        let unsupported: AccountAuthenticator = bcs::from_bytes(&authenticator).expect(name);
        for role in 0..3 {
            let mut signers = [(); 3].map(|()| AccountAuthenticator::NoAccountAuthenticator);
            signers[role] = unsupported.clone();
            let [sender, secondary, payer] = signers;
            let authenticator = TransactionAuthenticator::FeePayer {
                sender: Box::new(sender),
                secondary_signer_addresses: vec![AccountAddress::ONE],
                secondary_signers: vec![secondary],
                fee_payer_address: AccountAddress::ONE,
                fee_payer_signer: Box::new(payer),
            };
            let discard = authenticator.check_form().expect_err(name);
            assert_eq!(
                discard.detail,
                Some(format!("{name} is not supported")),
                "role {role}"
            );
        }
    }
}

/// The rejection of a multi-key names the kind of a key even if that key does not sign.
#[test]
fn rejects_a_multi_key_with_one_unsupported_key() {
    let key = ledger_crypto::Ed25519PrivateKey::from_seed(&[1; 32]);
    let ed25519 = [&[0][..], &vector(&key.public_key().0)].concat();
    let keyless = [&[3][..], &keyless_key()].concat();
    let signature = [&[0][..], &vector(&key.sign(&message(1)).0)].concat();
    let set = [
        &[3, 2][..],
        &ed25519,
        &keyless,
        &[1],
        &[1],
        &signature,
        &vector(&[0x80]),
    ]
    .concat();
    let transaction = decode_signed_transaction(&signed(&set)).expect("a set of keys");
    let discard = CheckedTransaction::check(
        transaction,
        development_chain().vendor(),
        development_chain().parameters(),
    )
    .expect_err("a key of the set is keyless");
    assert_eq!(
        discard.detail.as_deref(),
        Some("a keyless signature is not supported")
    );
}

#[test]
fn rejects_hash_based_parts_of_another_length() {
    for (key, signature) in [(31, 7_856), (33, 7_856), (32, 7_855), (32, 7_857), (32, 0)] {
        let authenticator = [
            &[2, 5][..],
            &vector(&vec![1; key]),
            &[4],
            &vector(&vec![2; signature]),
        ]
        .concat();
        let error = decode_signed_transaction(&signed(&authenticator)).expect_err("a wrong length");
        assert!(error.to_string().contains("expected"), "{error}");
    }
}

#[test]
fn rejects_truncated_or_extended_bytes() {
    for (authenticator, name) in kinds() {
        let bytes = signed(&authenticator);
        for length in 0..bytes.len() {
            assert!(
                decode_signed_transaction(&bytes[..length]).is_err(),
                "{name}: {length} bytes"
            );
        }
        assert!(
            decode_signed_transaction(&[&bytes[..], &[0]].concat()).is_err(),
            "{name}"
        );
    }
}

proptest! {
    #[test]
    fn decodes_and_rejects_arbitrary_changes(kind in 0usize..6, flips: Vec<(prop::sample::Index, u8)>) {
        let (mut authenticator, _) = kinds().swap_remove(kind);
        for (at, byte) in flips {
            let at = at.index(authenticator.len());
            authenticator[at] = byte;
        }
        if let Ok(transaction) = decode_signed_transaction(&signed(&authenticator)) {
            prop_assert!(CheckedTransaction::check(transaction, development_chain().vendor(), development_chain().parameters()).is_err());
        }
    }
}
