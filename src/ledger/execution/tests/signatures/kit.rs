//! Transactions to sign, and signatures with chosen scalars and points.

use curve25519_dalek::{constants::ED25519_BASEPOINT_POINT, edwards::EdwardsPoint, scalar::Scalar};
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature};
use ledger_test_support::{TransactionBuilder, development_chain, function_call};
use ledger_types::{
    AccountAddress, RawTransaction, SignedTransaction,
    transaction::{AccountAuthenticator, AnyPublicKey, AnySignature},
};
use sha2::{Digest, Sha512};

fn builder(number: u64) -> TransactionBuilder {
    let call = function_call("0x1::coin::transfer", &[], vec![]);
    TransactionBuilder::call(
        &development_chain(),
        AccountAddress::from_low_u64(0xcafe),
        call,
    )
    .sequence_number(number)
}

/// Returns an unsigned transaction with the sequence number `number`.
pub fn raw(number: u64) -> RawTransaction {
    builder(number).build()
}

/// Returns the message that the only signer of [`raw`] signs.
pub fn message(number: u64) -> Vec<u8> {
    raw(number).signing_message(development_chain().vendor())
}

/// Returns [`raw`] with the authenticator of its only signer.
pub fn signed_by(number: u64, sender: AccountAuthenticator) -> SignedTransaction {
    builder(number).sign_with(|_| sender)
}

/// Returns an authenticator of a single key.
pub fn single_key(public_key: AnyPublicKey, signature: AnySignature) -> AccountAuthenticator {
    AccountAuthenticator::SingleKey {
        public_key,
        signature,
    }
}

/// Returns a public key and its signature of `message`, computed from the scalars `secret` and
/// `nonce`.
///
/// The torsion points, which have a small order, are added to the point of the key and to the point
/// of the nonce.
pub fn sign_with_torsion(
    (secret, key_torsion): (u64, EdwardsPoint),
    (nonce, nonce_torsion): (u64, EdwardsPoint),
    message: &[u8],
) -> (Ed25519PublicKey, Ed25519Signature) {
    let (secret, nonce) = (Scalar::from(secret), Scalar::from(nonce));
    let key = (ED25519_BASEPOINT_POINT * secret + key_torsion).compress();
    let point = (ED25519_BASEPOINT_POINT * nonce + nonce_torsion).compress();
    let hash = Sha512::new()
        .chain_update(point.as_bytes())
        .chain_update(key.as_bytes())
        .chain_update(message)
        .finalize();
    let challenge = Scalar::from_bytes_mod_order_wide(&hash.into());
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(point.as_bytes());
    signature[32..].copy_from_slice((nonce + challenge * secret).as_bytes());
    (
        Ed25519PublicKey(key.to_bytes()),
        Ed25519Signature(signature),
    )
}

/// Decodes exactly `N` bytes from hex digits.
pub fn bytes<const N: usize>(hex_digits: &str) -> [u8; N] {
    let bytes = hex::decode(hex_digits).expect("hex digits");
    bytes.try_into().expect("the expected number of bytes")
}
