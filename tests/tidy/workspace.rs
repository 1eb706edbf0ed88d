//! Tests of the dependencies between the crates of the workspace, and of the build profiles that
//! must name each crate.

use super::root;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};
use toml::Table;

/// Allowed dependencies of each crate. The dependencies of an allowed crate are allowed too.
const LAYERS: [(&str, &[&str]); 17] = [
    ("ledger-limits", &[]),
    ("ledger-metrics", &[]),
    ("ledger-crypto", &[]),
    ("ledger-types", &["ledger-crypto"]),
    ("ledger-vm", &["ledger-types"]),
    ("ledger-framework", &["ledger-vm"]),
    ("ledger-execution", &["ledger-framework"]),
    ("ledger-store", &["ledger-types", "ledger-metrics"]),
    (
        "ledger-actors",
        &[
            "ledger-execution",
            "ledger-store",
            "ledger-limits",
            "ledger-metrics",
        ],
    ),
    ("ledger-http", &["ledger-limits", "ledger-metrics"]),
    (
        "ledger-api",
        &[
            "ledger-actors",
            "ledger-store",
            "ledger-execution",
            "ledger-http",
            "ledger-limits",
            "ledger-metrics",
        ],
    ),
    ("ledger-client", &["ledger-types", "ledger-crypto"]),
    ("ledger-bft", &["ledger-actors"]),
    ("ledger-relay", &["ledger-actors"]),
    ("ledger-test-support", &["ledger-execution", "ledger-store"]),
    (
        "ledger-test-chain",
        &["ledger-api", "ledger-http", "ledger-test-support"],
    ),
    (
        "ledger-node",
        &[
            "ledger-api",
            "ledger-bft",
            "ledger-client",
            "ledger-http",
            "ledger-relay",
        ],
    ),
];

/// Returns the parsed manifest at `path`.
pub(super) fn manifest(path: &Path) -> Table {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.parse()
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Returns the manifest of each package of the workspace, by the name of the package.
pub(super) fn packages() -> BTreeMap<String, Table> {
    let workspace = manifest(&root().join("Cargo.toml"));
    let members = workspace["workspace"]["members"].as_array().unwrap();
    let directories = members.iter().map(|member| member.as_str().unwrap());
    directories
        .map(|directory| {
            let package = manifest(&root().join(directory).join("Cargo.toml"));
            let name = package["package"]["name"].as_str().unwrap().to_owned();
            (name, package)
        })
        .collect()
}

/// Returns the dependencies of a manifest that are packages of the workspace. Ignores
/// `dev-dependencies`.
fn dependencies<'m>(package: &'m Table, all: &BTreeSet<&str>) -> BTreeSet<&'m str> {
    let table = package
        .get("dependencies")
        .and_then(|table| table.as_table());
    let names = table.into_iter().flat_map(|table| table.keys());
    names
        .map(String::as_str)
        .filter(|name| all.contains(name))
        .collect()
}

/// Returns the allowed dependencies of a crate, direct and indirect.
fn allowed(name: &str) -> BTreeSet<&'static str> {
    let (_, direct) = LAYERS
        .iter()
        .find(|(layer, _)| *layer == name)
        .unwrap_or_else(|| panic!("LAYERS has no crate {name}"));
    let mut allowed: BTreeSet<_> = direct.iter().copied().collect();
    allowed.extend(direct.iter().flat_map(|name| self::allowed(name)));
    allowed
}

#[test]
fn crates_depend_only_on_lower_ones() {
    let packages = packages();
    let names: BTreeSet<_> = packages.keys().map(String::as_str).collect();
    let mut wrong = Vec::new();
    // LAYERS does not list the crates of `benches/`, on which no other crate depends.
    let layers: BTreeMap<_, _> = LAYERS.into_iter().collect();
    for (name, package) in packages
        .iter()
        .filter(|(name, _)| layers.contains_key(name.as_str()))
    {
        let allowed = allowed(name);
        let dependencies = dependencies(package, &names);
        wrong.extend(
            dependencies
                .difference(&allowed)
                .map(|other| format!("{name} -> {other}")),
        );
    }
    assert!(
        wrong.is_empty(),
        "LAYERS does not allow these dependencies: {wrong:?}"
    );
    let missing = LAYERS.iter().filter(|(layer, _)| !names.contains(layer));
    let missing: Vec<_> = missing.map(|(layer, _)| layer).collect();
    assert!(
        missing.is_empty(),
        "LAYERS names crates that do not exist: {missing:?}"
    );
}

/// Arithmetic of a crate without the check wraps silently in release builds.
#[test]
fn release_builds_of_all_crates_check_for_overflow() {
    let profile = &manifest(&root().join("Cargo.toml"))["profile"]["release"]["package"];
    for name in packages().keys() {
        let package = profile.get(name).and_then(|package| package.as_table());
        let checks = package.and_then(|package| package["overflow-checks"].as_bool());
        assert_eq!(
            checks,
            Some(true),
            "profile.release.package of {name} has no overflow-checks"
        );
    }
}

/// The profiles of the instrumented build of a crate and of its build for the tests must differ:
/// builds with equal profiles replace each other in a shared target directory.
#[test]
fn fuzzer_has_a_profile_for_each_of_its_crates() {
    let fuzzer = manifest(&root().join("tests/fuzz/Cargo.toml"));
    let profile = fuzzer["profile"]["dev"]["package"].as_table().unwrap();
    let packages = packages();
    let names = packages.keys().map(String::as_str).collect();
    let mut pending: Vec<_> = dependencies(&fuzzer, &names).into_iter().collect();
    let mut built = BTreeSet::new();
    while let Some(name) = pending.pop() {
        if built.insert(name) {
            pending.extend(dependencies(&packages[name], &names));
        }
    }
    for name in built {
        let package = profile.get(name).and_then(|package| package.as_table());
        let units = package.and_then(|package| package.get("codegen-units"));
        assert!(
            units.is_some(),
            "profile.dev.package of {name} in tests/fuzz/Cargo.toml has no codegen-units"
        );
    }
}

/// A dependency with another profile is built a second time for the fuzzer.
#[test]
fn fuzzer_builds_dependencies_with_the_profiles_of_the_node() {
    let node = manifest(&root().join("Cargo.toml"));
    let fuzzer = manifest(&root().join("tests/fuzz/Cargo.toml"));
    let lock = manifest(&root().join("tests/fuzz/Cargo.lock"));
    let lock = lock["package"].as_array().unwrap();
    let used: BTreeSet<_> = lock
        .iter()
        .filter_map(|used| used["name"].as_str())
        .collect();
    let rows = |manifest: &Table| -> BTreeMap<String, toml::Value> {
        let packages = manifest["profile"]["dev"]["package"].as_table().unwrap();
        let rows = packages.iter().filter(|(name, _)| {
            *name == "*" || used.contains(name.as_str()) && !name.starts_with("ledger-")
        });
        rows.map(|(name, row)| (name.clone(), row.clone()))
            .collect()
    };
    assert_eq!(rows(&fuzzer), rows(&node));
    let base = |manifest: &Table| -> Table {
        let profile = manifest["profile"]["dev"].as_table().unwrap();
        let settings = profile.iter().filter(|(name, _)| *name != "package");
        settings
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    assert_eq!(base(&fuzzer), base(&node));
}
