//! Comparison of the declared responses with the sources of the tests that cause them.
//!
//! A test states the response that it causes with [`row`](super::rows::row), and fails if the route
//! responds otherwise. [`COMMON`] has the responses that one test causes on every route of a set,
//! [`not_caused`] those that nothing causes. Every other declared response is in a row of a test,
//! and every row is a declared response.
//!
//! No route declares the responses of the HTTP layer: 400 and 431 without a body
//! (`errors::bare::rejects_malformed_http_without_a_body`), and 404 `web_framework_error` to a path
//! without a route (`versioning::unknown_paths_are_not_found`). The `vm_error_code` of each
//! rejection by validation has a table of its own, in `src/api/tests/http/validation.rs`.

use crate::{
    interface::{
        chain::History,
        errors::{
            broken_store::NEEDS_NO_DISK, requests::HAS_OWN_PERMITS, switched_off::ALWAYS_ENABLED,
        },
        examples::{self, SUBMISSIONS},
        rows::SUCCESS,
    },
    kit::{Settings, TestApi},
};
use ledger_api::declared_responses;
use std::{
    collections::{BTreeMap, BTreeSet},
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

/// Routes that one test sends requests to, by their examples in `examples.rs`.
#[derive(Clone, Copy, Debug)]
enum RouteSet {
    /// Every declared route: those of `examples::all`.
    All,
    /// Every route but [`SUBMISSIONS`], which take a transaction: those of `examples::reads`.
    Reads,
    /// Every `POST` route: those of `examples::posts`.
    WithBody,
    /// Every route with a parameter in its path: those of `examples::all` that the test selects by
    /// the braces of the parameter.
    WithPathParameter,
}

impl RouteSet {
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

/// A response that one test causes on every route of a set.
#[derive(Debug)]
struct CommonRow {
    set: RouteSet,
    status: u16,
    error_code: &'static str,
    /// Path of the test below `interface`.
    test: &'static str,
    /// Name of the constant of the test that lists the routes it leaves out. Such a route has the
    /// response in a test of its own, or does not declare it.
    exceptions: Option<&'static str>,
}

/// The responses of many routes.
const COMMON: [CommonRow; 13] = [
    CommonRow::new(
        RouteSet::Reads,
        200,
        "-",
        "headers::seven_headers_are_on_every_success",
    ),
    CommonRow::new(
        RouteSet::Reads,
        400,
        "invalid_input",
        "min_version::rejects_minimum_versions_and_timeouts_that_are_no_numbers",
    )
    .except("ALWAYS_ENABLED"),
    CommonRow::new(
        RouteSet::WithBody,
        400,
        "web_framework_error",
        "errors::requests::a_malformed_body_is_400",
    ),
    CommonRow::new(
        RouteSet::All,
        403,
        "api_disabled",
        "errors::switched_off::json_output_can_be_disabled",
    )
    .except("ALWAYS_ENABLED"),
    CommonRow::new(
        RouteSet::WithPathParameter,
        404,
        "web_framework_error",
        "errors::requests::an_empty_parameter_of_a_path_is_404",
    ),
    CommonRow::new(
        RouteSet::All,
        405,
        "web_framework_error",
        "errors::requests::another_method_is_405",
    ),
    CommonRow::new(
        RouteSet::WithBody,
        408,
        "web_framework_error",
        "errors::requests::a_body_that_does_not_arrive_in_time_is_408",
    ),
    CommonRow::new(
        RouteSet::WithBody,
        411,
        "web_framework_error",
        "errors::requests::a_post_without_a_body_is_411",
    ),
    CommonRow::new(
        RouteSet::WithBody,
        413,
        "web_framework_error",
        "errors::requests::a_body_that_is_too_large_is_413",
    ),
    CommonRow::new(
        RouteSet::All,
        414,
        "web_framework_error",
        "errors::requests::a_path_that_is_too_long_is_414",
    ),
    CommonRow::new(
        RouteSet::WithBody,
        415,
        "web_framework_error",
        "errors::requests::a_body_of_another_type_is_415",
    ),
    CommonRow::new(
        RouteSet::Reads,
        500,
        "internal_error",
        "errors::broken_store::reads_of_a_broken_disk_are_500",
    )
    .except("NEEDS_NO_DISK"),
    CommonRow::new(
        RouteSet::All,
        503,
        "internal_error",
        "errors::requests::requests_above_the_limit_are_503",
    )
    .except("HAS_OWN_PERMITS"),
];

impl CommonRow {
    const fn new(set: RouteSet, status: u16, error_code: &'static str, test: &'static str) -> Self {
        Self {
            set,
            status,
            error_code,
            test,
            exceptions: None,
        }
    }

    const fn except(self, name: &'static str) -> Self {
        Self {
            exceptions: Some(name),
            ..self
        }
    }

    /// Returns the routes that the test leaves out, from the constant that it uses itself.
    fn exceptions(&self) -> Vec<&'static str> {
        match self.exceptions {
            None => Vec::new(),
            Some("ALWAYS_ENABLED") => ALWAYS_ENABLED.to_vec(),
            Some("HAS_OWN_PERMITS") => HAS_OWN_PERMITS.to_vec(),
            Some("NEEDS_NO_DISK") => NEEDS_NO_DISK.map(|(route, _)| route).to_vec(),
            Some(name) => panic!("unknown constant: {name}"),
        }
    }

    /// Returns the responses that the test causes.
    fn keys(&self) -> impl Iterator<Item = Key> {
        let exceptions = self.exceptions();
        let routes: BTreeSet<_> = declared().into_keys().map(|(route, ..)| route).collect();
        let causes =
            move |route: &String| self.set.contains(route) && !exceptions.contains(&route.as_str());
        let routes = routes.into_iter().filter(causes);
        routes.map(move |route| (route, self.status, self.error_code.to_owned()))
    }
}

/// Returns the declared responses that nothing causes, each with the reason.
fn not_caused() -> BTreeMap<Key, &'static str> {
    let needs_no_disk = NEEDS_NO_DISK.map(|(route, reason)| (route, 500, "internal_error", reason));
    let others = [
        (
            "GET /-/healthy",
            503,
            "internal_error",
            "the health check has permits of its own, and its response is sent immediately",
        ),
        (
            "POST /transactions/encode_submission",
            500,
            "internal_error",
            "the response needs no disk",
        ),
        (
            "POST /transactions/simulate",
            507,
            "mempool_is_full",
            "a simulation adds nothing to the mempool",
        ),
    ];
    let all = needs_no_disk.into_iter().chain(others);
    let all = all.map(|(route, status, error_code, reason)| {
        ((route.to_owned(), status, error_code.to_owned()), reason)
    });
    let accounts = declared().into_keys();
    let accounts = accounts.filter(|(.., error_code)| error_code == "account_not_found");
    let accounts = accounts.map(|key| (key, "every address is an account, also without data"));
    all.chain(accounts).collect()
}

/// A test and the file that it is in, without white space.
struct TestSource {
    /// Path below `interface`, such as `raw_item::the_item_is_read_at_a_version`.
    path: String,
    code: String,
    file: String,
}

/// Reads the tests of the folder, without those of this file.
fn tests() -> Vec<TestSource> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interface");
    let mut tests = Vec::new();
    for path in files_below(&folder) {
        let module = path.strip_prefix(&folder).unwrap().with_extension("");
        let module = module.to_str().unwrap().replace('/', "::");
        let text = fs::read_to_string(path).unwrap();
        let file = normalized(&text);
        let starts = text.split("#[actix_web::test]\nasync fn ").skip(1);
        tests.extend(starts.filter(|_| module != "table").map(|start| {
            let name = start.split('(').next().unwrap();
            TestSource {
                path: format!("{module}::{name}"),
                code: normalized(start.split("\n}\n").next().unwrap()),
                file: file.clone(),
            }
        }));
    }
    tests
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files
}

/// Returns code without white space and without commas before a closing bracket.
fn normalized(code: &str) -> String {
    let code: String = code.split_whitespace().collect();
    code.replace(",)", ")")
}

impl TestSource {
    /// Returns the rows that the test states with the name of the route, or with the constant
    /// `ROUTE` of its module.
    fn rows(&self) -> impl Iterator<Item = Key> {
        let constant = self.file.split_once("constROUTE:&str=\"");
        let calls = self.code.split("row(").skip(1);
        calls.filter_map(move |call| {
            let (arguments, _) = call.split_once(')')?;
            let [route, status, error_code] = arguments.split(',').collect::<Vec<_>>()[..] else {
                return None;
            };
            let quoted = |text: &str| Some(text.strip_prefix('"')?.strip_suffix('"')?.to_owned());
            let route = if route == "ROUTE" {
                constant?.1.split_once('"')?.0.to_owned()
            } else {
                quoted(route)?
            };
            // White space was removed.
            let route = route.replacen('/', " /", 1);
            Some((route, status.parse().ok()?, quoted(error_code)?))
        })
    }
}

/// Returns the responses that tests cause, each with the path of one of its tests.
fn caused() -> BTreeMap<Key, String> {
    let tests = tests();
    let rows = tests
        .iter()
        .flat_map(|test| test.rows().map(move |row| (row, test.path.clone())));
    let common = COMMON
        .iter()
        .flat_map(|common| common.keys().map(move |key| (key, common.test.to_owned())));
    rows.chain(common).collect()
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
fn tests_cause_each_declared_response_and_no_other() {
    let (caused, not_caused, declared) = (caused(), not_caused(), declared());
    let is_missing = |key: &&Key| !caused.contains_key(*key) && !not_caused.contains_key(*key);
    let missing: Vec<_> = declared.keys().filter(is_missing).collect();
    assert!(missing.is_empty(), "no test has the row: {missing:#?}");
    for (key, test) in &caused {
        let can_happen = declared.get(key);
        assert_eq!(can_happen, Some(&true), "not declared: {key:?} of {test}");
    }
    for (key, reason) in &not_caused {
        assert!(
            declared.contains_key(key),
            "not declared: {key:?}, {reason}"
        );
        assert!(!caused.contains_key(key), "caused: {key:?}, {reason}");
    }
}

#[test]
fn a_test_causes_each_error_code_but_one() {
    let caused = caused();
    let codes = caused.keys().map(|(_, _, error_code)| error_code.as_str());
    let codes: BTreeSet<_> = codes.filter(|error_code| *error_code != SUCCESS).collect();
    let mut expected = BTreeSet::from(ERROR_CODES);
    // Routes declare it, and nothing causes it.
    expected.remove("account_not_found");
    assert_eq!(codes, expected);
    let declared = declared();
    let mut declared = declared.keys().map(|(_, _, error_code)| error_code);
    assert!(declared.any(|error_code| error_code == "account_not_found"));
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
fn each_status_of_the_interface_is_declared() {
    let declared = declared();
    for (route, statuses) in STATUSES {
        for status in statuses {
            let mut keys = declared.keys();
            assert!(
                keys.any(|(other, declared, _)| other == route && declared == status),
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

/// Requires that the test of a common row runs over the examples of the set, and uses the constant
/// of its exceptions.
#[test]
fn each_test_of_a_common_row_causes_the_response_on_every_route_of_the_set() {
    let tests = tests();
    for row in COMMON {
        let Some(test) = tests.iter().find(|test| test.path == row.test) else {
            panic!("no such test: {row:?}");
        };
        let (examples, route) = row.set.source();
        let words = [
            normalized(examples),
            normalized(&format!(
                "row({route}, {}, {:?})",
                row.status, row.error_code
            )),
            row.exceptions.unwrap_or_default().to_owned(),
        ];
        for words in words {
            assert!(
                test.code.contains(&words),
                "no {words} in the test: {row:?}"
            );
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
