//! Module ABIs in the JSON form of the interface (docs/reference/reference-node.md#r23).

use crate::{
    Constraints, Function, ModuleRegistry, StructDeclaration, declare::FunctionKind, with_vendor,
};
use ledger_types::{AccountAddress, ModuleId};
use serde_json::{Value, json};

impl ModuleRegistry {
    /// Returns the ABI of a module, or `None` if there is no such module.
    pub fn module_abi(&self, id: &ModuleId) -> Option<Value> {
        let module = self.module(id)?;
        let functions: Vec<Value> = module
            .functions
            .iter()
            .map(|function| self.function_abi(function))
            .collect();
        let structs: Vec<Value> = module
            .structs
            .iter()
            .map(|declared| self.struct_abi(declared))
            .collect();
        Some(json!({
            "address": AccountAddress::ONE.to_string(),
            "name": id.name.as_str(),
            "friends": [],
            "exposed_functions": functions,
            "structs": structs,
        }))
    }

    fn function_abi(&self, function: &Function) -> Value {
        let parameters: Vec<String> = function
            .parameters
            .iter()
            .map(|parameter| parameter.display(&self.vendor).to_string())
            .collect();
        let returns: Vec<String> = function
            .returns
            .iter()
            .map(|value| value.display(&self.vendor).to_string())
            .collect();
        json!({
            "name": function.name,
            "visibility": if function.kind == FunctionKind::PrivateEntry { "private" } else { "public" },
            "is_entry": function.is_entry(),
            "is_view": function.is_view(),
            "generic_type_params": type_parameters(&function.type_parameters),
            "params": parameters,
            "return": returns,
        })
    }

    fn struct_abi(&self, declared: &StructDeclaration) -> Value {
        let fields: Vec<Value> = declared
            .fields
            .iter()
            .map(|(name, signature)| json!({"name": name, "type": signature.display(&self.vendor).to_string()}))
            .collect();
        json!({
            "name": with_vendor(declared.name, &self.vendor).as_str(),
            "is_native": false,
            "is_event": declared.is_event,
            "is_enum": false,
            "abilities": declared.abilities,
            "generic_type_params": type_parameters(&declared.type_parameters),
            "fields": fields,
            "variants": [],
        })
    }
}

fn type_parameters(parameters: &[Constraints]) -> Vec<Value> {
    parameters
        .iter()
        .map(|constraints| json!({"constraints": constraints}))
        .collect()
}
