//! JSON form of a function call, in a payload or as the body of a view request.

use super::text_schema::function_schema;
use crate::error::ErrorKind;
use ledger_types::{AccountAddress, EntryFunction, Identifier, ModuleId};
use ledger_vm::{Chain, SchemaError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::fmt;

/// Maximum number of characters of a malformed name that an error message repeats.
const ECHO_CHARS_MAX: usize = 200;

/// A call of a function.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Call")]
pub(crate) struct CallRequest {
    /// Address, module, and name of the function, as in `0x1::coin::balance`.
    #[schemars(schema_with = "function_schema")]
    function: FunctionId,
    /// One type for each type parameter of the function, as in `0x1::string::String`.
    type_arguments: Vec<String>,
    /// One value for each parameter except signers, in the JSON form of its type.
    arguments: Vec<Value>,
}

/// The name of a function in its usual form, such as `0x1::coin::balance`.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct FunctionId {
    module: ModuleId,
    name: Identifier,
}

impl TryFrom<String> for FunctionId {
    type Error = String;

    /// Parses address, module and name. The address may lack `0x`, as everywhere.
    fn try_from(text: String) -> Result<Self, String> {
        let parse = || {
            let (module, name) = text.rsplit_once("::")?;
            let (address, module) = module.split_once("::")?;
            let address: AccountAddress = address.parse().ok()?;
            let [module, name] = [module, name].map(|name| name.parse::<Identifier>().ok());
            let (module, name) = (module?, name?);
            let module = ModuleId {
                address,
                name: module,
            };
            Some(Self { module, name })
        };
        parse().ok_or_else(|| {
            let start: String = text.chars().take(ECHO_CHARS_MAX).collect();
            format!("expected address::module::function, got {start:?}")
        })
    }
}

impl fmt::Display for FunctionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.module, self.name)
    }
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
        EntryFunction::check_publishes_nothing(&self.function.module)?;
        let (registry, function) = (chain.registry(), self.function.to_string());
        let call = registry.call_from_json(&function, &self.type_arguments, &self.arguments);
        call.map_err(|cause| self.invalid_call(&cause))
    }

    /// Returns the call of a view function.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::InvalidInput`] if the framework does not declare the view function, or
    /// if the number, type, or value of an argument or type argument is wrong.
    pub fn view_function(&self, chain: &Chain) -> Result<EntryFunction, ErrorKind> {
        let (registry, function) = (chain.registry(), self.function.to_string());
        let call = registry.view_from_json(&function, &self.type_arguments, &self.arguments);
        call.map_err(|cause| self.invalid_call(&cause))
    }

    /// Converts the error of a call. Appends the name of the function, unless the message contains
    /// it.
    fn invalid_call(&self, cause: &SchemaError) -> ErrorKind {
        let (cause, function) = (cause.to_string(), self.function.to_string());
        ErrorKind::InvalidInput(if cause.contains(&function) {
            cause
        } else {
            format!("{cause}, in a call of {function}")
        })
    }
}
