//! The ZIP-215 set: all pairs of the 14 encodings of points of small order, as key and as `R`, with
//! `s = 0`.
//!
//! ZIP-215 accepts them, so that a chain whose old blocks contain such signatures stays valid. This
//! ledger has no such blocks and rejects all of them: anyone can sign any message for such a key
//! with `s = 0`.

use super::kit::bytes;
use ledger_crypto::{Ed25519PrivateKey, Ed25519PublicKey, Ed25519Signature, SignatureError};

/// Encodings with `y` below the prime: the eight points, and the two points with `x = 0` again with
/// a sign bit.
const REDUCED: [&str; 10] = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
];

/// Encodings with `y` at or above the prime. The prime encodes 0, and the prime plus one encodes 1.
const NOT_REDUCED: [&str; 4] = [
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
];

/// Returns all encodings, each with a flag that is set if it is reduced.
pub(super) fn encodings() -> Vec<([u8; 32], bool)> {
    let reduced = REDUCED.map(|digits| (bytes(digits), true));
    let not_reduced = NOT_REDUCED.map(|digits| (bytes(digits), false));
    reduced.into_iter().chain(not_reduced).collect()
}

fn signature(nonce: [u8; 32], scalar: [u8; 32]) -> Ed25519Signature {
    Ed25519Signature(
        [nonce, scalar]
            .as_flattened()
            .try_into()
            .expect("two halves"),
    )
}

#[test]
fn rejects_keys_of_small_order() {
    let mut pairs = 0;
    for (key, key_is_reduced) in encodings() {
        for (nonce, _) in encodings() {
            let verdict = Ed25519PublicKey(key).verify(&[b"Zcash"], &signature(nonce, [0; 32]));
            let expected = if key_is_reduced {
                SignatureError::KeySmallOrder
            } else {
                SignatureError::KeyEncoding
            };
            assert_eq!(
                verdict,
                Err(expected),
                "{} {}",
                hex::encode(key),
                hex::encode(nonce)
            );
            pairs += 1;
        }
    }
    assert_eq!(pairs, 196);
}

#[test]
fn rejects_nonces_of_small_order() {
    let key = Ed25519PrivateKey::from_seed(&[1; 32]).public_key();
    for (nonce, is_reduced) in encodings() {
        let expected = if is_reduced {
            SignatureError::NonceSmallOrder
        } else {
            SignatureError::NonceEncoding
        };
        let verdict = key.verify(&[b"Zcash"], &signature(nonce, [0; 32]));
        assert_eq!(verdict, Err(expected), "{}", hex::encode(nonce));
    }
}
