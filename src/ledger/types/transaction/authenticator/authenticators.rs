//! The authenticator of an account and that of a transaction.

use super::{
    AbstractData, AnyPublicKey, AnySignature, MultiEd25519PublicKey, MultiEd25519Signature,
    MultiKey,
};
use crate::{AccountAddress, Discard, FunctionId};
use bytes::Bytes;
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature, HashValue};
use serde::{Deserialize, Serialize};

/// The signature of one account. The order of the variants is part of the BCS format.
///
/// The data of an abstract account is boxed. The variant is rejected and thus short-lived, so it
/// must not make the others larger.
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
        function_info: FunctionId,
        auth_data: Box<AbstractData>,
    },
}

/// The signatures of a transaction. The order of the variants is part of the BCS format.
///
/// Every pending transaction holds one. Account authenticators are boxed, so that a plain transfer
/// takes memory for its key and signature only.
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
    /// Returns the authentication key of the public key, or `None` if there is no key.
    ///
    /// # Errors
    ///
    /// Returns `FEATURE_UNDER_GATING` with the name of the kind for an abstract account.
    pub fn authentication_key(&self) -> Result<Option<HashValue>, Discard> {
        Ok(match self {
            Self::Ed25519 { public_key, .. } => Some(public_key.authentication_key()),
            Self::MultiEd25519 { public_key, .. } => Some(public_key.authentication_key()),
            Self::SingleKey { public_key, .. } => Some(public_key.authentication_key()),
            Self::MultiKey { public_keys, .. } => Some(public_keys.authentication_key()),
            Self::NoAccountAuthenticator => None,
            Self::Abstract { .. } => return Err(Discard::unsupported(Self::ABSTRACT)),
        })
    }
}

impl TransactionAuthenticator {
    /// Returns the authentication key of the sender's public key, or `None` if there is no key.
    ///
    /// # Errors
    ///
    /// Returns `FEATURE_UNDER_GATING` with the name of the kind if the sender is an abstract
    /// account.
    pub fn sender_authentication_key(&self) -> Result<Option<HashValue>, Discard> {
        match self {
            Self::Ed25519 { public_key, .. } => Ok(Some(public_key.authentication_key())),
            Self::MultiEd25519 { public_key, .. } => Ok(Some(public_key.authentication_key())),
            Self::MultiAgent { sender, .. }
            | Self::FeePayer { sender, .. }
            | Self::SingleSender { sender } => sender.authentication_key(),
        }
    }

    /// Returns the addresses of the secondary signers.
    ///
    /// Validation checks that there are as many as [`Self::secondary_signers`], not the type.
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

    /// Returns the authenticators of the secondary signers.
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

    /// Returns the address and the authenticator of the fee payer, if there is one.
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

    /// Returns the sender's account authenticator, or `None` if the transaction has one of the two
    /// forms without it.
    pub fn sender_account_authenticator(&self) -> Option<&AccountAuthenticator> {
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

    /// A million pending transfers hold a million authenticators. A plain transfer must not take
    /// memory for secondary signers, passkeys, and unsupported kinds.
    #[test]
    fn plain_authenticator_takes_memory_for_key_and_signature_only() {
        let (key, signature) = (size_of::<Ed25519PublicKey>(), size_of::<Ed25519Signature>());
        let tag = align_of::<TransactionAuthenticator>();
        assert_eq!(size_of::<TransactionAuthenticator>(), key + signature + tag);
        // Unsupported kinds make neither a key nor an account larger than the supported ones.
        assert_eq!(size_of::<AnyPublicKey>(), key + align_of::<AnyPublicKey>());
        let single_key = size_of::<AnyPublicKey>() + size_of::<AnySignature>();
        assert_eq!(size_of::<AccountAuthenticator>(), single_key);
    }
}
