//! Who signed a transaction, and with what.
//!
//! | file | what |
//! |---|---|
//! | `keys` | keys and signatures on the wire |
//! | `unsupported` | those that are read but not checked |
//! | `form` | how many there may be |
//! | `message` | what each signer signs |
//! | `cost` | what it takes to check them |
//! | `check` | whether they hold, of one transaction or of many at once |

mod check;
mod cost;
mod form;
mod keys;
mod message;
mod unsupported;

use crate::{AccountAddress, Discard};
use bytes::Bytes;
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature, HashValue};
use serde::{Deserialize, Serialize};

pub(super) use check::check_all;
pub use form::SIGNATURES_MAX;
pub use keys::{
    AnyPublicKey, AnySignature, MultiEd25519PublicKey, MultiEd25519Signature, MultiKey,
};
pub use unsupported::{
    AbstractData, EphemeralCertificate, EphemeralPublicKey, EphemeralSignature,
    FederatedKeylessPublicKey, FunctionInfo, KeylessPublicKey, KeylessSignature, OpenIdCertificate,
    SlhDsaPublicKey, SlhDsaSignature, ZeroKnowledgeCertificate, ZeroKnowledgeProof,
};

/// How one account signed. The order of the variants is the wire's.
///
/// What is never held for long, because it is refused, is boxed: it must not make the others larger.
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
        auth_data: Box<AbstractData>,
    },
}

/// How a transaction was signed. The order of the variants is the wire's.
///
/// Every pending transaction holds one. Accounts are boxed, so that a plain transfer pays for its key and
/// its signature and not for what others use.
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
        sender: Box<AccountAuthenticator>,
        secondary_signer_addresses: Vec<AccountAddress>,
        secondary_signers: Vec<AccountAuthenticator>,
    },
    FeePayer {
        sender: Box<AccountAuthenticator>,
        secondary_signer_addresses: Vec<AccountAddress>,
        secondary_signers: Vec<AccountAuthenticator>,
        fee_payer_address: AccountAddress,
        fee_payer_signer: Box<AccountAuthenticator>,
    },
    SingleSender {
        sender: Box<AccountAuthenticator>,
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
            Self::MultiEd25519 { public_key, .. } => Some(public_key.authentication_key()),
            Self::SingleKey { public_key, .. } => Some(public_key.authentication_key()),
            Self::MultiKey { public_keys, .. } => Some(public_keys.authentication_key()),
            Self::NoAccountAuthenticator => None,
            Self::Abstract { .. } => return Err(Discard::not_supported(Self::ABSTRACT)),
        })
    }
}

impl TransactionAuthenticator {
    /// The authentication key that the sender's key stands for; `None` where there is no key.
    ///
    /// # Errors
    /// `FEATURE_UNDER_GATING` with the name of a kind that this ledger does not check.
    pub fn sender_authentication_key(&self) -> Result<Option<HashValue>, Discard> {
        match self {
            Self::Ed25519 { public_key, .. } => Ok(Some(public_key.authentication_key())),
            Self::MultiEd25519 { public_key, .. } => Ok(Some(public_key.authentication_key())),
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

    /// How the sender signed, where it is one of the forms that several signers share.
    fn sender_account_authenticator(&self) -> Option<&AccountAuthenticator> {
        match self {
            Self::Ed25519 { .. } | Self::MultiEd25519 { .. } => None,
            Self::MultiAgent { sender, .. }
            | Self::FeePayer { sender, .. }
            | Self::SingleSender { sender } => Some(sender),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A million pending transfers hold a million of them: a plain one must not pay for the several
    /// accounts, passkeys and refused kinds that it does not use.
    #[test]
    fn a_plain_signature_pays_for_itself_only() {
        let (key, signature) = (size_of::<Ed25519PublicKey>(), size_of::<Ed25519Signature>());
        let tag = align_of::<TransactionAuthenticator>();
        assert_eq!(size_of::<TransactionAuthenticator>(), key + signature + tag);
        // Kinds that are refused make neither a key nor an account larger than those that are checked.
        assert_eq!(size_of::<AnyPublicKey>(), key + align_of::<AnyPublicKey>());
        let single_key = size_of::<AnyPublicKey>() + size_of::<AnySignature>();
        assert_eq!(size_of::<AccountAuthenticator>(), single_key);
    }
}
