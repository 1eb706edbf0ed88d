//! How a transaction was signed (interface section 2.3), written and read by the same types, so
//! that what the node shows can be submitted again.
//!
//! One form differs from the reference: it writes the two unions of a `single_sender` signature
//! into one object, where the outer `type` hides the inner one, and then cannot read it back
//! (rest-behaviour section 0.n). Here the inner signature stands under `sender`, as it does in the
//! multi-agent form.

mod bitmap;
mod keys;
mod multi;

use super::{Text, hex_form};
use keys::{AnySignatureJson, Ed25519Json, IndexedSignatureJson, PublicKeyJson};
use ledger::{
    AccountAddress,
    crypto::{Ed25519PublicKey, Ed25519Signature},
    transaction::{AccountAuthenticator, MultiKey, TransactionAuthenticator},
};
use multi::MultiEd25519Json;
use serde::{Deserialize, Serialize};

/// How a transaction was signed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "type")]
pub(crate) enum SignatureJson {
    #[serde(rename = "ed25519_signature")]
    Ed25519(Ed25519Json),
    #[serde(rename = "multi_ed25519_signature")]
    MultiEd25519(MultiEd25519Json),
    #[serde(rename = "multi_agent_signature")]
    MultiAgent {
        sender: AccountSignatureJson,
        secondary_signer_addresses: Vec<Text<AccountAddress>>,
        secondary_signers: Vec<AccountSignatureJson>,
    },
    #[serde(rename = "fee_payer_signature")]
    FeePayer {
        sender: AccountSignatureJson,
        secondary_signer_addresses: Vec<Text<AccountAddress>>,
        secondary_signers: Vec<AccountSignatureJson>,
        fee_payer_address: Text<AccountAddress>,
        fee_payer_signer: AccountSignatureJson,
    },
    #[serde(rename = "single_sender")]
    SingleSender { sender: AccountSignatureJson },
    /// No signature, as a simulation may have it; shown as a `single_sender` with none.
    #[serde(rename = "no_account_signature")]
    NoAccount {},
}

/// How one account signed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "type")]
pub(crate) enum AccountSignatureJson {
    #[serde(rename = "ed25519_signature")]
    Ed25519(Ed25519Json),
    #[serde(rename = "multi_ed25519_signature")]
    MultiEd25519(MultiEd25519Json),
    #[serde(rename = "single_key_signature")]
    SingleKey {
        public_key: PublicKeyJson,
        signature: AnySignatureJson,
    },
    #[serde(rename = "multi_key_signature")]
    MultiKey {
        public_keys: Vec<PublicKeyJson>,
        signatures: Vec<IndexedSignatureJson>,
        signatures_required: u8,
    },
    #[serde(rename = "no_account_signature")]
    NoAccount {},
}

impl From<&TransactionAuthenticator> for SignatureJson {
    fn from(authenticator: &TransactionAuthenticator) -> Self {
        match authenticator {
            TransactionAuthenticator::Ed25519 {
                public_key,
                signature,
            } => Self::Ed25519(Ed25519Json::new(public_key, signature)),
            TransactionAuthenticator::MultiEd25519 {
                public_key,
                signature,
            } => Self::MultiEd25519(MultiEd25519Json::new(public_key, signature)),
            TransactionAuthenticator::MultiAgent {
                sender,
                secondary_signer_addresses,
                secondary_signers,
            } => Self::MultiAgent {
                sender: sender.into(),
                secondary_signer_addresses: secondary_signer_addresses.iter().copied().map(Text).collect(),
                secondary_signers: secondary_signers.iter().map(Into::into).collect(),
            },
            TransactionAuthenticator::FeePayer {
                sender,
                secondary_signer_addresses,
                secondary_signers,
                fee_payer_address,
                fee_payer_signer,
            } => Self::FeePayer {
                sender: sender.into(),
                secondary_signer_addresses: secondary_signer_addresses.iter().copied().map(Text).collect(),
                secondary_signers: secondary_signers.iter().map(Into::into).collect(),
                fee_payer_address: Text(*fee_payer_address),
                fee_payer_signer: fee_payer_signer.into(),
            },
            TransactionAuthenticator::SingleSender { sender } => Self::SingleSender {
                sender: sender.into(),
            },
        }
    }
}

impl From<&AccountAuthenticator> for AccountSignatureJson {
    fn from(authenticator: &AccountAuthenticator) -> Self {
        match authenticator {
            AccountAuthenticator::Ed25519 {
                public_key,
                signature,
            } => Self::Ed25519(Ed25519Json::new(public_key, signature)),
            AccountAuthenticator::MultiEd25519 {
                public_key,
                signature,
            } => Self::MultiEd25519(MultiEd25519Json::new(public_key, signature)),
            AccountAuthenticator::SingleKey {
                public_key,
                signature,
            } => Self::SingleKey {
                public_key: public_key.into(),
                signature: signature.into(),
            },
            AccountAuthenticator::MultiKey {
                public_keys,
                signatures,
                signatures_bitmap,
            } => Self::MultiKey {
                public_keys: public_keys.public_keys.iter().map(Into::into).collect(),
                signatures: bitmap::indices(signatures_bitmap)
                    .zip(signatures)
                    .map(|(index, signature)| IndexedSignatureJson {
                        index,
                        signature: signature.into(),
                    })
                    .collect(),
                signatures_required: public_keys.signatures_required,
            },
            AccountAuthenticator::NoAccountAuthenticator => Self::NoAccount {},
            AccountAuthenticator::Abstract { auth_data, .. } => match *auth_data {},
        }
    }
}

impl TryFrom<SignatureJson> for TransactionAuthenticator {
    type Error = bcs::Error;

    fn try_from(signature: SignatureJson) -> Result<Self, bcs::Error> {
        let addresses =
            |all: Vec<Text<AccountAddress>>| all.into_iter().map(|Text(address)| address).collect();
        Ok(match signature {
            SignatureJson::Ed25519(Ed25519Json {
                public_key,
                signature,
            }) => Self::Ed25519 {
                public_key: Ed25519PublicKey(public_key.0),
                signature: Ed25519Signature(signature.0),
            },
            SignatureJson::MultiEd25519(multi) => Self::MultiEd25519 {
                public_key: multi.public_key(),
                signature: multi.signature(),
            },
            SignatureJson::MultiAgent {
                sender,
                secondary_signer_addresses,
                secondary_signers,
            } => Self::MultiAgent {
                sender: sender.try_into()?,
                secondary_signer_addresses: addresses(secondary_signer_addresses),
                secondary_signers: all(secondary_signers)?,
            },
            SignatureJson::FeePayer {
                sender,
                secondary_signer_addresses,
                secondary_signers,
                fee_payer_address,
                fee_payer_signer,
            } => Self::FeePayer {
                sender: sender.try_into()?,
                secondary_signer_addresses: addresses(secondary_signer_addresses),
                secondary_signers: all(secondary_signers)?,
                fee_payer_address: fee_payer_address.0,
                fee_payer_signer: fee_payer_signer.try_into()?,
            },
            SignatureJson::SingleSender { sender } => Self::SingleSender {
                sender: sender.try_into()?,
            },
            SignatureJson::NoAccount {} => Self::SingleSender {
                sender: AccountAuthenticator::NoAccountAuthenticator,
            },
        })
    }
}

fn all<A, B: TryFrom<A>>(items: Vec<A>) -> Result<Vec<B>, B::Error> {
    items.into_iter().map(B::try_from).collect()
}

impl TryFrom<AccountSignatureJson> for AccountAuthenticator {
    type Error = bcs::Error;

    fn try_from(signature: AccountSignatureJson) -> Result<Self, bcs::Error> {
        Ok(match signature {
            AccountSignatureJson::Ed25519(Ed25519Json {
                public_key,
                signature,
            }) => Self::Ed25519 {
                public_key: Ed25519PublicKey(public_key.0),
                signature: Ed25519Signature(signature.0),
            },
            AccountSignatureJson::MultiEd25519(multi) => Self::MultiEd25519 {
                public_key: multi.public_key(),
                signature: multi.signature(),
            },
            AccountSignatureJson::SingleKey {
                public_key,
                signature,
            } => Self::SingleKey {
                public_key: public_key.into(),
                signature: signature.try_into()?,
            },
            AccountSignatureJson::MultiKey {
                public_keys,
                signatures,
                signatures_required,
            } => Self::MultiKey {
                public_keys: MultiKey {
                    public_keys: public_keys.into_iter().map(Into::into).collect(),
                    signatures_required,
                },
                signatures_bitmap: bitmap::of(signatures.iter().map(|indexed| indexed.index)),
                signatures: signatures
                    .into_iter()
                    .map(|indexed| indexed.signature.try_into())
                    .collect::<Result<_, _>>()?,
            },
            AccountSignatureJson::NoAccount {} => Self::NoAccountAuthenticator,
        })
    }
}

#[cfg(test)]
mod tests;
