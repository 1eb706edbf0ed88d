//! A call of a function as a client writes it, in a payload or as the body of a view.

use super::text_schema::function_schema;
use crate::error::ErrorKind;
use ledger_types::EntryFunction;
use ledger_vm::{Chain, SchemaError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// A call of a function.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Call")]
pub(crate) struct CallRequest {
    /// Address, module and name, as `0x1::coin::balance`.
    #[schemars(schema_with = "function_schema")]
    function: String,
    /// A type for each type parameter of the function, as `0x1::string::String`.
    type_arguments: Vec<String>,
    /// A value for each parameter, in the JSON form of its type; signers are left out.
    arguments: Vec<Value>,
}

impl CallRequest {
    /// The call of an entry function.
    ///
    /// # Errors
    /// 400 when the framework does not know the function or the arguments do not fit it.
    pub fn entry_function(&self, chain: &Chain) -> Result<EntryFunction, ErrorKind> {
        let registry = chain.registry();
        let call = registry.call_from_json(&self.function, &self.type_arguments, &self.arguments);
        call.map_err(|cause| self.misfit(&cause))
    }

    /// The call of a view function.
    ///
    /// # Errors
    /// As [`Self::entry_function`].
    pub fn view_function(&self, chain: &Chain) -> Result<EntryFunction, ErrorKind> {
        let registry = chain.registry();
        let call = registry.view_from_json(&self.function, &self.type_arguments, &self.arguments);
        call.map_err(|cause| self.misfit(&cause))
    }

    /// Names the function where the cause does not: one that is unknown is in the cause.
    fn misfit(&self, cause: &SchemaError) -> ErrorKind {
        let (cause, function) = (cause.to_string(), self.function.trim());
        ErrorKind::InvalidInput(if cause.contains(function) {
            cause
        } else {
            format!("{cause}, in a call of {function}")
        })
    }
}
