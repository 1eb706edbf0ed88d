//! The functions that clients can call, from the ABI, with arguments that decode.

use ledger_framework::FRAMEWORK_VERSION;
use ledger_test_support::MemoryChain;
use ledger_types::{AccountAddress, ModuleId, StateKey, StructTag, TypeTag};
use ledger_vm::ModuleRegistry;
use serde_json::Value;
use std::collections::BTreeMap;

/// A function of the ABI, with valid types for its type parameters.
#[derive(Clone)]
pub struct Callable {
    pub name: String,
    pub is_entry: bool,
    /// Number of signers of the function.
    pub signers: usize,
    pub constraints: Vec<Vec<String>>,
    pub parameters: Vec<String>,
}

/// Returns a type that has all the required abilities.
fn valid_type(constraints: &[String]) -> &'static str {
    if constraints.iter().any(|ability| ability == "key") {
        "0x1::object::ObjectCore"
    } else {
        "u8"
    }
}

/// A type that lacks each ability that a function can require, because no module declares it.
pub const WITHOUT_ABILITIES: &str = "0xcafe::m::Marker";

/// Replaces `T0`, `T1`, and so on in a text of the ABI by type arguments.
fn substitute(text: &str, type_args: &[&str]) -> String {
    let mut text = text.to_owned();
    for (i, argument) in type_args.iter().enumerate() {
        for (before, after) in [("<", ">"), ("<", ","), (" ", ">"), (" ", ",")] {
            let (open, closed) = (
                format!("{before}T{i}{after}"),
                format!("{before}{argument}{after}"),
            );
            text = text.replace(&open, &closed);
        }
        if text == format!("T{i}") {
            text = (*argument).to_owned();
        }
    }
    text
}

fn strings(value: &Value) -> Vec<String> {
    serde_json::from_value(value.clone()).unwrap()
}

fn abi(registry: &ModuleRegistry, module: &str) -> Value {
    let id: ModuleId = format!("0x1::{module}").parse().unwrap();
    registry.module_abi(&id).unwrap()
}

/// Returns all functions that a client can call.
pub fn callables(registry: &ModuleRegistry) -> Vec<Callable> {
    let names = registry.module_names(&AccountAddress::ONE, FRAMEWORK_VERSION);
    let mut callables = Vec::new();
    for module in &names {
        for function in abi(registry, module.as_str())["exposed_functions"]
            .as_array()
            .unwrap()
        {
            let constraints = function["generic_type_params"].as_array().unwrap();
            let params = strings(&function["params"]);
            let (signers, parameters): (Vec<_>, Vec<_>) =
                params.into_iter().partition(|text| text == "&signer");
            callables.push(Callable {
                name: format!("0x1::{module}::{}", function["name"].as_str().unwrap()),
                is_entry: function["is_entry"] == true,
                constraints: constraints
                    .iter()
                    .map(|of| strings(&of["constraints"]))
                    .collect(),
                signers: signers.len(),
                parameters,
            });
        }
    }
    callables
}

impl Callable {
    pub fn type_args(&self) -> Vec<&'static str> {
        self.constraints
            .iter()
            .map(|constraints| valid_type(constraints))
            .collect()
    }

    /// Returns arguments that decode.
    pub fn arguments(&self, registry: &ModuleRegistry) -> Vec<Vec<u8>> {
        self.arguments_like(registry, &self.type_args(), SMALLEST)
    }

    /// Returns arguments that decode, composed of `sample`.
    pub fn arguments_like(
        &self,
        registry: &ModuleRegistry,
        type_args: &[&str],
        sample: Sample,
    ) -> Vec<Vec<u8>> {
        let resolved = self
            .parameters
            .iter()
            .map(|text| substitute(text, type_args));
        resolved
            .map(|text| sample.value(registry, &text.parse().unwrap()))
            .collect()
    }
}

/// An object that fits every object parameter: it has each resource without type arguments.
const OBJECT: AccountAddress = AccountAddress::from_low_u64(0x0b1ec7);

/// The smallest value of each type.
const SMALLEST: Sample = Sample {
    object: OBJECT,
    address: AccountAddress::ZERO,
    number: 0,
};

/// Length of a byte string that is not empty: that of hashes and authentication keys.
const BYTES: u8 = 32;

/// The parts that values are composed of.
#[derive(Clone, Copy)]
pub struct Sample {
    /// Address of each object.
    pub object: AccountAddress,
    /// Any other address.
    pub address: AccountAddress,
    /// Each number, and the length of each vector and text; at most 1. Byte strings are empty or
    /// have 32 bytes.
    pub number: u8,
}

impl Sample {
    fn integer(self, bytes: usize) -> Vec<u8> {
        let mut value = vec![0; bytes];
        value[0] = self.number;
        value
    }

    fn value(self, registry: &ModuleRegistry, tag: &TypeTag) -> Vec<u8> {
        match tag {
            TypeTag::Bool | TypeTag::U8 | TypeTag::I8 => self.integer(1),
            TypeTag::U16 | TypeTag::I16 => self.integer(2),
            TypeTag::U32 | TypeTag::I32 => self.integer(4),
            TypeTag::U64 | TypeTag::I64 => self.integer(8),
            TypeTag::U128 | TypeTag::I128 => self.integer(16),
            TypeTag::U256 | TypeTag::I256 => self.integer(32),
            TypeTag::Address | TypeTag::Signer => self.address.as_bytes().to_vec(),
            TypeTag::Vector(item) if **item == TypeTag::U8 => [
                vec![self.number * BYTES],
                vec![7; usize::from(self.number * BYTES)],
            ]
            .concat(),
            TypeTag::Vector(item) => self.items(&self.value(registry, item)),
            TypeTag::Struct(tag) => match (tag.module.as_str(), tag.name.as_str()) {
                ("option", "Option") => vec![0],
                ("string", "String") => self.items(b"a"),
                ("object", "Object") => self.object.as_bytes().to_vec(),
                _ => self.struct_value(registry, tag),
            },
            TypeTag::Function(never) => match *never {},
        }
    }

    fn items(self, item: &[u8]) -> Vec<u8> {
        [&[self.number], &item.repeat(usize::from(self.number))[..]].concat()
    }

    fn struct_value(self, registry: &ModuleRegistry, tag: &StructTag) -> Vec<u8> {
        let module = abi(registry, tag.module.as_str());
        let mut structs = module["structs"].as_array().unwrap().iter();
        let declared = structs
            .find(|declared| declared["name"] == tag.name.as_str())
            .unwrap();
        let printed: Vec<String> = tag.type_args.iter().map(ToString::to_string).collect();
        let type_args: Vec<&str> = printed.iter().map(String::as_str).collect();
        let fields = declared["fields"].as_array().unwrap();
        let field_value = |field: &Value| {
            let text = substitute(field["type"].as_str().unwrap(), &type_args);
            self.value(registry, &text.parse().unwrap())
        };
        fields.iter().flat_map(field_value).collect()
    }
}

/// Adds [`OBJECT`] to the state.
pub fn put_object(chain: &mut MemoryChain) {
    let shared = chain.chain.clone();
    let registry = shared.registry();
    let mut members = BTreeMap::new();
    for module in registry.module_names(&AccountAddress::ONE, FRAMEWORK_VERSION) {
        for declared in abi(registry, module.as_str())["structs"]
            .as_array()
            .unwrap()
        {
            let has_key = strings(&declared["abilities"])
                .iter()
                .any(|ability| ability == "key");
            if has_key && declared["generic_type_params"] == Value::Array(vec![]) {
                let name = declared["name"].as_str().unwrap();
                let tag: StructTag = format!("0x1::{module}::{name}").parse().unwrap();
                let value = SMALLEST.struct_value(registry, &tag);
                if registry.group_of(&tag).is_some() {
                    members.insert(tag, value);
                } else {
                    chain
                        .state
                        .insert(StateKey::resource(&OBJECT, &tag), value.into());
                }
            }
        }
    }
    let group = bcs::to_bytes(&members).unwrap();
    chain
        .state
        .insert(registry.group_key(&OBJECT), group.into());
}
