//! Who signed a transaction. Single ed25519 signatures are checked; the other variants decode and
//! are refused by name ([`TransactionAuthenticator::check`]).

use super::{RawTransaction, payload::refused_when_decoded};
use crate::{
    AccountAddress, HashValue, Identifier, ModuleId, Vendor,
    crypto::{Ed25519PublicKey, Ed25519Signature},
    execute::{Discard, ValidationStatus},
};
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The byte that closes the preimage of an authentication key and tells the kind of key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Scheme {
    Ed25519 = 0,
    MultiEd25519 = 1,
    SingleKey = 2,
    MultiKey = 3,
}

/// `SHA3-256(public key || scheme)`: an account's authentication key, and the address of an account
/// that was made from it.
pub fn authentication_key(public_key: &[u8], scheme: Scheme) -> HashValue {
    HashValue::sha3_of(&[public_key, &[scheme as u8]])
}

impl Ed25519PublicKey {
    /// The authentication key of an account that signs with this key alone.
    pub fn authentication_key(&self) -> HashValue {
        authentication_key(&self.0, Scheme::Ed25519)
    }

    /// The address of an account that was made from this key.
    pub fn account_address(&self) -> AccountAddress {
        AccountAddress::new(*self.authentication_key().as_bytes())
    }
}

/// Several ed25519 keys and a threshold byte, as one byte vector.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MultiEd25519PublicKey(pub Bytes);

/// Several ed25519 signatures and a 4-byte bitmap, as one byte vector.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MultiEd25519Signature(pub Bytes);

refused_when_decoded!(
    /// Stands for keyless keys and signatures.
    Keyless,
    "a keyless signature"
);
refused_when_decoded!(
    /// Stands for federated keyless keys.
    FederatedKeyless,
    "a federated keyless signature"
);
refused_when_decoded!(
    /// Stands for hash-based keys and signatures.
    SlhDsa,
    "an SLH-DSA signature"
);

/// A public key of any kind. The order of the variants is the wire's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum AnyPublicKey {
    Ed25519(Ed25519PublicKey),
    Secp256k1Ecdsa(Bytes),
    Secp256r1Ecdsa(Bytes),
    Keyless(Keyless),
    FederatedKeyless(FederatedKeyless),
    SlhDsa(SlhDsa),
}

/// A signature of any kind. The order of the variants is the wire's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum AnySignature {
    Ed25519(Ed25519Signature),
    Secp256k1Ecdsa(Bytes),
    WebAuthn(WebAuthnAssertion),
    Keyless(Keyless),
    SlhDsa(SlhDsa),
}

/// A WebAuthn assertion over the challenge.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WebAuthnAssertion {
    /// The signature itself.
    pub signature: AssertionSignature,
    /// What the authenticator said about itself.
    pub authenticator_data: Bytes,
    /// The client data, JSON as text.
    pub client_data_json: Bytes,
}

/// The signature inside a WebAuthn assertion.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum AssertionSignature {
    Secp256r1Ecdsa(Bytes),
}

/// Several keys of any kind, of which some must sign.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MultiKey {
    /// The keys.
    pub public_keys: Vec<AnyPublicKey>,
    /// How many must sign.
    pub signatures_required: u8,
}

/// The function of an account abstraction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FunctionInfo {
    /// The module.
    pub module: ModuleId,
    /// The function in it.
    pub function: Identifier,
}

refused_when_decoded!(
    /// Stands for the data of an account abstraction.
    AbstractData,
    "an abstract account signature"
);

/// How one account signed. The order of the variants is the wire's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum AccountAuthenticator {
    Ed25519 {
        public_key: Ed25519PublicKey,
        signature: Ed25519Signature,
    },
    MultiEd25519 {
        public_key: MultiEd25519PublicKey,
        signature: MultiEd25519Signature,
    },
    SingleKey {
        public_key: AnyPublicKey,
        signature: AnySignature,
    },
    MultiKey {
        public_keys: MultiKey,
        signatures: Vec<AnySignature>,
        signatures_bitmap: Bytes,
    },
    NoAccountAuthenticator,
    Abstract {
        function_info: FunctionInfo,
        auth_data: AbstractData,
    },
}

/// How a transaction was signed. The order of the variants is the wire's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum TransactionAuthenticator {
    Ed25519 {
        public_key: Ed25519PublicKey,
        signature: Ed25519Signature,
    },
    MultiEd25519 {
        public_key: MultiEd25519PublicKey,
        signature: MultiEd25519Signature,
    },
    MultiAgent {
        sender: AccountAuthenticator,
        secondary_signer_addresses: Vec<AccountAddress>,
        secondary_signers: Vec<AccountAuthenticator>,
    },
    FeePayer {
        sender: AccountAuthenticator,
        secondary_signer_addresses: Vec<AccountAddress>,
        secondary_signers: Vec<AccountAuthenticator>,
        fee_payer_address: AccountAddress,
        fee_payer_signer: AccountAuthenticator,
    },
    SingleSender {
        sender: AccountAuthenticator,
    },
}

impl AccountAuthenticator {
    /// The authentication key that the key in it stands for; `None` where there is no key.
    ///
    /// # Errors
    /// `FEATURE_UNDER_GATING` with the name of a kind that this ledger does not check.
    pub fn authentication_key(&self) -> Result<Option<HashValue>, Discard> {
        Ok(match self {
            Self::Ed25519 { public_key, .. } => Some(public_key.authentication_key()),
            Self::MultiEd25519 { public_key, .. } => {
                Some(authentication_key(&public_key.0, Scheme::MultiEd25519))
            }
            Self::SingleKey { public_key, .. } => Some(bcs_authentication_key(public_key, Scheme::SingleKey)),
            Self::MultiKey { public_keys, .. } => Some(bcs_authentication_key(public_keys, Scheme::MultiKey)),
            Self::NoAccountAuthenticator => None,
            Self::Abstract { .. } => return Err(Discard::not_supported("an abstract account signature")),
        })
    }
}

/// The authentication key of a public key whose preimage is its BCS form.
fn bcs_authentication_key<K: Serialize>(public_key: &K, scheme: Scheme) -> HashValue {
    let bytes = bcs::to_bytes(public_key).expect("a public key has a BCS form");
    authentication_key(&bytes, scheme)
}

impl TransactionAuthenticator {
    /// The authentication key that the sender's key stands for; `None` where there is no key.
    ///
    /// # Errors
    /// `FEATURE_UNDER_GATING` with the name of a kind that this ledger does not check.
    pub fn sender_authentication_key(&self) -> Result<Option<HashValue>, Discard> {
        match self {
            Self::Ed25519 { public_key, .. } => Ok(Some(public_key.authentication_key())),
            Self::MultiEd25519 { public_key, .. } => {
                Ok(Some(authentication_key(&public_key.0, Scheme::MultiEd25519)))
            }
            Self::MultiAgent { sender, .. }
            | Self::FeePayer { sender, .. }
            | Self::SingleSender { sender } => sender.authentication_key(),
        }
    }

    /// The accounts that sign beside the sender. Their signatures are [`Self::secondary_signers`]; that
    /// there are as many is a rule of validation.
    pub fn secondary_signer_addresses(&self) -> &[AccountAddress] {
        match self {
            Self::MultiAgent {
                secondary_signer_addresses,
                ..
            }
            | Self::FeePayer {
                secondary_signer_addresses,
                ..
            } => secondary_signer_addresses,
            _ => &[],
        }
    }

    /// How the accounts beside the sender signed.
    pub fn secondary_signers(&self) -> &[AccountAuthenticator] {
        match self {
            Self::MultiAgent {
                secondary_signers, ..
            }
            | Self::FeePayer {
                secondary_signers, ..
            } => secondary_signers,
            _ => &[],
        }
    }

    /// The account that pays in the sender's place, and how it signed.
    pub fn fee_payer(&self) -> Option<(AccountAddress, &AccountAuthenticator)> {
        match self {
            Self::FeePayer {
                fee_payer_address,
                fee_payer_signer,
                ..
            } => Some((*fee_payer_address, fee_payer_signer)),
            _ => None,
        }
    }

    /// Checks all signatures over `raw`.
    ///
    /// # Errors
    /// `INVALID_SIGNATURE`, or `FEATURE_UNDER_GATING` with the name of a kind that is not executed.
    pub fn check(&self, raw: &RawTransaction, vendor: &Vendor) -> Result<(), Discard> {
        let refused = |what: &'static str| Err(Discard::not_supported(what));
        let (public_key, signature) = match self {
            Self::Ed25519 {
                public_key,
                signature,
            }
            | Self::SingleSender {
                sender:
                    AccountAuthenticator::Ed25519 {
                        public_key,
                        signature,
                    },
            } => (public_key, signature),
            Self::MultiEd25519 { .. } => return refused("a multi-ed25519 signature"),
            Self::MultiAgent { .. } => return refused("a multi-agent signature"),
            Self::FeePayer { .. } => return refused("a fee payer signature"),
            Self::SingleSender { sender } => {
                return refused(match sender {
                    AccountAuthenticator::SingleKey { .. } => "a single key signature",
                    AccountAuthenticator::MultiKey { .. } => "a multi key signature",
                    AccountAuthenticator::MultiEd25519 { .. } => "a multi-ed25519 signature",
                    AccountAuthenticator::Abstract { .. } => "an abstract account signature",
                    AccountAuthenticator::NoAccountAuthenticator | AccountAuthenticator::Ed25519 { .. } => {
                        "a transaction without a signature"
                    }
                });
            }
        };
        public_key
            .verify(&[&raw.signing_message(vendor)], signature)
            .map_err(|error| Discard::because(ValidationStatus::InvalidSignature, error))
    }
}
