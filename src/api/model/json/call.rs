//! JSON form of a function call, in a payload or as the body of a view request.

use super::{function::FunctionText, text_schema::function_schema};
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
    /// Address, module, and name of the function, as in `0x1::coin::balance`.
    #[schemars(schema_with = "function_schema")]
    function: FunctionText,
    /// One type for each type parameter of the function, as in `0x1::string::String`.
    type_arguments: Vec<String>,
    /// One value for each parameter except signers, in the JSON form of its type.
    arguments: Vec<Value>,
}

impl CallRequest {
    /// Returns the call of an entry function.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::InvalidInput`] if the framework does not declare the entry function, or
    /// if the number, type, or value of an argument or type argument is wrong. Returns
    /// [`ErrorKind::Refused`] if the call publishes a package.
    pub fn entry_function(&self, chain: &Chain) -> Result<EntryFunction, ErrorKind> {
        let FunctionText(function) = &self.function;
        EntryFunction::check_publishes_nothing(&function.module)?;
        let registry = chain.registry();
        let call = registry.call_from_json(function, &self.type_arguments, &self.arguments);
        call.map_err(|cause| self.invalid_call(&cause))
    }

    /// Returns the call of a view function.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::InvalidInput`] if the framework does not declare the view function, or
    /// if the number, type, or value of an argument or type argument is wrong.
    pub fn view_function(&self, chain: &Chain) -> Result<EntryFunction, ErrorKind> {
        let registry = chain.registry();
        let call = registry.view_from_json(&self.function.0, &self.type_arguments, &self.arguments);
        call.map_err(|cause| self.invalid_call(&cause))
    }

    /// Converts the error of a call. Appends the name of the function, unless the message contains
    /// it.
    fn invalid_call(&self, cause: &SchemaError) -> ErrorKind {
        let (cause, function) = (cause.to_string(), self.function.0.to_string());
        ErrorKind::InvalidInput(if cause.contains(&function) {
            cause
        } else {
            format!("{cause}, in a call of {function}")
        })
    }
}
