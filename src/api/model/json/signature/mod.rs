//! JSON forms of a transaction's signatures (docs/reference/rest-contract.md#s2-3).
//!
//! The same types serialize and deserialize signatures, so that a client can resubmit a signature
//! that the node returned.

mod account;
mod bitmap;
mod convert;
mod keys;
mod multi;
mod multi_agent;
mod multi_key;
mod single_sender;

use super::{JsonString, function, hex_form, tagged::deserialize_tagged};
use account::AccountSignatureJson;
use convert::{SignatureFormError, try_convert_all};
use keys::Ed25519Json;
use ledger_types::{
    AccountAddress,
    transaction::{AccountAuthenticator, TransactionAuthenticator},
};
use multi::MultiEd25519Json;
use multi_agent::{FeePayerJson, MultiAgentJson};
use schemars::JsonSchema;
use serde::{Serialize, de::IgnoredAny};
use single_sender::SingleSenderJson;

/// The signatures of a transaction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(tag = "type")]
#[schemars(rename = "TransactionSignature")]
pub(crate) enum SignatureJson {
    #[serde(rename = "ed25519_signature")]
    Ed25519(Ed25519Json),
    #[serde(rename = "multi_ed25519_signature")]
    MultiEd25519(MultiEd25519Json),
    #[serde(rename = "multi_agent_signature")]
    MultiAgent(MultiAgentJson),
    #[serde(rename = "fee_payer_signature")]
    FeePayer(FeePayerJson),
    #[serde(rename = "single_sender")]
    SingleSender(SingleSenderJson),
    /// No signature, as in a simulation. Responses have a `single_sender` with this kind of
    /// `sender`.
    #[serde(rename = "no_account_signature")]
    NoAccount {},
}

deserialize_tagged!(SignatureJson {
    "ed25519_signature" => Self::Ed25519,
    "multi_ed25519_signature" => Self::MultiEd25519,
    "multi_agent_signature" => Self::MultiAgent,
    "fee_payer_signature" => Self::FeePayer,
    "single_sender" => Self::SingleSender,
    "no_account_signature" => |_: IgnoredAny| Self::NoAccount {},
});

impl From<&TransactionAuthenticator> for SignatureJson {
    fn from(authenticator: &TransactionAuthenticator) -> Self {
        let addresses =
            |list: &[AccountAddress]| list.iter().copied().map(JsonString).collect::<Vec<_>>();
        let signatures =
            |list: &[AccountAuthenticator]| list.iter().map(Into::into).collect::<Vec<_>>();
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
            } => Self::MultiAgent(MultiAgentJson {
                sender: sender.as_ref().into(),
                secondary_signer_addresses: addresses(secondary_signer_addresses),
                secondary_signers: signatures(secondary_signers),
            }),
            TransactionAuthenticator::FeePayer {
                sender,
                secondary_signer_addresses,
                secondary_signers,
                fee_payer_address,
                fee_payer_signer,
            } => Self::FeePayer(FeePayerJson {
                sender: sender.as_ref().into(),
                secondary_signer_addresses: addresses(secondary_signer_addresses),
                secondary_signers: signatures(secondary_signers),
                fee_payer_address: JsonString(*fee_payer_address),
                fee_payer_signer: fee_payer_signer.as_ref().into(),
            }),
            TransactionAuthenticator::SingleSender { sender } => {
                Self::SingleSender(SingleSenderJson {
                    sender: sender.as_ref().into(),
                })
            }
        }
    }
}

impl TryFrom<SignatureJson> for TransactionAuthenticator {
    type Error = SignatureFormError;

    fn try_from(signature: SignatureJson) -> Result<Self, SignatureFormError> {
        let addresses = |list: Vec<JsonString<AccountAddress>>| {
            list.into_iter()
                .map(|JsonString(address)| address)
                .collect()
        };
        Ok(match signature {
            SignatureJson::Ed25519(single) => {
                let (public_key, signature) = single.parts()?;
                Self::Ed25519 {
                    public_key,
                    signature,
                }
            }
            SignatureJson::MultiEd25519(multi) => {
                let (public_key, signature) = multi.parts()?;
                Self::MultiEd25519 {
                    public_key,
                    signature,
                }
            }
            SignatureJson::MultiAgent(multi) => {
                if multi.secondary_signer_addresses.is_empty() || multi.secondary_signers.is_empty()
                {
                    return Err(SignatureFormError::NoSecondarySigner);
                }
                Self::MultiAgent {
                    sender: Box::new(multi.sender.try_into()?),
                    secondary_signer_addresses: addresses(multi.secondary_signer_addresses),
                    secondary_signers: try_convert_all(multi.secondary_signers)?,
                }
            }
            SignatureJson::FeePayer(sponsored) => Self::FeePayer {
                sender: Box::new(sponsored.sender.try_into()?),
                secondary_signer_addresses: addresses(sponsored.secondary_signer_addresses),
                secondary_signers: try_convert_all(sponsored.secondary_signers)?,
                fee_payer_address: sponsored.fee_payer_address.0,
                fee_payer_signer: Box::new(sponsored.fee_payer_signer.try_into()?),
            },
            SignatureJson::SingleSender(SingleSenderJson { sender }) => Self::SingleSender {
                sender: Box::new(sender.try_into()?),
            },
            SignatureJson::NoAccount {} => Self::SingleSender {
                sender: Box::new(AccountAuthenticator::NoAccountAuthenticator),
            },
        })
    }
}

#[cfg(test)]
mod tests;
