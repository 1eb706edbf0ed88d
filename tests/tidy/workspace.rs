//! The crates of the workspace: which may depend on which, and the profiles that name each of them.

use super::root;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};
use toml::Table;

/// The crates that each crate may depend on. It may also name the dependencies of these.
const LAYERS: [(&str, &[&str]); 14] = [
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
            "ledger-limits",
            "ledger-metrics",
        ],
    ),
    ("ledger-client", &["ledger-types", "ledger-crypto"]),
    (
        "ledger-test-support",
        &["ledger-execution", "ledger-client"],
    ),
    (
        "ledger-node",
        &["ledger-api", "ledger-client", "ledger-http"],
    ),
];

/// Parses a manifest.
fn manifest(path: &Path) -> Table {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.parse()
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Returns the manifests of the workspace by the name of the package.
fn packages() -> BTreeMap<String, Table> {
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

/// Returns the names of the workspace's packages among the dependencies of a manifest. Dependencies
/// of tests do not count.
fn dependencies<'m>(package: &'m Table, all: &BTreeSet<&str>) -> BTreeSet<&'m str> {
    let named = package
        .get("dependencies")
        .and_then(|named| named.as_table());
    let names = named.into_iter().flat_map(|named| named.keys());
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
    // The crates of `benches/` only measure the others.
    let layers: BTreeMap<_, _> = LAYERS.into_iter().collect();
    for (name, package) in packages
        .iter()
        .filter(|(name, _)| layers.contains_key(name.as_str()))
    {
        let allowed = allowed(name);
        let named = dependencies(package, &names);
        wrong.extend(
            named
                .difference(&allowed)
                .map(|other| format!("{name} -> {other}")),
        );
    }
    assert!(
        wrong.is_empty(),
        "dependencies against the order of crates: {wrong:?}"
    );
    let missing = LAYERS.iter().filter(|(layer, _)| !names.contains(layer));
    let missing: Vec<_> = missing.map(|(layer, _)| layer).collect();
    assert!(
        missing.is_empty(),
        "LAYERS names crates that do not exist: {missing:?}"
    );
}

/// A release build of a crate that is missing here wraps numbers silently.
#[test]
fn release_builds_of_all_crates_check_for_overflow() {
    let profile = &manifest(&root().join("Cargo.toml"))["profile"]["release"]["package"];
    for name in packages().keys() {
        let package = profile.get(name).and_then(|package| package.as_table());
        let checks = package.and_then(|package| package["overflow-checks"].as_bool());
        assert_eq!(checks, Some(true), "profile.release.package of {name}");
    }
}

/// The instrumented build of a crate must differ from that of the tests in its profile. Otherwise
/// the two replace each other in a shared target directory.
#[test]
fn the_fuzzer_builds_all_its_crates_apart() {
    let fuzzer = manifest(&root().join("tests/fuzz/Cargo.toml"));
    let profile = fuzzer["profile"]["dev"]["package"].as_table().unwrap();
    let packages = packages();
    let names = packages.keys().map(String::as_str).collect();
    let mut waiting: Vec<_> = dependencies(&fuzzer, &names).into_iter().collect();
    let mut built = BTreeSet::new();
    while let Some(name) = waiting.pop() {
        if built.insert(name) {
            waiting.extend(dependencies(&packages[name], &names));
        }
    }
    for name in built {
        let package = profile.get(name).and_then(|package| package.as_table());
        let units = package.and_then(|package| package.get("codegen-units"));
        assert!(
            units.is_some(),
            "tests/fuzz/Cargo.toml: profile.dev.package of {name}"
        );
    }
}
