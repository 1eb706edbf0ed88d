//! JSON form of a submission (docs/reference/rest-contract.md#s2-4).
//!
//! Unknown members are ignored, as by the reference node. serde_json bounds nesting at 128 levels.

use super::{
    CallRequest, JsonString, parse_json, signature::SignatureJson, tagged::deserialize_tagged,
};
use crate::{error::ErrorKind, model::DecimalText};
use ledger_types::{
    AccountAddress, Discard, EntryFunction, RawTransaction, SignedTransaction,
    transaction::{
        ExtraConfig, InnerPayload, Multisig, MultisigPayload, TransactionExecutable,
        TransactionPayload,
    },
};
use ledger_vm::Chain;
use schemars::JsonSchema;
use serde::{Deserialize, de::IgnoredAny};

/// Declares a request with the members of a transaction, and with the members of the block.
///
/// serde's `flatten` would share the members without a macro, but buffers all values
/// (`strict.rs`).
macro_rules! transaction_request {
    ($(#[$attribute:meta])* struct $name:ident { $($further:tt)* }) => {
        $(#[$attribute])*
        #[derive(Deserialize, JsonSchema)]
        pub(crate) struct $name {
            sender: JsonString<AccountAddress>,
            sequence_number: DecimalText<u64>,
            /// Maximum amount of gas, in gas units.
            max_gas_amount: DecimalText<u64>,
            /// Price per gas unit, in the smallest unit of the coin.
            gas_unit_price: DecimalText<u64>,
            expiration_timestamp_secs: DecimalText<u64>,
            payload: SubmittedPayload,
            /// Makes the transaction orderless. The value of `sequence_number` is then ignored.
            replay_protection_nonce: Option<DecimalText<u64>>,
            $($further)*
        }

        impl $name {
            /// Returns the transaction that the client signs.
            ///
            /// JSON has no chain id, so the transaction gets the id of this chain. The signature of
            /// a transaction that was signed for another chain is therefore invalid.
            ///
            /// # Errors
            ///
            /// Returns [`ErrorKind::InvalidInput`] if a call does not fit the framework, and
            /// [`ErrorKind::Refused`] if the ledger does not execute payloads of this kind.
            pub fn raw(&self, chain: &Chain) -> Result<RawTransaction, ErrorKind> {
                let call = self.payload.parse_call(chain)?;
                let (payload, sequence_number) = match self.replay_protection_nonce {
                    None => (call.into_sequential(), self.sequence_number.0),
                    // The sequence number in the body is ignored
                    // (docs/reference/reference-node.md#r20).
                    Some(DecimalText(nonce)) => (call.into_orderless(nonce), u64::MAX),
                };
                Ok(RawTransaction {
                    sender: self.sender.0,
                    sequence_number,
                    payload,
                    max_gas_amount: self.max_gas_amount.0,
                    gas_unit_price: self.gas_unit_price.0,
                    expiration_timestamp_secs: self.expiration_timestamp_secs.0,
                    chain_id: chain.id(),
                })
            }
        }
    };
}

transaction_request! {
    /// A signed transaction, submitted as JSON.
    struct SubmitRequest {
        signature: SignatureJson,
    }
}

transaction_request! {
    /// A submission without `signature`, with its other signers.
    struct EncodeRequest {
        /// Addresses of the secondary signers. The transaction is a multi-agent one if the list is
        /// present, even if it is empty.
        pub secondary_signers: Option<Vec<JsonString<AccountAddress>>>,
        /// Address of the fee payer. The transaction is sponsored if it is present. The reference
        /// node does not have this member, so it cannot encode sponsored transactions.
        pub fee_payer_address: Option<JsonString<AccountAddress>>,
    }
}

/// The payload of a transaction. Only calls of entry functions, also by a multisig account, are
/// executed.
#[derive(JsonSchema)]
// Kinds of payload that are never executed are declared so that the error can name them.
#[schemars(tag = "type")]
enum SubmittedPayload {
    #[schemars(rename = "entry_function_payload")]
    EntryFunction(CallRequest),
    #[schemars(rename = "script_payload")]
    Script,
    #[schemars(rename = "module_bundle_payload")]
    ModuleBundle,
    #[schemars(rename = "multisig_payload")]
    Multisig(MultisigRequest),
    #[schemars(rename = "encrypted_transaction_payload")]
    EncryptedTransaction,
}

deserialize_tagged!(SubmittedPayload {
    "entry_function_payload" => Self::EntryFunction,
    "script_payload" => |_: IgnoredAny| Self::Script,
    "module_bundle_payload" => |_: IgnoredAny| Self::ModuleBundle,
    "multisig_payload" => Self::Multisig,
    "encrypted_transaction_payload" => |_: IgnoredAny| Self::EncryptedTransaction,
});

/// A multisig account and its call.
#[derive(Deserialize, JsonSchema)]
#[schemars(inline)]
struct MultisigRequest {
    multisig_address: JsonString<AccountAddress>,
    transaction_payload: Option<MultisigCall>,
}

/// The call of a multisig account, if the transaction itself contains it.
#[derive(JsonSchema)]
#[schemars(tag = "type")]
enum MultisigCall {
    #[schemars(rename = "entry_function_payload")]
    EntryFunction(CallRequest),
    #[schemars(rename = "script_payload")]
    Script,
}

deserialize_tagged!(MultisigCall {
    "entry_function_payload" => Self::EntryFunction,
    "script_payload" => |_: IgnoredAny| Self::Script,
});

/// The call of a payload, independent of its wire form.
enum ParsedCall {
    Call(EntryFunction),
    Multisig {
        account: AccountAddress,
        call: Option<EntryFunction>,
    },
}

impl SubmittedPayload {
    /// Returns the call of the payload.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::InvalidInput`] if a call does not fit the framework, and
    /// [`ErrorKind::Refused`] if the ledger does not execute payloads of this kind.
    fn parse_call(&self, chain: &Chain) -> Result<ParsedCall, ErrorKind> {
        let bytecode = |kind| Err(Discard::bytecode(kind).into());
        match self {
            Self::EntryFunction(call) => call.entry_function(chain).map(ParsedCall::Call),
            Self::Multisig(multisig) => {
                let call = match &multisig.transaction_payload {
                    Some(MultisigCall::EntryFunction(call)) => Some(call.entry_function(chain)?),
                    Some(MultisigCall::Script) => return bytecode("a script payload"),
                    None => None,
                };
                let account = multisig.multisig_address.0;
                Ok(ParsedCall::Multisig { account, call })
            }
            Self::Script => bytecode("a script payload"),
            Self::ModuleBundle => bytecode("a module bundle payload"),
            Self::EncryptedTransaction => Err(Discard::unsupported("an encrypted payload").into()),
        }
    }
}

impl ParsedCall {
    /// Returns the wire form of a payload that a sequence number protects.
    fn into_sequential(self) -> TransactionPayload {
        match self {
            Self::Call(call) => TransactionPayload::EntryFunction(call),
            Self::Multisig { account, call } => TransactionPayload::Multisig(Multisig {
                multisig_address: account,
                payload: call.map(MultisigPayload::EntryFunction),
            }),
        }
    }

    /// Returns the wire form of a payload that a nonce protects.
    fn into_orderless(self, nonce: u64) -> TransactionPayload {
        let (multisig_address, call) = match self {
            Self::Call(call) => (None, Some(call)),
            Self::Multisig { account, call } => (Some(account), call),
        };
        TransactionPayload::Payload(InnerPayload::V1 {
            executable: call.map_or(
                TransactionExecutable::Empty,
                TransactionExecutable::EntryFunction,
            ),
            extra_config: ExtraConfig::V1 {
                multisig_address,
                replay_protection_nonce: Some(nonce),
            },
        })
    }
}

impl SubmitRequest {
    /// Returns the transaction that the client signed. Its signatures are not verified.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::raw`], and [`ErrorKind::InvalidInput`] if
    /// the signature does not decode.
    pub fn into_signed(self, chain: &Chain) -> Result<SignedTransaction, ErrorKind> {
        let raw = self.raw(chain)?;
        let authenticator = self.signature.try_into().map_err(|error| {
            ErrorKind::InvalidInput(format!("the signature cannot be read: {error}"))
        })?;
        Ok(SignedTransaction { raw, authenticator })
    }
}

/// Returns the transaction in the JSON body of a submission. Its signatures are not verified.
///
/// # Errors
///
/// Returns:
///
/// * [`ErrorKind::Syntax`] if the body is not a submission.
/// * [`ErrorKind::BodyTooManyValues`] if parsing it takes too much memory.
/// * [`ErrorKind::InvalidInput`] if a call does not fit the framework or the signature does not
///   decode.
/// * [`ErrorKind::Refused`] if the ledger does not execute payloads of this kind.
pub fn submission_from_json(chain: &Chain, body: &[u8]) -> Result<SignedTransaction, ErrorKind> {
    parse_json::<SubmitRequest>(body)?.into_signed(chain)
}
