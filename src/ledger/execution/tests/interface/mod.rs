//! The interface of the framework in comparison with that of the reference node (`reference.json`).
//!
//! `differences.toml` lists each difference of structs, functions, and abort codes with its reason.
//! An entry without a difference fails the test. This command prints the list:
//! `cargo test -p ledger-execution --test all interface:: -- --nocapture`

mod compare;
mod module;

use compare::compare;
use ledger_framework::{FRAMEWORK_VERSION, module_registry};
use ledger_test_support::differences::{Allowed, Difference};
use ledger_types::{AccountAddress, ModuleId};
use ledger_vm::ModuleRegistry;
use module::{Module, Reference};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the framework with the vendor name of the reference node, so that the names are equal.
fn registry() -> ModuleRegistry {
    module_registry(&"APTOS".parse().unwrap())
}

fn our_modules() -> BTreeMap<String, Module> {
    let registry = registry();
    let names = registry.module_names(&AccountAddress::ONE, FRAMEWORK_VERSION);
    let interface_of = |name| {
        let id = ModuleId {
            address: AccountAddress::ONE,
            name,
        };
        (id.name.to_string(), Module::of(&registry, &id))
    };
    names.into_iter().map(interface_of).collect()
}

fn differences() -> Vec<Difference> {
    let ours = our_modules();
    let reference: Reference = serde_json::from_str(include_str!("reference.json")).unwrap();
    let mut all: Vec<Difference> = reference
        .other_modules
        .iter()
        .map(|name| Difference::new("module absent", name))
        .collect();
    let names: BTreeSet<&String> = ours.keys().chain(reference.modules.keys()).collect();
    for name in names {
        match (ours.get(name), reference.modules.get(name)) {
            (Some(ours), Some(theirs)) => all.extend(compare(name, ours, theirs)),
            (Some(_), None) => all.push(Difference::new("module added", name)),
            (None, _) => all.push(Difference::new("module absent", name)),
        }
    }
    all
}

#[test]
fn lists_every_difference_with_a_reason() {
    let allowed = Allowed::read(include_str!("differences.toml"));
    allowed.assert_complete("interface/differences.toml", &differences(), &[""]);
}

#[test]
fn detects_a_change_of_any_fact() {
    let base = r#"{
        "structs": {"S": {"abilities": ["key"], "type_params": [["store"]], "fields": [["a", "u8"], ["b", "u64"]]}},
        "entry_functions": {"f": {"visibility": "public", "type_params": [[]], "params": ["&signer", "u64"]}},
        "view_functions": {"v": {"visibility": "public", "params": [], "returns": ["u8"]}},
        "other_public_functions": [],
        "errors": {"EX": {"value": 1, "codes": [65537]}}
    }"#;
    let reference: Module = serde_json::from_str(base).unwrap();
    let changes = [
        (
            r#""abilities": ["key"]"#,
            r#""abilities": ["key", "copy"]"#,
            "struct abilities m::S",
        ),
        (
            r#"[["store"]]"#,
            r#"[["copy"]]"#,
            "struct type parameters m::S",
        ),
        (r#"["a", "u8"]"#, r#"["a", "u16"]"#, "field type m::S.a"),
        (
            r#"["a", "u8"], ["b", "u64"]"#,
            r#"["b", "u64"], ["a", "u8"]"#,
            "field order m::S",
        ),
        (
            r#"["b", "u64"]]"#,
            r#"["b", "u64"]], "is_event": true"#,
            "struct is_event m::S",
        ),
        (
            r#"["b", "u64"]]"#,
            r#"["b", "u64"]], "group": "0x1::o::G""#,
            "struct group m::S",
        ),
        (r#", ["b", "u64"]"#, "", "field absent m::S.b"),
        (
            r#"["b", "u64"]"#,
            r#"["b", "u64"], ["c", "u8"]"#,
            "field added m::S.c",
        ),
        (r#""S": "#, r#""R": "#, "struct added m::R"),
        (
            r#"["&signer", "u64"]"#,
            r#"["&signer"]"#,
            "entry parameters m::f",
        ),
        (r#"[[]]"#, "[]", "entry type parameters m::f"),
        (
            r#"{"f": {"visibility": "public""#,
            r#"{"f": {"visibility": "private""#,
            "entry visibility m::f",
        ),
        (
            r#""returns": ["u8"]"#,
            r#""returns": ["u64"]"#,
            "view returns m::v",
        ),
        (r#""v": "#, r#""w": "#, "view added m::w"),
        (r#""value": 1"#, r#""value": 2"#, "error value m::EX"),
        ("[65537]", "[65538]", "error code m::EX"),
        (r#""EX": "#, r#""EY": "#, "error added m::EY"),
    ];
    assert_eq!(compare("m", &reference, &reference), []);
    for (from, to, expected) in changes {
        let changed = base.replacen(from, to, 1);
        assert_ne!(changed, base, "{from}");
        let ours: Module = serde_json::from_str(&changed).unwrap();
        let found = compare("m", &ours, &reference);
        assert!(
            found.iter().any(|difference| difference.name() == expected),
            "{expected} is not among {found:?}"
        );
    }
}
