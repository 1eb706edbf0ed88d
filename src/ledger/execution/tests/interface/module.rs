//! The interface of a module in one form, from the facts of the reference node or from an ABI of
//! this framework.

use ledger_types::{ModuleId, StructTag, TypeTag};
use ledger_vm::ModuleRegistry;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The interface of the reference node.
#[derive(Deserialize)]
pub struct Reference {
    pub other_modules: Vec<String>,
    pub modules: BTreeMap<String, Module>,
}

/// The interface of a module.
#[derive(Deserialize, Debug)]
pub struct Module {
    pub structs: BTreeMap<String, Struct>,
    pub entry_functions: BTreeMap<String, Function>,
    pub view_functions: BTreeMap<String, Function>,
    pub other_public_functions: BTreeSet<String>,
    pub errors: BTreeMap<String, ErrorCodes>,
}

/// A struct, with its abilities in any order.
#[derive(Deserialize, Debug)]
pub struct Struct {
    pub abilities: BTreeSet<String>,
    pub type_params: Vec<Vec<String>>,
    pub fields: Vec<(String, String)>,
    #[serde(default)]
    pub variants: Vec<(String, Vec<(String, String)>)>,
    #[serde(default)]
    pub is_event: bool,
    pub group: Option<String>,
}

/// An entry function or view function.
#[derive(Deserialize, Debug)]
pub struct Function {
    pub visibility: String,
    #[serde(default)]
    pub type_params: Vec<Vec<String>>,
    pub params: Vec<String>,
    #[serde(default)]
    pub returns: Vec<String>,
}

/// An abort constant: its value and the full codes of its aborts.
#[derive(Deserialize, Debug)]
pub struct ErrorCodes {
    pub value: u64,
    pub codes: BTreeSet<u64>,
}

fn texts(value: &Value) -> Vec<String> {
    serde_json::from_value(value.clone()).unwrap()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap().iter()
}

fn name(value: &Value) -> String {
    value["name"].as_str().unwrap().to_owned()
}

fn type_params(value: &Value) -> Vec<Vec<String>> {
    items(&value["generic_type_params"])
        .map(|parameter| texts(&parameter["constraints"]))
        .collect()
}

impl Module {
    /// Returns the interface of a module of this framework, from its ABI. Adds facts that the ABI
    /// does not contain: resource groups and abort codes.
    pub fn of(registry: &ModuleRegistry, id: &ModuleId) -> Self {
        let abi = registry.module_abi(id).unwrap();
        let functions = |kind: &str| {
            items(&abi["exposed_functions"])
                .filter(|function| function[kind] == true)
                .map(|function| (name(function), Function::of(function)))
                .collect()
        };
        let mut errors: BTreeMap<String, ErrorCodes> = BTreeMap::new();
        for error in registry
            .module_errors(id)
            .iter()
            .filter(|error| !error.name.is_empty())
        {
            let constant = errors
                .entry(error.name.to_owned())
                .or_insert_with(|| ErrorCodes {
                    value: error.reason,
                    codes: BTreeSet::new(),
                });
            constant.codes.insert(error.code());
        }
        Self {
            structs: items(&abi["structs"])
                .map(|declared| (name(declared), Struct::of(registry, id, declared)))
                .collect(),
            entry_functions: functions("is_entry"),
            view_functions: functions("is_view"),
            other_public_functions: BTreeSet::new(),
            errors,
        }
    }
}

impl Function {
    fn of(abi: &Value) -> Self {
        Self {
            visibility: abi["visibility"].as_str().unwrap().to_owned(),
            type_params: type_params(abi),
            params: texts(&abi["params"]),
            returns: texts(&abi["return"]),
        }
    }
}

impl Struct {
    fn of(registry: &ModuleRegistry, id: &ModuleId, abi: &Value) -> Self {
        let type_params = type_params(abi);
        let tag = StructTag {
            address: id.address,
            module: id.name.clone(),
            name: name(abi).parse().unwrap(),
            type_args: vec![TypeTag::U8; type_params.len()],
        };
        let field = |field: &Value| (name(field), field["type"].as_str().unwrap().to_owned());
        let fields: Vec<_> = items(&abi["fields"]).map(field).collect();
        // A struct without fields has one hidden field of type `bool`, which `reference.json`
        // omits.
        let hidden = matches!(fields.as_slice(), [(name, _)] if name == "dummy_field");
        Self {
            abilities: texts(&abi["abilities"]).into_iter().collect(),
            type_params,
            fields: if hidden { Vec::new() } else { fields },
            variants: Vec::new(),
            is_event: abi["is_event"] == true,
            group: registry.group_of(&tag).map(|group| group.to_string()),
        }
    }
}
