//! JSON forms of transaction payloads (docs/reference/rest-contract.md#s2-2).
//!
//! A payload in the newer wire form has the JSON form of the older one, with the nonce beside it,
//! so that each call has one JSON form.

use super::{
    JsonString, ValueJson,
    text_schema::{function_schema, hex_text_schema},
};
use ledger_crypto::hex_text;
use ledger_types::{
    AccountAddress, EntryFunction, Identifier, ModuleId, TypeTag,
    transaction::{
        ExtraConfig, InnerPayload, MultisigPayload, Script, ScriptArgument, TransactionExecutable,
        TransactionPayload,
    },
};
use ledger_vm::Chain;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// The payload of a transaction.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type")]
#[schemars(rename = "TransactionPayload")]
pub(crate) enum PayloadJson<'a> {
    #[serde(rename = "entry_function_payload")]
    EntryFunction {
        function: FunctionName<'a>,
        type_arguments: Vec<JsonString<&'a TypeTag>>,
        /// Arguments in the JSON form of their types; hexadecimal if a type is unknown or does not
        /// fit.
        #[schemars(with = "Vec<Value>")]
        arguments: Vec<ValueJson<'a>>,
    },
    #[serde(rename = "script_payload")]
    Script {
        code: Bytecode,
        type_arguments: Vec<JsonString<&'a TypeTag>>,
        arguments: Vec<Value>,
    },
    #[serde(rename = "module_bundle_payload")]
    ModuleBundle { modules: Vec<Bytecode> },
    #[serde(rename = "multisig_payload")]
    Multisig {
        multisig_address: JsonString<AccountAddress>,
        /// Null if the transaction itself does not contain the call. The account runs its next
        /// stored proposal then. Unlike other members without a value, it is never absent, as on
        /// the reference node.
        #[schemars(with = "Option<PayloadJson>")]
        transaction_payload: Option<Box<PayloadJson<'a>>>,
    },
    /// No call, which the newer wire form allows.
    #[serde(rename = "empty_payload")]
    Empty {},
}

/// Bytecode of a script or module, without an ABI, because the ledger does not interpret it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Bytecode {
    #[schemars(schema_with = "hex_text_schema")]
    bytecode: String,
}

/// The name of a function, as `0x1::module::function`.
pub(crate) struct FunctionName<'a>(&'a ModuleId, &'a Identifier);

impl Serialize for FunctionName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}::{}", self.0, self.1))
    }
}

impl JsonSchema for FunctionName<'_> {
    fn schema_name() -> Cow<'static, str> {
        "MoveFunctionId".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        function_schema(generator)
    }
}

impl<'a> PayloadJson<'a> {
    /// Creates the view of a payload in either wire form.
    pub fn new(chain: &'a Chain, payload: &'a TransactionPayload) -> Self {
        match payload {
            TransactionPayload::EntryFunction(call) => Self::entry_function(chain, call),
            TransactionPayload::Script(script) => Self::script(script),
            TransactionPayload::ModuleBundle(modules) => Self::ModuleBundle {
                modules: modules.iter().map(|module| Bytecode::new(module)).collect(),
            },
            TransactionPayload::Multisig(multisig) => Self::Multisig {
                multisig_address: JsonString(multisig.multisig_address),
                transaction_payload: multisig.payload.as_ref().map(|payload| {
                    Box::new(match payload {
                        MultisigPayload::EntryFunction(call) => Self::entry_function(chain, call),
                        MultisigPayload::Script(script) => Self::script(script),
                    })
                }),
            },
            TransactionPayload::Payload(inner) => Self::inner(chain, inner),
            TransactionPayload::EncryptedPayload(never) => match *never {},
        }
    }

    fn inner(chain: &'a Chain, inner: &'a InnerPayload) -> Self {
        let InnerPayload::V1 {
            executable,
            extra_config,
        } = inner;
        let call = match executable {
            TransactionExecutable::EntryFunction(call) => Some(Self::entry_function(chain, call)),
            TransactionExecutable::Script(script) => Some(Self::script(script)),
            TransactionExecutable::Empty => None,
            TransactionExecutable::Encrypted(never) => match *never {},
        };
        let multisig_address = match extra_config {
            ExtraConfig::V1 {
                multisig_address, ..
            } => *multisig_address,
            ExtraConfig::V2(never) => match *never {},
        };
        match multisig_address {
            Some(address) => Self::Multisig {
                multisig_address: JsonString(address),
                transaction_payload: call.map(Box::new),
            },
            None => call.unwrap_or(Self::Empty {}),
        }
    }

    fn entry_function(chain: &'a Chain, call: &'a EntryFunction) -> Self {
        Self::EntryFunction {
            function: FunctionName(&call.module, &call.function),
            type_arguments: call.type_args.iter().map(JsonString).collect(),
            arguments: chain
                .registry()
                .arguments(call)
                .map(|(bytes, tag)| match tag {
                    Some(tag) => ValueJson::new(chain, &tag, bytes.clone()),
                    None => ValueJson::Hex(bytes.clone()),
                })
                .collect(),
        }
    }

    fn script(script: &'a Script) -> Self {
        Self::Script {
            code: Bytecode::new(&script.code),
            type_arguments: script.type_args.iter().map(JsonString).collect(),
            arguments: script.args.iter().map(script_argument).collect(),
        }
    }
}

impl Bytecode {
    fn new(bytes: &[u8]) -> Self {
        Self {
            bytecode: hex_text(bytes),
        }
    }
}

/// Returns the JSON form of a script argument (docs/reference/reference-node.md#r18).
///
/// Unlike on the reference node, an integer of 256 bits is its little-endian bytes in hexadecimal,
/// because no script is executed.
fn script_argument(argument: &ScriptArgument) -> Value {
    match argument {
        ScriptArgument::U8(value) => (*value).into(),
        ScriptArgument::U16(value) => (*value).into(),
        ScriptArgument::U32(value) => (*value).into(),
        ScriptArgument::I8(value) => (*value).into(),
        ScriptArgument::I16(value) => (*value).into(),
        ScriptArgument::I32(value) => (*value).into(),
        ScriptArgument::Bool(value) => (*value).into(),
        ScriptArgument::U64(value) => value.to_string().into(),
        ScriptArgument::U128(value) => value.to_string().into(),
        ScriptArgument::I64(value) => value.to_string().into(),
        ScriptArgument::I128(value) => value.to_string().into(),
        ScriptArgument::Address(value) => value.to_string().into(),
        ScriptArgument::U8Vector(bytes) | ScriptArgument::Serialized(bytes) => {
            hex_text(bytes).into()
        }
        ScriptArgument::U256(bytes) | ScriptArgument::I256(bytes) => hex_text(bytes).into(),
    }
}
