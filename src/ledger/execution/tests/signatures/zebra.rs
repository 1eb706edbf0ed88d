//! Verdicts of batched checks in comparison with `ed25519-zebra`, which implements ZIP-215.
//!
//! Both rules have the same equation. ZIP-215 also accepts points of small order and encodings that
//! are not canonical. Both implementations use curve25519-dalek, so the comparison covers the rules
//! and the equation, not the arithmetic.

// A failing run prints its seed.
#![allow(clippy::print_stdout)]

use super::{kit::bytes, zip215::encodings};
use curve25519_dalek::{
    constants::ED25519_BASEPOINT_POINT,
    edwards::{CompressedEdwardsY, EdwardsPoint},
    scalar::Scalar,
};
use ed25519_zebra::{Signature, VerificationKey};
use fastrand::Rng;
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature, ed25519::batch};
use sha2::{Digest as _, Sha512};

/// Number of batches, with up to [`BATCH_MAX`] signatures each.
const BATCHES: usize = 200;
/// Maximum number of signatures in a batch.
const BATCH_MAX: usize = 40;

/// A key or nonce point: its encoding, and the discrete logarithm of its prime-order component.
struct Part {
    encoding: [u8; 32],
    logarithm: Scalar,
}

/// A signature with its key and message, valid or not.
struct Case {
    key: [u8; 32],
    signature: [u8; 64],
    message: [u8; 4],
}

/// Returns a point of the prime-order group, of mixed order (with a part of order 8), or of small
/// order.
fn random_point(random: &mut Rng) -> Part {
    let torsion: EdwardsPoint = CompressedEdwardsY(bytes(
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    ))
    .decompress()
    .unwrap();
    let logarithm = Scalar::from(random.u64(1..));
    let multiple = Scalar::from(random.u64(1..8));
    match random.u8(..8) {
        0 => {
            let encodings = encodings();
            let (encoding, _) = encodings[random.usize(..encodings.len())];
            let logarithm = Scalar::ZERO;
            Part {
                encoding,
                logarithm,
            }
        }
        1 => {
            let point = ED25519_BASEPOINT_POINT * logarithm + torsion * multiple;
            let encoding = point.compress().to_bytes();
            Part {
                encoding,
                logarithm,
            }
        }
        _ => {
            let encoding = (ED25519_BASEPOINT_POINT * logarithm).compress().to_bytes();
            Part {
                encoding,
                logarithm,
            }
        }
    }
}

/// Returns a case that satisfies the equation. One case in four has one flipped bit.
fn case(random: &mut Rng) -> Case {
    let (key, nonce) = (random_point(random), random_point(random));
    let mut message = random.u32(..).to_le_bytes();
    let hash = Sha512::new()
        .chain_update(nonce.encoding)
        .chain_update(key.encoding)
        .chain_update(message)
        .finalize();
    let challenge = Scalar::from_bytes_mod_order_wide(&hash.into());
    let scalar = nonce.logarithm + challenge * key.logarithm;
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(&nonce.encoding);
    signature[32..].copy_from_slice(scalar.as_bytes());
    let mut key = key.encoding;
    if random.u8(..4) == 0 {
        let flipped = [&mut key[..], &mut signature[..], &mut message[..]];
        let bytes = flipped.into_iter().nth(random.usize(..3)).unwrap();
        bytes[random.usize(..bytes.len())] ^= 1 << random.u8(..8);
    }
    Case {
        key,
        signature,
        message,
    }
}

/// Returns the verdicts of one batch.
fn verdicts(cases: &[Case]) -> Vec<bool> {
    let equations: Vec<_> = cases
        .iter()
        .map(|case| {
            let signature = Ed25519Signature(case.signature);
            Ed25519PublicKey(case.key)
                .equation(&[&case.message], &signature)
                .ok()
        })
        .collect();
    let checked: Vec<_> = equations.iter().flatten().cloned().collect();
    let mut checked = batch::check(&checked).into_iter();
    let verdicts = equations
        .iter()
        .map(|equation| equation.is_some() && checked.next().unwrap());
    verdicts.collect()
}

fn zebra_accepts(case: &Case) -> bool {
    VerificationKey::try_from(case.key).is_ok_and(|key| {
        key.verify(&Signature::from(case.signature), &case.message)
            .is_ok()
    })
}

/// Returns whether an encoding is that of a point of small order or is not canonical.
fn is_small_or_not_canonical(encoding: [u8; 32]) -> bool {
    CompressedEdwardsY(encoding)
        .decompress()
        .is_some_and(|point| point.is_small_order() || point.compress().to_bytes() != encoding)
}

#[test]
fn differs_from_zip215_only_for_small_order_and_encodings_that_are_not_canonical() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    let (mut both, mut only_zebra, mut neither) = (0, 0, 0);
    for _ in 0..BATCHES {
        let cases: Vec<_> = (0..random.usize(1..=BATCH_MAX))
            .map(|_| case(&mut random))
            .collect();
        for (case, is_accepted) in cases.iter().zip(verdicts(&cases)) {
            match (is_accepted, zebra_accepts(case)) {
                (true, true) => both += 1,
                (false, false) => neither += 1,
                (true, false) => panic!(
                    "only this implementation accepts {} {}",
                    hex::encode(case.key),
                    hex::encode(case.signature)
                ),
                (false, true) => {
                    let nonce = case.signature[..32].try_into().unwrap();
                    assert!(
                        is_small_or_not_canonical(case.key) || is_small_or_not_canonical(nonce),
                        "only this implementation rejects {} {}",
                        hex::encode(case.key),
                        hex::encode(case.signature)
                    );
                    only_zebra += 1;
                }
            }
        }
    }
    assert!(
        both > 500 && only_zebra > 100 && neither > 100,
        "{both} {only_zebra} {neither}"
    );
}
