//! Proofs of possession of a key.
//!
//! The key signs a challenge that names its type, so a signature for one purpose is invalid for any
//! other (docs/reference/framework.md#f3).

use super::{Account, errors};
use crate::modules::{ed25519, multi_ed25519, multi_key, single_key};
use ledger_crypto::{
    Ed25519PublicKey, HashValue, Scheme, authentication_key,
    multi_ed25519::{BITMAP_BYTES, KEYS_MAX, MultiEd25519PublicKey, MultiEd25519Signature},
};
use ledger_types::AccountAddress;
use ledger_vm::{Context, MoveStruct, VmError, cost};

/// Price of decoding one member of a MultiEd25519 key, in internal gas units.
///
/// Decoding a point takes about an eighth of the time of a signature check.
const KEY_DECODING: u64 = cost::SIGNATURE_CHECK / 8;

/// Bitmap of the signers in events for a single key: the first key signed.
const FIRST_SIGNER_BITMAP: [u8; BITMAP_BYTES] = [0x80, 0, 0, 0];

/// Returns the key scheme with this number, or `None` if there is none.
pub(super) fn scheme_from_number(number: u8) -> Option<Scheme> {
    Some(match number {
        0 => Scheme::Ed25519,
        1 => Scheme::MultiEd25519,
        2 => Scheme::SingleKey,
        3 => Scheme::MultiKey,
        _ => return None,
    })
}

/// Returns the authentication key of `public_key`, and charges for the hash.
///
/// # Errors
///
/// Returns [`VmError::OutOfGas`] if the gas limit is exceeded.
pub(super) fn hashed_key(
    context: &mut Context<'_>,
    scheme: Scheme,
    public_key: &[u8],
) -> Result<HashValue, VmError> {
    context.charge(cost::HASH_BASE + public_key.len() as u64 * cost::HASH_PER_BYTE)?;
    Ok(authentication_key(public_key, scheme))
}

/// Returns the authentication key of a public key of any scheme, without a proof of possession.
///
/// Checks only the encoding of the key.
///
/// # Errors
///
/// Aborts with:
///
/// * `EUNRECOGNIZED_SCHEME` if no scheme has this number.
/// * An abort code of the scheme's module if the key is malformed.
pub(super) fn unproven_authentication_key(
    context: &mut Context<'_>,
    scheme: u8,
    public_key: &[u8],
) -> Result<HashValue, VmError> {
    let Some(scheme) = scheme_from_number(scheme) else {
        return context.abort("account", &errors::EUNRECOGNIZED_SCHEME);
    };
    match scheme {
        Scheme::Ed25519 => ed25519::public_key(context, public_key).map(|_| ())?,
        Scheme::MultiEd25519 => multi_ed25519::check_public_key_size(context, public_key)?,
        Scheme::SingleKey => single_key::check(context, public_key)?,
        Scheme::MultiKey => multi_key::check(context, public_key)?,
    }
    hashed_key(context, scheme, public_key)
}

/// A public key of a scheme that supports proofs of possession.
pub(super) enum ProofKey<'a> {
    /// A single Ed25519 key.
    Ed25519(Ed25519PublicKey),
    /// A set of keys with a threshold, of which only the size has been checked.
    MultiEd25519(&'a [u8]),
}

impl<'a> ProofKey<'a> {
    /// Parses a public key from the arguments of an entry function.
    ///
    /// # Errors
    ///
    /// Aborts with:
    ///
    /// * `EINVALID_SCHEME` if the scheme is neither Ed25519 nor MultiEd25519.
    /// * `E_WRONG_PUBKEY_SIZE` of the scheme's module if the key has the wrong size.
    pub(super) fn read(
        context: &Context<'_>,
        scheme: u8,
        bytes: &'a [u8],
    ) -> Result<Self, VmError> {
        match scheme_from_number(scheme) {
            Some(Scheme::Ed25519) => ed25519::public_key(context, bytes).map(Self::Ed25519),
            Some(Scheme::MultiEd25519) => {
                multi_ed25519::check_public_key_size(context, bytes)?;
                Ok(Self::MultiEd25519(bytes))
            }
            _ => context.abort("account", &errors::EINVALID_SCHEME),
        }
    }

    /// Returns the authentication key of this key, and charges for the hash.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::OutOfGas`] if gas runs out.
    pub(super) fn authentication_key(
        &self,
        context: &mut Context<'_>,
    ) -> Result<HashValue, VmError> {
        match self {
            Self::Ed25519(key) => hashed_key(context, Scheme::Ed25519, &key.0),
            Self::MultiEd25519(bytes) => hashed_key(context, Scheme::MultiEd25519, bytes),
        }
    }

    /// Checks that `signature` is a signature of this key over `challenge`.
    ///
    /// # Errors
    ///
    /// Aborts with:
    ///
    /// * `E_WRONG_SIGNATURE_SIZE` of the scheme's module if the signature has the wrong size.
    /// * `EINVALID_PROOF_OF_KNOWLEDGE` if the signature is invalid.
    pub(super) fn check<T: MoveStruct>(
        &self,
        context: &mut Context<'_>,
        signature: &[u8],
        challenge: &T,
    ) -> Result<(), VmError> {
        let message = ed25519::signed_bytes(context.chain().registry(), challenge);
        context.charge(message.len() as u64 * cost::HASH_PER_BYTE)?;
        let is_valid = match self {
            Self::Ed25519(key) => {
                let signature = ed25519::signature(context, signature)?;
                context.charge(cost::SIGNATURE_CHECK)?;
                key.verify(&[&message], &signature).is_ok()
            }
            Self::MultiEd25519(key) => {
                multi_ed25519::check_signature_size(context, signature)?;
                let keys = (key.len() / 32) as u64;
                let signatures = (signature.len() / 64).min(KEYS_MAX) as u64;
                context.charge(keys * KEY_DECODING + signatures * cost::SIGNATURE_CHECK)?;
                is_valid_multi_signature(key, &message, signature)
            }
        };
        if is_valid {
            Ok(())
        } else {
            context.abort("account", &errors::EINVALID_PROOF_OF_KNOWLEDGE)
        }
    }

    /// Returns the bitmap of the keys that signed, in the encoding of events.
    pub(super) fn signers_bitmap(&self, signature: &[u8]) -> Vec<u8> {
        match self {
            Self::Ed25519(_) => FIRST_SIGNER_BITMAP.to_vec(),
            Self::MultiEd25519(_) => {
                signature[signature.len().saturating_sub(BITMAP_BYTES)..].to_vec()
            }
        }
    }
}

fn is_valid_multi_signature(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let key = MultiEd25519PublicKey::from_bytes(key);
    let signature = MultiEd25519Signature::from_bytes(signature);
    matches!((key, signature), (Ok(key), Ok(signature)) if key.verify(&[message], &signature).is_ok())
}

/// Checks that the current key of `account` signed `message`.
///
/// `scheme` is the number of the key's scheme.
///
/// # Errors
///
/// Aborts with:
///
/// * `EINVALID_SCHEME` if the scheme is neither Ed25519 nor MultiEd25519.
/// * `EWRONG_CURRENT_PUBLIC_KEY` with the category `InvalidArgument` if the public key is not the
///   current one.
/// * `EINVALID_PROOF_OF_KNOWLEDGE` if the signature is invalid.
/// * `E_WRONG_PUBKEY_SIZE` or `E_WRONG_SIGNATURE_SIZE` of the scheme's module if a size is wrong.
pub(super) fn check_signed_by<T: MoveStruct>(
    context: &mut Context<'_>,
    account: &Account,
    (scheme, public_key): (u8, &[u8]),
    signature: &[u8],
    message: &T,
) -> Result<(), VmError> {
    let key = ProofKey::read(context, scheme, public_key)?;
    if key.authentication_key(context)?.as_bytes() != account.authentication_key.as_slice() {
        return context.abort("account", &errors::EWRONG_PUBLIC_KEY_FOR_MESSAGE);
    }
    key.check(context, signature, message)
}

/// Checks that the current key of the account at `address` signed `message`.
///
/// `key` is the number of the key's scheme and the bytes of the key.
///
/// # Errors
///
/// Returns the errors of [`check_signed_by`], and [`VmError::State`] if the account cannot be read.
pub(crate) fn verify_signed_message<T: MoveStruct>(
    context: &mut Context<'_>,
    address: AccountAddress,
    key: (u8, &[u8]),
    signature: &[u8],
    message: &T,
) -> Result<(), VmError> {
    let account = super::load(context, address)?;
    check_signed_by(context, &account, key, signature, message)
}

#[cfg(test)]
mod tests {
    use super::{super::RotationProofChallenge, *};
    use crate::module_registry;
    use ledger_crypto::{Ed25519PrivateKey, Ed25519Signature};
    use ledger_types::Vendor;

    // Generated with the TypeScript SDK: a `RotationProofChallenge` of account 0xcafe at sequence
    // number 7. It rotates from the key of seed 01..01 to two of the keys of seeds 02..02, 03..03,
    // and 04..04. The old key signed it, and so did the first and the third of the new keys.
    const NEW_KEY: &str = "8139770ea87d175f56a35466c34c7ecccb8d8a91b4ee37a25df60f5b8fc9b394ed4928c628d1c2c6eae90338905995612959273a5c63f93636c14614ac8737d1ca93ac1705187071d67b83c7ff0efe8108e8ec4530575d7726879333dbdabe7c02";
    const NEW_AUTHENTICATION_KEY: &str =
        "d4ab3471804d83ad80e8e0148c513f567cc787b33ede39876c341e510daab942";
    const OLD_PROOF: &str = "0a2e6e431dd021bd43798ddc2c033ee5107f78db4f4b63387b6fc76d3e062d3665a34f284fc89dedb7bf0c6b56f023fa50c065478e88ae7a573bbcc15fcd1b05";
    const NEW_PROOF: &str = "4b07a7f0c5cb2a93f51b05783d1649b5b158e9ec77f3b0fb7744ad9c0de53ffb8375404eb91ae804bc65d85c49a059c7e03d41942dc83651b2c06a2549d76c0d9630df91d77580f820a5c3ee27b167fb66379a738536f2633e99d23189c967f9cbced44f3298529c39d13885518de8e2471a723f7c0ad0a108a65f5fac60da0aa0000000";

    #[test]
    fn verifies_proofs_signed_by_the_sdk() {
        let old_key = Ed25519PrivateKey::from_seed(&[1; 32]).public_key();
        let new_key = hex::decode(NEW_KEY).unwrap();
        let challenge = RotationProofChallenge {
            sequence_number: 7,
            originator: AccountAddress::from_low_u64(0xcafe),
            current_auth_key: AccountAddress::from_public_key(&old_key),
            new_public_key: new_key.clone(),
        };
        let message = ed25519::signed_bytes(&module_registry(&Vendor::default()), &challenge);
        let old_proof = hex::decode(OLD_PROOF).unwrap().try_into().unwrap();
        assert_eq!(
            old_key.verify(&[&message], &Ed25519Signature(old_proof)),
            Ok(())
        );
        let new_proof = hex::decode(NEW_PROOF).unwrap();
        assert!(is_valid_multi_signature(&new_key, &message, &new_proof));
        assert!(!is_valid_multi_signature(
            &new_key,
            &message[1..],
            &new_proof
        ));
        let authentication_key = authentication_key(&new_key, Scheme::MultiEd25519);
        assert_eq!(
            hex::encode(authentication_key.as_bytes()),
            NEW_AUTHENTICATION_KEY
        );
    }
}
