//! Passkeys: assertions as an authenticator and a browser create them, and each form of an invalid
//! assertion.

use super::kit::{message, signed_by, single_key};
use bytes::Bytes;
use ledger_crypto::webauthn::{self, Assertion, AssertionSignature};
use ledger_test_support::development_chain;
use ledger_types::{
    CheckedTransaction, Discard, ValidationStatus,
    transaction::{AnyPublicKey, AnySignature},
};
use p256::ecdsa::{Signature, SigningKey, signature::hazmat::PrehashSigner};

/// Number of the signed transaction. Its challenge has a character in which base64url differs from
/// base64.
const NUMBER: u64 = 1;

fn key() -> SigningKey {
    SigningKey::from_slice(&[5; 32]).expect("a scalar")
}

/// Returns the client data of a browser for a challenge.
fn client_data(kind: &str, challenge: &str) -> String {
    format!(
        r#"{{"type":"{kind}","challenge":"{challenge}","origin":"https://wallet.example","crossOrigin":false}}"#
    )
}

fn challenge() -> String {
    webauthn::challenge(&[&message(NUMBER)])
}

/// Returns an assertion over this client data, with the accepted `s`.
fn assertion(client_data: &[u8]) -> Assertion {
    let mut assertion = Assertion {
        signature: AssertionSignature::Secp256r1Ecdsa(Bytes::new()),
        authenticator_data: Bytes::from(vec![0x5a; 37]),
        client_data_json: Bytes::copy_from_slice(client_data),
    };
    let signature: Signature = key()
        .sign_prehash(&assertion.signed_digest())
        .expect("a hash of 32 bytes");
    set_signature(&mut assertion, &signature.normalize_s().to_bytes());
    assertion
}

fn set_signature(assertion: &mut Assertion, bytes: &[u8]) {
    assertion.signature = AssertionSignature::Secp256r1Ecdsa(Bytes::copy_from_slice(bytes));
}

fn signature_of(assertion: &Assertion) -> Vec<u8> {
    let AssertionSignature::Secp256r1Ecdsa(bytes) = &assertion.signature;
    bytes.to_vec()
}

fn check(assertion: Assertion) -> Result<(), Discard> {
    let point = key().verifying_key().to_sec1_point(false);
    let key = AnyPublicKey::Secp256r1Ecdsa(Bytes::copy_from_slice(point.as_bytes()));
    let transaction = signed_by(NUMBER, single_key(key, AnySignature::WebAuthn(assertion)));
    CheckedTransaction::check(
        transaction,
        development_chain().vendor(),
        development_chain().parameters(),
    )
    .map(|_| ())
}

#[track_caller]
fn assert_rejected(assertion: Assertion, expected: &str) {
    let discard = check(assertion).expect_err("the assertion is invalid");
    assert_eq!(discard.status, ValidationStatus::InvalidSignature);
    let detail = discard.detail.expect("a rejection has a detail");
    assert!(
        detail.starts_with("the sender: ") && detail.contains(expected),
        "{detail}"
    );
}

#[test]
fn accepts_an_assertion_over_the_transaction() {
    let text = client_data("webauthn.get", &challenge());
    assert_eq!(check(assertion(text.as_bytes())), Ok(()));
    // A JSON escape is another form of the same text, and the signature covers the form as sent.
    let escaped = text.replace("webauthn", "web\\u0061uthn");
    assert_eq!(check(assertion(escaped.as_bytes())), Ok(()));
}

#[test]
fn rejects_another_challenge() {
    let other = webauthn::challenge(&[b"another message"]);
    let padded = format!("{}=", challenge());
    let standard_alphabet = challenge().replace('-', "+").replace('_', "/");
    assert_ne!(
        standard_alphabet,
        challenge(),
        "the challenge differs between the alphabets"
    );
    for wrong in [
        other.as_str(),
        &padded,
        &standard_alphabet,
        &challenge()[1..],
        "",
    ] {
        let text = client_data("webauthn.get", wrong);
        assert_rejected(assertion(text.as_bytes()), "challenge is not");
    }
}

#[test]
fn rejects_another_type() {
    for kind in ["webauthn.create", "webauthn.get ", "payment.get", ""] {
        let text = client_data(kind, &challenge());
        assert_rejected(assertion(text.as_bytes()), "type is not webauthn.get");
    }
}

#[test]
fn rejects_invalid_client_data() {
    let good = client_data("webauthn.get", &challenge());
    let twice = good.replacen('{', r#"{"challenge":"x","#, 1);
    let bad = [
        "",
        "webauthn.get",
        "[]",
        r#"{"type":"webauthn.get"}"#,
        r#"{"type":1,"challenge":2}"#,
        &good[1..],
        &twice,
        &format!("{good}{good}"),
    ]
    .map(str::to_owned);
    for text in bad {
        assert_rejected(assertion(text.as_bytes()), "not the JSON");
    }
    assert_rejected(assertion(&[0xff, 0xfe]), "not the JSON");
}

#[test]
fn rejects_a_changed_part() {
    let good = assertion(client_data("webauthn.get", &challenge()).as_bytes());
    let mut other_authenticator = good.clone();
    other_authenticator.authenticator_data = Bytes::from(vec![0x5b; 37]);
    assert_rejected(other_authenticator, "does not match");
    let mut other_site = good.clone();
    let text = client_data("webauthn.get", &challenge()).replace("wallet", "market");
    other_site.client_data_json = text.into();
    assert_rejected(other_site, "does not match");
    let mut moved_border = good.clone();
    moved_border.authenticator_data = good.authenticator_data.slice(1..);
    assert_rejected(moved_border, "does not match");
}

#[test]
fn rejects_a_high_s() {
    let mut malleated = assertion(client_data("webauthn.get", &challenge()).as_bytes());
    let low = Signature::from_slice(&signature_of(&malleated)).expect("a signature");
    let (r, s) = low.split_scalars();
    let high = Signature::from_scalars(*r, -*s).expect("scalars in range");
    set_signature(&mut malleated, &high.to_bytes());
    assert_rejected(malleated, "not in the lower half");
}

#[test]
fn rejects_other_forms_of_the_signature() {
    let good = assertion(client_data("webauthn.get", &challenge()).as_bytes());
    let bytes = signature_of(&good);
    for length in [0, 63, 65, 72] {
        let mut wrong = good.clone();
        let mut signature = bytes.clone();
        signature.resize(length, 0);
        set_signature(&mut wrong, &signature);
        assert_rejected(wrong, "32 bytes each");
    }
    for half in [0..32, 32..64] {
        for byte in [0, 0xff] {
            let mut wrong = good.clone();
            let mut signature = bytes.clone();
            signature[half.clone()].fill(byte);
            set_signature(&mut wrong, &signature);
            assert_rejected(wrong, "between 1 and the group order");
        }
    }
}

#[test]
fn limits_the_size_of_an_assertion() {
    let text = client_data("webauthn.get", &challenge());
    let padded = |size_bytes: usize| {
        let shortest = bcs::serialized_size(&assertion(text.as_bytes())).expect("BCS");
        // The shortest form has more than 127 bytes already, so padding does not extend its length
        // prefix.
        assertion(format!("{text}{}", " ".repeat(size_bytes - shortest)).as_bytes())
    };
    let largest = padded(webauthn::ASSERTION_BYTES_MAX);
    assert_eq!(
        bcs::serialized_size(&largest),
        Ok(webauthn::ASSERTION_BYTES_MAX)
    );
    assert_eq!(check(largest), Ok(()));
    assert_rejected(
        padded(webauthn::ASSERTION_BYTES_MAX + 1),
        "more than 1024 bytes",
    );
}
