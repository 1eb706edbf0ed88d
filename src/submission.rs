//! The JSON body of a submission (interface section 2.4), from a signed transaction.

use ledger::{Framework, SignedTransaction, transaction::TransactionAuthenticator};
use serde_json::{Value, json};

/// The body that submits `transaction`, on a chain with these modules. `None` where the call or the
/// signature is of a kind that this binary does not make.
pub fn submission_json(framework: &Framework, transaction: &SignedTransaction) -> Option<Value> {
    let raw = &transaction.raw;
    let call = raw.entry_function()?;
    let TransactionAuthenticator::Ed25519 {
        public_key,
        signature,
    } = &transaction.authenticator
    else {
        return None;
    };
    let type_arguments: Vec<String> = call.type_args.iter().map(ToString::to_string).collect();
    Some(json!({
        "sender": raw.sender.to_long_hex(),
        "sequence_number": raw.sequence_number.to_string(),
        "max_gas_amount": raw.max_gas_amount.to_string(),
        "gas_unit_price": raw.gas_unit_price.to_string(),
        "expiration_timestamp_secs": raw.expiration_timestamp_secs.to_string(),
        "payload": {
            "type": "entry_function_payload",
            "function": format!("{}::{}", call.module, call.function),
            "type_arguments": type_arguments,
            "arguments": framework.arguments_to_json(call),
        },
        "signature": {
            "type": "ed25519_signature",
            "public_key": format!("0x{}", hex::encode(public_key.0)),
            "signature": format!("0x{}", hex::encode(signature.0)),
        },
    }))
}
