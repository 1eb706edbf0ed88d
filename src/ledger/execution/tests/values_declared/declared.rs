//! The declared structs of the ABI, and the type arguments of the tests.

use ledger_framework::{FRAMEWORK_VERSION, module_registry};
use ledger_types::{AccountAddress, ModuleId, TypeTag};
use ledger_vm::ModuleRegistry;
use serde_json::Value;
use std::sync::LazyLock;

pub static FRAMEWORK: LazyLock<ModuleRegistry> =
    LazyLock::new(|| module_registry(&"APTOS".parse().unwrap()));

/// A declared struct of the ABI.
pub struct Declared {
    pub name: String,
    constraints: Vec<Vec<String>>,
    pub fields: Vec<(String, String)>,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// All declared structs.
pub static DECLARED: LazyLock<Vec<Declared>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for module in FRAMEWORK.module_names(&AccountAddress::ONE, FRAMEWORK_VERSION) {
        let id: ModuleId = format!("0x1::{module}").parse().unwrap();
        for declared in list(&FRAMEWORK.module_abi(&id).unwrap()["structs"]) {
            assert_eq!(
                declared["is_enum"], false,
                "the test does not support enums"
            );
            let parameters = list(&declared["generic_type_params"]).iter();
            all.push(Declared {
                name: format!("0x1::{module}::{}", text(&declared["name"])),
                constraints: parameters
                    .map(|parameter| list(&parameter["constraints"]).iter().map(text).collect())
                    .collect(),
                fields: list(&declared["fields"])
                    .iter()
                    .map(|field| (text(&field["name"]), text(&field["type"])))
                    .collect(),
            });
        }
    }
    all
});

impl Declared {
    /// Returns the struct with several type arguments, or once if it has no type parameters.
    pub fn instances(&self) -> Vec<TypeTag> {
        let arguments = [
            "u8",
            "0x1::string::String",
            "vector<0x1::option::Option<u16>>",
            "0x1::simple_map::SimpleMap<0x1::string::String, vector<u8>>",
            "0x1::option::Option<0x1::object::Object<0x1::object::ObjectCore>>",
            "0x1::simple_map::SimpleMap<address, 0x1::simple_map::SimpleMap<u64, vector<i256>>>",
        ];
        let instance = |first: usize| {
            let args: Vec<&str> = (0..self.constraints.len())
                .map(|i| arguments[(first + i) % arguments.len()])
                .collect();
            let tag = if args.is_empty() {
                self.name.clone()
            } else {
                format!("{}<{}>", self.name, args.join(", "))
            };
            tag.parse().unwrap()
        };
        let count = if self.constraints.is_empty() {
            1
        } else {
            arguments.len()
        };
        (0..count).map(instance).collect()
    }

    /// Returns the fields with substituted type arguments.
    pub fn resolved(&self, type_args: &[TypeTag]) -> Vec<(String, TypeTag)> {
        let fields = self.fields.iter();
        fields
            .map(|(name, text)| (name.clone(), substitute(text, type_args).parse().unwrap()))
            .collect()
    }
}

/// Replaces `T0`, `T1`, and so on in a type of the ABI by type arguments. A word is a parameter
/// only if it is not part of the name of a module or a struct.
fn substitute(text: &str, type_args: &[TypeTag]) -> String {
    let mut substituted = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':') {
        let (before, word) = rest.split_at(start);
        let end = word.find(['<', '>', ',', ' ']).unwrap_or(word.len());
        let number = word[..end]
            .strip_prefix('T')
            .and_then(|digits| digits.parse::<usize>().ok());
        substituted.push_str(before);
        match number {
            Some(number) => substituted.push_str(&type_args[number].to_string()),
            None => substituted.push_str(&word[..end]),
        }
        rest = &word[end..];
    }
    substituted + rest
}

/// Returns all declared structs with type arguments.
pub fn instances() -> impl Iterator<Item = TypeTag> {
    DECLARED.iter().flat_map(Declared::instances)
}
