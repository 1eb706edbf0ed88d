//! A signature has the same verdict alone, in a batch, and in each authenticator.

use super::kit::{message, sign_with_torsion, signed_by, single_key};
use bytes::Bytes;
use curve25519_dalek::{
    edwards::{CompressedEdwardsY, EdwardsPoint},
    traits::Identity,
};
use ledger_crypto::{
    DecodedKeys, Ed25519PrivateKey, Ed25519PublicKey, Ed25519Signature, ed25519::batch,
};
use ledger_test_support::development_chain;
use ledger_types::{
    CheckedTransaction,
    transaction::{
        AccountAuthenticator, AnyPublicKey, AnySignature, MultiEd25519PublicKey,
        MultiEd25519Signature, MultiKey,
    },
};
use proptest::prelude::*;

/// Returns a point of order 8.
fn torsion() -> EdwardsPoint {
    let digits = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05";
    let point = CompressedEdwardsY(super::kit::bytes(digits)).decompress();
    point.expect("a point of small order")
}

/// A construction of a signature, which determines its validity.
#[derive(Clone, Copy, Debug)]
enum Construction {
    Good,
    OtherMessage,
    FlippedBit(usize),
    /// Components of small order, which may or may not cancel out. The equation with the cofactor
    /// accepts both.
    MixedKeyAndNonce,
    MixedNonce,
    SmallKey,
    SmallNonce,
    NotReducedNonce,
    NotReducedScalar,
}

impl Construction {
    fn is_valid(self) -> bool {
        matches!(self, Self::Good | Self::MixedKeyAndNonce | Self::MixedNonce)
    }

    fn make(self, signer: u8, message: &[u8]) -> (Ed25519PublicKey, Ed25519Signature) {
        let private = Ed25519PrivateKey::from_seed(&[signer; 32]);
        let (mut key, mut signature) = (private.public_key(), private.sign(message));
        let identity = EdwardsPoint::identity();
        let secret = u64::from(signer) + 1_000;
        match self {
            Self::Good => {}
            Self::OtherMessage => signature = private.sign(b"another message"),
            Self::FlippedBit(bit) => signature.0[bit / 8] ^= 1 << (bit % 8),
            Self::MixedKeyAndNonce => {
                return sign_with_torsion((secret, torsion()), (9_999, torsion()), message);
            }
            Self::MixedNonce => {
                return sign_with_torsion((secret, identity), (9_999, torsion()), message);
            }
            Self::SmallKey => key = Ed25519PublicKey(torsion().compress().to_bytes()),
            Self::SmallNonce => signature.0[..32].copy_from_slice(torsion().compress().as_bytes()),
            Self::NotReducedNonce => signature.0[..32].fill(0xff),
            Self::NotReducedScalar => signature.0[32..].fill(0xff),
        }
        (key, signature)
    }
}

fn any_construction() -> impl Strategy<Value = Construction> {
    prop_oneof![
        6 => Just(Construction::Good),
        1 => Just(Construction::OtherMessage),
        1 => (0usize..512).prop_map(Construction::FlippedBit),
        1 => Just(Construction::MixedKeyAndNonce),
        1 => Just(Construction::MixedNonce),
        1 => Just(Construction::SmallKey),
        1 => Just(Construction::SmallNonce),
        1 => Just(Construction::NotReducedNonce),
        1 => Just(Construction::NotReducedScalar),
    ]
}

/// Returns the authenticators that can contain one ed25519 signature.
fn authenticators(
    key: &Ed25519PublicKey,
    signature: &Ed25519Signature,
) -> [AccountAuthenticator; 4] {
    let (any_key, any_signature) = (
        AnyPublicKey::Ed25519(key.clone()),
        AnySignature::Ed25519(signature.clone()),
    );
    let multi = |bytes: &[u8], end: &[u8]| Bytes::from([bytes, end].concat());
    [
        AccountAuthenticator::Ed25519 {
            public_key: key.clone(),
            signature: signature.clone(),
        },
        AccountAuthenticator::MultiEd25519 {
            public_key: MultiEd25519PublicKey(multi(&key.0, &[1])),
            signature: MultiEd25519Signature(multi(&signature.0, &[0x80, 0, 0, 0])),
        },
        single_key(any_key.clone(), any_signature.clone()),
        AccountAuthenticator::MultiKey {
            public_keys: MultiKey {
                public_keys: vec![any_key],
                signatures_required: 1,
            },
            signatures: vec![any_signature],
            signatures_bitmap: Bytes::from_static(&[0x80]),
        },
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn checks_a_batch_like_single_transactions(constructions in prop::collection::vec((any_construction(), 0u8..4), 0..24)) {
        let chain = development_chain();
        let mut transactions = Vec::new();
        let mut expected = Vec::new();
        for (number, (any_construction, signer)) in (0..).zip(&constructions) {
            let (key, signature) = any_construction.make(*signer, &message(number));
            for authenticator in authenticators(&key, &signature) {
                transactions.push(signed_by(number, authenticator));
                expected.push(any_construction.is_valid());
            }
        }
        let expected_results: Vec<_> = transactions
            .iter()
            .map(|transaction| CheckedTransaction::check(transaction.clone(), chain.vendor(), chain.parameters()))
            .collect();
        let verdicts: Vec<bool> = expected_results.iter().map(Result::is_ok).collect();
        prop_assert_eq!(verdicts, expected);
        prop_assert_eq!(CheckedTransaction::check_all(transactions, chain.vendor(), chain.parameters(), &mut DecodedKeys::default()), expected_results);
    }

    #[test]
    fn finds_exactly_the_invalid_equations(bad in prop::collection::vec(any::<prop::sample::Index>(), 0..5), len in 1usize..300) {
        let key = Ed25519PrivateKey::from_seed(&[3; 32]);
        let mut equations: Vec<_> = (0..len)
            .map(|number| {
                let message = number.to_le_bytes();
                key.public_key().equation(&[&message], &key.sign(&message)).expect("the signature is well-formed")
            })
            .collect();
        let mut expected = vec![true; len];
        for index in bad {
            let at = index.index(len);
            let signature = key.sign(b"signed");
            equations[at] = key.public_key().equation(&[b"claimed"], &signature).expect("the signature is well-formed");
            expected[at] = false;
        }
        prop_assert_eq!(batch::check(&equations), expected);
    }
}

/// The errors of two forgeries cancel in a plain sum: `s` is one higher in the first and one lower
/// in the second. The random coefficients prevent this.
#[test]
fn rejects_forgeries_whose_errors_cancel() {
    let key = Ed25519PrivateKey::from_seed(&[3; 32]);
    let shifted = |message: &[u8], up: bool| {
        let mut signature = key.sign(message);
        let mut half = [0; 32];
        half.copy_from_slice(&signature.0[32..]);
        let scalar = curve25519_dalek::Scalar::from_bytes_mod_order(half);
        let one = curve25519_dalek::Scalar::ONE;
        let scalar = if up { scalar + one } else { scalar - one };
        signature.0[32..].copy_from_slice(scalar.as_bytes());
        let equation = key.public_key().equation(&[message], &signature);
        equation.expect("the signature is well-formed")
    };
    let pairs: Vec<_> = (0u8..8)
        .map(|number| shifted(&[number], number % 2 == 0))
        .collect();
    assert_eq!(batch::check(&pairs), [false; 8]);
}
