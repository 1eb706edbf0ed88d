//! Checks many ed25519 signatures at once: the sum of their equations, each times a coefficient, is
//! one multiplication of many points, which costs less than half as much for each as one of its own.
//!
//! # Why a sum that is zero means that each equation holds
//! Each equation says that a point `P_i = 8(s_i B - k_i A_i - R_i)` is zero. All `P_i` are in the group of
//! prime order, for the factor 8 takes away what small-order parts `A_i` or `R_i` have; so nothing is
//! left that a coefficient could miss by chance, and the same points are zero here and alone. If one
//! `P_i` is not zero, then whatever the others are, at most one value of its coefficient modulo the order
//! makes `sum z_i P_i` zero.
//!
//! The coefficients are not random, because checking is a pure function: every node gives the same
//! answer. They are 128 bits each of a hash of *all* equations (`A_i`, `R_i`, `s_i`, and `k_i`, in which the
//! message is) and of their number. Whoever changes anything in any signature to make the sum fit gets new
//! coefficients for all of them, so that every attempt is a fresh guess with a chance of 2^-128. That is
//! also why a coefficient must not be the hash of its own signature alone: then lists of signatures could
//! be made apart and searched for a combination that sums to zero, which is far cheaper.
//!
//! # Where the sum is not zero
//! The signatures of that sum are checked one by one, so the verdicts are those of [`Equation::holds`] and
//! only the time differs. Sums are short for the sake of that time: a longer one saves little more, and
//! halving a long one down to the signatures that do not hold costs more than their neighbours do one by
//! one. So a bad signature costs its neighbours what the sum would have saved, and no flood of bad ones
//! costs more than 1.4 times what it would without sums.

use super::Equation;
use curve25519_dalek::{
    constants::ED25519_BASEPOINT_POINT,
    edwards::EdwardsPoint,
    scalar::Scalar,
    traits::{IsIdentity, VartimeMultiscalarMul},
};
use sha2::{Digest, Sha512};
use std::collections::BTreeMap;

/// Below this many, a sum costs more than the equations one by one (`benches/signatures.rs`).
const SUM_MIN: usize = 3;
/// As many equations are in a sum: 128 instead save another tenth where all signatures hold, and cost half
/// as much again where one does not.
const SUM_MAX: usize = 16;

/// The domain of the hash that gives the coefficients.
const COEFFICIENTS_DOMAIN: &[u8] = b"ed25519 batch coefficients";

/// Which equations hold, in their order.
pub fn check(equations: &[Equation]) -> Vec<bool> {
    equations.chunks(SUM_MAX).flat_map(check_group).collect()
}

fn check_group(equations: &[Equation]) -> Vec<bool> {
    if equations.len() >= SUM_MIN && sum_is_zero(equations) {
        vec![true; equations.len()]
    } else {
        equations.iter().map(Equation::holds).collect()
    }
}

/// Whether the sum of all equations, each times its coefficient, is zero. It is the negated sum that is
/// computed, so that the coefficients of `R` stay short, which saves half of their additions.
fn sum_is_zero(equations: &[Equation]) -> bool {
    let coefficients = coefficients(equations);
    let mut base = Scalar::ZERO;
    // Signatures of one key share its point: their challenges are added up before it is multiplied.
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

/// A coefficient of 128 bits for each equation, from a hash of all of them.
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
            let (pieces, _) = <[u8]>::as_chunks::<16>(&block);
            let pieces: [[u8; 16]; 4] = std::array::from_fn(|at| pieces[at]);
            pieces.map(|piece| Scalar::from(u128::from_le_bytes(piece)))
        })
        .take(equations.len())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ed25519PrivateKey;

    fn equation(message: &[u8]) -> Equation {
        equation_of(3, message)
    }

    fn equation_of(signer: u8, message: &[u8]) -> Equation {
        let key = Ed25519PrivateKey::from_seed(&[signer; 32]);
        let equation = key.public_key().equation(&[message], &key.sign(message));
        equation.expect("the parts are in order")
    }

    /// Else a part could be chosen after the coefficients, to make the sum fit.
    #[test]
    fn whoever_changes_any_part_gets_new_coefficients_for_all() {
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

    /// A wrong sum would not change a verdict, as the equations are then checked one by one, which
    /// is slower.
    #[test]
    fn sums_valid_equations_to_zero() {
        for len in SUM_MIN..=SUM_MAX {
            let signers = (0u8..3).cycle().zip(0u8..);
            let equations: Vec<_> = signers
                .take(len)
                .map(|(signer, number)| equation_of(signer, &[number]))
                .collect();
            assert!(sum_is_zero(&equations), "{len} equations");
        }
    }
}
