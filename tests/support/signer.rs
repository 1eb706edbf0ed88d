//! Signers with keys of every scheme.

use crate::{TransactionBuilder, TransactionSigner, bcs_bytes};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use bytes::Bytes;
use curve25519_dalek::{
    constants::ED25519_BASEPOINT_TABLE,
    scalar::{Scalar, clamp_integer},
};
use k256::ecdsa::signature::{
    hazmat::{PrehashSigner as _, RandomizedPrehashSigner as _},
    rand_core::{TryCryptoRng, TryRng},
};
use ledger_crypto::{Ed25519PrivateKey, Ed25519Signature, HashValue, Scheme, authentication_key};
use ledger_types::{
    AccountAddress, RawTransaction, SignedTransaction,
    transaction::{
        AccountAuthenticator, AnyPublicKey, AnySignature, MultiEd25519PublicKey,
        MultiEd25519Signature, MultiKey,
    },
};
use ledger_vm::Chain;
use sha2::{Digest as _, Sha256, Sha512};
use std::{convert::Infallible, ops::Range};

/// A private key of one scheme.
#[derive(Clone, Debug)]
pub enum TestKey {
    /// An ed25519 key.
    Ed25519(Ed25519PrivateKey),
    /// A secp256k1 key.
    Secp256k1(k256::ecdsa::SigningKey),
    /// A secp256r1 key that signs WebAuthn assertions.
    Passkey(p256::ecdsa::SigningKey),
}

impl TestKey {
    /// Returns the ed25519 key with a seed of equal bytes.
    pub fn ed25519(byte: u8) -> Self {
        Self::Ed25519(Ed25519PrivateKey::from_seed(&[byte; 32]))
    }

    /// Returns the secp256k1 key with a scalar of equal bytes.
    pub fn secp256k1(byte: u8) -> Self {
        Self::Secp256k1(k256::ecdsa::SigningKey::from_slice(&[byte; 32]).expect("a scalar"))
    }

    /// Returns the passkey with a scalar of equal bytes.
    pub fn passkey(byte: u8) -> Self {
        Self::passkey_from(&[byte; 32])
    }

    /// Returns the passkey with this scalar.
    pub fn passkey_from(scalar: &[u8; 32]) -> Self {
        Self::Passkey(p256::ecdsa::SigningKey::from_slice(scalar).expect("a scalar"))
    }

    /// Returns the public key.
    pub fn public_key(&self) -> AnyPublicKey {
        match self {
            Self::Ed25519(key) => AnyPublicKey::Ed25519(key.public_key()),
            Self::Secp256k1(key) => {
                let point = key.verifying_key().to_sec1_point(false);
                AnyPublicKey::Secp256k1Ecdsa(Bytes::copy_from_slice(point.as_bytes()))
            }
            Self::Passkey(key) => {
                let point = key.verifying_key().to_sec1_point(false);
                AnyPublicKey::Secp256r1Ecdsa(Bytes::copy_from_slice(point.as_bytes()))
            }
        }
    }

    /// Signs the message.
    pub fn sign(&self, message: &[u8]) -> AnySignature {
        let digest = HashValue::sha3_of(&[message]);
        match self {
            Self::Ed25519(key) => AnySignature::Ed25519(key.sign(message)),
            Self::Secp256k1(key) => {
                let signature = key.sign_prehash(digest.as_bytes());
                secp256k1_signature(&signature.expect("a hash"))
            }
            Self::Passkey(key) => AnySignature::WebAuthn(assertion(key, &digest, [7; 37])),
        }
    }

    /// Signs the message with another nonce, or in another assertion, than [`Self::sign`].
    fn sign_again(&self, message: &[u8]) -> AnySignature {
        let digest = HashValue::sha3_of(&[message]);
        match self {
            Self::Ed25519(key) => AnySignature::Ed25519(sign_ed25519_again(key, message)),
            Self::Secp256k1(key) => {
                let signature = key.sign_prehash_with_rng(&mut Sevens, digest.as_bytes());
                secp256k1_signature(&signature.expect("a hash"))
            }
            Self::Passkey(key) => AnySignature::WebAuthn(assertion(key, &digest, [8; 37])),
        }
    }
}

/// The account whose address derives from the key: in the original scheme for an ed25519 key, as a
/// single key otherwise.
impl TransactionSigner for TestKey {
    fn address(&self) -> AccountAddress {
        match self {
            Self::Ed25519(key) => key.address(),
            _ => derived_address(&bcs_bytes(&self.public_key()), Scheme::SingleKey),
        }
    }

    fn authenticate(&self, message: &[u8]) -> AccountAuthenticator {
        match self {
            Self::Ed25519(key) => key.authenticate(message),
            _ => single_key(self, self.sign(message)),
        }
    }
}

fn derived_address(public_key: &[u8], scheme: Scheme) -> AccountAddress {
    AccountAddress::new(*authentication_key(public_key, scheme).as_bytes())
}

fn single_key(key: &TestKey, signature: AnySignature) -> AccountAuthenticator {
    AccountAuthenticator::SingleKey {
        public_key: key.public_key(),
        signature,
    }
}

fn secp256k1_signature(signature: &k256::ecdsa::Signature) -> AnySignature {
    AnySignature::Secp256k1Ecdsa(Bytes::copy_from_slice(&signature.normalize_s().to_bytes()))
}

/// Signs a message with ed25519 under a nonce that RFC 8032 does not derive for it, which a
/// verifier cannot detect.
fn sign_ed25519_again(key: &Ed25519PrivateKey, message: &[u8]) -> Ed25519Signature {
    let expanded = Sha512::digest(key.seed());
    let secret = expanded[..32].try_into().expect("32 bytes");
    let secret = Scalar::from_bytes_mod_order(clamp_integer(secret));
    let nonce = Scalar::from(7u8);
    let nonce_point = (&nonce * ED25519_BASEPOINT_TABLE).compress();
    let mut challenge = Sha512::new();
    for part in [nonce_point.as_bytes(), &key.public_key().0[..], message] {
        challenge.update(part);
    }
    let challenge = Scalar::from_bytes_mod_order_wide(&challenge.finalize().into());
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(nonce_point.as_bytes());
    signature[32..].copy_from_slice((nonce + challenge * secret).as_bytes());
    Ed25519Signature(signature)
}

/// A source of constant bytes, so that signatures are the same in every run.
struct Sevens;

impl TryRng for Sevens {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(7)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(7)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(7);
        Ok(())
    }
}

impl TryCryptoRng for Sevens {}

/// Returns the response of a browser to a challenge.
///
/// It is encoded byte by byte, independently of the code under test.
fn assertion<A: serde::de::DeserializeOwned>(
    key: &p256::ecdsa::SigningKey,
    challenge: &HashValue,
    authenticator_data: [u8; 37],
) -> A {
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(challenge.as_bytes());
    let client_data = format!(
        r#"{{"type":"webauthn.get","challenge":"{challenge}","origin":"http://localhost"}}"#
    );
    let mut signed = Sha256::new();
    signed.update(authenticator_data);
    signed.update(Sha256::digest(&client_data));
    let signature: p256::ecdsa::Signature = key.sign_prehash(&signed.finalize()).expect("a hash");
    let bytes = |bytes: &[u8]| Bytes::copy_from_slice(bytes);
    let parts = (
        0u8,
        bytes(&signature.normalize_s().to_bytes()),
        bytes(&authenticator_data),
        bytes(client_data.as_bytes()),
    );
    bcs::from_bytes(&bcs_bytes(&parts)).expect("the encoding of an assertion")
}

/// A signer with keys of one of the schemes for accounts.
#[derive(Clone, Debug)]
pub enum TestSigner {
    /// One ed25519 key in the original scheme.
    Ed25519(Ed25519PrivateKey),
    /// Several ed25519 keys in the original scheme, of which the first `threshold` sign.
    MultiEd25519 {
        /// The keys.
        keys: Vec<Ed25519PrivateKey>,
        /// Number of signatures that the account requires.
        threshold: u8,
    },
    /// One key.
    SingleKey(TestKey),
    /// Several keys, of which the last `signatures_required` sign.
    MultiKey {
        /// The keys.
        keys: Vec<TestKey>,
        /// Number of signatures that the account requires.
        signatures_required: u8,
    },
    /// No key, for a simulation that names the account only.
    Unsigned(AccountAddress),
}

/// Returns the bitmap that selects these keys. Key 0 is the highest bit of the first byte.
fn bitmap(keys: impl Iterator<Item = usize>) -> [u8; 4] {
    keys.fold(0u32, |bits, key| bits | (1 << (31 - key)))
        .to_be_bytes()
}

impl TestSigner {
    fn multi_ed25519_key(&self) -> MultiEd25519PublicKey {
        let Self::MultiEd25519 { keys, threshold } = self else {
            panic!("not a multi-ed25519 signer");
        };
        let mut bytes: Vec<u8> = keys.iter().flat_map(|key| key.public_key().0).collect();
        bytes.push(*threshold);
        MultiEd25519PublicKey(bytes.into())
    }

    fn multi_key(&self) -> MultiKey {
        let Self::MultiKey {
            keys,
            signatures_required,
        } = self
        else {
            panic!("not a multi-key signer");
        };
        MultiKey {
            public_keys: keys.iter().map(TestKey::public_key).collect(),
            signatures_required: *signatures_required,
        }
    }

    /// Signs a message with other nonces, or by another subset of the keys, than
    /// [`TransactionSigner::authenticate`].
    fn authenticate_again(&self, message: &[u8]) -> AccountAuthenticator {
        match self {
            Self::Ed25519(key) => AccountAuthenticator::Ed25519 {
                public_key: key.public_key(),
                signature: sign_ed25519_again(key, message),
            },
            Self::MultiEd25519 { keys, threshold } => {
                let signing = keys.len() - usize::from(*threshold)..keys.len();
                self.multi_ed25519_signature(message, signing)
            }
            Self::SingleKey(key) => single_key(key, key.sign_again(message)),
            Self::MultiKey {
                signatures_required,
                ..
            } => self.multi_key_signature(message, 0..usize::from(*signatures_required)),
            Self::Unsigned(_) => AccountAuthenticator::NoAccountAuthenticator,
        }
    }

    fn multi_ed25519_signature(
        &self,
        message: &[u8],
        signing: Range<usize>,
    ) -> AccountAuthenticator {
        let Self::MultiEd25519 { keys, .. } = self else {
            panic!("not a multi-ed25519 signer");
        };
        let signatures = keys[signing.clone()]
            .iter()
            .flat_map(|key| key.sign(message).0);
        let signature: Vec<u8> = signatures.chain(bitmap(signing)).collect();
        AccountAuthenticator::MultiEd25519 {
            public_key: self.multi_ed25519_key(),
            signature: MultiEd25519Signature(signature.into()),
        }
    }

    fn multi_key_signature(&self, message: &[u8], signing: Range<usize>) -> AccountAuthenticator {
        let Self::MultiKey { keys, .. } = self else {
            panic!("not a multi-key signer");
        };
        let signatures = keys[signing.clone()].iter().map(|key| key.sign(message));
        AccountAuthenticator::MultiKey {
            public_keys: self.multi_key(),
            signatures: signatures.collect(),
            signatures_bitmap: Bytes::copy_from_slice(&bitmap(signing)),
        }
    }

    /// Returns a signer of every scheme, none of which has an account on the ledger.
    pub fn of_every_scheme() -> Vec<(&'static str, Self)> {
        let ed25519 = |byte| Ed25519PrivateKey::from_seed(&[byte; 32]);
        vec![
            ("ed25519", Self::Ed25519(ed25519(1))),
            (
                "multi-ed25519, 2 of 3",
                Self::MultiEd25519 {
                    keys: [2, 3, 4].map(ed25519).into(),
                    threshold: 2,
                },
            ),
            ("single ed25519", Self::SingleKey(TestKey::ed25519(5))),
            ("single secp256k1", Self::SingleKey(TestKey::secp256k1(6))),
            ("passkey", Self::SingleKey(TestKey::passkey(7))),
            (
                "multi key, 2 of 3",
                Self::MultiKey {
                    keys: vec![
                        TestKey::ed25519(8),
                        TestKey::secp256k1(9),
                        TestKey::passkey(10),
                    ],
                    signatures_required: 2,
                },
            ),
        ]
    }

    /// Signs a transaction as its only signer.
    pub fn sign_alone(&self, chain: &Chain, raw: RawTransaction) -> SignedTransaction {
        TransactionBuilder::from_raw(chain, raw).sign_as_single_sender(self)
    }

    /// Signs a transaction as its only signer. The signatures are valid and differ from those of
    /// [`Self::sign_alone`].
    pub fn sign_alone_again(&self, chain: &Chain, raw: RawTransaction) -> SignedTransaction {
        TransactionBuilder::from_raw(chain, raw)
            .sign_with(|message| self.authenticate_again(message))
    }

    /// Signs a transaction as its sender, with secondary signers and a fee payer if there is one.
    pub fn sign_together(
        &self,
        chain: &Chain,
        raw: RawTransaction,
        secondary: &[&Self],
        fee_payer: Option<&Self>,
    ) -> SignedTransaction {
        let signers = [&[self], secondary].concat();
        TransactionBuilder::from_raw(chain, raw).sign_together(&signers, fee_payer)
    }
}

impl TransactionSigner for TestSigner {
    fn address(&self) -> AccountAddress {
        match self {
            Self::Ed25519(key) => key.address(),
            Self::MultiEd25519 { .. } => {
                derived_address(&self.multi_ed25519_key().0, Scheme::MultiEd25519)
            }
            Self::SingleKey(key) => {
                derived_address(&bcs_bytes(&key.public_key()), Scheme::SingleKey)
            }
            Self::MultiKey { .. } => {
                derived_address(&bcs_bytes(&self.multi_key()), Scheme::MultiKey)
            }
            Self::Unsigned(address) => *address,
        }
    }

    fn authenticate(&self, message: &[u8]) -> AccountAuthenticator {
        match self {
            Self::Ed25519(key) => key.authenticate(message),
            Self::MultiEd25519 { threshold, .. } => {
                self.multi_ed25519_signature(message, 0..usize::from(*threshold))
            }
            Self::SingleKey(key) => single_key(key, key.sign(message)),
            Self::MultiKey {
                keys,
                signatures_required,
            } => {
                let signing = keys.len() - usize::from(*signatures_required)..keys.len();
                self.multi_key_signature(message, signing)
            }
            Self::Unsigned(_) => AccountAuthenticator::NoAccountAuthenticator,
        }
    }
}
