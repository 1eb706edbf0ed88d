//! JSON forms of the signatures of a transaction with several accounts.

use super::{AccountSignatureJson, JsonString};
use ledger_types::AccountAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The signatures of the sender and of the secondary signers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MultiAgentSignature", inline)]
pub(crate) struct MultiAgentJson {
    pub sender: AccountSignatureJson,
    pub secondary_signer_addresses: Vec<JsonString<AccountAddress>>,
    pub secondary_signers: Vec<AccountSignatureJson>,
}

/// The signatures of the sender, of the secondary signers, and of the account that pays the fee.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FeePayerSignature", inline)]
pub(crate) struct FeePayerJson {
    pub sender: AccountSignatureJson,
    pub secondary_signer_addresses: Vec<JsonString<AccountAddress>>,
    pub secondary_signers: Vec<AccountSignatureJson>,
    pub fee_payer_address: JsonString<AccountAddress>,
    pub fee_payer_signer: AccountSignatureJson,
}
