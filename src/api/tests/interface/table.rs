//! `tests/interface.md`: every answer that the interface declares, and the test that causes it. Here the
//! table is held against the declarations, and the tests that it names against their source.

use crate::{
    chain::History,
    examples,
    kit::{Settings, TestApi},
};
use ledger_api::declared_responses;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
};

/// The published error codes (docs/reference/rest-contract.md#s7).
const ERROR_CODES: [&str; 22] = [
    "account_not_found",
    "resource_not_found",
    "module_not_found",
    "struct_field_not_found",
    "version_not_found",
    "transaction_not_found",
    "table_item_not_found",
    "block_not_found",
    "state_value_not_found",
    "version_pruned",
    "block_pruned",
    "invalid_input",
    "invalid_transaction_update",
    "sequence_number_too_old",
    "vm_error",
    "rejected_by_filter",
    "health_check_failed",
    "mempool_is_full",
    "internal_error",
    "web_framework_error",
    "bcs_not_supported",
    "api_disabled",
];

/// An answer of a route: method and path, status, error code or `-`.
type Key = (String, u16, String);

/// What the table says of an answer.
#[derive(Debug)]
enum Cause {
    /// The path of a test from this target's root.
    Test(String),
    /// Why no test causes it.
    None(String),
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The rows of the table.
fn table() -> BTreeMap<Key, Cause> {
    let text = fs::read_to_string(package().join("../../tests/interface.md")).unwrap();
    let mut table = BTreeMap::new();
    for line in text
        .lines()
        .filter(|line| line.starts_with("| GET") || line.starts_with("| POST"))
    {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [method, path, status, error_code, cause] = cells[..] else {
            panic!("not five cells: {line}");
        };
        let key = (
            format!("{method} {path}"),
            status.parse().unwrap(),
            error_code.to_owned(),
        );
        let cause = match cause
            .strip_prefix('`')
            .and_then(|rest| rest.strip_suffix('`'))
        {
            Some(test) => Cause::Test(test.to_owned()),
            None => Cause::None(cause.to_owned()),
        };
        assert!(table.insert(key, cause).is_none(), "twice: {line}");
    }
    table
}

/// The answers that the code declares, each with whether anything can cause it.
fn declared() -> BTreeMap<Key, bool> {
    let key = |answer: ledger_api::DeclaredResponse| {
        let path = answer.path.strip_prefix("/v1").unwrap();
        let path = if path.is_empty() { "/" } else { path };
        let error_code = answer.error_code.map_or_else(
            || "-".to_owned(),
            |code| {
                serde_json::to_value(code)
                    .unwrap()
                    .as_str()
                    .unwrap()
                    .to_owned()
            },
        );
        let route = format!("{} {path}", answer.method);
        ((route, answer.status, error_code), answer.can_happen)
    };
    declared_responses().into_iter().map(key).collect()
}

#[test]
fn the_table_has_a_row_for_each_declared_answer_and_no_other() {
    let (table, declared) = (table(), declared());
    let missing: Vec<_> = declared
        .keys()
        .filter(|key| !table.contains_key(*key))
        .collect();
    assert!(
        missing.is_empty(),
        "no row in tests/interface.md: {missing:#?}"
    );
    let more: Vec<_> = table
        .keys()
        .filter(|key| !declared.contains_key(*key))
        .collect();
    assert!(more.is_empty(), "rows of what is not declared: {more:#?}");
    for (key, cause) in &table {
        match cause {
            Cause::Test(_) => assert!(declared[key], "declared as what nothing causes: {key:?}"),
            Cause::None(reason) => assert!(reason.len() > 20, "no reason: {key:?}"),
        }
    }
}

#[test]
fn each_error_code_of_the_interface_is_caused_by_a_test_but_one() {
    let table = table();
    let caused: BTreeSet<_> = table
        .iter()
        .filter(|(_, cause)| matches!(cause, Cause::Test(_)))
        .map(|((_, _, error_code), _)| error_code.as_str())
        .filter(|error_code| *error_code != "-")
        .collect();
    let mut expected = BTreeSet::from(ERROR_CODES);
    // Every address is an account; the table gives the reason.
    expected.remove("account_not_found");
    assert_eq!(caused, expected);
    let mut listed = table.keys().map(|(_, _, error_code)| error_code);
    assert!(listed.any(|error_code| error_code == "account_not_found"));
}

/// The published statuses of each published route (docs/reference/rest-contract.md#s7).
const STATUSES: [(&str, &[u16]); 8] = [
    (
        "POST /transactions",
        &[202, 400, 403, 404, 413, 500, 503, 507],
    ),
    ("GET /blocks/by_height/{block_height}", READ),
    (
        "GET /accounts/{address}/events/{event_handle}/{field_name}",
        READ,
    ),
    ("GET /accounts/{address}/events/{creation_number}", READ),
    ("GET /transactions/wait_by_hash/{txn_hash}", READ),
    ("GET /accounts/{address}/transaction_summaries", READ),
    ("POST /tables/{table_handle}/raw_item", READ),
    ("GET /accounts/{address}/balance/{asset_type}", READ),
];

const READ: &[u16] = &[200, 400, 403, 404, 410, 500, 503];

#[test]
fn each_status_of_the_interface_has_a_row() {
    let table = table();
    for (route, statuses) in STATUSES {
        for status in statuses {
            let mut rows = table.keys();
            assert!(
                rows.any(|(other, of_row, _)| other == route && of_row == status),
                "{route} {status}"
            );
        }
    }
}

/// Rules that hold for every route are shown on the examples.
#[actix_web::test]
async fn there_is_an_example_of_every_route() {
    let history = History::start().await;
    let examples: BTreeSet<_> = examples::all(&history)
        .iter()
        .map(|example| example.route.to_owned())
        .collect();
    let declared: BTreeSet<_> = declared().into_keys().map(|(route, ..)| route).collect();
    assert_eq!(examples, declared);
    history.api.stop().await;
}

/// Code without white space and without the commas that stand before a closing bracket.
fn normalized(code: &str) -> String {
    let code: String = code.split_whitespace().collect();
    code.replace(",)", ")")
}

/// The source of a test and the constants of its file, normalized; `None` where there is no such test.
fn source_of(test: &str, files: &mut HashMap<PathBuf, String>) -> Option<(String, String)> {
    let (module, name) = test.rsplit_once("::")?;
    let file = package().join(format!("tests/interface/{}.rs", module.replace("::", "/")));
    if !files.contains_key(&file) {
        files.insert(file.clone(), fs::read_to_string(&file).ok()?);
    }
    let source = &files[&file];
    let start = source.find(&format!("#[actix_web::test]\nasync fn {name}("))?;
    let length = source[start..].find("\n}\n")?;
    Some((
        normalized(&source[start..start + length]),
        normalized(source),
    ))
}

/// How a test may say that it causes an answer: by the route's name, by the constant `ROUTE` of its module,
/// or for every example, or every one with a body.
fn spellings((route, status, error_code): &Key, file: &str) -> Vec<String> {
    let row = |route: &str| normalized(&format!("row({route}, {status}, {error_code:?})"));
    let mut spellings = vec![row(&format!("{route:?}")), row("example.route")];
    if file.contains(&normalized(&format!("const ROUTE: &str = {route:?};"))) {
        spellings.push(row("ROUTE"));
    }
    if route.starts_with("POST ") {
        spellings.push(row("post.route"));
    }
    if route.contains('{') {
        spellings.push(row("with_path.route"));
    }
    spellings
}

#[test]
fn each_test_of_the_table_is_there_and_causes_the_answer() {
    let mut files = HashMap::new();
    let mut wrong = Vec::new();
    for (key, cause) in table() {
        let Cause::Test(test) = cause else { continue };
        let says_so = source_of(&test, &mut files).is_some_and(|(source, file)| {
            let mut spellings = spellings(&key, &file).into_iter();
            spellings.any(|spelling| source.contains(&spelling))
        });
        if !says_so {
            wrong.push((key, test));
        }
    }
    assert!(
        wrong.is_empty(),
        "no such test, or it has no such row: {wrong:#?}"
    );
}

/// What a test says it causes is held against the answer, so a row that is wrong fails its test.
#[actix_web::test]
#[should_panic(expected = "assertion")]
async fn a_row_that_is_wrong_fails() {
    let api = TestApi::start(Settings::default()).await;
    crate::rows::row("GET /info", 404, "block_not_found")
        .get(&api, "/v1/info")
        .await;
}
