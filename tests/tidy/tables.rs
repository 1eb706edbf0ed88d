//! Tables of threads and of limits, whose reasons only prose has, against the names in the code.

use super::{
    actors::{CODE, page, quoted, rows, sources},
    root,
};
use std::{collections::BTreeSet, fs};
use syn::{Expr, ExprLit, Item, Lit};

/// Threads without a constant: that of the process, those of the arbiters, by their number, and the
/// workers of each listener.
const OTHER_THREADS: [&str; 9] = [
    "actors",
    "commit",
    "http-admin",
    "http-api",
    "http-faucet",
    "http-graphql",
    "main",
    "mempool",
    "storage",
];

/// The setting of each actor in the table of limits.
const OF_ACTOR: &str = "actors.NAME.mailbox_capacity";

#[test]
fn threads_are_those_of_the_code() {
    let named = sources(&["actors", "src"])
        .into_iter()
        .flat_map(|(_, text)| threads(&text));
    let in_code: BTreeSet<_> = named.chain(OTHER_THREADS.map(str::to_owned)).collect();
    let first_cells: Vec<_> = rows(&page(), "Threads")
        .into_iter()
        .map(|row| row[0].clone())
        .collect();
    let in_table: BTreeSet<_> = first_cells
        .iter()
        .flat_map(|cell| quoted(cell))
        .map(str::to_owned)
        .collect();
    assert_eq!(in_table, in_code);
}

/// Returns the values of the constants of a file whose names end with `THREAD`.
fn threads(text: &str) -> Vec<String> {
    let file = syn::parse_file(text).unwrap();
    let constants = file.items.into_iter().filter_map(|item| match item {
        Item::Const(item) if item.ident.to_string().ends_with("THREAD") => Some(*item.expr),
        _ => None,
    });
    let values = constants.filter_map(|value| match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(name),
            ..
        }) => Some(name.value()),
        _ => None,
    });
    values.collect()
}

/// Requires a row for each setting that an error or a rejection names.
#[test]
fn settings_in_errors_are_in_the_table_of_limits() {
    let text = fs::read_to_string(root().join("docs/operate/tune.md")).unwrap();
    let rows = rows(&text, "Limits");
    let in_table: BTreeSet<_> = rows
        .iter()
        .flatten()
        .flat_map(|cell| quoted(cell))
        .collect();
    let mut missing = BTreeSet::new();
    for (file, text) in sources(&["actors", "src/api", "src/node/faucet"]) {
        missing.extend(
            limits(&text)
                .into_iter()
                .filter(|name| !in_table.contains(name.as_str()))
                .map(|name| format!("{file}: {name}")),
        );
    }
    assert!(
        missing.is_empty(),
        "docs/operate/tune.md#limits has no row:\n{missing:#?}"
    );
}

/// Returns the settings that the code names, as the table names them, without switches.
fn limits(code: &str) -> BTreeSet<String> {
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let literals = lines.flat_map(|line| line.split('"').skip(1).step_by(2));
    let settings = literals.filter(|name| name.contains('.') && CODE.is_setting(name));
    let limits = settings.filter(|name| !name.ends_with("_enabled"));
    limits
        .map(|name| {
            if name.ends_with(".mailbox_capacity") {
                OF_ACTOR.to_owned()
            } else {
                name.to_owned()
            }
        })
        .collect()
}

#[test]
fn finds_threads_and_limits_in_code() {
    let code = "const THREAD: &str = \"one\";\nconst POINT_THREAD: &str = \"two\";\n\
                const THREADS: usize = 2;\n";
    assert_eq!(threads(code), ["one", "two"]);
    let code = "// \"wait.capacity\"\nfull(\"api.max_in_flight\"), \"api.submission_enabled\"\n\
                \"actors.pruner.mailbox_capacity\", \"no.setting\"";
    let expected = [OF_ACTOR, "api.max_in_flight"].map(str::to_owned);
    assert_eq!(limits(code), BTreeSet::from(expected));
}
