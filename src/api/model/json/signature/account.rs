//! JSON form of the signature of one account.

use super::function::FunctionText;
use super::hex_form::HexBytes;
use super::keys::{bcs_hex, from_bcs};
use super::{
    convert::SignatureFormError,
    deserialize_tagged,
    keys::{AnySignatureJson, Ed25519Json, PublicKeyJson},
    multi::MultiEd25519Json,
    multi_key::MultiKeyJson,
};
use ledger_types::transaction::AccountAuthenticator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::IgnoredAny};

/// The signature of one account.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(tag = "type")]
#[schemars(rename = "AccountSignature")]
pub(crate) enum AccountSignatureJson {
    #[serde(rename = "ed25519_signature")]
    Ed25519(Ed25519Json),
    #[serde(rename = "multi_ed25519_signature")]
    MultiEd25519(MultiEd25519Json),
    #[serde(rename = "single_key_signature")]
    SingleKey(SingleKeyJson),
    #[serde(rename = "multi_key_signature")]
    MultiKey(MultiKeyJson),
    #[serde(rename = "abstract_signature")]
    Abstract(AbstractJson),
    #[serde(rename = "no_account_signature")]
    NoAccount {},
}

deserialize_tagged!(AccountSignatureJson {
    "ed25519_signature" => Self::Ed25519,
    "multi_ed25519_signature" => Self::MultiEd25519,
    "single_key_signature" => Self::SingleKey,
    "multi_key_signature" => Self::MultiKey,
    "abstract_signature" => Self::Abstract,
    "no_account_signature" => |_: IgnoredAny| Self::NoAccount {},
});

/// A public key and a signature, of any kind.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SingleKeySignature", inline)]
pub(crate) struct SingleKeyJson {
    public_key: PublicKeyJson,
    signature: AnySignatureJson,
}

/// Data for the account's own authentication function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AbstractSignature", inline)]
pub(crate) struct AbstractJson {
    function_info: FunctionText,
    auth_data: HexBytes,
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
            } => Self::SingleKey(SingleKeyJson {
                public_key: public_key.into(),
                signature: signature.into(),
            }),
            AccountAuthenticator::MultiKey {
                public_keys,
                signatures,
                signatures_bitmap,
            } => Self::MultiKey(MultiKeyJson::new(
                public_keys,
                signatures,
                signatures_bitmap,
            )),
            AccountAuthenticator::NoAccountAuthenticator => Self::NoAccount {},
            AccountAuthenticator::Abstract {
                function_info,
                auth_data,
            } => Self::Abstract(AbstractJson {
                function_info: FunctionText(function_info.clone()),
                auth_data: bcs_hex(auth_data),
            }),
        }
    }
}

impl TryFrom<AccountSignatureJson> for AccountAuthenticator {
    type Error = SignatureFormError;

    fn try_from(signature: AccountSignatureJson) -> Result<Self, SignatureFormError> {
        Ok(match signature {
            AccountSignatureJson::Ed25519(single) => {
                let (public_key, signature) = single.parts()?;
                Self::Ed25519 {
                    public_key,
                    signature,
                }
            }
            AccountSignatureJson::MultiEd25519(multi) => {
                let (public_key, signature) = multi.parts()?;
                Self::MultiEd25519 {
                    public_key,
                    signature,
                }
            }
            AccountSignatureJson::SingleKey(single) => Self::SingleKey {
                public_key: single.public_key.try_into()?,
                signature: single.signature.try_into()?,
            },
            AccountSignatureJson::MultiKey(multi) => multi.try_into()?,
            AccountSignatureJson::Abstract(signed) => Self::Abstract {
                function_info: signed.function_info.0,
                auth_data: from_bcs("the data of an abstract signature", &signed.auth_data)?,
            },
            AccountSignatureJson::NoAccount {} => Self::NoAccountAuthenticator,
        })
    }
}
