//! Batch verification of ed25519 signatures.
//!
//! A batch check multiplies each equation by a coefficient and sums the results, in one
//! multiplication of many points. It costs less than half as much per signature as single checks.
//!
//! # A zero sum implies that each equation holds
//!
//! Equation `i` holds if the point `P_i = 8(s_i B - k_i A_i - R_i)` is zero. All `P_i` are in the
//! group of prime order, because the factor 8 removes the small-order components of `A_i` and
//! `R_i`. No component remains that a coefficient could cancel by chance, so batch and single
//! checks agree on the points that are zero. If one `P_i` is not zero, at most one value of its
//! coefficient modulo the group order makes `sum z_i P_i` zero, for any values of the other points.
//!
//! The coefficients are not random, because verification is a pure function: every node must get
//! the same result. Each coefficient is 128 bits of a hash of *all* equations and of their number.
//! The hash covers `A_i`, `R_i`, `s_i`, and `k_i`, which depends on the message. A change of any
//! part of any signature changes all coefficients, so each attempt to forge a zero sum succeeds
//! with probability 2^-128.
//!
//! A coefficient must not be the hash of its own signature alone. Otherwise an attacker could
//! generate lists of signatures independently and search them for a combination that sums to zero,
//! which is far cheaper.
//!
//! # Fallback for a sum that is not zero
//!
//! The signatures of the sum are checked one by one. The results are always those of
//! [`Equation::holds`], and only the time differs.
//!
//! Sums are short to limit this time. Bisecting a long sum down to its invalid signatures costs
//! more than checking all of its signatures one by one. So an invalid
//! signature costs at most the savings of its own sum, and any number of invalid signatures costs
//! at most 1.4 times as much as verification without sums.

use super::Equation;
use curve25519_dalek::{
    constants::ED25519_BASEPOINT_POINT,
    edwards::EdwardsPoint,
    scalar::Scalar,
    traits::{IsIdentity, VartimeMultiscalarMul},
};
use sha2::{Digest, Sha512};
use std::collections::BTreeMap;

/// Minimum number of equations in a sum.
///
/// A sum of fewer equations costs more than their single checks (`benches/signatures.rs`).
const SUM_MIN: usize = 3;
/// Maximum number of equations in a sum.
///
/// Batches are too short for the sums that cost less (`docs/decisions/verification-equation.md`).
const SUM_MAX: usize = 16;

/// Domain separator of the hash that yields the coefficients.
const COEFFICIENTS_DOMAIN: &[u8] = b"ed25519 batch coefficients";

/// Checks many equations and returns for each, in their order, whether it holds.
pub fn check(equations: &[Equation]) -> Vec<bool> {
    equations.chunks(SUM_MAX).flat_map(check_group).collect()
}

/// Checks the equations of one sum, and returns for each whether it holds.
fn check_group(equations: &[Equation]) -> Vec<bool> {
    if equations.len() >= SUM_MIN && sum_is_zero(equations) {
        vec![true; equations.len()]
    } else {
        equations.iter().map(Equation::holds).collect()
    }
}

/// Returns whether the sum of all equations, multiplied by their coefficients, is zero.
///
/// The function computes the negated sum. The coefficients of `R` then stay at 128 bits, which
/// saves half of their additions.
fn sum_is_zero(equations: &[Equation]) -> bool {
    let coefficients = coefficients(equations);
    let mut base = Scalar::ZERO;
    // Signatures of one key share its point. Adding their challenges first saves multiplications.
    let mut keys: BTreeMap<&[u8; 32], (Scalar, &EdwardsPoint)> = BTreeMap::new();
    for (equation, coefficient) in equations.iter().zip(&coefficients) {
        base -= coefficient * equation.scalar;
        let (sum, _) = keys
            .entry(&equation.key_bytes)
            .or_insert((Scalar::ZERO, &equation.key));
        *sum += coefficient * equation.challenge;
    }
    let nonces = equations.iter().zip(&coefficients);
    let nonces = nonces.map(|(equation, coefficient)| (*coefficient, &equation.nonce));
    let terms = std::iter::once((base, &ED25519_BASEPOINT_POINT))
        .chain(keys.into_values())
        .chain(nonces);
    let (scalars, points): (Vec<Scalar>, Vec<&EdwardsPoint>) = terms.unzip();
    EdwardsPoint::vartime_multiscalar_mul(scalars, points)
        .mul_by_cofactor()
        .is_identity()
}

/// Returns one coefficient of 128 bits per equation, derived from a hash of all equations.
fn coefficients(equations: &[Equation]) -> Vec<Scalar> {
    let mut hasher = Sha512::new();
    hasher.update(COEFFICIENTS_DOMAIN);
    hasher.update((equations.len() as u64).to_le_bytes());
    for equation in equations {
        hasher.update(equation.key_bytes);
        hasher.update(equation.nonce_bytes);
        hasher.update(equation.scalar.as_bytes());
        hasher.update(equation.challenge.as_bytes());
    }
    let seed = hasher.finalize();
    // One hash gives the coefficients of four equations.
    (0u64..)
        .flat_map(|number| {
            let block = Sha512::new()
                .chain_update(seed)
                .chain_update(number.to_le_bytes())
                .finalize();
            let (chunks, _) = <[u8]>::as_chunks::<16>(&block);
            let chunks: [[u8; 16]; 4] = std::array::from_fn(|index| chunks[index]);
            chunks.map(|chunk| Scalar::from(u128::from_le_bytes(chunk)))
        })
        .take(equations.len())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ed25519PrivateKey;

    fn equation(message: &[u8]) -> Equation {
        equation_signed_by(3, message)
    }

    fn equation_signed_by(signer: u8, message: &[u8]) -> Equation {
        let key = Ed25519PrivateKey::from_seed(&[signer; 32]);
        let equation = key.public_key().equation(&[message], &key.sign(message));
        equation.expect("the parts are in order")
    }

    /// If a part did not change all coefficients, an attacker could choose it after them and force
    /// a zero sum.
    #[test]
    fn derives_all_coefficients_from_every_part() {
        type Change = fn(&mut Vec<Equation>);
        let changes: [(&str, Change); 5] = [
            ("A", |equations| equations[2].key_bytes[0] ^= 1),
            ("R", |equations| equations[2].nonce_bytes[0] ^= 1),
            ("s", |equations| equations[2].scalar += Scalar::ONE),
            ("the message", |equations| {
                equations[2].challenge += Scalar::ONE;
            }),
            ("their number", |equations| {
                equations.push(equation(b"one more"));
            }),
        ];
        let equations: Vec<_> = (0u8..5).map(|number| equation(&[number])).collect();
        let before = coefficients(&equations);
        for (part, change) in changes {
            let mut changed = equations.clone();
            change(&mut changed);
            let after = coefficients(&changed);
            for (before, after) in before.iter().zip(&after) {
                assert_ne!(before, after, "{part}");
            }
        }
    }

    /// A wrong sum would not change a result, because the fallback checks the equations one by one.
    /// It would only be slower.
    #[test]
    fn sums_valid_equations_to_zero() {
        for len in SUM_MIN..=SUM_MAX {
            let signers = (0u8..3).cycle().zip(0u8..);
            let equations: Vec<_> = signers
                .take(len)
                .map(|(signer, number)| equation_signed_by(signer, &[number]))
                .collect();
            assert!(sum_is_zero(&equations), "{len} equations");
        }
    }
}
