//! Transactions to sign, and signatures made to measure.

use curve25519_dalek::{constants::ED25519_BASEPOINT_POINT, edwards::EdwardsPoint, scalar::Scalar};
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature};
use ledger_framework::new_chain;
use ledger_types::{
    AccountAddress, EntryFunction, Parameters, RawTransaction, SignedTransaction, Vendor,
    transaction::{
        AccountAuthenticator, AnyPublicKey, AnySignature, TransactionAuthenticator,
        TransactionPayload,
    },
};
use ledger_vm::Chain;
use sha2::{Digest, Sha512};

pub fn chain() -> Chain {
    new_chain(4, Vendor::default(), Parameters::default())
}

/// A transaction that is like no other one of another number.
pub fn raw(number: u64) -> RawTransaction {
    RawTransaction {
        sender: AccountAddress::from_low_u64(0xcafe),
        sequence_number: number,
        payload: TransactionPayload::EntryFunction(EntryFunction {
            module: "0x1::coin".parse().expect("a module"),
            function: "transfer".parse().expect("a name"),
            type_args: vec![],
            args: vec![],
        }),
        max_gas_amount: 1_000,
        gas_unit_price: 100,
        expiration_timestamp_secs: 1_700_000_000,
        chain_id: 4,
    }
}

/// The message that the only signer of [`raw`] signs.
pub fn message(number: u64) -> Vec<u8> {
    raw(number).signing_message(chain().vendor())
}

pub fn signed_by(number: u64, sender: AccountAuthenticator) -> SignedTransaction {
    SignedTransaction {
        raw: raw(number),
        authenticator: TransactionAuthenticator::SingleSender {
            sender: Box::new(sender),
        },
    }
}

pub fn single_key(public_key: AnyPublicKey, signature: AnySignature) -> AccountAuthenticator {
    AccountAuthenticator::SingleKey {
        public_key,
        signature,
    }
}

/// A signature by the scalar `secret` with the scalar `nonce`, where key and nonce have the given parts
/// of small order added.
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

pub fn bytes<const N: usize>(hex_digits: &str) -> [u8; N] {
    let bytes = hex::decode(hex_digits).expect("hex digits");
    bytes.try_into().expect("as many bytes as wanted")
}
