//! The results of the calls, the methods of the SDK's source, and the table of the document.

use crate::{Result, node::REPOSITORY};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fmt::Display,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Path from the root of the repository.
const DOCUMENT: &str = "docs/reference/sdks.md";
const BEGIN: &str = "<!-- table rust -->\n";
const END: &str = "<!-- end of table -->";
/// A type that calls a function of its user, and sends nothing itself.
const NOT_A_CLIENT: &str = "RetryExecutor";
const HEADER: &str = "| method | result | reason |\n| --- | --- | --- |\n";

/// Calls that a node alone cannot serve.
pub struct Group {
    /// Result in the table.
    pub result: &'static str,
    /// Reason in the table.
    pub reason: &'static str,
    /// Part of the error of each call.
    pub rejection: &'static str,
}

/// The rows of the table, by method.
#[derive(Default)]
pub struct Table(BTreeMap<String, String>);

impl Table {
    /// Adds a call that works, and returns its value.
    ///
    /// # Panics
    ///
    /// Panics if the call failed.
    pub fn works<T>(&mut self, method: &str, result: Result<T, impl Display>) -> T {
        self.0.insert(method.to_owned(), "works | -".to_owned());
        result.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Adds a call that a node alone cannot serve.
    ///
    /// # Panics
    ///
    /// Panics if the call did not fail, or for another reason.
    pub fn rejected<T>(&mut self, method: &str, result: Result<T, impl Display>, group: &Group) {
        match result {
            Ok(_) => panic!("{method} is served"),
            Err(error) => assert!(
                error.to_string().contains(group.rejection),
                "{method}: {error}"
            ),
        }
        self.0.insert(
            method.to_owned(),
            format!("{} | {}", group.result, group.reason),
        );
    }

    /// Compares the methods with those of the SDK, and the rows with the document. Writes the
    /// document if `UPDATE_GOLDEN` is set.
    ///
    /// # Errors
    ///
    /// Returns an error if they differ, or if a file cannot be read.
    pub fn check(&self) -> Result<()> {
        let called: BTreeSet<_> = self.0.keys().cloned().collect();
        let methods = methods(&source()?)?;
        let different: Vec<_> = called.symmetric_difference(&methods).collect();
        if !different.is_empty() {
            return Err(format!("methods without a call, or unknown ones: {different:?}").into());
        }
        let rows = self
            .0
            .iter()
            .map(|(method, row)| format!("| `{method}` | {row} |\n"));
        let printed = HEADER.to_owned() + &rows.collect::<String>();
        let document = Path::new(REPOSITORY).join(DOCUMENT);
        let text = fs::read_to_string(&document)?;
        let (before, rest) = text.split_once(BEGIN).ok_or("the document has no table")?;
        let (table, after) = rest.split_once(END).ok_or("the table has no end")?;
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(document, format!("{before}{BEGIN}{printed}{END}{after}"))?;
        } else if table != printed {
            return Err(format!("UPDATE_GOLDEN=1 rewrites the table:\n{printed}").into());
        }
        println!("{} methods, as in the table", methods.len());
        Ok(())
    }
}

/// Returns the directory of the SDK's source.
fn source() -> Result<PathBuf> {
    let arguments = ["metadata", "--locked", "--format-version", "1"];
    let cargo = Command::new("cargo")
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()?;
    let metadata: Value = serde_json::from_slice(&cargo.stdout)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let mut sdk = packages.filter(|package| package["name"] == "aptos-sdk");
    let manifest = sdk
        .next()
        .and_then(|package| package["manifest_path"].as_str());
    let manifest = Path::new(manifest.ok_or("no package aptos-sdk")?);
    Ok(manifest.with_file_name("src"))
}

/// Returns the public asynchronous methods of the files below `directory`, as `Type.method`.
fn methods(directory: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(methods(&path)?);
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let mut owner = String::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("impl") {
                owner = type_of(rest);
            } else if let Some(rest) = line.strip_prefix("    pub async fn ") {
                let name = rest.split(['(', '<']).next().unwrap_or_default();
                if owner != NOT_A_CLIENT {
                    found.insert(format!("{owner}.{name}"));
                }
            }
        }
    }
    Ok(found)
}

/// Returns the name of the type behind `impl`: `Batch` of `<'a> Batch<'a> {`.
fn type_of(rest: &str) -> String {
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('<') {
        Some(generic) => generic.split_once('>').map_or("", |(_, rest)| rest),
        None => rest,
    };
    let name = rest.trim_start().split(['<', ' ']).next();
    name.unwrap_or_default().to_owned()
}
