//! The JSON form of a submission (interface section 2.4). Members that are not in the interface
//! are ignored, as in the reference. Nesting is bounded by serde_json, at 128.

use super::{Text, signature::SignatureJson};
use crate::{decimal::Decimal, error::Problem};
use ledger::{
    AccountAddress, Chain, Discard, EntryFunction, RawTransaction, SignedTransaction,
    transaction::{ExtraConfig, InnerPayload, TransactionExecutable, TransactionPayload},
};
use serde::Deserialize;
use serde_json::Value;

/// The body of a submission.
#[derive(Deserialize)]
pub(crate) struct SubmitRequest {
    sender: Text<AccountAddress>,
    sequence_number: Decimal<u64>,
    max_gas_amount: Decimal<u64>,
    gas_unit_price: Decimal<u64>,
    expiration_timestamp_secs: Decimal<u64>,
    payload: SubmittedPayload,
    signature: SignatureJson,
    replay_protection_nonce: Option<Decimal<u64>>,
}

/// What is to be done. Kinds that the ledger does not execute are known by name, so that the
/// refusal can name them.
#[derive(Deserialize)]
#[serde(tag = "type")]
enum SubmittedPayload {
    #[serde(rename = "entry_function_payload")]
    EntryFunction {
        function: String,
        type_arguments: Vec<String>,
        arguments: Vec<Value>,
    },
    #[serde(rename = "script_payload")]
    Script,
    #[serde(rename = "module_bundle_payload")]
    ModuleBundle,
    #[serde(rename = "multisig_payload")]
    Multisig,
    #[serde(rename = "encrypted_transaction_payload")]
    EncryptedTransaction,
}

impl SubmittedPayload {
    fn call(&self, chain: &Chain) -> Result<EntryFunction, Problem> {
        let refused = |what| Err(Discard::not_supported(what).into());
        match self {
            Self::EntryFunction {
                function,
                type_arguments,
                arguments,
            } => chain
                .framework()
                .call_from_json(function, type_arguments, arguments)
                .map_err(|error| Problem::InvalidInput(error.to_string())),
            Self::Script => refused("a script payload"),
            Self::ModuleBundle => refused("a module bundle payload"),
            Self::Multisig => refused("a multisig payload"),
            Self::EncryptedTransaction => refused("an encrypted payload"),
        }
    }
}

impl SubmitRequest {
    /// The transaction that the client signed. JSON carries no chain id: it is this chain's, so a
    /// transaction signed for another one has a signature that does not hold.
    ///
    /// # Errors
    /// 400: a call that the framework does not know or that does not fit it, a kind of payload that
    /// is not executed, an assertion that is none.
    pub fn into_signed(self, chain: &Chain) -> Result<SignedTransaction, Problem> {
        let call = self.payload.call(chain)?;
        let (payload, sequence_number) = match self.replay_protection_nonce {
            None => (TransactionPayload::EntryFunction(call), self.sequence_number.0),
            Some(Decimal(nonce)) => (orderless(call, nonce), u64::MAX),
        };
        let authenticator = self
            .signature
            .try_into()
            .map_err(|error| Problem::InvalidInput(format!("the signature cannot be read: {error}")))?;
        Ok(SignedTransaction {
            raw: RawTransaction {
                sender: self.sender.0,
                sequence_number,
                payload,
                max_gas_amount: self.max_gas_amount.0,
                gas_unit_price: self.gas_unit_price.0,
                expiration_timestamp_secs: self.expiration_timestamp_secs.0,
                chain_id: chain.id(),
            },
            authenticator,
        })
    }
}

/// The wire form of a transaction that a nonce protects; its sequence number is the largest one
/// whatever the client wrote (rest-behaviour section 4).
fn orderless(call: EntryFunction, nonce: u64) -> TransactionPayload {
    TransactionPayload::Payload(InnerPayload::V1 {
        executable: TransactionExecutable::EntryFunction(call),
        extra_config: ExtraConfig::V1 {
            multisig_address: None,
            replay_protection_nonce: Some(nonce),
        },
    })
}
