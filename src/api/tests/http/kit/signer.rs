//! Accounts that sign with keys of any kind, and transactions that several of them sign. Messages are
//! put together here byte by byte, beside the code under test.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use bytes::Bytes;
use curve25519_dalek::{constants::ED25519_BASEPOINT_TABLE, scalar::Scalar, scalar::clamp_integer};
use k256::ecdsa::signature::{
    hazmat::{PrehashSigner, RandomizedPrehashSigner},
    rand_core::{TryCryptoRng, TryRng},
};
use ledger_crypto::{Ed25519PrivateKey, Ed25519Signature, HashValue, Scheme, authentication_key};
use ledger_types::{
    AccountAddress, RawTransaction, SignedTransaction,
    transaction::{
        AccountAuthenticator, AnyPublicKey, AnySignature, MultiEd25519PublicKey,
        MultiEd25519Signature, MultiKey, TransactionAuthenticator,
    },
};
use ledger_vm::Chain;
use sha2::{Digest, Sha256, Sha512};
use std::{convert::Infallible, ops::Range};

/// A private key of one kind.
#[derive(Clone)]
pub enum Key {
    Ed25519(Ed25519PrivateKey),
    Secp256k1(k256::ecdsa::SigningKey),
    /// Signs WebAuthn assertions.
    Passkey(p256::ecdsa::SigningKey),
}

/// How an account signs.
#[derive(Clone)]
pub enum Signer {
    Ed25519(Ed25519PrivateKey),
    /// The first `threshold` keys sign.
    MultiEd25519 {
        keys: Vec<Ed25519PrivateKey>,
        threshold: u8,
    },
    SingleKey(Key),
    /// The last `signatures_required` keys sign.
    MultiKey {
        keys: Vec<Key>,
        signatures_required: u8,
    },
    /// Does not: for simulations.
    Nobody(AccountAddress),
}

impl Key {
    pub fn ed25519(seed: u8) -> Self {
        Self::Ed25519(Ed25519PrivateKey::from_seed(&[seed; 32]))
    }

    pub fn secp256k1(seed: u8) -> Self {
        Self::Secp256k1(k256::ecdsa::SigningKey::from_slice(&[seed; 32]).unwrap())
    }

    pub fn passkey(seed: u8) -> Self {
        Self::Passkey(p256::ecdsa::SigningKey::from_slice(&[seed; 32]).unwrap())
    }

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

    pub fn sign(&self, message: &[u8]) -> AnySignature {
        let digest = HashValue::sha3_of(&[message]);
        match self {
            Self::Ed25519(key) => AnySignature::Ed25519(key.sign(message)),
            Self::Secp256k1(key) => secp256k1_form(&key.sign_prehash(digest.as_bytes()).unwrap()),
            Self::Passkey(key) => AnySignature::WebAuthn(assertion(key, &digest, [7; 37])),
        }
    }

    /// Signs the message with a nonce or a challenge response other than those of [`Self::sign`].
    fn sign_again(&self, message: &[u8]) -> AnySignature {
        let digest = HashValue::sha3_of(&[message]);
        match self {
            Self::Ed25519(key) => AnySignature::Ed25519(ed25519_again(key, message)),
            Self::Secp256k1(key) => {
                let signature = key.sign_prehash_with_rng(&mut Sevens, digest.as_bytes());
                secp256k1_form(&signature.unwrap())
            }
            Self::Passkey(key) => AnySignature::WebAuthn(assertion(key, &digest, [8; 37])),
        }
    }
}

fn secp256k1_form(signature: &k256::ecdsa::Signature) -> AnySignature {
    AnySignature::Secp256k1Ecdsa(Bytes::copy_from_slice(&signature.normalize_s().to_bytes()))
}

/// Signs a message with ed25519 under a nonce that RFC 8032 does not derive for it. Verifiers cannot tell.
fn ed25519_again(key: &Ed25519PrivateKey, message: &[u8]) -> Ed25519Signature {
    let expanded = Sha512::digest(key.seed());
    let secret = Scalar::from_bytes_mod_order(clamp_integer(expanded[..32].try_into().unwrap()));
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

/// Returns what a browser and an authenticator that says `authenticator_data` answer to a challenge.
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
    let signature: p256::ecdsa::Signature = key.sign_prehash(&signed.finalize()).unwrap();
    let bytes = |bytes: &[u8]| Bytes::copy_from_slice(bytes);
    let parts = (
        0u8,
        bytes(&signature.normalize_s().to_bytes()),
        bytes(&authenticator_data),
        bytes(client_data.as_bytes()),
    );
    bcs::from_bytes(&bcs::to_bytes(&parts).unwrap()).unwrap()
}

/// The bits of these keys, the highest bit of the first byte for key 0.
fn bitmap(keys: impl Iterator<Item = usize>) -> [u8; 4] {
    keys.fold(0u32, |bits, key| bits | (1 << (31 - key)))
        .to_be_bytes()
}

impl Signer {
    /// The account that signs with a fresh key of this kind.
    pub fn address(&self) -> AccountAddress {
        let of_bcs = |bytes: Vec<u8>, scheme| {
            AccountAddress::new(*authentication_key(&bytes, scheme).as_bytes())
        };
        match self {
            Self::Ed25519(key) => AccountAddress::from_public_key(&key.public_key()),
            Self::MultiEd25519 { .. } => {
                of_bcs(self.multi_ed25519_key().0.to_vec(), Scheme::MultiEd25519)
            }
            Self::SingleKey(key) => {
                of_bcs(bcs::to_bytes(&key.public_key()).unwrap(), Scheme::SingleKey)
            }
            Self::MultiKey { .. } => {
                of_bcs(bcs::to_bytes(&self.multi_key()).unwrap(), Scheme::MultiKey)
            }
            Self::Nobody(address) => *address,
        }
    }

    fn multi_ed25519_key(&self) -> MultiEd25519PublicKey {
        let Self::MultiEd25519 { keys, threshold } = self else {
            panic!("no multi-ed25519 signer");
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
            panic!("no multi key signer");
        };
        MultiKey {
            public_keys: keys.iter().map(Key::public_key).collect(),
            signatures_required: *signatures_required,
        }
    }

    pub fn sign(&self, message: &[u8]) -> AccountAuthenticator {
        match self {
            Self::Ed25519(key) => AccountAuthenticator::Ed25519 {
                public_key: key.public_key(),
                signature: key.sign(message),
            },
            Self::MultiEd25519 { threshold, .. } => {
                self.multi_ed25519_signature(message, 0..usize::from(*threshold))
            }
            Self::SingleKey(key) => AccountAuthenticator::SingleKey {
                public_key: key.public_key(),
                signature: key.sign(message),
            },
            Self::MultiKey {
                keys,
                signatures_required,
            } => {
                let signing = keys.len() - usize::from(*signatures_required)..keys.len();
                self.multi_key_signature(message, signing)
            }
            Self::Nobody(_) => AccountAuthenticator::NoAccountAuthenticator,
        }
    }

    /// Signs a message with other nonces, or another subset of the keys, than [`Self::sign`] does.
    fn sign_again(&self, message: &[u8]) -> AccountAuthenticator {
        match self {
            Self::Ed25519(key) => AccountAuthenticator::Ed25519 {
                public_key: key.public_key(),
                signature: ed25519_again(key, message),
            },
            Self::MultiEd25519 { keys, threshold } => {
                let signing = keys.len() - usize::from(*threshold)..keys.len();
                self.multi_ed25519_signature(message, signing)
            }
            Self::SingleKey(key) => AccountAuthenticator::SingleKey {
                public_key: key.public_key(),
                signature: key.sign_again(message),
            },
            Self::MultiKey {
                signatures_required,
                ..
            } => self.multi_key_signature(message, 0..usize::from(*signatures_required)),
            Self::Nobody(_) => AccountAuthenticator::NoAccountAuthenticator,
        }
    }

    fn multi_ed25519_signature(
        &self,
        message: &[u8],
        signing: Range<usize>,
    ) -> AccountAuthenticator {
        let Self::MultiEd25519 { keys, .. } = self else {
            panic!("no multi-ed25519 signer");
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
            panic!("no multi key signer");
        };
        let signatures = keys[signing.clone()].iter().map(|key| key.sign(message));
        AccountAuthenticator::MultiKey {
            public_keys: self.multi_key(),
            signatures: signatures.collect(),
            signatures_bitmap: Bytes::copy_from_slice(&bitmap(signing)),
        }
    }

    /// Signs a transaction alone.
    pub fn sign_alone(&self, chain: &Chain, raw: RawTransaction) -> SignedTransaction {
        let sender = self.sign(&raw.signing_message(chain.vendor()));
        alone(raw, sender)
    }

    /// Signs a transaction alone; the signature is valid and differs from that of [`Self::sign_alone`].
    pub fn sign_alone_again(&self, chain: &Chain, raw: RawTransaction) -> SignedTransaction {
        let sender = self.sign_again(&raw.signing_message(chain.vendor()));
        alone(raw, sender)
    }

    /// Signs a transaction with others, and one who pays where there is one. All sign the address of
    /// the payer.
    pub fn sign_with(
        &self,
        chain: &Chain,
        raw: RawTransaction,
        others: &[&Self],
        payer: Option<&Self>,
    ) -> SignedTransaction {
        let addresses: Vec<_> = others.iter().map(|other| other.address()).collect();
        let mut message = chain
            .vendor()
            .seeds()
            .raw_transaction_with_data
            .as_bytes()
            .to_vec();
        let data = match payer {
            None => bcs::to_bytes(&(0u8, &raw, &addresses)),
            Some(payer) => bcs::to_bytes(&(1u8, &raw, &addresses, payer.address())),
        };
        message.extend(data.unwrap());
        let sender = Box::new(self.sign(&message));
        let secondary_signers = others.iter().map(|other| other.sign(&message)).collect();
        let authenticator = match payer {
            None => TransactionAuthenticator::MultiAgent {
                sender,
                secondary_signer_addresses: addresses,
                secondary_signers,
            },
            Some(payer) => TransactionAuthenticator::FeePayer {
                sender,
                secondary_signer_addresses: addresses,
                secondary_signers,
                fee_payer_address: payer.address(),
                fee_payer_signer: Box::new(payer.sign(&message)),
            },
        };
        SignedTransaction { raw, authenticator }
    }
}

fn alone(raw: RawTransaction, sender: AccountAuthenticator) -> SignedTransaction {
    let authenticator = TransactionAuthenticator::SingleSender {
        sender: Box::new(sender),
    };
    SignedTransaction { raw, authenticator }
}

/// A signer of each kind, none of which has an account yet.
pub fn signers() -> Vec<(&'static str, Signer)> {
    let ed25519 = |seed| Ed25519PrivateKey::from_seed(&[seed; 32]);
    vec![
        ("ed25519", Signer::Ed25519(ed25519(1))),
        (
            "multi-ed25519, 2 of 3",
            Signer::MultiEd25519 {
                keys: [2, 3, 4].map(ed25519).into(),
                threshold: 2,
            },
        ),
        ("single ed25519", Signer::SingleKey(Key::ed25519(5))),
        ("single secp256k1", Signer::SingleKey(Key::secp256k1(6))),
        ("passkey", Signer::SingleKey(Key::passkey(7))),
        (
            "multi key, 2 of 3",
            Signer::MultiKey {
                keys: vec![Key::ed25519(8), Key::secp256k1(9), Key::passkey(10)],
                signatures_required: 2,
            },
        ),
    ]
}
