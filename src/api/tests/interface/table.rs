//! Comparison of `tests/interface.md` with the declared responses and with the source of the tests
//! that it names.
//!
//! The document has two tables. A row of the second one names its route. A row of the first one
//! names a [`RouteSet`], minus the routes that its test leaves out, and represents one row of each
//! route that is left ([`CommonRow::routes`]). Both tables together must have exactly the declared
//! responses.

use crate::{
    interface::{
        chain::History,
        errors::{
            broken_store::NEEDS_NO_DISK, requests::HAS_OWN_PERMITS, switched_off::ALWAYS_ENABLED,
        },
        examples::{self, SUBMISSIONS},
    },
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

/// A response of a route: method and path, status, error code or `-`.
type Key = (String, u16, String);

/// The last cell of a row.
#[derive(Debug)]
enum Cause {
    /// The path of a test below `interface`.
    Test(String),
    /// The reason for the absence of a test.
    None(String),
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Routes that one test sends requests to.
#[derive(Clone, Copy, Debug)]
enum RouteSet {
    /// Every declared route: those of `examples::all`.
    All,
    /// Every route but [`SUBMISSIONS`]: those of `examples::reads`.
    Reads,
    /// Every `POST` route: those of `examples::posts`.
    WithBody,
    /// Every route with a parameter in its path: those of `examples::all` that the test selects by
    /// the braces of the parameter.
    WithPathParameter,
}

impl RouteSet {
    /// Returns the set that the document names by `text`.
    fn parse(text: &str) -> Self {
        match text {
            "every route" => Self::All,
            "every read" => Self::Reads,
            "every route with a body" => Self::WithBody,
            "every route with a path parameter" => Self::WithPathParameter,
            _ => panic!("unknown set of routes: {text}"),
        }
    }

    /// Returns whether the set has a declared route. `there_is_an_example_of_every_route` compares
    /// the sets with the examples.
    fn contains(self, route: &str) -> bool {
        match self {
            Self::All => true,
            Self::Reads => !SUBMISSIONS.contains(&route),
            Self::WithBody => route.starts_with("POST "),
            Self::WithPathParameter => route.contains('{'),
        }
    }

    /// Returns the examples that a test of the set runs over, as its source names them, and the
    /// route of one of them.
    fn source(self) -> (&'static str, &'static str) {
        match self {
            Self::All => ("examples::all(&history)", "example.route"),
            Self::Reads => ("examples::reads(&history)", "example.route"),
            Self::WithBody => ("examples::posts(&history)", "post.route"),
            Self::WithPathParameter => ("examples::all(&history)", "with_path.route"),
        }
    }
}

/// A row of the first table: a response that one test causes on every route of a set.
#[derive(Debug)]
struct CommonRow {
    set: RouteSet,
    /// Name of the constant of the test that lists the routes it leaves out.
    exceptions: Option<String>,
    status: u16,
    error_code: String,
    test: String,
}

impl CommonRow {
    /// Returns the routes that the test leaves out, from the constant that it uses itself.
    fn exceptions(&self) -> Vec<&'static str> {
        match self.exceptions.as_deref() {
            None => Vec::new(),
            Some("ALWAYS_ENABLED") => ALWAYS_ENABLED.to_vec(),
            Some("HAS_OWN_PERMITS") => HAS_OWN_PERMITS.to_vec(),
            Some("NEEDS_NO_DISK") => NEEDS_NO_DISK.map(|(route, _)| route).to_vec(),
            Some(name) => panic!("unknown constant: {name}"),
        }
    }

    /// Returns the routes that the test causes the response on: the declared routes of the set,
    /// without the exceptions.
    fn routes(&self) -> BTreeSet<String> {
        let exceptions = self.exceptions();
        let routes = declared().into_keys().map(|(route, ..)| route);
        routes
            .filter(|route| self.set.contains(route) && !exceptions.contains(&route.as_str()))
            .collect()
    }

    fn key(&self, route: String) -> Key {
        (route, self.status, self.error_code.clone())
    }
}

/// Returns the cells of the rows of the document with a first cell that fits.
fn rows_of(document: &str, fits: fn(&str) -> bool) -> Vec<Vec<&str>> {
    let lines = document.lines().filter_map(|line| line.strip_prefix("| "));
    lines
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .filter(|cells: &Vec<_>| fits(cells[0]))
        .collect()
}

/// Returns the text of a cell in backticks.
fn unquoted(cell: &str) -> Option<&str> {
    cell.strip_prefix('`')?.strip_suffix('`')
}

fn document() -> String {
    fs::read_to_string(package().join("../../tests/interface.md")).unwrap()
}

/// Returns the rows of the first table.
fn common_rows() -> Vec<CommonRow> {
    let document = document();
    let rows = rows_of(&document, |cell| cell.starts_with("every "));
    let parsed = rows.into_iter().map(|cells| {
        let [routes, status, error_code, test] = cells[..] else {
            panic!("not four cells: {cells:?}");
        };
        let (set, exceptions) = match routes.split_once(" except ") {
            Some((set, name)) => (set, Some(unquoted(name).unwrap().to_owned())),
            None => (routes, None),
        };
        CommonRow {
            set: RouteSet::parse(set),
            exceptions,
            status: status.parse().unwrap(),
            error_code: error_code.to_owned(),
            test: unquoted(test).expect("a test").to_owned(),
        }
    });
    parsed.collect()
}

/// Returns the rows of the second table.
fn own_rows() -> BTreeMap<Key, Cause> {
    let mut table = BTreeMap::new();
    let document = document();
    for cells in rows_of(&document, |cell| ["GET", "POST"].contains(&cell)) {
        let [method, path, status, error_code, cause] = cells[..] else {
            panic!("not five cells: {cells:?}");
        };
        let key = (
            format!("{method} {path}"),
            status.parse().unwrap(),
            error_code.to_owned(),
        );
        let cause = match unquoted(cause) {
            Some(test) => Cause::Test(test.to_owned()),
            None => Cause::None(cause.to_owned()),
        };
        assert!(table.insert(key, cause).is_none(), "twice: {cells:?}");
    }
    table
}

/// Returns the rows of both tables. The own row of a route replaces the one that the first table
/// has for it.
///
/// # Panics
///
/// Panics if an own row says nothing that the first table does not say, or contradicts it.
fn table() -> BTreeMap<Key, Cause> {
    let mut table = BTreeMap::new();
    for common in common_rows() {
        for route in common.routes() {
            let cause = Cause::Test(common.test.clone());
            let other = table.insert(common.key(route), cause);
            assert!(other.is_none(), "two common rows: {common:?}");
        }
    }
    for (key, cause) in own_rows() {
        if let Some(Cause::Test(common)) = table.get(&key) {
            let Cause::Test(test) = &cause else {
                panic!("{common} causes {key:?}");
            };
            assert_ne!(test, common, "the common row suffices: {key:?}");
        }
        table.insert(key, cause);
    }
    table
}

/// Returns the declared responses, each with whether anything can cause it.
fn declared() -> BTreeMap<Key, bool> {
    let key = |response: ledger_api::DeclaredResponse| {
        let path = response.path.strip_prefix("/v1").unwrap();
        let path = if path.is_empty() { "/" } else { path };
        let error_code = response.error_code.map_or_else(
            || "-".to_owned(),
            |code| {
                serde_json::to_value(code)
                    .unwrap()
                    .as_str()
                    .unwrap()
                    .to_owned()
            },
        );
        let route = format!("{} {path}", response.method);
        ((route, response.status, error_code), response.can_happen)
    };
    declared_responses().into_iter().map(key).collect()
}

#[test]
fn has_a_row_for_each_declared_response_and_no_other() {
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
    assert!(more.is_empty(), "rows of undeclared responses: {more:#?}");
    for (key, cause) in &table {
        match cause {
            Cause::Test(_) => assert!(declared[key], "declared as impossible: {key:?}"),
            Cause::None(reason) => assert!(reason.len() > 20, "no reason: {key:?}"),
        }
    }
}

#[test]
fn a_test_causes_each_error_code_but_one() {
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

/// Compares the sets of routes with the examples, because rules of all routes are tested on the
/// examples.
#[actix_web::test]
async fn there_is_an_example_of_every_route() {
    let history = History::start().await;
    let declared: BTreeSet<_> = declared().into_keys().map(|(route, ..)| route).collect();
    for (set, examples) in [
        (RouteSet::All, examples::all(&history)),
        (RouteSet::Reads, examples::reads(&history)),
        (RouteSet::WithBody, examples::posts(&history)),
    ] {
        let of_set = declared.iter().filter(|route| set.contains(route));
        let of_set: Vec<_> = of_set.map(String::as_str).collect();
        let mut of_examples: Vec<_> = examples.iter().map(|example| example.route).collect();
        of_examples.sort_unstable();
        assert_eq!(of_examples, of_set, "{set:?}");
    }
    history.api.stop().await;
}

/// Returns code without white space and without commas before a closing bracket.
fn normalized(code: &str) -> String {
    let code: String = code.split_whitespace().collect();
    code.replace(",)", ")")
}

/// Returns the source of a test and of its file, normalized, or `None` if there is no such test.
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

/// Returns how the source of a test spells the row of a route, given as a Rust expression.
fn spelling(route: &str, status: u16, error_code: &str) -> String {
    normalized(&format!("row({route}, {status}, {error_code:?})"))
}

/// Returns the spellings of an own row in the source of a test: with the name of the route, or with
/// the constant `ROUTE` of its module.
fn spellings((route, status, error_code): &Key, file: &str) -> Vec<String> {
    let mut spellings = vec![spelling(&format!("{route:?}"), *status, error_code)];
    if file.contains(&normalized(&format!("const ROUTE: &str = {route:?};"))) {
        spellings.push(spelling("ROUTE", *status, error_code));
    }
    spellings
}

#[test]
fn each_named_test_exists_and_causes_its_response() {
    let mut files = HashMap::new();
    let mut wrong = Vec::new();
    for (key, cause) in own_rows() {
        let Cause::Test(test) = cause else { continue };
        let is_caused = source_of(&test, &mut files).is_some_and(|(source, file)| {
            let mut spellings = spellings(&key, &file).into_iter();
            spellings.any(|spelling| source.contains(&spelling))
        });
        if !is_caused {
            wrong.push((key, test));
        }
    }
    assert!(
        wrong.is_empty(),
        "no such test, or it has no such row: {wrong:#?}"
    );
}

/// Requires that the test of a common row runs over the examples of the set, and uses the constant
/// of its exceptions.
#[test]
fn each_test_of_a_common_row_causes_the_response_on_every_route_of_the_set() {
    let mut files = HashMap::new();
    for row in common_rows() {
        let Some((source, _)) = source_of(&row.test, &mut files) else {
            panic!("no such test: {row:?}");
        };
        let (examples, route) = row.set.source();
        let words = [
            normalized(examples),
            spelling(route, row.status, &row.error_code),
            row.exceptions.clone().unwrap_or_default(),
        ];
        for words in words {
            assert!(source.contains(&words), "no {words} in the test: {row:?}");
        }
    }
}

/// Expects that a test with a wrong row fails, because it compares each of its rows with the
/// response.
#[actix_web::test]
#[should_panic(expected = "assertion")]
async fn rejects_a_wrong_row() {
    let api = TestApi::start(Settings::default()).await;
    crate::interface::rows::row("GET /info", 404, "block_not_found")
        .get(&api, "/v1/info")
        .await;
}
