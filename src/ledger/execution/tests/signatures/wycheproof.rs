//! The test vectors of Project Wycheproof. Verdicts differ for two reasons, which the tests count:
//!
//! * `s` is in the upper half of its range. Wycheproof accepts it, this ledger does not.
//! * A signature in DER has a form that `r || s` cannot express, so it cannot occur here.

use ledger_crypto::{
    Ed25519PublicKey, Ed25519Signature,
    ecdsa::{EcdsaError, secp256k1, secp256r1},
};
use sha2::{Digest, Sha256};
use wycheproof::{TestResult, ecdsa, eddsa};

/// Number of cases of a set, by verdict.
#[derive(Default, Debug, PartialEq, Eq)]
struct Counts {
    /// Accepted, as expected.
    accepted: usize,
    /// Rejected, as expected.
    rejected: usize,
    /// Valid except for a high `s`. Rejected here, because `(r, -s)` is a second signature of the
    /// message.
    high_scalar: usize,
    /// Not expressible in bytes of the length of the wire format. All of them are invalid.
    other_form: usize,
}

#[test]
fn returns_expected_verdicts_for_ed25519() {
    let set = eddsa::TestSet::load(eddsa::TestName::Ed25519).expect("a set of vectors");
    let mut counts = Counts::default();
    for group in set.test_groups {
        let key = Ed25519PublicKey(group.key.pk[..].try_into().expect("a key of 32 bytes"));
        for case in group.tests {
            let valid = case.result == TestResult::Valid;
            let Ok(signature) = <[u8; 64]>::try_from(&case.sig[..]) else {
                assert!(!valid, "case {}", case.tc_id);
                counts.other_form += 1;
                continue;
            };
            let verdict = key.verify(&[&case.msg], &Ed25519Signature(signature));
            assert_eq!(
                verdict.is_ok(),
                valid,
                "case {}: {}, {verdict:?}",
                case.tc_id,
                case.comment
            );
            *(if valid {
                &mut counts.accepted
            } else {
                &mut counts.rejected
            }) += 1;
        }
    }
    // The set has no case whose verdict depends on the cofactor in the equation.
    assert_eq!(
        counts.accepted + counts.rejected + counts.other_form,
        set.number_of_tests
    );
    assert_eq!(
        counts,
        Counts {
            accepted: 88,
            rejected: 51,
            high_scalar: 0,
            other_form: 12
        }
    );
}

/// Highest accepted `s`: half of the group order of each curve, rounded down.
const SECP256K1_HALF: &str = "7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0";
const SECP256R1_HALF: &str = "7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8";

/// A verification function of a curve and its hash, for key, message, and signature.
type Verify = fn(&[u8], &[u8], &[u8]) -> Result<(), EcdsaError>;
/// A conversion of a signature to `r || s`, or `None` if the signature has no such form.
type Form = fn(&[u8]) -> Option<Vec<u8>>;

fn secp256k1_sha256(key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), EcdsaError> {
    secp256k1::verify_digest(key, &Sha256::digest(message).into(), signature)
}

fn secp256k1_sha3(key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), EcdsaError> {
    secp256k1::verify(key, &[message], signature)
}

fn secp256r1_sha256(key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), EcdsaError> {
    secp256r1::verify_digest(key, &Sha256::digest(message).into(), signature)
}

/// Returns the bytes unchanged, as in the wire format, regardless of their length.
fn p1363(signature: &[u8]) -> Option<Vec<u8>> {
    Some(signature.to_vec())
}

/// Decodes strict DER with scalars in range.
fn der(signature: &[u8]) -> Option<Vec<u8>> {
    let signature = k256::ecdsa::Signature::from_der(signature).ok()?;
    Some(signature.to_bytes().to_vec())
}

/// Runs a set and returns its verdicts.
fn run(name: ecdsa::TestName, half_order: &str, verify: Verify, form: Form) -> Counts {
    let half_order = hex::decode(half_order).expect("hex digits");
    let set = ecdsa::TestSet::load(name).expect("a set of vectors");
    let mut counts = Counts::default();
    for group in set.test_groups {
        for case in group.tests {
            let context = format!("{name:?} case {}: {}", case.tc_id, case.comment);
            let valid = case.result == TestResult::Valid;
            let Some(signature) = form(&case.sig) else {
                assert!(!valid, "{context}");
                counts.other_form += 1;
                continue;
            };
            let verdict = verify(&group.key.key, &case.msg, &signature);
            if valid && signature[32..] > half_order[..] {
                assert_eq!(verdict, Err(EcdsaError::HighScalar), "{context}");
                counts.high_scalar += 1;
            } else {
                assert_eq!(verdict.is_ok(), valid, "{context}: {verdict:?}");
                *(if valid {
                    &mut counts.accepted
                } else {
                    &mut counts.rejected
                }) += 1;
            }
        }
    }
    let total = counts.accepted + counts.rejected + counts.high_scalar + counts.other_form;
    assert_eq!(total, set.number_of_tests);
    counts
}

#[test]
fn returns_expected_verdicts_for_secp256k1_sha3_der() {
    let name = ecdsa::TestName::EcdsaSecp256k1Sha3_256;
    let counts = run(name, SECP256K1_HALF, secp256k1_sha3, der);
    assert_eq!(
        counts,
        Counts {
            accepted: 93,
            rejected: 18,
            high_scalar: 79,
            other_form: 284
        }
    );
}

#[test]
fn returns_expected_verdicts_for_secp256k1_sha256() {
    let name = ecdsa::TestName::EcdsaSecp256k1Sha256P1363;
    let counts = run(name, SECP256K1_HALF, secp256k1_sha256, p1363);
    assert_eq!(
        counts,
        Counts {
            accepted: 95,
            rejected: 85,
            high_scalar: 72,
            other_form: 0
        }
    );
}

/// The set is for chains that also reject a high `s`, so no verdict differs.
#[test]
fn returns_expected_verdicts_for_secp256k1_bitcoin() {
    let name = ecdsa::TestName::EcdsaSecp256k1Sha256Bitcoin;
    let counts = run(name, SECP256K1_HALF, secp256k1_sha256, der);
    assert_eq!(
        counts,
        Counts {
            accepted: 162,
            rejected: 19,
            high_scalar: 0,
            other_form: 282
        }
    );
}

#[test]
fn returns_expected_verdicts_for_secp256r1_sha256() {
    let name = ecdsa::TestName::EcdsaSecp256r1Sha256P1363;
    let counts = run(name, SECP256R1_HALF, secp256r1_sha256, p1363);
    assert_eq!(
        counts,
        Counts {
            accepted: 103,
            rejected: 89,
            high_scalar: 70,
            other_form: 0
        }
    );
}
